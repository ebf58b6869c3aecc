// C1 to C3: cancelled before the handler has started.

use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server, ToolSpec};
use sansio_mcp_tests::{Bench, Gate, Rig, Trace, Wire, response, responses, rows, tool};
use serde_json::json;

rows! {
    c1_a_cancelled_request_leaves_the_queue_at_once_and_never_starts: all, sockets;
    c1_ten_thousand_waiters_leave_in_any_order: all;
    c1_order_is_kept_when_others_leave: all;
    c2_cancelled_before_the_gate_never_enters_the_layers: all;
    c2_cancelled_inside_a_layer_never_starts_hook_or_handler: all;
    c2_cancelled_inside_the_context_hook_never_starts_the_handler: all;
    c2_the_context_hook_does_not_run_for_a_lane_waiter_that_was_cancelled: all;
    c3_a_cancelled_waiter_leaves_and_two_never_run_at_once: all;
    c3_lanes_are_per_tool_and_in_order: all;
    c3_keys_are_computed_from_arguments: all;
    c3_a_waiter_in_a_lane_holds_no_slot: all;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Job {
    name: String,
    #[serde(default)]
    key: u32,
}

/// A server whose handlers note their beginning and end and wait for a gate of the test's.
struct Shop {
    trace: Trace,
    gate: Gate,
    rig: Rig,
    wire: Wire,
}

impl Shop {
    fn open(b: &Bench, slots: usize, queue: usize, spec: ToolSpec) -> Self {
        let (trace, gate) = (Trace::new(), Gate::new());
        let (for_layer, for_tool, go) = (trace.clone(), trace.clone(), gate.clone());
        let for_hook = trace.clone();
        let server = Server::<M>::builder("t", "1")
            .slots(slots)
            .queue(queue)
            .layer(move |cx, next| {
                let trace = for_layer.clone();
                async move {
                    let id = cx.request().wire_id().to_string();
                    trace.note(format!("layer {id}"));
                    next.run().await
                }
            })
            .context(move |cx| {
                for_hook.note(format!("hook {}", cx.request().wire_id()));
                async { Ok(()) }
            })
            .tool(spec, move |job: Job, _: Context<(), M>| {
                let (trace, go) = (for_tool.clone(), go.clone());
                async move {
                    trace.note(format!("starts {}", job.name));
                    go.passed().await;
                    trace.note(format!("ends {}", job.name));
                    Ok(job.name)
                }
            })
            .tool("free", |_: NoArguments, _: Context<(), M>| async { Ok("free") })
            .build()
            .unwrap();
        let rig = b.serve(server);
        let wire = rig.wire();
        Self { trace, gate, rig, wire }
    }

    async fn call(&mut self, id: i64, name: &str, key: u32) {
        self.wire.send(&tool(id, "job", &json!({"name": name, "key": key}))).await;
    }

    fn started(&self) -> Vec<String> {
        let starts = |entry: String| entry.strip_prefix("starts ").map(str::to_owned);
        self.trace.all().into_iter().filter_map(starts).collect()
    }
}

async fn c1_a_cancelled_request_leaves_the_queue_at_once_and_never_starts(b: Bench) {
    let mut shop = Shop::open(&b, 1, 2, "job".into());
    for (id, name) in [(1, "a"), (2, "b"), (3, "c")] {
        shop.call(id, name, 0).await;
    }
    b.settle().await;
    shop.call(4, "d", 0).await;
    assert_eq!(shop.wire.answer(4).await["error"]["code"], 1001, "the queue is full");
    shop.wire.cancel(2).await;
    b.settle().await;
    if let Some(facts) = shop.rig.facts() {
        assert_eq!((facts.running, facts.waiting), (1, 1), "it left while the first still runs");
    }
    // Its place in the queue is free for another.
    shop.call(5, "e", 0).await;
    b.settle().await;
    assert_eq!(shop.started(), ["a"]);
    shop.gate.open();
    let lines = shop.wire.drain().await;
    assert_eq!(shop.started(), ["a", "c", "e"]);
    for id in [1, 3, 5] {
        assert!(response(&lines, id).get("result").is_some());
    }
    assert!(responses(&lines, 2).is_empty());
    assert!(!shop.trace.has("layer 2") && !shop.trace.has("hook 2"));
}

/// Through the sdk, on the wire and back: ten thousand wait, all but two are cancelled from the middle outwards.
async fn c1_ten_thousand_waiters_leave_in_any_order(b: Bench) {
    let mut shop = Shop::open(&b, 1, 20_000, "job".into());
    let n = if b.is_shared() { 10_000 } else { 2_000 };
    for id in 0..=n {
        shop.call(id, &id.to_string(), 0).await;
    }
    b.settle().await;
    if let Some(facts) = shop.rig.facts() {
        assert_eq!(facts.waiting, usize::try_from(n).unwrap());
    }
    let middle = n / 2;
    for step in 1..middle {
        shop.wire.cancel(middle - step).await;
        shop.wire.cancel(middle + step).await;
    }
    b.settle().await;
    if let Some(facts) = shop.rig.facts() {
        assert_eq!(facts.waiting, 2);
    }
    shop.gate.open();
    let lines = shop.wire.drain().await;
    let want = ["0".to_owned(), middle.to_string(), n.to_string()];
    assert_eq!(shop.started(), want);
    assert_eq!(lines.len(), 3);
}

async fn c1_order_is_kept_when_others_leave(b: Bench) {
    let mut shop = Shop::open(&b, 1, 10, "job".into());
    for (id, name) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
        shop.call(id as i64, name, 0).await;
    }
    b.settle().await;
    shop.wire.cancel(2).await;
    shop.wire.cancel(5).await;
    b.settle().await;
    shop.gate.open();
    b.settle().await;
    assert_eq!(shop.started(), ["a", "b", "d", "e"]);
}

async fn c2_cancelled_before_the_gate_never_enters_the_layers(b: Bench) {
    let mut shop = Shop::open(&b, 1, 10, "job".into());
    shop.call(1, "a", 0).await;
    shop.call(2, "b", 0).await;
    b.settle().await;
    shop.wire.cancel(2).await;
    b.settle().await;
    shop.gate.open();
    shop.wire.drain().await;
    assert_eq!(shop.trace.all(), ["layer 1", "hook 1", "starts a", "ends a"]);
}

async fn c2_cancelled_inside_a_layer_never_starts_hook_or_handler(b: Bench) {
    let (trace, gate) = (Trace::new(), Gate::new());
    let (for_layer, for_hook, for_tool, go) = (trace.clone(), trace.clone(), trace.clone(), gate.clone());
    let server = Server::<M>::builder("t", "1")
        .layer(move |_, next| {
            let (trace, go) = (for_layer.clone(), go.clone());
            async move {
                trace.note("authorizing");
                go.passed().await;
                let reply = next.run().await;
                trace.note("authorized");
                reply
            }
        })
        .context(move |_| {
            for_hook.note("hook");
            async { Ok(()) }
        })
        .tool("t", move |_: NoArguments, _: Context<(), M>| {
            for_tool.note("starts");
            async { Ok("done") }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    b.settle().await;
    wire.cancel(1).await;
    b.settle().await;
    assert_eq!(rig.running_or(0), 0, "its slot is free at once");
    gate.open();
    assert!(wire.drain().await.is_empty());
    assert_eq!(trace.all(), ["authorizing"]);
    wire.send(&tool(2, "t", &json!({}))).await;
    wire.answer(2).await;
    assert_eq!(trace.all(), ["authorizing", "authorizing", "hook", "starts", "authorized"]);
}

async fn c2_cancelled_inside_the_context_hook_never_starts_the_handler(b: Bench) {
    let (trace, gate) = (Trace::new(), Gate::new());
    let (for_hook, for_tool, go) = (trace.clone(), trace.clone(), gate.clone());
    let server = Server::<M>::builder("t", "1")
        .context(move |cx| {
            let (trace, go) = (for_hook.clone(), go.clone());
            async move {
                trace.note("hook");
                if cx.request().wire_id().to_string() == "2" {
                    return Err(Exit::failure("nobody may"));
                }
                go.passed().await;
                Ok(())
            }
        })
        .tool("t", move |_: NoArguments, _: Context<(), M>| {
            for_tool.note("starts");
            async { Ok("done") }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    b.settle().await;
    wire.cancel(1).await;
    b.settle().await;
    gate.open();
    assert!(wire.drain().await.is_empty());
    wire.send(&tool(2, "t", &json!({}))).await;
    assert_eq!(wire.answer(2).await["result"]["isError"], true, "what the hook refuses is answered");
    assert_eq!(trace.all(), ["hook", "hook"]);
}

async fn c2_the_context_hook_does_not_run_for_a_lane_waiter_that_was_cancelled(b: Bench) {
    let mut shop = Shop::open(&b, 8, 10, ToolSpec::new("job").one_at_a_time());
    shop.call(1, "a", 0).await;
    shop.call(2, "b", 0).await;
    b.settle().await;
    shop.wire.cancel(2).await;
    b.settle().await;
    shop.gate.open();
    shop.wire.drain().await;
    assert!(shop.trace.has("layer 2"), "the layers lie before the lane");
    assert!(!shop.trace.has("hook 2"));
    assert_eq!(shop.started(), ["a"]);
}

async fn c3_a_cancelled_waiter_leaves_and_two_never_run_at_once(b: Bench) {
    let mut shop = Shop::open(&b, 8, 10, ToolSpec::new("job").one_at_a_time());
    for (id, name) in [(1, "a"), (2, "b"), (3, "c"), (4, "d")] {
        shop.call(id, name, 0).await;
    }
    b.settle().await;
    assert_eq!(shop.started(), ["a"]);
    for id in [2, 4] {
        shop.wire.cancel(id).await;
        b.settle().await;
        assert_eq!(shop.started(), ["a"], "whoever leaves, the first still runs");
    }
    shop.gate.open();
    let lines = shop.wire.drain().await;
    let jobs: Vec<String> = shop.trace.all().into_iter().filter(|entry| entry.contains("s ")).collect();
    assert_eq!(jobs, ["starts a", "ends a", "starts c", "ends c"]);
    assert_eq!(lines.len(), 2, "{lines:?}");
}

async fn c3_lanes_are_per_tool_and_in_order(b: Bench) {
    let mut shop = Shop::open(&b, 8, 10, ToolSpec::new("job").one_at_a_time());
    for (id, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        shop.call(id as i64, name, 0).await;
    }
    shop.wire.send(&tool(9, "free", &json!({}))).await;
    shop.wire.answer(9).await;
    assert_eq!(shop.started(), ["a"], "another tool is in nobody's lane");
    shop.gate.open();
    b.settle().await;
    let jobs: Vec<String> = shop.trace.all().into_iter().filter(|entry| entry.contains("s ")).collect();
    let want = ["starts a", "ends a", "starts b", "ends b", "starts c", "ends c", "starts d", "ends d"];
    assert_eq!(jobs, want);
}

async fn c3_keys_are_computed_from_arguments(b: Bench) {
    let spec = ToolSpec::new("job").one_at_a_time_per(|job: &Job| job.key);
    let mut shop = Shop::open(&b, 8, 10, spec);
    for (id, name, key) in [(1, "a", 1), (2, "b", 2), (3, "c", 1), (4, "d", 2), (5, "e", 3)] {
        shop.call(id, name, key).await;
    }
    b.settle().await;
    assert_eq!(shop.started(), ["a", "b", "e"]);
    shop.wire.cancel(1).await;
    b.settle().await;
    assert_eq!(
        shop.started(),
        ["a", "b", "e", "c"],
        "the key of the cancelled one is free, the other is not"
    );
    shop.gate.open();
    b.settle().await;
    assert_eq!(shop.started(), ["a", "b", "e", "c", "d"]);
}

async fn c3_a_waiter_in_a_lane_holds_no_slot(b: Bench) {
    let mut shop = Shop::open(&b, 2, 10, ToolSpec::new("job").one_at_a_time());
    for (id, name) in [(1, "a"), (2, "b"), (3, "c")] {
        shop.call(id, name, 0).await;
    }
    shop.wire.send(&tool(9, "free", &json!({}))).await;
    shop.wire.answer(9).await;
    assert_eq!(shop.started(), ["a"]);
}

// What went wrong elsewhere, on the server's side. Numbers are those of the collection that the names cite.

use std::future::pending;
use std::time::Duration;

use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server, Untyped, generator};
use sansio_mcp_tests::{
    Bench, DropFlag, Gate, Trace, cancel, progress_of, request, response, rows, tool, tool_with,
};
use serde_json::{Value, json};

rows! {
    edge_03_a_second_request_with_an_id_in_flight_disturbs_nothing: [memory stdio];
    edge_03_equal_ids_on_two_streams_are_two_requests: [per_request http_auto http_sse http_json];
    edge_12_a_result_that_cannot_be_encoded_is_an_error: all;
    edge_13_what_a_handler_gives_after_the_cancel_is_not_sent: all;
    edge_15_a_cancelled_handler_never_stops_the_read_loop: all;
    edge_18_shutting_down_with_a_wedged_reader_ends_within_a_bound: open;
    edge_18_the_end_of_input_with_a_wedged_reader_ends_within_a_bound: [memory stdio];
    edge_20_a_lost_connection_cancels_every_handler: all;
    edge_25_progress_stays_with_its_request: live, sockets;
    edge_28_a_stuck_reader_never_blocks_the_handler: live;
    edge_41_the_first_handler_may_report_before_anything_was_written: live;
    edge_42_discover_lists_and_cancels_are_served_while_every_slot_is_busy: all;
}

fn quick_and_endless(trace: &Trace) -> Server<M> {
    let trace = trace.clone();
    Server::<M>::builder("t", "1")
        .slots(2)
        .tool("quick", |_: NoArguments, _: Context<(), M>| async { Ok("quick") })
        .tool("endless", move |_: NoArguments, _: Context<(), M>| {
            trace.note("starts");
            let flag = DropFlag::new(&trace, "dropped");
            async move {
                let _flag = flag;
                pending::<Result<&str, Exit>>().await
            }
        })
        .build()
        .unwrap()
}

fn gated(gate: &Gate) -> Server<M> {
    let gate = gate.clone();
    Server::<M>::builder("t", "1")
        .tool("t", move |arguments: serde_json::Map<String, Value>, _: Context<(), M>| {
            let gate = gate.clone();
            async move {
                gate.passed().await;
                Ok(arguments.keys().cloned().collect::<String>())
            }
        })
        .build()
        .unwrap()
}

fn text(line: &Value) -> &str {
    line["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("a text in {line}"))
}

async fn edge_03_a_second_request_with_an_id_in_flight_disturbs_nothing(b: Bench) {
    let gate = Gate::new();
    let mut wire = b.serve(gated(&gate)).wire();
    wire.send(&tool(1, "t", &json!({"first": 0}))).await;
    wire.send(&tool(1, "t", &json!({"second": 0}))).await;
    wire.send(&tool(1, "no/such", &json!({}))).await;
    wire.send(&request(1, "server/discover", json!({}), &json!({}))).await;
    assert!(wire.drain().await.is_empty(), "nothing that could be taken for the first one's answer");
    wire.send(&tool("1", "t", &json!({"third": 0}))).await;
    gate.open();
    let lines = wire.drain().await;
    assert_eq!(text(response(&lines, 1)), "first");
    assert_eq!(text(response(&lines, "1")), "third", "another id");
    wire.send(&tool(1, "t", &json!({"again": 0}))).await;
    assert_eq!(text(&wire.answer(1).await), "again", "after its answer the id is free");
}

async fn edge_03_equal_ids_on_two_streams_are_two_requests(b: Bench) {
    let gate = Gate::new();
    let rig = b.serve(gated(&gate));
    let (mut one, mut two) = (rig.wire(), rig.wire());
    one.send(&tool(1, "t", &json!({"first": 0}))).await;
    two.send(&tool(1, "t", &json!({"second": 0}))).await;
    b.settle().await;
    gate.open();
    assert_eq!(text(&one.answer(1).await), "first");
    assert_eq!(text(&two.answer(1).await), "second");
}

async fn edge_12_a_result_that_cannot_be_encoded_is_an_error(b: Bench) {
    let impossible = || std::collections::BTreeMap::from([(vec![1], 2)]);
    let server = Server::<M>::builder("t", "1")
        .tool("function", move |_: NoArguments, _: Context<(), M>| async move { Ok(Untyped(impossible())) })
        .stream_tool("stream", move |_: NoArguments, _| {
            generator(async move |_| Ok::<_, Exit>(Untyped(impossible())))
        })
        .blocking_tool("blocking", move |_: NoArguments, _| Ok(Untyped(impossible())))
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let pool = b.lab.external();
    for name in ["function", "stream", "blocking"] {
        wire.send(&tool(name, name, &json!({}))).await;
        assert_eq!(wire.answer(name).await["error"]["code"], -32603);
    }
    drop(pool);
    assert!(wire.drain().await.is_empty());
}

async fn edge_13_what_a_handler_gives_after_the_cancel_is_not_sent(b: Bench) {
    let (stop, trace) = (Gate::new(), Trace::new());
    let body = |end: fn() -> Result<&'static str, Exit>| {
        let (stop, trace) = (stop.clone(), trace.clone());
        let over = Gate::new();
        let (begun, ended) = (Gate::new(), over.clone());
        let begin = begun.clone();
        let code = move |_: NoArguments, cx: Context<(), sansio_mcp_sdk::Shared>| {
            let _ended = OnDrop(ended.clone());
            begin.open();
            stop.wait();
            trace.note(format!("cancelled: {}", cx.is_cancelled()));
            end()
        };
        (code, begun, over)
    };
    let (returns, returns_begun, returned) = body(|| Ok("late"));
    let (fails, fails_begun, failed) = body(|| Err(Exit::failure("late")));
    let (panics, panics_begun, panicked) = body(|| panic!("late"));
    let server = Server::<M>::builder("t", "1")
        .blocking_tool("returns", returns)
        .blocking_tool("fails", fails)
        .blocking_tool("panics", panics)
        .tool("quick", |_: NoArguments, _: Context<(), M>| async { Ok("quick") })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let pool = b.lab.external();
    for (name, begun) in [("returns", returns_begun), ("fails", fails_begun), ("panics", panics_begun)] {
        wire.send(&tool(name, name, &json!({}))).await;
        begun.passed().await;
        wire.cancel(name).await;
    }
    wire.send(&tool("quick", "quick", &json!({}))).await;
    wire.answer("quick").await;
    stop.open();
    for over in [returned, failed, panicked] {
        over.passed().await;
    }
    drop(pool);
    assert!(wire.drain().await.is_empty());
    assert_eq!(trace.count("cancelled: true"), 3);
}

struct OnDrop(Gate);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.open();
    }
}

async fn edge_15_a_cancelled_handler_never_stops_the_read_loop(b: Bench) {
    let (go, begun, returned) = (Gate::new(), Gate::new(), Gate::new());
    let (wait, begin, clean) = (go.clone(), begun.clone(), returned.clone());
    let server = Server::<M>::builder("t", "1")
        .slots(1)
        .blocking_tool("hangs", move |_: NoArguments, cx| {
            let clean = clean.clone();
            cx.on_exit(async move {
                clean.open();
                pending::<()>().await;
            });
            begin.open();
            wait.wait();
            Ok("never")
        })
        .tool("quick", |_: NoArguments, _: Context<(), M>| async { Ok("quick") })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let pool = b.lab.external();
    wire.send(&tool(1, "hangs", &json!({}))).await;
    begun.passed().await;
    wire.cancel(1).await;
    // Its slot is taken until it is over; everything else goes on.
    wire.send(&tool(2, "quick", &json!({}))).await;
    for id in 3..20 {
        wire.send(&request(id, "tools/list", json!({}), &json!({}))).await;
        wire.answer(id).await;
    }
    go.open();
    wire.send(&request(20, "tools/list", json!({}), &json!({}))).await;
    wire.answer(20).await;
    returned.passed().await;
    drop(pool);
    b.pass(Duration::from_secs(6)).await;
    assert_eq!(text(&wire.answer(2).await), "quick", "after the body and the bound of its clean-up");
    assert!(wire.drain().await.is_empty());
}

async fn edge_18_shutting_down_with_a_wedged_reader_ends_within_a_bound(mut b: Bench) {
    b.capacity = 64;
    let gate = Gate::new();
    let mut rig = b.serve(gated(&gate));
    let mut wire = rig.wire();
    for id in 1..=3 {
        wire.send(&tool(id, "t", &json!({"x": 0}))).await;
    }
    b.settle().await;
    // The first answer wedges; those behind it wake a transport that can do nothing.
    gate.open();
    b.settle().await;
    rig.engine().unwrap().shutdown();
    b.pass(Duration::from_secs(4)).await;
    assert!(rig.has_ended(), "the driver");
    if b.is_shared() {
        assert_eq!(rig.facts().unwrap().channels, 0, "and the transport, on whose bytes nobody waits");
    }
    rig.release();
}

async fn edge_18_the_end_of_input_with_a_wedged_reader_ends_within_a_bound(mut b: Bench) {
    b.capacity = 64;
    let server = Server::<M>::builder("t", "1")
        .tool("t", |_: NoArguments, _: Context<(), M>| async { Ok("x".repeat(50_000)) })
        .build()
        .unwrap();
    let mut rig = b.serve(server);
    let mut wire = rig.wire();
    rig.release();
    for id in 1..=10 {
        wire.send(&tool(id, "t", &json!({}))).await;
    }
    b.settle().await;
    wire.end_input();
    b.pass(Duration::from_secs(5)).await;
    assert!(rig.has_ended(), "though its answers were not read");
}

async fn edge_20_a_lost_connection_cancels_every_handler(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let nap = b.nap(Duration::from_secs(1));
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let (trace, nap) = (for_tool.clone(), nap.clone());
            let flag = DropFlag::new(&trace, "dropped");
            cx.on_exit(async move { trace.note("cleaned up") });
            async move {
                let _flag = flag;
                for n in 0..100 {
                    cx.progress(f64::from(n), "x");
                    nap().await;
                }
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let mut rig = b.serve(server);
    let mut wire = rig.wire();
    for id in 1..=3 {
        wire.send(&tool_with(id, "t", id)).await;
    }
    b.settle().await;
    wire.break_reading();
    rig.release();
    b.pass(Duration::from_millis(1100)).await;
    assert_eq!((trace.count("dropped"), trace.count("cleaned up")), (3, 3));
    drop(wire);
    b.settle().await;
    assert!(rig.has_ended());
    assert!(b.log.has("LOST"));
}

async fn edge_25_progress_stays_with_its_request(b: Bench) {
    let nap = b.nap(Duration::from_millis(1));
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let nap = nap.clone();
            async move {
                for n in 0..20 {
                    cx.progress(f64::from(n), cx.request().wire_id());
                    nap().await;
                }
                Ok(cx.request().wire_id().to_string())
            }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    for id in 1..=3 {
        wire.send(&tool_with(id, "t", id)).await;
    }
    if !b.is_shared() {
        // On the stream of a request nothing but its own.
        for id in [3, 1, 2] {
            for n in 0..20 {
                let line = wire.line(id).await;
                assert_eq!(
                    (&line["params"]["progressToken"], &line["params"]["progress"]),
                    (&json!(id), &json!(n))
                );
            }
            assert_eq!(text(&wire.line(id).await), id.to_string());
        }
        return;
    }
    b.pass(Duration::from_secs(1)).await;
    let lines = wire.drain().await;
    for id in 1..=3 {
        let own: Vec<&Value> = lines.iter().filter(|line| line["params"]["progressToken"] == id).collect();
        assert_eq!(own.len(), 20);
        let text = id.to_string();
        assert!(own.iter().all(|line| line["params"]["message"].as_str() == Some(text.as_str())));
        assert_eq!(response(&lines, id)["result"]["content"][0]["text"], text.as_str());
    }
}

async fn edge_28_a_stuck_reader_never_blocks_the_handler(mut b: Bench) {
    b.capacity = 256;
    let trace = Trace::new();
    let for_tool = trace.clone();
    let nap = b.nap(Duration::from_millis(1));
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let (trace, nap) = (for_tool.clone(), nap.clone());
            async move {
                let text = "x".repeat(10_000);
                for n in 0..100 {
                    cx.progress(f64::from(n), &text);
                    nap().await;
                }
                trace.note("returned");
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    b.pass(Duration::from_millis(110)).await;
    assert_eq!(trace.all(), ["returned"], "though not a byte was read");
    let lines = wire.drain().await;
    assert_eq!(text(response(&lines, 1)), "done");
    assert_eq!(progress_of(&lines, 1).last(), Some(&99.0));
}

async fn edge_41_the_first_handler_may_report_before_anything_was_written(b: Bench) {
    let gate = Gate::new();
    let go = gate.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let go = go.clone();
            async move {
                cx.progress(1.0, "hello");
                go.passed().await;
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    // The first line that this server ever writes, while its handler waits for us.
    assert_eq!(wire.line(1).await["params"]["message"], "hello");
    gate.open();
    assert_eq!(text(&wire.answer(1).await), "done");
}

async fn edge_42_discover_lists_and_cancels_are_served_while_every_slot_is_busy(b: Bench) {
    let trace = Trace::new();
    let mut wire = b.serve(quick_and_endless(&trace)).wire();
    for id in 1..=4 {
        wire.send(&tool(id, "endless", &json!({}))).await;
    }
    wire.send(&request(5, "server/discover", json!({}), &json!({}))).await;
    assert!(wire.answer(5).await["result"]["capabilities"]["tools"].is_object());
    wire.send(&request(6, "tools/list", json!({}), &json!({}))).await;
    assert_eq!(wire.answer(6).await["result"]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(trace.all(), ["starts", "starts"]);
    if b.is_shared() {
        wire.send(&cancel(1)).await;
    } else {
        wire.cancel(1).await;
    }
    b.settle().await;
    assert_eq!(trace.all(), ["starts", "starts", "dropped", "starts"], "the next one has its slot");
}

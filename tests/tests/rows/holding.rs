// C5, C6 and C8: blocking bodies, what holds slot and lane, and the signal as a value.

use std::future::{Future, pending};
use std::time::Duration;

use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server, ToolSpec};
use sansio_mcp_tests::{Bench, DropFlag, Gate, Trace, response, rows, tool};
use serde_json::json;

rows! {
    c5_check_cancelled_fails_once_the_request_is_cancelled: all;
    c5_a_body_that_never_asks_runs_to_its_end_for_nothing: all;
    c6_a_blocking_body_keeps_slot_and_lane_until_it_returns: all;
    c6_clean_up_keeps_slot_and_lane_until_it_ends: all;
    c6_clean_up_keeps_the_lane_also_after_an_answer: all;
    c8_the_signal_is_a_value_to_await_and_to_hand_on: all;
    c8_the_spawn_hook_changes_nothing: open;
}

async fn c5_check_cancelled_fails_once_the_request_is_cancelled(b: Bench) {
    let (trace, asked, cancelled, over) = (Trace::new(), Gate::new(), Gate::new(), Gate::new());
    let (for_tool, ask, stop, end) = (trace.clone(), asked.clone(), cancelled.clone(), over.clone());
    let server = Server::<M>::builder("t", "1")
        .blocking_tool("t", move |_: NoArguments, cx| {
            let result = (|| {
                for_tool.note(format!("lives: {:?}", cx.check_cancelled().is_ok()));
                ask.open();
                stop.wait();
                cx.check_cancelled()?;
                for_tool.note("goes on");
                Ok("done")
            })();
            for_tool.note(format!("cancelled: {}", result.as_ref().is_err_and(Exit::is_cancelled)));
            end.open();
            result
        })
        .tool("other", |_: NoArguments, _: Context<(), M>| async { Ok("other") })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let pool = b.lab.external();
    wire.send(&tool(1, "t", &json!({}))).await;
    asked.passed().await;
    wire.cancel(1).await;
    wire.send(&tool(2, "other", &json!({}))).await;
    wire.answer(2).await;
    cancelled.open();
    over.passed().await;
    drop(pool);
    assert!(wire.drain().await.is_empty(), "nothing on the wire");
    assert_eq!(trace.all(), ["lives: true", "cancelled: true"]);
}

async fn c5_a_body_that_never_asks_runs_to_its_end_for_nothing(b: Bench) {
    let (trace, begun, go, over) = (Trace::new(), Gate::new(), Gate::new(), Gate::new());
    let (for_tool, begin, wait, end) = (trace.clone(), begun.clone(), go.clone(), over.clone());
    let server = Server::<M>::builder("t", "1")
        .blocking_tool("t", move |_: NoArguments, _| {
            begin.open();
            wait.wait();
            for_tool.note("ran to its end");
            end.open();
            Ok("a result that nobody gets")
        })
        .tool("other", |_: NoArguments, _: Context<(), M>| async { Ok("other") })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let pool = b.lab.external();
    wire.send(&tool(1, "t", &json!({}))).await;
    begun.passed().await;
    wire.cancel(1).await;
    wire.send(&tool(2, "other", &json!({}))).await;
    wire.answer(2).await;
    go.open();
    over.passed().await;
    drop(pool);
    assert!(wire.drain().await.is_empty());
    assert_eq!(trace.all(), ["ran to its end"]);
}

async fn c6_a_blocking_body_keeps_slot_and_lane_until_it_returns(b: Bench) {
    let (trace, begun, go) = (Trace::new(), Gate::new(), Gate::new());
    let (for_tool, begin, wait) = (trace.clone(), begun.clone(), go.clone());
    let server = Server::<M>::builder("t", "1")
        .slots(2)
        .blocking_tool(ToolSpec::new("pay").one_at_a_time(), move |_: NoArguments, _| {
            for_tool.note("begins");
            begin.open();
            wait.wait();
            for_tool.note("ends");
            Ok("paid")
        })
        .tool("other", |_: NoArguments, _: Context<(), M>| async { Ok("other") })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    let pool = b.lab.external();
    wire.send(&tool(1, "pay", &json!({}))).await;
    begun.passed().await;
    wire.cancel(1).await;
    wire.send(&tool(2, "pay", &json!({}))).await;
    // Two calls through the other slot: by then the lane would have been given on.
    for id in [3, 4] {
        wire.send(&tool(id, "other", &json!({}))).await;
        wire.answer(id).await;
    }
    assert_eq!(trace.all(), ["begins"]);
    if let Some(facts) = rig.facts() {
        assert_eq!((facts.running, facts.waiting), (1, 1));
    }
    go.open();
    let answer = wire.answer(2).await;
    drop(pool);
    assert_eq!(answer["result"]["content"][0]["text"], "paid");
    assert_eq!(trace.all(), ["begins", "ends", "begins", "ends"]);
    assert!(wire.drain().await.is_empty());
}

/// A mutation with a clean-up of two seconds; `run` is its body.
fn mutation(
    b: &Bench,
    trace: &Trace,
    endless: bool,
) -> impl Fn(
    NoArguments,
    Context<(), M>,
) -> std::pin::Pin<Box<dyn Future<Output = Result<&'static str, Exit>> + Send>>
+ Send
+ Sync
+ use<> {
    let (trace, nap) = (trace.clone(), b.nap(Duration::from_secs(2)));
    move |_, cx| {
        let (own, nap) = (trace.clone(), nap.clone());
        let id = cx.request().wire_id().to_string();
        trace.note(format!("starts {id}"));
        let endless = endless && id == "1";
        cx.on_exit(async move {
            nap().await;
            own.note(format!("over {id}"));
        });
        Box::pin(async move { if endless { pending().await } else { Ok("done") } })
    }
}

async fn c6_clean_up_keeps_slot_and_lane_until_it_ends(b: Bench) {
    let trace = Trace::new();
    let spec = ToolSpec::new("pay").one_at_a_time();
    let server =
        Server::<M>::builder("t", "1").slots(1).tool(spec, mutation(&b, &trace, true)).build().unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool(1, "pay", &json!({}))).await;
    wire.send(&tool(2, "pay", &json!({}))).await;
    b.settle().await;
    wire.cancel(1).await;
    b.pass(Duration::from_millis(1990)).await;
    assert_eq!(trace.all(), ["starts 1"]);
    b.pass(Duration::from_millis(20)).await;
    assert_eq!(trace.all(), ["starts 1", "over 1", "starts 2"]);
}

async fn c6_clean_up_keeps_the_lane_also_after_an_answer(b: Bench) {
    let trace = Trace::new();
    let spec = ToolSpec::new("pay").one_at_a_time();
    let server =
        Server::<M>::builder("t", "1").slots(4).tool(spec, mutation(&b, &trace, false)).build().unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool(1, "pay", &json!({}))).await;
    wire.send(&tool(2, "pay", &json!({}))).await;
    let lines = wire.drain().await;
    response(&lines, 1);
    assert_eq!((lines.len(), trace.all().len()), (1, 1));
    b.pass(Duration::from_secs(2)).await;
    assert_eq!(trace.all(), ["starts 1", "over 1", "starts 2"]);
}

async fn c8_the_signal_is_a_value_to_await_and_to_hand_on(b: Bench) {
    let (trace, handed) = (Trace::new(), std::sync::Arc::new(std::sync::Mutex::new(None)));
    let (for_tool, hand) = (trace.clone(), handed.clone());
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            *hand.lock().unwrap() = Some(cx.cancelled());
            let trace = for_tool.clone();
            // Clean-up still runs when it is awaited there.
            cx.on_exit({
                let signal = cx.cancelled();
                async move {
                    signal.clone().await;
                    trace.note(format!("clean-up knows: {}", signal.is_cancelled()));
                }
            });
            pending::<Result<&str, Exit>>()
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    b.settle().await;
    let signal = handed.lock().unwrap().take().expect("the handler has run");
    assert!(!signal.is_cancelled());
    // Another task, and two that wait for the same.
    let (other, here) = (signal.clone(), trace.clone());
    b.lab.spawn(async move {
        other.await;
        here.note("another task");
    });
    let third = signal.clone();
    let here = trace.clone();
    b.lab.spawn(async move {
        third.await;
        here.note("a third task");
    });
    b.settle().await;
    assert!(trace.all().is_empty());
    wire.cancel(1).await;
    signal.await;
    b.settle().await;
    let mut all = trace.all();
    all.sort();
    assert_eq!(all, ["a third task", "another task", "clean-up knows: true"]);
}

async fn c8_the_spawn_hook_changes_nothing(b: Bench) {
    type Work = <M as sansio_mcp_sdk::Mode>::Future<()>;
    let works = std::sync::Arc::new(std::sync::Mutex::new(Vec::<Work>::new()));
    let (queue, trace) = (works.clone(), Trace::new());
    let for_tool = trace.clone();
    let nap = b.nap(Duration::from_secs(1));
    let server = Server::<M>::builder("t", "1")
        .spawn_with(move |work| queue.lock().unwrap().push(work))
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let (trace, nap) = (for_tool.clone(), nap.clone());
            let flag = DropFlag::new(&trace, "dropped");
            cx.on_exit(async move {
                nap().await;
                trace.note("cleaned up");
            });
            async move {
                let _flag = flag;
                pending::<Result<&str, Exit>>().await
            }
        })
        .tool("quick", |_: NoArguments, _: Context<(), M>| async { Ok("done") })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    wire.send(&tool(2, "quick", &json!({}))).await;
    assert!(wire.drain().await.is_empty(), "nothing runs before the executor runs it");
    let taken = std::mem::take(&mut *works.lock().unwrap());
    assert_eq!(taken.len(), 2);
    for work in taken {
        b.lab.spawn(work);
    }
    response(&wire.drain().await, 2);
    wire.cancel(1).await;
    b.settle().await;
    assert_eq!((trace.all(), rig.running_or(1)), (vec!["dropped".to_owned()], 1));
    b.pass(Duration::from_secs(2)).await;
    assert_eq!((trace.all().len(), rig.running_or(0)), (2, 0));
}

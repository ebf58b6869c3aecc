// C9 to C11: who wins the race, the client's side of cancelling, and the codes of every end.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use sansio_mcp_sdk::client::{CallError, ToolCall};
use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server, generator};
use sansio_mcp_tests::{
    Bench, DropFlag, Gate, Rig, Trace, cancel, response, responses, rows, tool, tool_with,
};
use serde_json::{Value, json};

rows! {
    c9_cancelled_first_no_response_ever: all;
    c9_completed_first_the_cancel_is_a_no_op: all;
    c9_cancel_and_completion_in_the_same_turn_are_decided_once: [memory stdio];
    c9_a_response_not_yet_taken_is_withdrawn: [memory];
    c9_unknown_finished_and_malformed_cancels_leave_no_trace: [memory stdio];
    c9_a_cancelled_id_is_free_again: all;
    c10_dropping_the_call_cancels_it: all, sockets;
    c10_dropping_one_call_leaves_the_other_alone: all;
    c10_nothing_is_sent_for_a_call_that_was_not_written: all;
    c10_the_idle_deadline_cancels: all;
    c10_progress_rearms_the_idle_deadline_and_never_the_total: live;
    c10_the_late_answer_is_dropped_silently: all;
    c11_every_end_has_its_own_code_at_the_caller_and_in_the_log: all;
    c11_a_refusal_at_the_lane_is_logged_as_busy: all;
    c11_a_refusal_for_too_many_in_flight_is_logged_as_busy: [memory];
    c11_the_servers_log_says_why_a_request_was_stopped: all;
}

/// A tool that never ends and notes its drop, and one that ends at once.
fn two_tools(trace: &Trace) -> Server<M> {
    let trace = trace.clone();
    Server::<M>::builder("t", "1")
        .tool("endless", move |_: NoArguments, _: Context<(), M>| {
            let flag = DropFlag::new(&trace, "dropped");
            trace.note("starts");
            async move {
                let _flag = flag;
                pending::<Result<&str, Exit>>().await
            }
        })
        .tool("quick", |_: NoArguments, _: Context<(), M>| async { Ok("quick") })
        .build()
        .unwrap()
}

async fn poll_once(call: &mut ToolCall) -> Poll<Result<sansio_mcp::model::CallToolResult, CallError>> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *call).poll(cx))).await
}

async fn c9_cancelled_first_no_response_ever(b: Bench) {
    let (gate, trace) = (Gate::new(), Trace::new());
    let (go, for_tool) = (gate.clone(), trace.clone());
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, _: Context<(), M>| {
            let (go, trace) = (go.clone(), for_tool.clone());
            async move {
                go.passed().await;
                trace.note("returns");
                Ok("late")
            }
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
    assert!(trace.all().is_empty());
    assert!(b.log.has("CANCELLED") || b.log.has("LOST"));
}

async fn c9_completed_first_the_cancel_is_a_no_op(b: Bench) {
    let trace = Trace::new();
    let mut wire = b.serve(two_tools(&trace)).wire();
    wire.send(&tool(1, "quick", &json!({}))).await;
    b.settle().await;
    if b.is_shared() {
        // The answer is on its way: too late, and nothing else is disturbed.
        wire.cancel(1).await;
        let lines = wire.drain().await;
        response(&lines, 1);
        assert_eq!(lines.len(), 1);
    } else {
        wire.answer(1).await;
        wire.cancel(1).await;
    }
    wire.send(&tool(2, "quick", &json!({}))).await;
    response(&wire.drain().await, 2);
    assert!(!b.log.has("CANCELLED"), "nothing was stopped");
}

async fn c9_cancel_and_completion_in_the_same_turn_are_decided_once(b: Bench) {
    let mut wire = b.serve(two_tools(&Trace::new())).wire();
    // In one write, so in one turn of the server: read first, cancelled first.
    let both = format!("{}\n{}\n{}\n", tool(1, "quick", &json!({})), cancel(1), tool(2, "quick", &json!({})));
    wire.bytes(both).await;
    let lines = wire.drain().await;
    assert!(responses(&lines, 1).is_empty(), "{lines:?}");
    response(&lines, 2);
    assert_eq!(lines.len(), 1);
}

async fn c9_a_response_not_yet_taken_is_withdrawn(mut b: Bench) {
    b.capacity = 4096;
    let server = Server::<M>::builder("t", "1")
        .tool("large", |_: NoArguments, _: Context<(), M>| async { Ok("x".repeat(100_000)) })
        .tool("quick", |_: NoArguments, _: Context<(), M>| async { Ok("quick") })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    // The first answer fills the pipe and the batch; the second waits behind it.
    for id in [1, 2, 3] {
        wire.send(&tool(id, if id == 1 { "large" } else { "quick" }, &json!({}))).await;
        b.settle().await;
    }
    wire.send(&cancel(2)).await;
    b.settle().await;
    let lines = wire.drain().await;
    response(&lines, 1);
    response(&lines, 3);
    assert_eq!(lines.len(), 2, "the second was withdrawn");
}

async fn c9_unknown_finished_and_malformed_cancels_leave_no_trace(b: Bench) {
    let trace = Trace::new();
    let mut wire = b.serve(two_tools(&trace)).wire();
    wire.send(&tool(0, "endless", &json!({}))).await;
    wire.send(&tool(1, "endless", &json!({}))).await;
    wire.send(&tool(5, "quick", &json!({}))).await;
    wire.answer(5).await;
    let notify =
        |params: Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    for message in [
        cancel(99),
        cancel(5),
        cancel("1"),
        cancel("0"),
        cancel(true),
        cancel(1.5),
        cancel(Value::Null),
        notify(json!({})),
        notify(json!([])),
        notify(json!({"requestId": [1]})),
        notify(json!({"requestId": 1, "reason": 7})),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}),
    ] {
        wire.send(&message).await;
    }
    assert!(wire.drain().await.is_empty());
    assert!(!trace.has("dropped"), "none of these cancels anything");
    wire.send(&cancel(0)).await;
    assert!(wire.drain().await.is_empty());
    assert_eq!(trace.count("dropped"), 1, "0 is an id");
}

async fn c9_a_cancelled_id_is_free_again(b: Bench) {
    let (begun, gate, over) = (Gate::new(), Gate::new(), Gate::new());
    let (begin, go, end) = (begun.clone(), gate.clone(), over.clone());
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::<M>::builder("t", "1")
        .blocking_tool("t", move |_: NoArguments, _| {
            let n = count.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
            if n == 0 {
                begin.open();
                go.wait();
                end.open();
            }
            Ok(format!("run {n}"))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let pool = b.lab.external();
    wire.send(&tool(1, "t", &json!({}))).await;
    begun.passed().await;
    wire.cancel(1).await;
    wire.send(&tool(1, "t", &json!({}))).await;
    assert_eq!(wire.answer(1).await["result"]["content"][0]["text"], "run 1");
    wire.send(&tool(1, "t", &json!({}))).await;
    assert_eq!(wire.answer(1).await["result"]["content"][0]["text"], "run 2");
    // The first body's late answer goes to none of its id's later owners.
    gate.open();
    over.passed().await;
    drop(pool);
    assert!(wire.drain().await.is_empty());
}

async fn c10_dropping_the_call_cancels_it(b: Bench) {
    let trace = Trace::new();
    let rig = b.serve(two_tools(&trace));
    let client = rig.client();
    let mut call = client.call_tool("endless", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    b.settle().await;
    assert_eq!(trace.all(), ["starts"]);
    drop(call);
    b.settle().await;
    assert_eq!(trace.all(), ["starts", "dropped"]);
    assert_eq!(client.open_calls(), 0);
    let reason = if b.is_shared() { "CANCELLED" } else { "LOST" };
    assert!(b.log.has(reason), "by notification, or by closing the stream: {:?}", b.log.codes());
}

async fn c10_dropping_one_call_leaves_the_other_alone(b: Bench) {
    let (gate, trace) = (Gate::new(), Trace::new());
    let (go, for_tool) = (gate.clone(), trace.clone());
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, _: Context<(), M>| {
            let (go, flag) = (go.clone(), DropFlag::new(&for_tool, "dropped"));
            async move {
                go.passed().await;
                std::mem::forget(flag);
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let client = rig.client();
    let mut calls: Vec<ToolCall> = (0..3).map(|_| client.call_tool("t", &json!({}))).collect();
    for call in &mut calls {
        assert!(poll_once(call).await.is_pending());
    }
    b.settle().await;
    drop(calls.remove(1));
    b.settle().await;
    assert_eq!(trace.all(), ["dropped"]);
    gate.open();
    for call in calls {
        assert_eq!(call.await.unwrap().first_text(), Some("done"));
    }
}

async fn c10_nothing_is_sent_for_a_call_that_was_not_written(b: Bench) {
    let trace = Trace::new();
    let rig = b.serve(two_tools(&trace));
    let client = rig.client();
    b.settle().await;
    let mut call = client.call_tool("endless", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    // The transport has had no turn.
    drop(call);
    b.settle().await;
    assert!(trace.all().is_empty(), "no request");
    assert!(b.log.codes().iter().all(|code| code == "CANCELLED"), "{:?}", b.log.codes());
    assert_eq!(b.log.codes().len(), 1, "the client's own line; the server heard of no cancel");
    assert_eq!(client.call_tool("quick", &json!({})).await.unwrap().first_text(), Some("quick"));
}

async fn c10_the_idle_deadline_cancels(b: Bench) {
    let trace = Trace::new();
    let rig = b.serve(two_tools(&trace));
    let client = rig.client();
    let error =
        client.call_tool("endless", &json!({})).idle_timeout(Duration::from_secs(7)).await.unwrap_err();
    assert_eq!(error.code(), "TIMED_OUT_IDLE");
    assert_eq!(b.clock().elapsed().as_secs(), 7);
    b.settle().await;
    assert_eq!(trace.all(), ["starts", "dropped"]);
}

async fn c10_progress_rearms_the_idle_deadline_and_never_the_total(b: Bench) {
    let nap = b.nap(Duration::from_secs(6));
    let server = Server::<M>::builder("t", "1")
        .stream_tool("t", move |_: NoArguments, _| {
            let nap = nap.clone();
            generator(async move |y| {
                for n in 0..100 {
                    nap().await;
                    y.progress(f64::from(n), "still").await;
                }
                Ok::<_, Exit>("done")
            })
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let client = rig.client();
    let seen = Trace::new();
    let note = seen.clone();
    let call = client
        .call_tool("t", &json!({}))
        .idle_timeout(Duration::from_secs(7))
        .total_timeout(Some(Duration::from_secs(45)))
        .on_progress(move |progress| note.note(progress.progress.to_string()));
    let error = call.await.unwrap_err();
    assert_eq!(error.code(), "TIMED_OUT_TOTAL");
    assert_eq!(b.clock().elapsed().as_secs(), 45);
    assert_eq!(seen.all(), ["0", "1", "2", "3", "4", "5", "6"]);
}

async fn c10_the_late_answer_is_dropped_silently(b: Bench) {
    let (gate, nap) = (Gate::new(), b.nap(Duration::from_secs(2)));
    let go = gate.clone();
    let server = Server::<M>::builder("t", "1")
        .blocking_tool("t", move |_: NoArguments, _| {
            go.wait();
            Ok("late")
        })
        .tool("slow", move |_: NoArguments, _: Context<(), M>| {
            let nap = nap.clone();
            async move {
                nap().await;
                Ok("slow")
            }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let client = rig.client();
    let call = client.call_tool("slow", &json!({})).total_timeout(Some(Duration::from_secs(1)));
    assert_eq!(call.await.unwrap_err().code(), "TIMED_OUT_TOTAL");
    let pool = b.lab.external();
    let mut call = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    drop(call);
    gate.open();
    drop(pool);
    b.pass(Duration::from_secs(9)).await;
    assert_eq!(client.call_tool("slow", &json!({})).await.unwrap().first_text(), Some("slow"));
    assert_eq!(client.open_calls(), 0);
    if b.is_shared() {
        // A server that has not heard of the cancel yet.
        let (client, pump, mut peer) = b.peer();
        let mut call = client.call_tool("t", &json!({}));
        assert!(poll_once(&mut call).await.is_pending());
        let id = peer.drain().await[0]["id"].clone();
        drop(call);
        peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}})).await;
        peer.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "late"}})).await;
        b.settle().await;
        assert!(!pump.is_done());
    }
    assert!(!b.log.mentions("broke a rule") && !b.log.mentions("never made"), "{:?}", b.log.events());
}

async fn c11_every_end_has_its_own_code_at_the_caller_and_in_the_log(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .slots(1)
        .queue(0)
        .tool("endless", move |_: NoArguments, _: Context<(), M>| {
            for_tool.note("starts");
            pending::<Result<&str, Exit>>()
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let (client, transport) = rig.client_and_task();
    let mut codes = Vec::new();
    let mut held = client.call_tool("endless", &json!({}));
    assert!(poll_once(&mut held).await.is_pending());
    b.settle().await;

    let busy = client.call_tool("endless", &json!({})).await.unwrap_err();
    assert!(busy.is_busy() && busy.retry_after_ms().is_some_and(|after| after > 0), "{busy:?}");
    codes.push(busy.code());
    assert!(
        b.log.events().iter().filter(|e| e.fields.get("code").is_some_and(|c| c == "SERVER_BUSY")).count()
            >= 2,
        "at the server and at the client: {:?}",
        b.log.codes()
    );

    held.cancel("changed my mind");
    codes.push(held.await.unwrap_err().code());
    b.settle().await;
    if b.is_shared() {
        assert!(b.log.mentions("changed my mind"), "the server's log has the reason");
    }
    for (idle, total) in [(Some(Duration::from_secs(1)), None), (None, Some(Duration::from_secs(1)))] {
        let mut call = client.call_tool("endless", &json!({})).total_timeout(total);
        if let Some(idle) = idle {
            call = call.idle_timeout(idle);
        }
        codes.push(call.await.unwrap_err().code());
        b.settle().await;
    }
    codes.push(client.call_tool("nobody", &json!({})).await.unwrap_err().code());
    let mut lost = client.call_tool("endless", &json!({}));
    assert!(poll_once(&mut lost).await.is_pending());
    b.settle().await;
    transport.abort();
    let error = lost.await.unwrap_err();
    codes.push(error.code());
    assert_eq!(client.call_tool("endless", &json!({})).await.unwrap_err(), error, "the cause is kept");
    let (closed, _transport, _peer) = b.peer();
    closed.close();
    codes.push(closed.call_tool("endless", &json!({})).await.unwrap_err().code());
    let want =
        ["SERVER_BUSY", "CANCELLED", "TIMED_OUT_IDLE", "TIMED_OUT_TOTAL", "PEER_ERROR", "LOST", "CLOSED"];
    assert_eq!(codes, want);
    for code in want {
        assert!(b.log.has(code), "{code} in the operator's log: {:?}", b.log.codes());
    }
    assert_eq!(trace.count("starts"), 4);
}

async fn c11_a_refusal_at_the_lane_is_logged_as_busy(b: Bench) {
    let spec = sansio_mcp_sdk::server::ToolSpec::new("t").one_at_a_time();
    let server = Server::<M>::builder("t", "1")
        .slots(8)
        .queue(1)
        .tool(spec, |_: NoArguments, _: Context<(), M>| pending::<Result<&str, Exit>>())
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    for id in [1, 2, 3] {
        wire.send(&tool(id, "t", &json!({}))).await;
    }
    let lines = wire.drain().await;
    let error = &response(&lines, 3)["error"];
    assert_eq!((&error["code"], &error["data"]["code"]), (&json!(1001), &json!("SERVER_BUSY")));
    assert!(error["data"]["retryAfterMs"].as_u64().unwrap() > 0);
    assert_eq!(lines.len(), 1);
    assert_eq!(b.log.codes(), ["SERVER_BUSY"]);
}

async fn c11_a_refusal_for_too_many_in_flight_is_logged_as_busy(b: Bench) {
    let mut limits = sansio_mcp::limits::ServerLimits::default();
    limits.in_flight = 2;
    let server = Server::<M>::builder("t", "1")
        .limits(limits)
        .tool("t", |_: NoArguments, _: Context<(), M>| pending::<Result<&str, Exit>>())
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    for id in [1, 2, 3] {
        wire.send(&tool(id, "t", &json!({}))).await;
        b.settle().await;
    }
    let lines = wire.drain().await;
    assert_eq!(response(&lines, 3)["error"]["data"]["code"], "SERVER_BUSY");
    assert_eq!(b.log.codes(), ["SERVER_BUSY"]);
}

async fn c11_the_servers_log_says_why_a_request_was_stopped(b: Bench) {
    let trace = Trace::new();
    let rig: Rig = b.serve(two_tools(&trace));
    let mut wire = rig.wire();
    wire.send(&tool_with(1, "endless", 1)).await;
    b.settle().await;
    wire.cancel(1).await;
    b.settle().await;
    assert_eq!(b.log.codes(), [if b.is_shared() { "CANCELLED" } else { "LOST" }]);
    if let Some(engine) = rig.engine() {
        wire.send(&tool(2, "endless", &json!({}))).await;
        b.settle().await;
        engine.shutdown();
        b.settle().await;
        assert_eq!(b.log.codes().last().unwrap(), "CLOSING");
        assert_eq!(trace.count("dropped"), 2);
    }
}

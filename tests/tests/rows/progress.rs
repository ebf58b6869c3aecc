// P3 and P5 to P7: what reaches the wire, and what it may cost.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use sansio_mcp::server::Progress;
use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Report, Server, generator};
use sansio_mcp_tests::{Bench, Gate, Trace, progress_of, response, rows, tool, tool_with};
use serde_json::{Value, json};

rows! {
    p3_progress_if_and_only_if_a_token: live;
    p3_a_null_token_is_an_invalid_request: all;
    p5_percent_maps_to_a_total_of_100_and_the_raw_form_to_anything: live;
    p5_what_does_not_increase_or_is_no_number_is_not_sent_and_told: live;
    p5_a_streams_refused_items_are_counted_and_logged: open_live;
    p5_a_streams_refused_items_are_not_sent: live;
    p6_nothing_after_the_response: live;
    p6_nothing_after_the_cancellation: live, sockets;
    p7_past_16_unsent_the_newest_replaces_the_last: live;
    p7_a_slow_reader_costs_bounded_lines_and_gets_newest_and_answer: live;
    p7_a_failed_write_of_progress_is_contained: all;
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("a text in {answer}"))
}

async fn p3_progress_if_and_only_if_a_token(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let trace = for_tool.clone();
            async move {
                trace.note(format!("{} {:?}", cx.wants_progress(), cx.progress(10.0, "x")));
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 1, "the answer alone: {lines:?}");
    assert_eq!(trace.all(), ["false NotAsked"]);
    for (n, token) in
        [json!(0), json!(""), json!(-1), json!("0"), json!(7), json!("seven")].into_iter().enumerate()
    {
        let id = n as i64 + 2;
        wire.send(&tool_with(id, "t", token.clone())).await;
        let lines = wire.drain().await;
        assert_eq!(progress_of(&lines, token.clone()), [10.0], "{token}");
        assert_eq!(lines.len(), 2);
        assert_eq!(text(response(&lines, id)), "done");
    }
    assert_eq!(trace.count("true Queued"), 6);
}

async fn p3_a_null_token_is_an_invalid_request(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, _: Context<(), M>| {
            for_tool.note("ran");
            async { Ok("done") }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    for (id, token) in [(1, Value::Null), (2, json!(1.5)), (3, json!(true)), (4, json!({}))] {
        wire.send(&tool_with(id, "t", token)).await;
        let lines = wire.drain().await;
        assert_eq!(response(&lines, id)["error"]["code"], -32602);
        assert_eq!(lines.len(), 1);
    }
    assert!(trace.all().is_empty());
}

async fn p5_percent_maps_to_a_total_of_100_and_the_raw_form_to_anything(b: Bench) {
    let server = Server::<M>::builder("t", "1")
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            assert_eq!(cx.progress(0.0, "begin"), Report::Queued);
            assert_eq!(cx.progress(12.5, "more"), Report::Queued);
            assert_eq!(cx.report(&Progress::new(250.0)), Report::Queued);
            assert_eq!(cx.report(&Progress::new(300.0).of(1000.0).message("rows")), Report::Queued);
            Ok("done")
        })
        .stream_tool("stream", |_: NoArguments, _| {
            generator(async |y| {
                y.progress(100.0, "all").await;
                y.report(250.0, None, None).await;
                y.report(300.0, Some(1000.0), Some("rows".into())).await;
                Ok::<_, Exit>("done")
            })
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    let params = |lines: &[Value]| -> Vec<Value> {
        lines.iter().filter(|line| line.get("method").is_some()).map(|line| line["params"].clone()).collect()
    };
    wire.send(&tool_with(1, "t", 1)).await;
    let want = [
        json!({"progressToken": 1, "progress": 0, "total": 100, "message": "begin"}),
        json!({"progressToken": 1, "progress": 12.5, "total": 100, "message": "more"}),
        json!({"progressToken": 1, "progress": 250}),
        json!({"progressToken": 1, "progress": 300, "total": 1000, "message": "rows"}),
    ];
    assert_eq!(params(&wire.drain().await), want);
    wire.send(&tool_with(2, "stream", 2)).await;
    let want = [
        json!({"progressToken": 2, "progress": 100, "total": 100, "message": "all"}),
        json!({"progressToken": 2, "progress": 250}),
        json!({"progressToken": 2, "progress": 300, "total": 1000, "message": "rows"}),
    ];
    assert_eq!(params(&wire.drain().await), want);
}

async fn p5_what_does_not_increase_or_is_no_number_is_not_sent_and_told(b: Bench) {
    let server = Server::<M>::builder("t", "1")
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            assert_eq!(cx.progress(10.0, "x"), Report::Queued);
            assert_eq!(cx.progress(5.0, "x"), Report::NotIncreasing);
            assert_eq!(cx.progress(10.0, "x"), Report::NotIncreasing);
            assert_eq!(cx.progress(f64::NAN, "x"), Report::OutOfRange);
            assert_eq!(cx.progress(f64::INFINITY, "x"), Report::OutOfRange);
            assert_eq!(cx.progress(-1.0, "x"), Report::OutOfRange);
            assert_eq!(cx.progress(100.5, "x"), Report::OutOfRange);
            assert_eq!(cx.report(&Progress::new(f64::NAN)), Report::OutOfRange);
            assert_eq!(cx.report(&Progress::new(20.0).of(f64::INFINITY)), Report::OutOfRange);
            // What was refused has not moved the mark.
            assert_eq!(cx.progress(10.5, "x"), Report::Queued);
            Ok("done")
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool_with(1, "t", 1)).await;
    let lines = wire.drain().await;
    assert_eq!(text(response(&lines, 1)), "done");
    assert_eq!(progress_of(&lines, 1), [10.0, 10.5]);
    if let Some(facts) = rig.facts() {
        assert_eq!(facts.refused_progress, 8);
    }
}

/// Yields seven steps, of which five are refused.
fn refusing_stream() -> Server<M> {
    Server::<M>::builder("t", "1")
        .stream_tool("t", |_: NoArguments, _| {
            generator(async |y| {
                y.progress(10.0, "x").await;
                for percent in [5.0, 5.0, 250.0] {
                    y.progress(percent, "refused").await;
                }
                y.report(f64::NAN, None, None).await;
                y.report(30.0, Some(f64::INFINITY), None).await;
                y.report(20.0, None, None).await;
                Ok::<_, Exit>("done")
            })
        })
        .build()
        .unwrap()
}

async fn p5_a_streams_refused_items_are_counted_and_logged(b: Bench) {
    let rig = b.serve(refusing_stream());
    let mut wire = rig.wire();
    wire.send(&tool_with(1, "t", 1)).await;
    wire.answer(1).await;
    assert_eq!(rig.facts().unwrap().refused_progress, 5);
    let logged = |report: &str| {
        b.log.events().iter().filter(|e| e.fields.get("report").is_some_and(|known| known == report)).count()
    };
    assert_eq!((logged("NotIncreasing"), logged("OutOfRange")), (2, 3));
}

async fn p5_a_streams_refused_items_are_not_sent(b: Bench) {
    let mut wire = b.serve(refusing_stream()).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    let lines = wire.drain().await;
    assert_eq!(progress_of(&lines, 1), [10.0, 20.0]);
    assert_eq!(text(response(&lines, 1)), "done");
    assert!(!b.log.has("PANIC"));
}

async fn p6_nothing_after_the_response(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let trace = for_tool.clone();
            async move {
                let late = cx.clone();
                cx.on_exit(async move { trace.note(format!("{:?}", late.progress(90.0, "late"))) });
                cx.progress(10.0, "x");
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    let lines = wire.drain().await;
    assert_eq!(progress_of(&lines, 1), [10.0]);
    assert_eq!(lines.last(), Some(response(&lines, 1)), "the response is the last line");
    assert_eq!(trace.all(), ["Over"]);
}

async fn p6_nothing_after_the_cancellation(b: Bench) {
    let (trace, stopped, over) = (Trace::new(), Gate::new(), Gate::new());
    let (for_tool, stop, end) = (trace.clone(), stopped.clone(), over.clone());
    let server = Server::<M>::builder("t", "1")
        .blocking_tool("t", move |_: NoArguments, cx| {
            cx.progress(10.0, "x");
            stop.wait();
            for_tool.note(format!("{:?}", cx.progress(90.0, "late")));
            end.open();
            Ok("done")
        })
        .tool("after", |_: NoArguments, _: Context<(), M>| async { Ok("after") })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    let pool = b.lab.external();
    wire.send(&tool_with(1, "t", 1)).await;
    assert_eq!(progress_of(&[wire.line(1).await], 1), [10.0]);
    wire.cancel(1).await;
    wire.send(&tool(2, "after", &json!({}))).await;
    wire.answer(2).await;
    stopped.open();
    over.passed().await;
    drop(pool);
    assert_eq!(wire.drain().await, [] as [Value; 0]);
    assert_eq!(trace.all(), ["Over"]);
}

async fn p7_past_16_unsent_the_newest_replaces_the_last(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let trace = for_tool.clone();
            async move {
                // All in one turn: nothing of it can have been sent.
                for n in 1..=40 {
                    trace.note(format!("{:?}", cx.progress(f64::from(n), "x")));
                }
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    let lines = wire.drain().await;
    let mut want: Vec<f64> = (1..16).map(f64::from).collect();
    want.push(40.0);
    assert_eq!(progress_of(&lines, 1), want);
    assert_eq!(text(response(&lines, 1)), "done");
    assert_eq!((trace.count("Queued"), trace.count("Replaced")), (16, 24));
}

async fn p7_a_slow_reader_costs_bounded_lines_and_gets_newest_and_answer(mut b: Bench) {
    b.capacity = 4096;
    let nap = b.nap(Duration::from_millis(1));
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let nap = nap.clone();
            async move {
                let text = "x".repeat(1000);
                for n in 1..=2000 {
                    cx.report(&Progress::new(f64::from(n)).message(&text));
                    nap().await;
                }
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    b.pass(Duration::from_secs(3)).await;
    let lines = wire.drain().await;
    let values = progress_of(&lines, 1);
    // What the pipe, a batch or two, and the queue hold; two thousand lines were reported.
    assert!(values.len() < 300, "{} lines were kept", values.len());
    assert!(values.is_sorted_by(|a, b| a < b));
    assert_eq!(values.last(), Some(&2000.0));
    assert_eq!(text(response(&lines, 1)), "done");
    assert_eq!(lines.last(), Some(response(&lines, 1)));
}

async fn p7_a_failed_write_of_progress_is_contained(b: Bench) {
    let trace = Trace::new();
    let (for_tool, gate) = (trace.clone(), Gate::new());
    let go = gate.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let (trace, go) = (for_tool.clone(), go.clone());
            async move {
                cx.on_exit({
                    let trace = trace.clone();
                    async move { trace.note("cleaned up") }
                });
                go.passed().await;
                trace.note(format!("{:?}", cx.progress(10.0, "x")));
                // The failed write ends the connection, not this code in the middle of a step.
                poll_fn(|_| Poll::<()>::Pending).await;
                Ok("done")
            }
        })
        .tool("other", |_: NoArguments, _: Context<(), M>| async { Ok("other") })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool_with(1, "t", 1)).await;
    b.settle().await;
    wire.break_reading();
    if b.is_shared() {
        gate.open();
    }
    b.settle().await;
    if b.is_shared() {
        assert_eq!(trace.all(), ["Queued", "cleaned up"]);
    } else {
        // A stream whose reader has gone is noticed before anything is written.
        assert_eq!(trace.all(), ["cleaned up"]);
    }
    assert!(b.log.has("LOST") && !b.log.has("PANIC"), "{:?}", b.log.codes());
    if rig.engine().is_some() {
        let mut wire = rig.wire();
        wire.send(&tool(2, "other", &json!({}))).await;
        assert_eq!(text(&wire.answer(2).await), "other");
    } else {
        b.settle().await;
        assert!(rig.has_ended(), "the server has ended cleanly");
    }
}

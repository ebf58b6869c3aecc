use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use futures_core::Stream;
use sansio_mcp::server::Progress;
use sansio_mcp_sdk::server::{Context, Exit, Json, NoArguments, Report, Server, Step, generator};
use sansio_mcp_tests::{Bench, DropFlag, Gate, Trace, progress_of, response, rows, tool, tool_with};
use serde_json::{Value, json};

rows! {
    p1_every_form_of_handler_answers_and_reports: all;
    p1_a_stream_without_its_final_item_is_an_internal_error: all;
    p1_nothing_is_polled_after_the_final_item: all;
    p1_notes_go_to_the_log_alone: all;
    p2_a_streams_final_item_is_converted_as_an_async_functions_value: all;
    p2_layers_run_after_the_stream_ended_and_see_its_error: all;
    p3_progress_if_and_only_if_a_token: all;
    p3_a_null_token_is_an_invalid_request: all;
    p5_percent_maps_to_a_total_of_100_and_the_raw_form_to_anything: all;
    p5_what_does_not_increase_or_is_no_number_is_not_sent_and_told: all;
    p5_a_streams_refused_items_are_counted_and_logged: [memory per_request];
    p5_a_streams_refused_items_are_not_sent: all;
    p6_nothing_after_the_response: all;
    p6_nothing_after_the_cancellation: all;
    p7_past_16_unsent_the_newest_replaces_the_last: all;
    p7_a_slow_reader_costs_bounded_lines_and_gets_newest_and_answer: all;
    p7_a_failed_write_of_progress_is_contained: all;
}

/// A stream that gives what it was given, then whatever `then` says.
struct Scripted {
    steps: VecDeque<Step<String>>,
    trace: Trace,
    _flag: DropFlag,
}

impl Scripted {
    fn new(trace: &Trace, steps: impl IntoIterator<Item = Step<String>>) -> Self {
        let steps = steps.into_iter().collect();
        Self { steps, trace: trace.clone(), _flag: DropFlag::new(trace, "dropped") }
    }
}

impl Stream for Scripted {
    type Item = Step<String>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        self.trace.note("polled");
        Poll::Ready(self.steps.pop_front())
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("a text in {answer}"))
}

async fn p1_every_form_of_handler_answers_and_reports(b: Bench) {
    let trace = Trace::new();
    let for_stream = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("function", |_: NoArguments, cx: Context<(), M>| async move {
            assert_eq!(cx.progress(30.0, "x"), Report::Queued);
            Ok("done")
        })
        .blocking_tool("blocking", |_: NoArguments, cx| {
            assert_eq!(cx.progress(30.0, "x"), Report::Queued);
            Ok("done")
        })
        .stream_tool("generator", |_: NoArguments, _| {
            generator(async |y| {
                y.progress(30.0, "x").await;
                Ok::<_, Exit>("done")
            })
        })
        .stream_tool("stream", move |_: NoArguments, _| {
            Scripted::new(&for_stream, [Step::percent(30.0, "x"), Step::Done(Ok("done".to_owned()))])
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    for form in ["function", "blocking", "generator", "stream"] {
        let pool = b.lab.external();
        wire.send(&tool_with(form, form, form)).await;
        let answer = wire.answer(form).await;
        drop(pool);
        assert_eq!(text(&answer), "done", "{form}");
        let before = wire.drain().await;
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": form, "progress": 30, "total": 100, "message": "x"}});
        assert_eq!(before, [notification], "{form}");
    }
}

async fn p1_a_stream_without_its_final_item_is_an_internal_error(b: Bench) {
    let trace = Trace::new();
    let server = Server::<M>::builder("t", "1")
        .stream_tool("t", move |_: NoArguments, _| Scripted::new(&trace, [Step::percent(10.0, "x")]))
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    let lines = wire.drain().await;
    assert_eq!(progress_of(&lines, 1), [10.0]);
    let error = &response(&lines, 1)["error"];
    assert_eq!(error["code"], -32603);
    assert!(error["message"].as_str().unwrap().contains("final item"), "{error}");
    assert!(b.log.has("NO_FINAL_ITEM"));
}

async fn p1_nothing_is_polled_after_the_final_item(b: Bench) {
    let trace = Trace::new();
    let for_stream = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .stream_tool("t", move |_: NoArguments, _| {
            let steps = [Step::percent(10.0, "x"), Step::Done(Ok("one".into())), Step::percent(20.0, "y")];
            Scripted::new(&for_stream, steps)
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    let lines = wire.drain().await;
    assert_eq!(text(response(&lines, 1)), "one");
    assert_eq!(progress_of(&lines, 1), [10.0]);
    assert_eq!(trace.all(), ["polled", "polled", "dropped"]);
}

async fn p1_notes_go_to_the_log_alone(b: Bench) {
    let server = Server::<M>::builder("t", "1")
        .stream_tool("t", |_: NoArguments, _| {
            generator(async |y| {
                y.note("a private thought").await;
                y.progress(50.0, "half").await;
                Ok::<_, Exit>("done")
            })
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| !line.to_string().contains("private")));
    assert!(b.log.mentions("a private thought"));
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    sum: i64,
}

async fn p2_a_streams_final_item_is_converted_as_an_async_functions_value(b: Bench) {
    let server = Server::<M>::builder("t", "1")
        .tool("function", |_: NoArguments, _: Context<(), M>| async { Ok(Json(Sum { sum: 3 })) })
        .stream_tool("stream", |_: NoArguments, _| generator(async |_| Ok::<_, Exit>(Json(Sum { sum: 3 }))))
        .tool("function fails", |_: NoArguments, _: Context<(), M>| async {
            Err::<String, _>(Exit::failure("no paper"))
        })
        .stream_tool("stream fails", |_: NoArguments, _| {
            generator(async |_| Err::<String, _>(Exit::failure("no paper")))
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    let mut results = Vec::new();
    for name in ["function", "stream", "function fails", "stream fails"] {
        wire.send(&tool(name, name, &json!({}))).await;
        results.push(wire.answer(name).await["result"].clone());
    }
    assert_eq!(results[0]["structuredContent"], json!({"sum": 3}));
    assert_eq!(results[0]["content"][0]["text"], "{\"sum\":3}");
    assert_eq!(results[0], results[1]);
    assert_eq!(results[2]["isError"], true);
    assert_eq!(results[2]["content"][0]["text"], "no paper");
    assert_eq!(results[2], results[3]);
    wire.send(&sansio_mcp_tests::request("list", "tools/list", json!({}), &json!({}))).await;
    let list = wire.answer("list").await;
    let tools = &list["result"]["tools"];
    assert_eq!(tools[0]["outputSchema"]["required"], json!(["sum"]));
    assert_eq!(tools[0]["outputSchema"], tools[1]["outputSchema"]);
}

async fn p2_layers_run_after_the_stream_ended_and_see_its_error(b: Bench) {
    let trace = Trace::new();
    let (for_layer, for_stream) = (trace.clone(), trace.clone());
    let server = Server::<M>::builder("t", "1")
        .layer(move |_, next| {
            let trace = for_layer.clone();
            async move {
                trace.note("before");
                let reply = next.run().await;
                trace.note(format!("after, error: {}", reply.is_error()));
                reply
            }
        })
        .stream_tool("t", move |_: NoArguments, _| {
            let trace = for_stream.clone();
            generator(async move |y| {
                trace.note("begins");
                y.progress(1.0, "x").await;
                trace.note("ends");
                Err::<String, _>(Exit::failure("no"))
            })
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool_with(1, "t", 1)).await;
    assert_eq!(wire.answer(1).await["result"]["isError"], true);
    assert_eq!(trace.all(), ["before", "begins", "ends", "after, error: true"]);
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

fn refusing_stream() -> impl Fn(NoArguments, Context<(), M>) -> Scripted + Send + Sync + 'static {
    let trace = Trace::new();
    move |_, _| {
        let raw = |progress, total| Step::Progress { progress, total, message: None };
        let steps = [
            Step::percent(10.0, "x"),
            Step::percent(5.0, "refused"),
            Step::percent(5.0, "refused"),
            Step::percent(250.0, "refused"),
            raw(f64::NAN, None),
            raw(30.0, Some(f64::INFINITY)),
            raw(20.0, None),
            Step::Done(Ok("done".into())),
        ];
        Scripted::new(&trace, steps)
    }
}

async fn p5_a_streams_refused_items_are_counted_and_logged(b: Bench) {
    let server = Server::<M>::builder("t", "1").stream_tool("t", refusing_stream()).build().unwrap();
    let rig = b.serve(server);
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
    let server = Server::<M>::builder("t", "1").stream_tool("t", refusing_stream()).build().unwrap();
    let mut wire = b.serve(server).wire();
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

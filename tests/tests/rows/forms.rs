// P1 and P2: the forms of a handler, and that they end alike.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;
use sansio_mcp_sdk::server::{Context, Exit, Json, NoArguments, Report, Server, Step, generator};
use sansio_mcp_tests::{Bench, DropFlag, Trace, progress_of, request, response, rows, tool, tool_with};
use serde_json::{Value, json};

rows! {
    p1_every_form_of_handler_answers_and_reports: live, sockets;
    p1_a_stream_without_its_final_item_is_an_internal_error: live;
    p1_nothing_is_polled_after_the_final_item: live;
    p1_notes_go_to_the_log_alone: live;
    p2_a_streams_final_item_is_converted_as_an_async_functions_value: all;
    p2_layers_run_after_the_stream_ended_and_see_its_error: all;
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
    wire.send(&request("list", "tools/list", json!({}), &json!({}))).await;
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

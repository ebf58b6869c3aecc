// C4: a handler that runs is stopped, and its clean-up runs.

use std::future::{Future, pending};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sansio_mcp_sdk::Connection;
use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server, generator};
use sansio_mcp_tests::{Bench, DropFlag, Trace, cancel, responses, rows, tool, tool_with};
use serde_json::json;

rows! {
    c4_an_await_that_never_completes_is_dropped_where_it_stands: all, sockets;
    c4_a_stream_that_never_waits_is_stopped_between_two_steps: all;
    c4_a_stream_goes_no_step_further_than_its_cancel: [memory];
    c4_clean_up_runs_once_however_it_ended_last_first_after_the_answer: all, sockets;
    c4_clean_up_is_shielded_from_a_later_cancel: all;
    c4_clean_up_that_is_taken_back_does_not_run: all;
    c4_clean_up_is_bounded_to_five_seconds: all;
    c4_clean_up_has_the_bound_it_was_given: all;
    c4_shutting_down_shortens_a_clean_up_that_already_runs: all;
    c4_clean_up_does_not_delay_the_answer: all;
    c4_a_dropped_connection_still_cleans_up: all;
}

async fn c4_an_await_that_never_completes_is_dropped_where_it_stands(b: Bench) {
    let trace = Trace::new();
    let (one, two) = (trace.clone(), trace.clone());
    let server = Server::<M>::builder("t", "1")
        .tool("function", move |_: NoArguments, _: Context<(), M>| {
            let flag = DropFlag::new(&one, "dropped");
            async move {
                let _flag = flag;
                pending::<Result<&str, Exit>>().await
            }
        })
        .stream_tool("stream", move |_: NoArguments, _| {
            let flag = DropFlag::new(&two, "dropped");
            generator(async move |y| {
                let _flag = flag;
                y.progress(1.0, "x").await;
                pending::<Result<&str, Exit>>().await
            })
        })
        .tool("other", |_: NoArguments, _: Context<(), M>| async { Ok("other") })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    for (id, name) in [(1, "function"), (2, "stream")] {
        wire.send(&tool(id, name, &json!({}))).await;
        b.settle().await;
        assert_eq!(trace.all().len(), id - 1, "it runs");
        wire.cancel(id).await;
        b.settle().await;
        assert_eq!(trace.count("dropped"), id, "{name}");
    }
    assert_eq!(rig.running_or(0), 0);
    wire.send(&tool(9, "other", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(b.clock().elapsed().as_millis(), 0, "no time has passed");
}

/// Each step is an await: whoever reads the cancel gets his turn, though nothing is waited for.
async fn c4_a_stream_that_never_waits_is_stopped_between_two_steps(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .stream_tool("busy", move |_: NoArguments, _| {
            let (trace, flag) = (for_tool.clone(), DropFlag::new(&for_tool, "dropped"));
            generator(async move |y| {
                let _flag = flag;
                trace.note("begins");
                for n in 0..1_000_000 {
                    y.report(f64::from(n), None, None).await;
                }
                trace.note("ends");
                Ok::<_, Exit>("done")
            })
        })
        .tool("other", |_: NoArguments, _: Context<(), M>| async { Ok("other") })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    for (n, message) in [tool(1, "busy", &json!({})), tool_with(2, "busy", 2)].iter().enumerate() {
        wire.send(message).await;
        wire.send(&tool(9, "other", &json!({}))).await;
        wire.answer(9).await;
        wire.cancel(n as i64 + 1).await;
        b.settle().await;
        assert_eq!(trace.all(), ["begins", "dropped"].repeat(n + 1));
    }
    assert_eq!(rig.running_or(0), 0);
    let lines = wire.drain().await;
    assert!(responses(&lines, 1).is_empty() && responses(&lines, 2).is_empty());
}

/// The cancel is read while the handler runs, as on another thread: the next step is the last.
async fn c4_a_stream_goes_no_step_further_than_its_cancel(b: Bench) {
    let (trace, channel) = (Trace::new(), Arc::new(OnceLock::<Connection>::new()));
    let (for_tool, own) = (trace.clone(), Arc::clone(&channel));
    let server = Server::<M>::builder("t", "1")
        .stream_tool("t", move |_: NoArguments, _| {
            let (trace, own) = (for_tool.clone(), Arc::clone(&own));
            generator(async move |y| {
                y.report(1.0, None, None).await;
                own.get().unwrap().handle_message(cancel(1).to_string().as_bytes());
                trace.note("cancelled");
                y.report(2.0, None, None).await;
                trace.note("goes on");
                Ok::<_, Exit>("done")
            })
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let connection = channel.get_or_init(|| rig.engine().unwrap().connect());
    connection.handle_message(tool(1, "t", &json!({})).to_string().as_bytes());
    b.settle().await;
    assert_eq!(trace.all(), ["cancelled"]);
    assert_eq!(rig.running_or(0), 0);
}

/// How a handler ends, by its name.
async fn ends(name: &str, trace: Trace) -> Result<&'static str, Exit> {
    let _flag = DropFlag::new(&trace, "dropped");
    match name {
        "return" => Ok("done"),
        "error" => Err(Exit::failure("no")),
        "panic" => panic!("on purpose"),
        _ => pending().await,
    }
}

async fn c4_clean_up_runs_once_however_it_ended_last_first_after_the_answer(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let nap = b.nap(Duration::from_secs(1));
    let tool_of = move |name: &'static str| {
        let (trace, nap) = (for_tool.clone(), nap.clone());
        move |_: NoArguments, cx: Context<(), M>| {
            let (trace, nap) = (trace.clone(), nap.clone());
            for what in ["first", "second"] {
                let (trace, nap) = (trace.clone(), nap.clone());
                cx.on_exit(async move {
                    trace.note(format!("{what} begins"));
                    nap().await;
                    trace.note(format!("{what} ends"));
                });
            }
            ends(name, trace)
        }
    };
    let server = Server::<M>::builder("t", "1")
        .tool("return", tool_of("return"))
        .tool("error", tool_of("error"))
        .tool("panic", tool_of("panic"))
        .tool("cancel", tool_of("cancel"))
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    let want = ["dropped", "second begins", "second ends", "first begins", "first ends"];
    for (n, name) in ["return", "error", "panic", "cancel"].into_iter().enumerate() {
        wire.send(&tool(name, name, &json!({}))).await;
        b.settle().await;
        if name == "cancel" {
            wire.cancel(name).await;
            b.settle().await;
        }
        let of_this = |trace: &Trace| trace.all().split_off(n * want.len());
        assert_eq!(of_this(&trace), want[..2], "{name}");
        let lines = wire.drain().await;
        assert_eq!(
            lines.len(),
            usize::from(name != "cancel"),
            "the answer is here before the clean-up is over"
        );
        assert_eq!(rig.running_or(1), 1);
        b.pass(Duration::from_secs(3)).await;
        assert_eq!(of_this(&trace), want, "{name}");
        assert_eq!(rig.running_or(0), 0);
    }
    assert!(wire.drain().await.is_empty());
}

async fn c4_clean_up_is_shielded_from_a_later_cancel(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let nap = b.nap(Duration::from_secs(2));
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let (trace, nap) = (for_tool.clone(), nap.clone());
            cx.on_exit(async move {
                trace.note("begins");
                nap().await;
                trace.note("ends");
            });
            pending::<Result<&str, Exit>>()
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    b.settle().await;
    wire.cancel(1).await;
    b.pass(Duration::from_secs(1)).await;
    if b.is_shared() {
        wire.cancel(1).await;
    }
    b.settle().await;
    assert_eq!(trace.all(), ["begins"]);
    b.pass(Duration::from_secs(2)).await;
    assert_eq!(trace.all(), ["begins", "ends"]);
}

/// What was paid for stays held. The rest runs all the same, and what runs already is not taken back.
async fn c4_clean_up_that_is_taken_back_does_not_run(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let trace = for_tool.clone();
            let note = |what: &'static str| {
                let trace = trace.clone();
                async move { trace.note(what) }
            };
            cx.on_exit(note("first"));
            let (flag, releases) = (DropFlag::new(&trace, "dropped"), note("releases the hold"));
            let hold = cx.on_exit(async move {
                let _flag = flag;
                releases.await;
            });
            cx.on_exit(note("second"));
            let own = std::sync::Arc::new(std::sync::Mutex::new(None));
            let (itself, notes) = (own.clone(), trace.clone());
            let running = cx.on_exit(async move {
                let itself: sansio_mcp_sdk::server::OnExit<M> = itself.lock().unwrap().take().unwrap();
                notes.note(format!("disarms itself: {}", itself.disarm()));
            });
            *own.lock().unwrap() = Some(running);
            trace.note(format!("disarmed: {}", hold.disarm()));
            async { Ok("paid") }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    rig.client().call_tool("t", &json!({})).await.unwrap();
    b.settle().await;
    assert_eq!(trace.all(), ["dropped", "disarmed: true", "disarms itself: false", "second", "first"]);
}

/// A tool that never ends, and whose clean-up never does.
fn endless(
    trace: &Trace,
    bound: Option<Duration>,
) -> impl Fn(NoArguments, Context<(), M>) -> std::future::Pending<Result<&'static str, Exit>> + Send + Sync + use<>
{
    let trace = trace.clone();
    move |_, cx| {
        let flag = DropFlag::new(&trace, "dropped");
        let cleanup = async move {
            let _flag = flag;
            pending::<()>().await;
        };
        match bound {
            Some(bound) => cx.on_exit_within(bound, cleanup),
            None => cx.on_exit(cleanup),
        };
        pending()
    }
}

async fn c4_clean_up_is_bounded_to_five_seconds(b: Bench) {
    let trace = Trace::new();
    let server = Server::<M>::builder("t", "1").tool("t", endless(&trace, None)).build().unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    b.settle().await;
    wire.cancel(1).await;
    b.pass(Duration::from_millis(4990)).await;
    assert!(!trace.has("dropped"));
    assert_eq!(rig.running_or(1), 1);
    b.pass(Duration::from_millis(20)).await;
    assert!(trace.has("dropped"));
    assert_eq!(rig.running_or(0), 0);
    assert!(b.log.has("CLEANUP_TIMED_OUT"));
}

async fn c4_clean_up_has_the_bound_it_was_given(b: Bench) {
    let (short, long) = (Trace::new(), Trace::new());
    let server = Server::<M>::builder("t", "1")
        .tool("short", endless(&short, Some(Duration::from_secs(1))))
        .tool("long", endless(&long, Some(Duration::from_secs(20))))
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    for name in ["short", "long"] {
        wire.send(&tool(name, name, &json!({}))).await;
        b.settle().await;
        wire.cancel(name).await;
    }
    b.pass(Duration::from_millis(990)).await;
    assert!(!short.has("dropped"));
    b.pass(Duration::from_millis(20)).await;
    assert!(short.has("dropped") && !long.has("dropped"));
    b.pass(Duration::from_secs(18)).await;
    assert!(!long.has("dropped"));
    b.pass(Duration::from_secs(2)).await;
    assert!(long.has("dropped"));
}

async fn c4_shutting_down_shortens_a_clean_up_that_already_runs(b: Bench) {
    let trace = Trace::new();
    let server = Server::<M>::builder("t", "1").tool("t", endless(&trace, None)).build().unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    b.settle().await;
    wire.cancel(1).await;
    b.pass(Duration::from_secs(1)).await;
    match rig.engine() {
        Some(engine) => engine.shutdown(),
        // Everything accepted is over but for its clean-up: the end of input ends the server.
        None => wire.end_input(),
    }
    b.pass(Duration::from_millis(1490)).await;
    assert!(!trace.has("dropped") && !rig.has_ended());
    b.pass(Duration::from_millis(20)).await;
    assert!(trace.has("dropped") && rig.has_ended(), "1.5 s, not what was left of 5 s");
}

async fn c4_clean_up_does_not_delay_the_answer(b: Bench) {
    let nap = b.nap(Duration::from_secs(4));
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let nap = nap.clone();
            cx.on_exit(async move { nap().await });
            async { Ok("done") }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let client = rig.client();
    let result = client.call_tool("t", &json!({})).await.unwrap();
    assert_eq!(result.first_text(), Some("done"));
    assert_eq!(b.clock().elapsed(), Duration::ZERO);
    assert_eq!(rig.running_or(1), 1, "and it still runs");
}

async fn c4_a_dropped_connection_still_cleans_up(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let nap = b.nap(Duration::from_millis(500));
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let (trace, nap) = (for_tool.clone(), nap.clone());
            cx.on_exit(async move {
                nap().await;
                trace.note("cleaned up");
            });
            pending::<Result<&str, Exit>>()
        })
        .build()
        .unwrap();
    let mut rig = b.serve(server);
    let (client, task) = rig.client_and_task();
    let mut call = client.call_tool("t", &json!({}));
    let first =
        std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut call).poll(cx).is_ready()));
    assert!(!first.await);
    b.settle().await;
    task.abort();
    drop(call);
    rig.release();
    // A shared channel whose input ended gives its requests 1.5 s to finish; then they are cancelled.
    b.pass(Duration::from_secs(3)).await;
    assert_eq!(trace.all(), ["cleaned up"]);
    assert!(rig.has_ended(), "and the server has ended");
}

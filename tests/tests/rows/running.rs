// C4 to C6 and C8: cancelled while the handler runs.

use std::future::{Future, pending};
use std::time::Duration;

use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server, ToolSpec, generator};
use sansio_mcp_tests::{Bench, DropFlag, Gate, Trace, response, rows, tool};
use serde_json::json;

rows! {
    c4_an_await_that_never_completes_is_dropped_where_it_stands: all;
    c4_clean_up_runs_once_however_it_ended_last_first_after_the_answer: all;
    c4_clean_up_is_shielded_from_a_later_cancel: all;
    c4_clean_up_that_is_taken_back_does_not_run: all;
    c4_clean_up_is_bounded_to_five_seconds: all;
    c4_clean_up_has_the_bound_it_was_given: all;
    c4_shutting_down_shortens_a_clean_up_that_already_runs: all;
    c4_clean_up_does_not_delay_the_answer: all;
    c4_a_dropped_connection_still_cleans_up: all;
    c5_check_cancelled_fails_once_the_request_is_cancelled: all;
    c5_a_body_that_never_asks_runs_to_its_end_for_nothing: all;
    c6_a_blocking_body_keeps_slot_and_lane_until_it_returns: all;
    c6_clean_up_keeps_slot_and_lane_until_it_ends: all;
    c6_clean_up_keeps_the_lane_also_after_an_answer: all;
    c8_the_signal_is_a_value_to_await_and_to_hand_on: all;
    c8_the_spawn_hook_changes_nothing: [memory per_request];
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

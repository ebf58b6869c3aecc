// E3: a panic, wherever it is, fails its own call alone.

use std::future::pending;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;
use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server, Step, ToolSpec};
use sansio_mcp_tests::{Bench, Trace, check, response, rows, tool};
use serde_json::json;

rows! {
    e3_a_panic_fails_its_own_call_alone: all, sockets;
    e3_a_panic_in_a_layer_or_the_hook_fails_its_own_call_alone: all;
    e3_a_panic_in_a_destructor_fails_its_own_call_alone: all;
    e3_a_panic_of_a_cancelled_handlers_destructor_is_contained: all;
    e3_a_panic_in_clean_up_is_contained: all;
    e3_a_panic_in_a_values_destructor_is_contained: all;
}

struct Bomb(&'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "{} exploded on purpose", self.0);
    }
}

struct Explosive {
    at: usize,
    calls: usize,
}

impl Stream for Explosive {
    type Item = Step<&'static str>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        self.calls += 1;
        assert!(self.calls != self.at, "on purpose");
        Poll::Ready(Some(Step::percent(self.calls as f64, "x")))
    }
}

/// Sends a call that fails beside one that goes on, and checks that only the first is affected.
async fn only_its_own(b: &Bench, server: Server<M>, names: &[&str]) {
    let rig = b.serve(server);
    let mut wire = rig.wire();
    let pool = b.lab.external();
    wire.send(&tool("bystander", "bystander", &json!({}))).await;
    for name in names {
        wire.send(&tool(*name, name, &json!({}))).await;
        let answer = wire.answer(*name).await;
        check(&answer["error"], -32603, "log");
        assert!(
            !answer.to_string().contains("on purpose"),
            "what it panicked with is not the client's business"
        );
        wire.send(&tool("after", "quick", &json!({}))).await;
        assert!(wire.answer("after").await.get("result").is_some(), "after {name}");
    }
    drop(pool);
    assert!(wire.drain().await.is_empty());
    assert_eq!(rig.running_or(1), 1, "the bystander alone");
    wire.cancel("bystander").await;
    b.settle().await;
    assert_eq!(rig.running_or(0), 0);
}

macro_rules! bystanders {
    () => {
        Server::<M>::builder("t", "1")
            .tool("bystander", |_: NoArguments, _: Context<(), M>| pending::<Result<&str, Exit>>())
            .tool("quick", |_: NoArguments, _: Context<(), M>| async { Ok("quick") })
    };
}

async fn e3_a_panic_fails_its_own_call_alone(b: Bench) {
    let server = bystanders!()
        .tool("async", |_: NoArguments, _: Context<(), M>| async {
            let text: Result<&str, std::num::ParseIntError> = "x".parse::<u8>().map(|_| "never");
            Ok(text.expect("on purpose"))
        })
        .tool("at once", |_: NoArguments, _: Context<(), M>| -> std::future::Ready<Result<&str, Exit>> {
            panic!("on purpose")
        })
        .blocking_tool("blocking", |_: NoArguments, _| -> Result<&str, Exit> { panic!("on purpose") })
        .stream_tool("stream", |_: NoArguments, _| Explosive { at: 3, calls: 0 })
        .stream_tool("no stream", |_: NoArguments, _| -> Explosive { panic!("on purpose") })
        .build()
        .unwrap();
    only_its_own(&b, server, &["async", "at once", "blocking", "stream", "no stream"]).await;
    assert!(b.log.mentions("on purpose"), "the operator reads it");
    assert!(b.log.has("PANIC"));
}

async fn e3_a_panic_in_a_layer_or_the_hook_fails_its_own_call_alone(b: Bench) {
    let server = bystanders!()
        .layer(|cx, next| {
            let name = cx.request().name().unwrap_or_default().to_owned();
            assert!(name != "layer at once", "on purpose");
            async move {
                assert!(name != "layer before", "on purpose");
                let reply = next.run().await;
                assert!(name != "layer after", "on purpose");
                reply
            }
        })
        .context(|cx| {
            let name = cx.request().name().unwrap_or_default().to_owned();
            assert!(name != "hook at once", "on purpose");
            async move {
                assert!(name != "hook", "on purpose");
                Ok(())
            }
        })
        .tool("layer at once", |_: NoArguments, _: Context<(), M>| async { Ok("x") })
        .tool("layer before", |_: NoArguments, _: Context<(), M>| async { Ok("x") })
        .tool("layer after", |_: NoArguments, _: Context<(), M>| async { Ok("x") })
        .tool("hook at once", |_: NoArguments, _: Context<(), M>| async { Ok("x") })
        .tool("hook", |_: NoArguments, _: Context<(), M>| async { Ok("x") })
        .build()
        .unwrap();
    let names = ["layer at once", "layer before", "layer after", "hook at once", "hook"];
    only_its_own(&b, server, &names).await;
}

async fn e3_a_panic_in_a_destructor_fails_its_own_call_alone(b: Bench) {
    let server = bystanders!()
        .tool("drop", |_: NoArguments, _: Context<(), M>| async {
            let _bomb = Bomb("a handler's local, on purpose");
            Ok("x")
        })
        .tool(
            ToolSpec::new("keyed").one_at_a_time_per(|_: &NoArguments| -> String { panic!("on purpose") }),
            |_: NoArguments, _: Context<(), M>| async { Ok("x") },
        )
        .build()
        .unwrap();
    only_its_own(&b, server, &["drop", "keyed"]).await;
}

async fn e3_a_panic_of_a_cancelled_handlers_destructor_is_contained(b: Bench) {
    let server = bystanders!()
        .tool("t", |_: NoArguments, _: Context<(), M>| async {
            let _bomb = Bomb("a handler's local");
            pending::<Result<&str, Exit>>().await
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    b.settle().await;
    wire.cancel(1).await;
    b.settle().await;
    assert_eq!(rig.running_or(0), 0);
    assert!(b.log.has("PANIC"));
    wire.send(&tool(2, "quick", &json!({}))).await;
    let lines = wire.drain().await;
    response(&lines, 2);
    assert_eq!(lines.len(), 1);
}

async fn e3_a_panic_in_clean_up_is_contained(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = bystanders!()
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let trace = for_tool.clone();
            cx.on_exit(async move { trace.note("the other clean-up") });
            cx.on_exit(async { panic!("on purpose") });
            let bomb = Bomb("a clean-up's capture");
            cx.on_exit(async move { drop(bomb) });
            async { Ok("done") }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    assert!(wire.answer(1).await.get("result").is_some(), "the answer was given before");
    b.settle().await;
    assert_eq!((trace.all().len(), rig.running_or(0)), (1, 0));
    wire.send(&tool(2, "quick", &json!({}))).await;
    assert!(wire.answer(2).await.get("result").is_some());
}

async fn e3_a_panic_in_a_values_destructor_is_contained(b: Bench) {
    #[derive(Clone)]
    struct Value {
        _bomb: std::sync::Arc<Bomb>,
    }
    let server = bystanders!()
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            cx.set(Value { _bomb: std::sync::Arc::new(Bomb("a value of the request")) });
            Ok("done")
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    assert!(wire.answer(1).await.get("result").is_some());
    wire.send(&tool(2, "quick", &json!({}))).await;
    assert!(wire.answer(2).await.get("result").is_some());
    assert!(b.log.has("PANIC"));
}

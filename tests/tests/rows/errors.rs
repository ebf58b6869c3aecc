// E1 to E4 and E6.

use std::collections::BTreeMap;
use std::future::pending;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;
use sansio_mcp_sdk::server::{
    Answer, CallToolResult, Context, Exit, Failure, Json, NoArguments, RawArguments, Reply, Server, Step,
    ToolSpec, Untyped, schema,
};
use sansio_mcp_tests::{Bench, Gate, Trace, request, response, responses, rows, tool};
use serde_json::{Value, json};

rows! {
    e1_every_failure_of_the_librarys_own_has_code_and_message: all;
    e1_malformed_bytes_have_code_and_message: [memory stdio];
    e1_busy_is_machine_readable: all;
    e2_a_full_queue_refuses_at_once_and_disturbs_nothing: all;
    e3_a_panic_fails_its_own_call_alone: all;
    e3_a_panic_in_a_layer_or_the_hook_fails_its_own_call_alone: all;
    e3_a_panic_in_a_destructor_fails_its_own_call_alone: all;
    e3_a_panic_of_a_cancelled_handlers_destructor_is_contained: all;
    e3_a_panic_in_clean_up_is_contained: all;
    e3_a_panic_in_a_values_destructor_is_contained: all;
    e4_the_operators_log_is_not_the_clients: all;
    e6_typed_output_has_schema_structure_and_text: all;
    e6_state_and_the_requests_own_context_reach_the_handler: all;
    e6_schemas_by_hand: all;
    e6_a_tool_that_promised_structure_gives_it_or_fails: all;
    e6_metadata_of_a_result_names_this_server_once: all;
    e6_arguments_that_do_not_fit_are_told_to_the_model: all;
}

fn one_tool() -> Server<M> {
    Server::<M>::builder("t", "1")
        .tool("t", |_: NoArguments, _: Context<(), M>| async { Ok("done") })
        .build()
        .unwrap()
}

/// A code, and a message that names something or says what to do.
fn check(error: &Value, code: i64, says: &str) {
    assert_eq!(error["code"], code, "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(says), "{message:?} should say {says:?}");
}

async fn e1_every_failure_of_the_librarys_own_has_code_and_message(b: Bench) {
    let mut wire = b.serve(one_tool()).wire();
    let none = json!({});
    let mut bare = tool(6, "t", &none);
    bare["params"].as_object_mut().unwrap().remove("_meta");
    let old = json!({"io.modelcontextprotocol/protocolVersion": "1999-01-01"});
    let cases = [
        (tool(1, "nobody", &none), -32602, "nobody"),
        (request(2, "no/such", json!({}), &none), -32601, "no/such"),
        (tool(3, "t", &json!([])), -32602, "arguments"),
        (request(4, "tools/call", json!({}), &none), -32602, "name"),
        (request(5, "tools/call", json!({"name": "t"}), &old), -32022, "2026-07-28"),
        (bare, -32602, "_meta"),
        (request(7, "tools/list", json!({"cursor": "lost"}), &none), -32602, "cursor"),
        (json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": []}), -32602, "params"),
    ];
    for (message, code, says) in cases {
        wire.send(&message).await;
        let lines = wire.drain().await;
        assert_eq!(lines.len(), 1, "{message}");
        check(&response(&lines, message["id"].clone())["error"], code, says);
    }
    wire.send(&request(9, "tools/call", json!({"name": "t"}), &old)).await;
    let error = wire.answer(9).await;
    assert_eq!(error["error"]["data"], json!({"supported": ["2026-07-28"], "requested": "1999-01-01"}));
}

async fn e1_malformed_bytes_have_code_and_message(b: Bench) {
    let mut wire = b.serve(one_tool()).wire();
    for (bytes, code, says) in [
        ("{", -32700, "JSON"),
        ("7", -32600, "message"),
        ("[]", -32600, "atch"),
        ("{\"id\":1}", -32600, "message"),
    ] {
        wire.bytes(format!("{bytes}\n")).await;
        let lines = wire.drain().await;
        assert_eq!(lines.len(), 1, "{bytes}");
        assert_eq!(lines[0].get("id"), None, "the id is left out, not null");
        check(&lines[0]["error"], code, says);
    }
}

/// One slot that is taken until the gate opens, and no queue.
fn full(gate: &Gate, queue: usize) -> Server<M> {
    let gate = gate.clone();
    Server::<M>::builder("t", "1")
        .slots(1)
        .queue(queue)
        .tool("t", move |_: NoArguments, _: Context<(), M>| {
            let gate = gate.clone();
            async move {
                gate.passed().await;
                Ok("done")
            }
        })
        .build()
        .unwrap()
}

async fn e1_busy_is_machine_readable(b: Bench) {
    let gate = Gate::new();
    let mut wire = b.serve(full(&gate, 0)).wire();
    for id in [1, 2] {
        wire.send(&tool(id, "t", &json!({}))).await;
    }
    let error = wire.answer(2).await["error"].clone();
    check(&error, 1001, "try again in");
    assert_eq!(error["data"]["code"], "SERVER_BUSY");
    assert!(
        error["data"]["retryAfterMs"].as_u64().is_some_and(|after| (1..=60_000).contains(&after)),
        "{error}"
    );
}

async fn e2_a_full_queue_refuses_at_once_and_disturbs_nothing(b: Bench) {
    let gate = Gate::new();
    let rig = b.serve(full(&gate, 2));
    let mut wire = rig.wire();
    for id in 1..=6 {
        wire.send(&tool(id, "t", &json!({}))).await;
    }
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 3, "the other three still wait");
    for id in 4..=6 {
        assert_eq!(response(&lines, id)["error"]["code"], 1001);
    }
    // What needs no slot is served.
    wire.send(&request(7, "tools/list", json!({}), &json!({}))).await;
    assert!(wire.answer(7).await["result"]["tools"].is_array());
    wire.send(&request(8, "server/discover", json!({}), &json!({}))).await;
    assert!(wire.answer(8).await["result"]["supportedVersions"].is_array());
    gate.open();
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 3);
    for id in 1..=3 {
        assert!(response(&lines, id).get("result").is_some());
    }
    // And there is room again.
    wire.send(&tool(9, "t", &json!({}))).await;
    assert!(wire.answer(9).await.get("result").is_some());
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

async fn e4_the_operators_log_is_not_the_clients(b: Bench) {
    let server = bystanders!()
        .layer(|_, next| {
            tracing::info!(target: "sansio_mcp_user", "an operator's line");
            next.run()
        })
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            tracing::warn!(target: "sansio_mcp_user", "a handler's line");
            cx.progress(250.0, "refused");
            Err::<&str, _>(Exit::failure("no"))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let meta = json!({"io.modelcontextprotocol/logLevel": "debug", "progressToken": 1});
    wire.send(&request(1, "tools/call", json!({"name": "t"}), &meta)).await;
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 1, "the answer alone: {lines:?}");
    assert!(b.log.mentions("an operator's line") && b.log.mentions("a handler's line"));
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Report {
    rows: u32,
    by: BTreeMap<String, u32>,
}

async fn e6_typed_output_has_schema_structure_and_text(b: Bench) {
    let report = || Report { rows: 3, by: BTreeMap::from([("a".to_owned(), 3)]) };
    let server = Server::<M>::builder("t", "1")
        .tool("typed", move |_: NoArguments, _: Context<(), M>| async move { Ok(Json(report())) })
        .tool("untyped", move |_: NoArguments, _: Context<(), M>| async move { Ok(Untyped(report())) })
        .tool("impossible", |_: NoArguments, _: Context<(), M>| async {
            Ok(Untyped(BTreeMap::from([((1, 2), 3)])))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&request(1, "tools/list", json!({}), &json!({}))).await;
    let tools = wire.answer(1).await["result"]["tools"].clone();
    assert_eq!(tools[0]["outputSchema"]["type"], "object");
    assert_eq!(tools[0]["outputSchema"]["properties"]["rows"]["type"], "integer");
    assert_eq!(tools[1].get("outputSchema"), None);
    for (id, name) in [(2, "typed"), (3, "untyped")] {
        wire.send(&tool(id, name, &json!({}))).await;
        let result = wire.answer(id).await["result"].clone();
        let value = json!({"rows": 3, "by": {"a": 3}});
        assert_eq!(result["structuredContent"], value);
        let mirror: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(mirror, value);
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "t");
    }
    // Edge case 12: what cannot be encoded is an answer all the same.
    wire.send(&tool(4, "impossible", &json!({}))).await;
    check(&wire.answer(4).await["error"], -32603, "encoded");
}

async fn e6_state_and_the_requests_own_context_reach_the_handler(b: Bench) {
    #[derive(Clone)]
    struct Caller(String);
    let trace = Trace::new();
    let notes = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .state(String::from("the application"))
        .context(|cx| async move {
            let name: String = cx.meta("com.example/caller").ok_or_else(|| Exit::failure("who are you?"))?;
            cx.set(Caller(name));
            assert_eq!(cx.state_arc().len(), 15);
            Ok(())
        })
        .layer(move |cx, next| {
            let trace = notes.clone();
            async move {
                cx.set(7_u32);
                assert_eq!(cx.state(), "the application");
                let reply = next.run().await;
                trace.note(cx.get::<Caller>().map_or("nobody".into(), |caller| caller.0));
                reply
            }
        })
        .tool("function", |_: NoArguments, cx: Context<String, M>| async move {
            let Caller(name) = cx.get().unwrap();
            Ok(format!("{} {name} {}", cx.state(), cx.get::<u32>().unwrap()))
        })
        .blocking_tool("blocking", |_: NoArguments, cx| {
            let Caller(name) = cx.get().unwrap();
            cx.set(Caller(format!("{name}, served")));
            Ok(format!("{} {name} {}", cx.state(), cx.get::<u32>().unwrap()))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    for (id, caller) in [(1, "ann"), (2, "bob")] {
        let meta = json!({"com.example/caller": caller});
        wire.send(&request(id, "tools/call", json!({"name": "function"}), &meta)).await;
        let want = format!("the application {caller} 7");
        assert_eq!(wire.answer(id).await["result"]["content"][0]["text"], want.as_str());
    }
    wire.send(&tool(3, "function", &json!({}))).await;
    assert_eq!(wire.answer(3).await["result"]["isError"], true);
    let pool = b.lab.external();
    let meta = json!({"com.example/caller": "eve"});
    wire.send(&request(4, "tools/call", json!({"name": "blocking"}), &meta)).await;
    let answer = wire.answer(4).await;
    drop(pool);
    assert_eq!(answer["result"]["content"][0]["text"], "the application eve 7", "on another thread too");
    assert_eq!(trace.all(), ["ann", "bob", "nobody", "eve, served"], "and back again");
}

async fn e6_a_tool_that_promised_structure_gives_it_or_fails(b: Bench) {
    let promises =
        |name: &str| ToolSpec::new(name).output_schema(schema(&json!({"type": "object"})).unwrap());
    let server = Server::<M>::builder("t", "1")
        .tool(promises("text"), |_: NoArguments, _: Context<(), M>| async { Ok("no structure") })
        .stream_tool(promises("stream"), |_: NoArguments, _: Context<(), M>| {
            sansio_mcp_sdk::server::generator(async |_| Ok("no structure"))
        })
        .blocking_tool(promises("blocking"), |_: NoArguments, _| Ok("no structure"))
        .tool(promises("structure"), |_: NoArguments, _: Context<(), M>| async { Ok(Untyped(json!({}))) })
        .tool(promises("fails"), |_: NoArguments, _: Context<(), M>| async {
            Err::<&str, _>(Exit::failure("the book is gone"))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    for (id, name) in [(1, "text"), (2, "stream"), (3, "blocking")] {
        let pool = b.lab.external();
        wire.send(&tool(id, name, &json!({}))).await;
        check(&wire.answer(id).await["error"], -32603, "no structured content");
        drop(pool);
    }
    assert_eq!(b.log.codes(), ["OUTPUT_SCHEMA"; 2], "and the blocking one's on its own thread");
    wire.send(&tool(4, "structure", &json!({}))).await;
    assert_eq!(wire.answer(4).await["result"]["structuredContent"], json!({}));
    wire.send(&tool(5, "fails", &json!({}))).await;
    assert_eq!(wire.answer(5).await["result"]["isError"], true, "a failure has promised nothing");
}

/// A result that was passed on from another server names that one, and a layer may put anything there.
async fn e6_metadata_of_a_result_names_this_server_once(b: Bench) {
    let server = Server::<M>::builder("this", "1")
        .tool("passed", |RawArguments(meta): RawArguments, _: Context<(), M>| async move {
            let mut result = CallToolResult::text("passed on");
            result.meta = Some(meta);
            Ok(result)
        })
        .layer(|cx, next| {
            let spoils = cx.meta::<String>("example.com/spoil").is_some();
            async move {
                let mut reply = next.run().await;
                if let (true, Reply::Answer(Answer::Tool(result))) = (spoils, &mut reply) {
                    result.meta = Some(schema(&json!(["no", "object"])).unwrap());
                }
                reply
            }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let cases = [
        (json!({}), json!({})),
        (json!({"a/b": [1]}), json!({"a/b": [1]})),
        (json!({"io.modelcontextprotocol/serverInfo": {"name": "other"}}), json!({})),
        (
            json!({"a\"b": 1, "io.modelcontextprotocol/serverInfo": {"name": "other"}, "z": {"y": null}}),
            json!({"a\"b": 1, "z": {"y": null}}),
        ),
    ];
    for (id, (meta, want)) in cases.into_iter().enumerate() {
        wire.send(&tool(id, "passed", &meta)).await;
        let mut got = wire.answer(id).await["result"]["_meta"].take();
        let info = got.as_object_mut().unwrap().remove("io.modelcontextprotocol/serverInfo").unwrap();
        assert_eq!((info["name"].as_str(), got), (Some("this"), want));
    }
    let spoil = json!({"example.com/spoil": "it"});
    wire.send(&request(9, "tools/call", json!({"name": "passed", "arguments": {}}), &spoil)).await;
    check(&wire.answer(9).await["error"], -32603, "encoded");
    assert!(b.log.mentions("its `_meta` is not an object"), "{:?}", b.log.codes());
}

async fn e6_schemas_by_hand(b: Bench) {
    let input = json!({"type": "object", "properties": {"x": {"$comment": "\u{e9}\n"}}, "required": ["x"]});
    let output = json!({"type": "object", "$comment": "by hand"});
    let spec =
        ToolSpec::new("t").input_schema(schema(&input).unwrap()).output_schema(schema(&output).unwrap());
    let server = Server::<M>::builder("t", "1")
        .tool(spec, |RawArguments(arguments): RawArguments, _: Context<(), M>| async move {
            Ok(CallToolResult::text(arguments.get()).with_structured_content(arguments))
        })
        .tool("fails", |_: NoArguments, _: Context<(), M>| async {
            Err::<&str, _>(Exit::protocol(Failure::new(42, "as I said").data(schema(&json!({"a": 1}))?)))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&request(1, "tools/list", json!({}), &json!({}))).await;
    let listed = wire.answer(1).await["result"]["tools"][0].clone();
    assert_eq!((&listed["inputSchema"], &listed["outputSchema"]), (&input, &output));
    wire.send(&tool(2, "t", &json!({"x": [1, {"y": null}]}))).await;
    let text = wire.answer(2).await["result"]["content"][0]["text"].clone();
    assert_eq!(
        serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap(),
        json!({"x": [1, {"y": null}]})
    );
    wire.send(&tool(3, "fails", &json!({}))).await;
    let error = json!({"code": 42, "message": "as I said", "data": {"a": 1}});
    assert_eq!(wire.answer(3).await["error"], error);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Typed {
    count: u32,
}

async fn e6_arguments_that_do_not_fit_are_told_to_the_model(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("t", move |typed: Typed, _: Context<(), M>| {
            for_tool.note(typed.count.to_string());
            async { Ok("done") }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool(1, "t", &json!({"count": "many"}))).await;
    let lines = wire.drain().await;
    let result = &response(&lines, 1)["result"];
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("u32"));
    assert!(trace.all().is_empty());
    wire.send(&tool(2, "t", &json!({"count": 2}))).await;
    assert!(responses(&wire.drain().await, 2)[0].get("result").is_some());
    assert_eq!(trace.all(), ["2"]);
}

// E6: what goes in and out of a tool.

use std::collections::BTreeMap;

use sansio_mcp_sdk::server::{
    Answer, CallToolResult, Context, Exit, Failure, Json, NoArguments, RawArguments, Reply, Server, ToolSpec,
    Untyped, schema,
};
use sansio_mcp_tests::{Bench, Trace, check, request, response, responses, rows, tool};
use serde_json::{Value, json};

rows! {
    e6_typed_output_has_schema_structure_and_text: all;
    e6_state_and_the_requests_own_context_reach_the_handler: all;
    e6_a_tool_that_promised_structure_gives_it_or_fails: all;
    e6_metadata_of_a_result_names_this_server_once: all;
    e6_schemas_by_hand: all;
    e6_arguments_that_do_not_fit_are_told_to_the_model: all;
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

//! With the feature `validate`, arguments and results are held against the schemas that clients are told of.
#![allow(missing_docs, clippy::unused_async)]

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::model::RawJson;
use sansio_mcp_sdk::server::{
    Builder, CallToolResult, Context, Json, NoArguments, RawArguments, Server, ToolSpec, schema,
};
use sansio_mcp_tests::{Bench, Trace, rows, tool};
use serde_json::{Value, json};

rows! {
    arguments_that_do_not_fit_are_told_to_the_model: [memory];
    a_result_that_does_not_fit_is_an_internal_error: [memory];
    a_pattern_costs_no_more_than_the_text_is_long: [memory];
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Copies {
    #[schemars(range(min = 1, max = 9))]
    copies: u32,
}

fn by_hand(text: &Value) -> RawJson {
    schema(text).unwrap()
}

async fn arguments_that_do_not_fit_are_told_to_the_model(b: Bench) {
    let trace = Trace::new();
    let (raw, typed) = (trace.clone(), trace.clone());
    let isbn = json!({
        "type": "object", "required": ["isbn"],
        "properties": {"isbn": {"type": "string", "pattern": "^[0-9]{13}$"}},
    });
    let server = Server::shared("t", "1")
        .tool(ToolSpec::new("raw").input_schema(by_hand(&isbn)), move |_: RawArguments, _: Context| {
            raw.note("raw");
            async { Ok("done") }
        })
        .tool("typed", move |_: Copies, _: Context| {
            typed.note("typed");
            async { Ok("done") }
        })
        .tool("none", |_: NoArguments, _: Context| async { Ok("done") });
    let mut wire = b.serve(server.build().unwrap()).wire();
    let cases = [
        ("raw", json!({}), "isbn"),
        ("raw", json!({"isbn": "12"}), "/isbn"),
        ("typed", json!({"copies": 10}), "/copies"),
        ("raw", json!({"isbn": "x".repeat(100_000)}), "/isbn"),
        ("typed", json!({"copies": "x".repeat(100_000)}), "invalid type"),
        ("none", json!({"any": 1}), "unknown argument `any`"),
    ];
    for (id, (name, arguments, says)) in cases.iter().enumerate() {
        wire.send(&tool(id, name, arguments)).await;
        let result = wire.answer(id).await["result"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(result["isError"], true, "{name} {text}");
        assert!(text.contains(says) && text.len() < 700, "{name} {text}");
    }
    assert!(trace.all().is_empty(), "no handler has begun");
    for (id, name, arguments) in
        [(10, "raw", json!({"isbn": "9780131103627"})), (11, "typed", json!({"copies": 9}))]
    {
        wire.send(&tool(id, name, &arguments)).await;
        assert_eq!(wire.answer(id).await["result"]["content"][0]["text"], "done");
    }
}

async fn a_result_that_does_not_fit_is_an_internal_error(b: Bench) {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let server = Server::shared("t", "1")
        .tool(
            ToolSpec::new("raw").output_schema(by_hand(&list)),
            |RawArguments(value): RawArguments, _: Context| {
                let items: Value = value.parse().unwrap();
                let content = by_hand(&items["items"]);
                async { Ok(CallToolResult::text("items").with_structured_content(content)) }
            },
        )
        .tool("typed", |_: NoArguments, _: Context| async { Ok(Json(Copies { copies: 0 })) });
    let mut wire = b.serve(server.build().unwrap()).wire();
    for (id, items) in [(1, json!({"items": [1, "2"]})), (2, json!({"items": {}}))] {
        wire.send(&tool(id, "raw", &items)).await;
        let error = wire.answer(id).await["error"].clone();
        assert_eq!(error["code"], -32603, "{error}");
        assert!(error["message"].as_str().unwrap().contains("output schema"), "{error}");
    }
    wire.send(&tool(3, "raw", &json!({"items": [1, 2]}))).await;
    assert_eq!(wire.answer(3).await["result"]["structuredContent"], json!([1, 2]));
    wire.send(&tool(4, "typed", &json!({}))).await;
    assert_eq!(wire.answer(4).await["error"]["code"], -32603, "the schema of its type says at least 1");
    assert_eq!(b.log.codes(), ["OUTPUT_SCHEMA"; 3]);
}

/// A pattern that a backtracking engine needs exponential time for.
async fn a_pattern_costs_no_more_than_the_text_is_long(b: Bench) {
    let evil = json!({"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}});
    let server = Server::shared("t", "1")
        .tool(ToolSpec::new("t").input_schema(by_hand(&evil)), |_: RawArguments, _: Context| async {
            Ok("done")
        });
    let mut wire = b.serve(server.build().unwrap()).wire();
    wire.send(&tool(1, "t", &json!({"a": "a".repeat(10_000) + "!"}))).await;
    assert_eq!(wire.answer(1).await["result"]["isError"], true);
}

fn with(spec: ToolSpec) -> Builder<Shared> {
    Server::shared("t", "1").tool(spec, |_: RawArguments, _: Context| async { Ok("done") })
}

#[test]
fn a_schema_that_is_none_is_refused_when_the_server_is_built() {
    let input = |schema: &Value| ToolSpec::new("t").input_schema(by_hand(schema));
    let output = |schema: &Value| ToolSpec::new("t").output_schema(by_hand(schema));
    let cases = [
        (input(&json!({"type": "object", "properties": 1})), "tool.input_schema"),
        (output(&json!({"type": "no such type"})), "tool.output_schema"),
        (output(&json!({"$ref": "https://example.com/schema.json"})), "tool.output_schema"),
        (output(&json!({"$ref": "file:///etc/hostname"})), "tool.output_schema"),
        (output(&json!({"$schema": "https://example.com/dialect"})), "tool.output_schema"),
        (output(&json!({"pattern": "("})), "tool.output_schema"),
    ];
    for (spec, field) in cases {
        let Err(refused) = with(spec).build() else { panic!("accepted: {field}") };
        assert_eq!(refused.field, field, "{refused}");
    }
    assert!(with(output(&json!({"$defs": {"a": {"type": "null"}}, "$ref": "#/$defs/a"}))).build().is_ok());
}

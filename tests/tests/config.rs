//! What a server may not be built of is refused when it is built, and the refusal says what to do.
#![allow(missing_docs, clippy::unused_async)]

use std::error::Error;
use std::time::Duration;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::model::RawJson;
use sansio_mcp_sdk::server::{
    Builder, Context, Exit, Json, NoArguments, Parsed, Server, ToolAnnotations, ToolInput, ToolOutput,
    ToolSpec, schema,
};
use sansio_mcp_tests::{Bench, request, rows, tool};
use serde_json::{Value, json};

rows! {
    hints_are_listed: [memory];
    an_error_in_a_box_is_told_with_its_causes: [memory];
    a_type_that_can_be_anything_has_a_schema_that_allows_anything: [memory];
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code)]
enum Choice {
    Book { isbn: String },
    Shelf { number: u32 },
}

struct Odd;

impl ToolOutput for Odd {
    fn into_result(self) -> Result<sansio_mcp_sdk::server::CallToolResult, Exit> {
        Ok(sansio_mcp_sdk::server::CallToolResult::default())
    }

    fn schema() -> Option<RawJson> {
        RawJson::from_text("true").ok()
    }
}

fn with<A: ToolInput + Send + 'static>(spec: impl Into<ToolSpec>) -> Builder<Shared> {
    Server::shared("t", "1").tool(spec, |_: A, _: Context| async { Ok("done") })
}

#[test]
fn a_refusal_names_the_field_once_and_the_way_out() {
    let second = Duration::from_secs(1);
    let server = || Server::shared("t", "1");
    let cases = [
        (server().slots(0), "slots: is zero: nothing could ever run"),
        (server().page_size(0), "page_size: is zero: the list would never end"),
        (
            server().cleanup_bounds(Duration::ZERO, Duration::ZERO),
            "cleanup_bounds: are zero: no clean-up would ever",
        ),
        (server().cleanup_bounds(second, Duration::ZERO), "cleanup_bounds: are zero"),
        (server().cleanup_bounds(Duration::ZERO, second), "cleanup_bounds: are zero"),
        (server().closing_bound(Duration::ZERO), "closing_bound: is zero: nothing would be waited for"),
        (with::<NoArguments>(""), "tool.name: is empty"),
        (
            with::<Choice>("t"),
            "tool.input_schema: of \"t\": the `type` of a tool's input schema must be \"object\": that of its arguments' type is not; make that type a field of a struct, or write the schema by hand with ToolSpec::input_schema",
        ),
        (with::<String>("t"), "make that type a field of a struct"),
        (
            with::<Parsed<Value>>("t"),
            "tool.input_schema: of \"t\": is missing: the type of its arguments has none, so ToolSpec::input_schema must give it",
        ),
        (
            with::<NoArguments>(ToolSpec::new("t").input_schema(schema(&json!({"type": "string"})).unwrap())),
            "tool.input_schema: of \"t\": the `type` of a tool's input schema must be \"object\"",
        ),
        (
            with::<NoArguments>(ToolSpec::new("t").output_schema(schema(&json!([])).unwrap())),
            "tool.output_schema: of \"t\": a tool's schema must be a JSON object",
        ),
        (
            server().tool("t", |_: NoArguments, _: Context| async { Ok(Odd) }),
            "tool.output_schema: of \"t\": a tool's schema must be a JSON object",
        ),
        (
            with::<NoArguments>("t").tool("t", |_: NoArguments, _: Context| async { Ok("done") }),
            "tool.name: \"t\" is there twice",
        ),
    ];
    for (builder, want) in cases {
        let Err(refused) = builder.build() else { panic!("accepted: {want}") };
        let text = refused.to_string();
        assert!(text.contains(want), "{text}\ninstead of\n{want}");
        assert_eq!(text.matches(refused.field).count(), 1, "{text}");
    }
    assert!(server().cleanup_bounds(second, second).closing_bound(second).build().is_ok());
    let by_hand = schema(&json!({"type": "object"})).unwrap();
    assert!(with::<Choice>(ToolSpec::new("t").input_schema(by_hand)).build().is_ok());
}

async fn listed(b: &Bench, server: Builder<Shared>) -> Value {
    let mut wire = b.serve(server.build().unwrap()).wire();
    wire.send(&request(1, "tools/list", json!({}), &json!({}))).await;
    wire.answer(1).await["result"]["tools"].clone()
}

async fn hints_are_listed(b: Bench) {
    let title = ToolAnnotations::default().with_title("Shelves");
    let spec =
        ToolSpec::new("t").annotations(title).read_only().destructive(false).idempotent().open_world(false);
    let tools = listed(&b, with::<NoArguments>(spec)).await;
    let want = json!({
        "title": "Shelves", "readOnlyHint": true, "destructiveHint": false,
        "idempotentHint": true, "openWorldHint": false,
    });
    assert_eq!(tools[0]["annotations"], want);
}

async fn an_error_in_a_box_is_told_with_its_causes(b: Bench) {
    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);
    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("no such shelf")
        }
    }
    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }
    fn find() -> Result<&'static str, Box<dyn Error + Send + Sync>> {
        let number: Result<u32, _> = "seven".parse();
        number.map(|_| "found").map_err(|error| Outer(error).into())
    }
    let server = Server::shared("t", "1")
        .tool("t", |_: NoArguments, _: Context| async { find().map_err(Exit::error) })
        .tool("text", |_: NoArguments, _: Context| async { Err::<&str, _>(Exit::error("as I said")) });
    let mut wire = b.serve(server.build().unwrap()).wire();
    for (id, name, want) in
        [(1, "t", "no such shelf: invalid digit found in string"), (2, "text", "as I said")]
    {
        wire.send(&tool(id, name, &json!({}))).await;
        let result = wire.answer(id).await["result"].clone();
        assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!(want)));
    }
}

async fn a_type_that_can_be_anything_has_a_schema_that_allows_anything(b: Bench) {
    let server =
        Server::shared("t", "1").tool("t", |_: NoArguments, _: Context| async { Ok(Json(json!([1, null]))) });
    let schema = listed(&b, server).await[0]["outputSchema"].clone();
    let keys: Vec<&String> = schema.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["$schema", "title"], "nothing that could refuse anything");
}

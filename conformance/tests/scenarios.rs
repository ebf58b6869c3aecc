//! The client's scenarios, against servers that see what it sends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{Arc, Mutex};

use sansio_mcp_conformance::client::{Failure, Scenario, setup};
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::server::{
    Asked, BooleanSchema, Builder, Context, Form, NoArguments, NumberSchema, RawArguments, Server,
    StringSchema, ToolSpec, schema,
};
use sansio_mcp_sdk::{Engine, Shared};
use serde_json::{Value, json};

fn play(server: Builder<Shared>, scenario: &str, context: &str) -> Result<(), Failure> {
    let lab = Lab::new();
    let (engine, driver) = Engine::new(server.build().unwrap(), Arc::new(lab.clock()));
    lab.spawn(driver);
    let client = lab.connect(&engine, setup().unwrap());
    let scenario: Scenario = scenario.parse()?;
    lab.run(scenario.play(&client, context))
}

/// What each tool of a server was called with.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<(String, Value)>>>);

impl Calls {
    fn server(&self, tools: &[(&'static str, Value)]) -> Builder<Shared> {
        tools.iter().fold(Server::shared("scenario", "1"), |server, (name, of)| {
            let (calls, name) = (self.clone(), *name);
            let spec = ToolSpec::new(name).input_schema(schema(of).unwrap());
            server.tool(spec, move |RawArguments(arguments), _: Context| {
                calls.0.lock().unwrap().push((name.to_string(), arguments.parse().unwrap()));
                async { Ok("done") }
            })
        })
    }

    fn seen(&self) -> Vec<(String, Value)> {
        self.0.lock().unwrap().clone()
    }
}

fn called(calls: &[(&str, Value)]) -> Vec<(String, Value)> {
    calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone())).collect()
}

#[test]
fn numbers_are_added_as_numbers() {
    let calls = Calls::default();
    play(calls.server(&[("add_numbers", json!({"type": "object"}))]), "tools_call", "").unwrap();
    assert_eq!(calls.seen(), called(&[("add_numbers", json!({"a": 5, "b": 3}))]));
}

#[test]
fn a_schema_comes_back_as_it_was_sent() {
    let rich = json!({
        "type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema", "x-odd": [null, 1.50],
        "$defs": {"a": {"$anchor": "b"}}, "if": {"const": 1}, "then": false, "additionalProperties": false,
    });
    let calls = Calls::default();
    let tools = [("json_schema_2020_12_tool", rich.clone()), ("json_schema_echo", json!({"type": "object"}))];
    play(calls.server(&tools), "json-schema-2020-12-preservation", "").unwrap();
    assert_eq!(calls.seen(), called(&[("json_schema_echo", json!({"schema": rich}))]));
}

#[test]
fn every_tool_is_called_with_what_it_requires() {
    let parameters = json!({"region": {"type": "string"}, "n": {"type": "integer", "minimum": 4}, "other": {"type": "string"}});
    let tools = [
        ("valid_tool", json!({"type": "object", "properties": parameters, "required": ["region", "n"]})),
        ("plain", json!({"type": "object"})),
    ];
    let calls = Calls::default();
    play(calls.server(&tools), "http-invalid-tool-headers", "").unwrap();
    assert_eq!(
        calls.seen(),
        called(&[("valid_tool", json!({"region": "test", "n": 4})), ("plain", json!({}))])
    );
}

#[test]
fn the_context_says_what_to_call() {
    let calls = Calls::default();
    let tools = [("one", json!({"type": "object"})), ("two", json!({"type": "object"}))];
    let context = json!({"name": "http-custom-headers", "toolCalls": [
        {"name": "two", "arguments": {"verbose": null, "text": " padded "}}, {"name": "one", "arguments": {}},
    ]});
    play(calls.server(&tools), "http-custom-headers", &context.to_string()).unwrap();
    let wanted = [("two", json!({"verbose": null, "text": " padded "})), ("one", json!({}))];
    assert_eq!(calls.seen(), called(&wanted));
}

#[test]
fn questions_are_answered_while_something_else_is_called() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let asks = |name: &'static str| {
        let said = Arc::clone(&said);
        (name, move |_: NoArguments, cx: Context| {
            let said = Arc::clone(&said);
            async move {
                let form = Form::new("Please confirm to continue")
                    .optional("confirmed", BooleanSchema::new())
                    .optional("name", StringSchema::new().with_default("John Doe"))
                    .optional("age", NumberSchema::integer().with_default(30));
                let Asked::Accepted(fields) = cx.ask("confirm", form)? else { panic!("not accepted") };
                said.lock().unwrap().push((name, serde_json::to_value(&fields).unwrap()));
                Ok("confirmed")
            }
        })
    };
    let plain = async |_: NoArguments, cx: Context| {
        assert_eq!((cx.request().input_responses(), cx.request().request_state()), (None, None));
        Ok("done")
    };
    let ((echo, asks_echo), (bare, asks_bare)) = (asks("test_mrtr_echo_state"), asks("test_mrtr_no_state"));
    let server = Server::shared("scenario", "1")
        .tool(echo, asks_echo)
        .tool(bare, asks_bare)
        .tool("test_mrtr_unrelated", plain)
        .tool("test_mrtr_no_result_type", plain);
    play(server, "sep-2322-client-request-state", "").unwrap();
    let fields = json!({"confirmed": true, "name": "John Doe", "age": 30});
    assert_eq!(
        *said.lock().unwrap(),
        [("test_mrtr_echo_state", fields.clone()), ("test_mrtr_no_state", fields)]
    );
}

#[test]
fn what_cannot_be_done_is_said() {
    let server = || Calls::default().server(&[("other", json!({"type": "object"}))]);
    assert!(matches!(play(server(), "tools_call", ""), Err(Failure::NotOffered("add_numbers"))));
    assert!(
        matches!(play(server(), "auth/dpop", ""), Err(Failure::UnknownScenario(name)) if name == "auth/dpop")
    );
    assert!(matches!(play(server(), "http-custom-headers", ""), Err(Failure::Context(_))));
    let unknown = json!({"toolCalls": [{"name": "nothing", "arguments": {}}]}).to_string();
    assert!(
        matches!(play(server(), "http-custom-headers", &unknown), Err(Failure::Call(error)) if error.code() == "PEER_ERROR")
    );
}

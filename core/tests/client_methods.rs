//! What the client writes for the methods of prompts, resources and completion, and what it is addressed to.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sansio_mcp::client::{CallSpec, ClientEvent, InputAnswer, Outcome, Refused};
use sansio_mcp::model::{CompleteParams, PromptReference, RawJson, ResourceTemplateReference};
use serde_json::{Value, json};
use short::{ClientExt, START, client, outcome, tool};

#[path = "support/short.rs"]
mod short;

/// Method, target and params without `_meta`.
fn written(spec: CallSpec) -> (String, Option<String>, Value) {
    let mut client = client();
    let call = client.call(START, spec).unwrap();
    let target = client.target(call).map(str::to_owned);
    let mut sent = client.sends().remove(0);
    let params = sent["params"].as_object_mut().unwrap();
    params.remove("_meta").unwrap();
    (sent["method"].as_str().unwrap().into(), target, sent["params"].clone())
}

#[test]
fn each_method_has_its_params_and_its_target() {
    let cases = [
        (CallSpec::list_prompts(None), "prompts/list", None, json!({})),
        (CallSpec::list_prompts(Some("")), "prompts/list", None, json!({"cursor": ""})),
        (CallSpec::list_resources(Some("c")), "resources/list", None, json!({"cursor": "c"})),
        (CallSpec::list_resource_templates(None), "resources/templates/list", None, json!({})),
        (CallSpec::read_resource("a://\"é"), "resources/read", Some("a://\"é"), json!({"uri": "a://\"é"})),
        (
            CallSpec::prompt("p", &json!({"x": "1"})).unwrap(),
            "prompts/get",
            Some("p"),
            json!({"name": "p", "arguments": {"x": "1"}}),
        ),
        (
            CallSpec::complete(&CompleteParams::new(PromptReference::new("p"), "lang", "py")),
            "completion/complete",
            None,
            json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "lang", "value": "py"}}),
        ),
        (
            CallSpec::complete(
                &CompleteParams::new(ResourceTemplateReference::new("a://{b}"), "b", "")
                    .with_known([("c", "1".to_owned()), ("d", "\"".to_owned())].into_iter().collect()),
            ),
            "completion/complete",
            None,
            json!({"ref": {"type": "ref/resource", "uri": "a://{b}"}, "argument": {"name": "b", "value": ""},
                "context": {"arguments": {"c": "1", "d": "\""}}}),
        ),
    ];
    for (spec, method, target, params) in cases {
        assert_eq!(written(spec), (method.into(), target.map(str::to_owned), params));
    }
    assert_eq!(CallSpec::prompt("p", &json!([])).err(), Some(Refused::NotAnObject("arguments")));
}

#[test]
fn an_answer_knows_whether_it_depends_on_input() {
    let done = |id: i64| json!({"id": id, "result": {"content": []}});
    let after_input = |client: &mut sansio_mcp::client::Client| match outcome(client) {
        Outcome::Complete(answer) => answer.is_after_input(),
        other => panic!("{other:?}"),
    };
    let mut client = client();
    client.calls(tool());
    client.hears(&done(1));
    assert!(!after_input(&mut client));
    // Questions, and state alone.
    let question = json!({"a": {"method": "roots/list"}});
    client.calls(CallSpec::read_resource("a://b"));
    client.hears(&json!({"id": 2, "result": {"resultType": "input_required", "inputRequests": question}}));
    let Some(ClientEvent::InputRequired { call, .. }) = client.poll_event() else { panic!() };
    let roots = RawJson::from_text(r#"{"roots":[]}"#).unwrap();
    client.answer(START, call, &[InputAnswer { key: "a", result: roots.as_raw() }]).unwrap();
    client.sends();
    client.hears(&done(3));
    assert!(after_input(&mut client));
    client.calls(CallSpec::read_resource("a://b"));
    client.hears(&json!({"id": 4, "result": {"resultType": "input_required", "requestState": ""}}));
    let retry = client.poll_timeout().unwrap().at();
    client.handle_timeout(sansio_mcp::time::Now::at(retry));
    client.sends();
    client.hears(&done(5));
    assert!(after_input(&mut client));
}

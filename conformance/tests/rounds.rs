//! What the server asks, as the suite asks for it: request by request, with answers that fit and answers that do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use serde_json::{Value, json};

use support::{Rig, rig};

/// What the suite declares unless it says otherwise.
fn all() -> Value {
    json!({"sampling": {}, "elicitation": {}, "roots": {"listChanged": true}})
}

/// A call, with answers and state.
fn call(rig: &Rig, tool: &str, responses: Option<Value>, state: Option<&Value>) -> Value {
    let mut params = json!({"name": tool, "arguments": {}});
    if let Some(responses) = responses {
        params["inputResponses"] = responses;
    }
    if let Some(state) = state {
        params["requestState"] = state.clone();
    }
    rig.answer("tools/call", params, &all())
}

fn asked(answer: &Value) -> &Value {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    &answer["result"]["inputRequests"]
}

fn said(answer: &Value) -> &str {
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert!(answer["result"]["isError"].as_bool() != Some(true), "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

fn accept(content: &Value) -> Value {
    json!({"action": "accept", "content": content})
}

fn sampled(text: &str) -> Value {
    json!({"role": "assistant", "content": {"type": "text", "text": text}, "model": "test-model", "stopReason": "endTurn"})
}

fn roots() -> Value {
    json!({"roots": [{"uri": "file:///test/root", "name": "Test Root"}]})
}

fn form(message: &str, field: &str, kind: &str) -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "form", "message": message,
        "requestedSchema": {"type": "object", "properties": {field: {"type": kind}}, "required": [field]},
    }})
}

#[test]
fn a_name_is_asked_until_there_is_one() {
    let rig = rig();
    let tool = "test_input_required_result_elicitation";
    let question = json!({"user_name": form("What is your name?", "name", "string")});
    let first = call(&rig, tool, None, None);
    assert_eq!(asked(&first), &question);
    let state = first["result"].get("requestState");
    let ada = || accept(&json!({"name": "Ada"}));
    assert_eq!(said(&call(&rig, tool, Some(json!({"user_name": ada()})), state)), "Hello, Ada!");
    assert_eq!(
        said(&call(&rig, tool, Some(json!({"user_name": ada()})), None)),
        "Hello, Ada!",
        "without state"
    );
    let more = json!({"user_name": ada(), "unknown_extra_key": accept(&json!({"foo": "bar"}))});
    assert_eq!(said(&call(&rig, tool, Some(more), None)), "Hello, Ada!");
    let unfit = [
        json!({"wrong_key": accept(&json!({"data": "wrong"}))}),
        json!({"user_name": 12345}),
        json!({"user_name": accept(&json!({"name": 5}))}),
        json!({}),
    ];
    for responses in unfit {
        let again = call(&rig, tool, Some(responses.clone()), None);
        assert!(again.get("error").is_some() || asked(&again) == &question, "{responses}: {again}");
        if responses.get("user_name").is_none() {
            assert_eq!(asked(&again), &question);
        }
    }
    let null = call(&rig, tool, Some(Value::Null), None);
    assert!(null.get("error").is_some() || asked(&null) == &question, "{null}");
    let declined = call(&rig, tool, Some(json!({"user_name": {"action": "decline"}})), None);
    assert_eq!(declined["result"]["isError"], true, "{declined}");
    assert_eq!(asked(&call(&rig, "test_streaming_elicitation", None, None)), &question);
}

#[test]
fn model_and_client_are_asked() {
    let rig = rig();
    let tool = "test_input_required_result_sampling";
    let first = call(&rig, tool, None, None);
    let message =
        json!({"role": "user", "content": {"type": "text", "text": "What is the capital of France?"}});
    let params = json!({"messages": [message], "maxTokens": 100});
    assert_eq!(
        asked(&first),
        &json!({"capital_question": {"method": "sampling/createMessage", "params": params}})
    );
    let responses = json!({"capital_question": sampled("The capital of France is Paris.")});
    let state = first["result"].get("requestState");
    assert_eq!(said(&call(&rig, tool, Some(responses), state)), "The capital of France is Paris.");

    let tool = "test_input_required_result_list_roots";
    let first = call(&rig, tool, None, None);
    assert_eq!(asked(&first)["client_roots"]["method"], "roots/list");
    let state = first["result"].get("requestState");
    let done = call(&rig, tool, Some(json!({"client_roots": roots()})), state);
    assert_eq!(said(&done), "1 roots: file:///test/root");
}

#[test]
fn a_state_goes_along_and_nobody_else_can_write_one() {
    let rig = rig();
    for tool in ["test_input_required_result_request_state", "test_input_required_result_tampered_state"] {
        let first = call(&rig, tool, None, None);
        assert_eq!(asked(&first), &json!({"confirm": form("Please confirm", "ok", "boolean")}));
        let state = first["result"]["requestState"].as_str().unwrap();
        let responses = || Some(json!({"confirm": accept(&json!({"ok": true}))}));
        assert_eq!(said(&call(&rig, tool, responses(), Some(&json!(state)))), "state-ok, confirmed: true");
        let tampered = call(&rig, tool, responses(), Some(&json!(format!("{state}-TAMPERED"))));
        assert_eq!(tampered["error"]["code"], -32602, "{tampered}");
    }
}

#[test]
fn several_questions_are_asked_at_once_and_in_turn() {
    let rig = rig();
    let tool = "test_input_required_result_multiple_inputs";
    let first = call(&rig, tool, None, None);
    let questions = asked(&first);
    assert_eq!(questions["user_name"], form("What is your name?", "name", "string"));
    assert_eq!(questions["greeting"]["params"]["maxTokens"], 50);
    assert_eq!(questions["client_roots"]["method"], "roots/list");
    let responses = json!({
        "user_name": accept(&json!({"name": "Ada"})), "greeting": sampled("Hello there,"), "client_roots": roots(),
    });
    let done = call(&rig, tool, Some(responses), first["result"].get("requestState"));
    assert_eq!(said(&done), "Hello there, Ada has 1 roots.");

    let tool = "test_input_required_result_multi_round";
    let first = call(&rig, tool, None, None);
    assert_eq!(asked(&first), &json!({"step1": form("Step 1: What is your name?", "name", "string")}));
    let one = first["result"]["requestState"].clone();
    let second = call(&rig, tool, Some(json!({"step1": accept(&json!({"name": "Ada"}))})), Some(&one));
    let question = json!({"step2": form("Step 2: What is your favorite color?", "color", "string")});
    assert_eq!(asked(&second), &question);
    let two = second["result"]["requestState"].clone();
    assert!(one.is_string() && two.is_string() && one != two);
    let third = call(&rig, tool, Some(json!({"step2": accept(&json!({"color": "blue"}))})), Some(&two));
    assert_eq!(said(&third), "Ada likes blue.");
}

#[test]
fn a_client_is_asked_for_what_it_can() {
    let rig = rig();
    let params = json!({"name": "test_input_required_result_capabilities", "arguments": {}});
    let keys = |capabilities: Value| -> Vec<String> {
        let answer = rig.answer("tools/call", params.clone(), &capabilities);
        asked(&answer).as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(json!({"sampling": {}})), ["greeting"]);
    assert_eq!(keys(json!({"elicitation": {}})), ["user_name"]);
    assert_eq!(keys(all()), ["client_roots", "greeting", "user_name"]);
    let nothing = rig.answer("tools/call", params.clone(), &json!({}));
    assert_eq!(said(&nothing), "The client can be asked for: nothing");
    let mut answered = params.clone();
    answered["inputResponses"] = json!({"greeting": sampled("Hi")});
    let done = rig.answer("tools/call", answered, &json!({"sampling": {}}));
    assert_eq!(said(&done), "The client can be asked for: a greeting (Hi)");

    let missing = rig.answer("tools/call", json!({"name": "test_missing_capability"}), &json!({}));
    assert_eq!(missing["error"]["code"], -32021);
    assert_eq!(missing["error"]["data"], json!({"requiredCapabilities": {"sampling": {}}}));
    let there =
        rig.answer("tools/call", json!({"name": "test_missing_capability"}), &json!({"sampling": {}}));
    assert_eq!(said(&there), "The client declared sampling.");
}

#[test]
fn prompts_ask_and_lists_do_not() {
    let rig = rig();
    let params = json!({"name": "test_input_required_result_prompt"});
    let first = rig.answer("prompts/get", params.clone(), &all());
    let question = form("What context should the prompt use?", "context", "string");
    assert_eq!(asked(&first), &json!({"user_context": question}));
    let mut answered = params;
    answered["inputResponses"] = json!({"user_context": accept(&json!({"context": "tests"}))});
    answered["requestState"] = first["result"]["requestState"].clone();
    let done = rig.answer("prompts/get", answered, &all());
    assert_eq!(done["result"]["messages"][0]["content"]["text"], "Use this context: tests");
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let listed = rig.answer(method, json!({}), &all());
        assert_eq!(listed["result"]["resultType"], "complete", "{method}");
        assert!(listed["result"]["ttlMs"].is_u64() && listed["result"]["cacheScope"] == "public", "{listed}");
    }
    let read = rig.answer("resources/read", json!({"uri": "test://static-text"}), &all());
    assert_eq!((&read["result"]["ttlMs"], &read["result"]["cacheScope"]), (&json!(60_000), &json!("public")));
}

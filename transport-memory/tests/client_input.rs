//! Questions in the middle of a call, answered by the client's handlers: what is declared, asked and answered. The server is
//! lines written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sansio_mcp::model::{CreateMessageResult, ElicitAction, ElicitResult, RawMembers, Root, SamplingMessage};
use sansio_mcp::violation::PeerViolation;
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{CallError, ClientSetup};
use serde_json::{Value, json};
use support::questions::{anything, form, sampling, script, url, willing};
use support::{answer, ask, builder, start_setup};

#[test]
fn a_client_declares_what_it_has_handlers_for_and_nothing_else() {
    let lab = Lab::new();
    let declared = |setup: ClientSetup| {
        let (client, peer) = start_setup(&lab, setup);
        let server = script(&lab, peer, vec![answer(1, "")]);
        lab.run(client.call_tool("t", &json!({}))).unwrap();
        drop(client);
        lab.run(server)[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone()
    };
    let all = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
    assert_eq!(declared(willing()), all);
    assert_eq!(declared(builder().build().unwrap()), json!({}));
    let url = builder().on_url(async |_| Ok(ElicitAction::Cancel)).build().unwrap();
    assert_eq!(declared(url), json!({"elicitation": {"url": {}}}));
    let by_hand =
        serde_json::from_value(json!({"sampling": {"context": {}}, "extensions": {"x/y": {}}})).unwrap();
    let tools = builder()
        .capabilities(by_hand)
        .on_sampling_with_tools(async |_| Ok(CreateMessageResult::new("m", "4")))
        .build()
        .unwrap();
    assert_eq!(declared(tools), json!({"sampling": {"context": {}, "tools": {}}, "extensions": {"x/y": {}}}));
}

#[test]
fn a_capability_that_nothing_stands_for_is_refused_by_name() {
    for (capabilities, field) in [
        (json!({"elicitation": {}}), "capabilities.elicitation.form"),
        (json!({"elicitation": {"form": {}}}), "capabilities.elicitation.form"),
        (json!({"elicitation": {"url": {}}}), "capabilities.elicitation.url"),
        (json!({"sampling": {}}), "capabilities.sampling"),
        (json!({"roots": {}}), "capabilities.roots"),
    ] {
        let capabilities = serde_json::from_value(capabilities).unwrap();
        let refused = builder().capabilities(capabilities).build().err().unwrap();
        assert!(refused.to_string().contains(field), "{refused}");
    }
    let capabilities = serde_json::from_value(json!({"sampling": {"tools": {}}})).unwrap();
    let plain =
        builder().capabilities(capabilities).on_sampling(async |_| Ok(CreateMessageResult::new("m", "")));
    assert!(plain.build().err().unwrap().to_string().contains("capabilities.sampling.tools"));
}

#[test]
fn answers_go_out_under_their_keys_with_the_state_and_the_call_goes_on_as_it_was() {
    let lab = Lab::new();
    let (client, peer) = start_setup(&lab, willing());
    let questions =
        json!({"f": anything(), "u": url(), "s": sampling(&json!({})), "r": {"method": "roots/list"}});
    let server = script(&lab, peer, vec![ask(1, &questions, Some("st\"ate")), answer(2, "done")]);
    let call = client.call_tool("t", &json!({"x": 1})).meta(&json!({"m": 1})).on_progress(|_| {});
    assert_eq!(lab.run(call).unwrap().first_text(), Some("done"));
    assert_eq!(client.open_calls(), 0);
    drop(client);
    let heard = lab.run(server);
    assert_eq!(heard.len(), 2);
    let (first, second) = (&heard[0]["params"], &heard[1]["params"]);
    assert_eq!(
        second["inputResponses"],
        json!({
            "f": {"action": "accept", "content": {"a": "yes"}},
            "u": {"action": "accept"},
            "s": {"role": "assistant", "content": {"type": "text", "text": "4"}, "model": "m"},
            "r": {"roots": [{"uri": "file:///home", "name": "home"}]},
        })
    );
    assert_eq!(second["requestState"], "st\"ate");
    assert_eq!((&first["arguments"], &first["_meta"]["m"]), (&second["arguments"], &second["_meta"]["m"]));
    assert_eq!((first.get("inputResponses"), first.get("requestState")), (None, None));
}

#[test]
fn a_decline_and_a_dismissal_are_answers() {
    let lab = Lab::new();
    let setup = builder()
        .on_form(async |form| {
            Ok(if &*form.key == "no" { ElicitResult::decline() } else { ElicitResult::cancel() })
        })
        .on_url(async |_| Ok(ElicitAction::Decline))
        .build()
        .unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let questions = json!({"no": anything(), "gone": anything(), "visit": url()});
    let server = script(&lab, peer, vec![ask(1, &questions, None), answer(2, "as you like")]);
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap().first_text(), Some("as you like"));
    drop(client);
    let retry = &lab.run(server)[1]["params"];
    assert_eq!(
        retry["inputResponses"],
        json!({"no": {"action": "decline"}, "gone": {"action": "cancel"}, "visit": {"action": "decline"}})
    );
    assert_eq!(retry.get("requestState"), None, "absent stays absent");
}

#[test]
fn a_question_says_what_it_is_about_and_defaults_fill_what_was_left_empty() {
    let lab = Lab::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let setup = builder()
        .on_form(move |form| {
            log.lock().unwrap().push((
                form.method.clone(),
                form.target.clone(),
                form.round,
                form.key.clone(),
            ));
            let left: RawMembers = serde_json::from_value(json!({"name": "x", "note": null})).unwrap();
            async move { Ok(ElicitResult::accept(left)) }
        })
        .build()
        .unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let schema = json!({"type": "object", "required": ["name", "n"], "properties": {
        "name": {"type": "string", "default": "anonymous"}, "n": {"type": "integer", "default": 3},
        "note": {"type": "string"}, "gift": {"type": "boolean", "default": false},
        "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["b"]}}});
    let lines = vec![
        ask(1, &json!({"k": form(&schema)}), None),
        ask(2, &json!({"k2": form(&schema)}), None),
        answer(3, ""),
    ];
    let server = script(&lab, peer, lines);
    lab.run(client.call_tool("buy", &json!({}))).unwrap();
    drop(client);
    let content = json!({"name": "x", "n": 3, "gift": false, "many": ["b"]});
    let heard = lab.run(server);
    assert_eq!(heard[1]["params"]["inputResponses"]["k"], json!({"action": "accept", "content": content}));
    assert_eq!(heard[2]["params"]["inputResponses"], json!({"k2": {"action": "accept", "content": content}}));
    let about = |round, key: &str| ("tools/call".into(), Some("buy".into()), round, key.into());
    assert_eq!(*seen.lock().unwrap(), [about(1, "k"), about(2, "k2")]);
}

#[test]
fn an_answer_that_does_not_fit_its_form_never_leaves() {
    let lab = Lab::new();
    let schema =
        json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "maximum": 9}}});
    for content in [json!({"n": 10}), json!({"n": "9"}), json!({}), json!({"n": 1, "more": 1})] {
        let content: RawMembers = serde_json::from_value(content).unwrap();
        let setup = builder()
            .on_form(move |_| {
                let content = content.clone();
                async move { Ok(ElicitResult::accept(content)) }
            })
            .build()
            .unwrap();
        let (client, peer) = start_setup(&lab, setup);
        let server = script(&lab, peer, vec![ask(1, &json!({"k": form(&schema)}), None)]);
        let failed = lab.run(client.call_tool("t", &json!({}))).unwrap_err();
        assert_eq!(failed.code(), "INPUT_FAILED");
        assert!(failed.to_string().contains('`'), "the field is named: {failed}");
        drop(client);
        assert_eq!(lab.run(server).len(), 1, "nothing on the wire");
    }
    let setup = builder().on_roots(async |_| Ok(vec![Root::new("https://a.example")])).build().unwrap();
    let (client, peer) = start_setup(&lab, setup);
    script(&lab, peer, vec![ask(1, &json!({"k": {"method": "roots/list"}}), None)]);
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err().code(), "INPUT_FAILED");
}

#[test]
fn what_cannot_be_answered_ends_the_call_and_nobody_is_asked() {
    let lab = Lab::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let many: serde_json::Map<String, Value> = (0..65).map(|n| (n.to_string(), anything())).collect();
    let bad = |violation| CallError::BadPeer(violation);
    let cases: Vec<(Value, CallError)> = vec![
        (json!({"k": anything(), "l": {"method": "tools/call", "params": {}}}), CallError::InputUnsupported),
        (json!({"k": anything(), "l": url()}), CallError::InputUnsupported),
        (json!({"k": anything(), "l": sampling(&json!({"tools": []}))}), CallError::InputUnsupported),
        (json!({"k": anything(), "l": {"method": "roots/list"}}), CallError::InputUnsupported),
        (
            json!({"k": anything(), "l": {"method": "elicitation/create"}}),
            bad(PeerViolation::MalformedQuestion),
        ),
        (
            json!({"k": anything(), "l": {"method": "elicitation/create", "params": {"mode": "fax", "message": "m"}}}),
            bad(PeerViolation::MalformedQuestion),
        ),
        (
            json!({"k": anything(), "l": {"method": "elicitation/create",
                "params": {"mode": "url", "message": "m", "url": "javascript:alert(1)"}}}),
            bad(PeerViolation::MalformedQuestion),
        ),
        (json!({"k": form(&json!({"type": "array"}))}), bad(PeerViolation::MalformedQuestion)),
        (json!({"k": form(&json!(7))}), bad(PeerViolation::MalformedQuestion)),
        (json!({"k": sampling(&json!({"maxTokens": "5"}))}), bad(PeerViolation::MalformedQuestion)),
        (Value::Object(many), bad(PeerViolation::TooManyQuestions)),
        // These the engine refuses before.
        (json!({}), bad(PeerViolation::InputWithoutContent)),
        (json!({"k": 5}), bad(PeerViolation::MalformedResult)),
        (json!({"k": {"params": {}}}), bad(PeerViolation::MalformedResult)),
        (json!([anything()]), bad(PeerViolation::MalformedResult)),
    ];
    for (questions, expected) in cases {
        let count = Arc::clone(&asked);
        let setup = builder()
            .on_form(move |form| {
                count.fetch_add(1, Ordering::Relaxed);
                async move { form.accept(&json!({})) }
            })
            .on_sampling(async |_| Ok(CreateMessageResult::new("m", "")))
            .build()
            .unwrap();
        let (client, peer) = start_setup(&lab, setup);
        let server = script(&lab, peer, vec![ask(1, &questions, None), answer(2, "alive")]);
        assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err(), expected, "{questions}");
        assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap().first_text(), Some("alive"));
        drop(client);
        assert_eq!(lab.run(server).len(), 2, "{questions}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[test]
fn a_key_that_stands_twice_is_not_answered_twice() {
    let lab = Lab::new();
    let (client, peer) = start_setup(&lab, willing());
    let twice = ask(1, &json!({"a": anything(), "b": anything()}), None).replace("\"b\":", "\"a\":");
    script(&lab, peer, vec![twice]);
    let failed = lab.run(client.call_tool("t", &json!({}))).unwrap_err();
    assert_eq!(failed, CallError::BadPeer(PeerViolation::MalformedResult));
}

#[test]
fn sampling_with_tools_reaches_a_handler_that_can_use_them() {
    let lab = Lab::new();
    let setup = builder()
        .on_sampling_with_tools(async |asked| {
            let tools: Vec<String> =
                asked.params.tools.iter().flatten().map(|tool| tool.name.clone()).collect();
            let said =
                asked.params.messages.first().map(|m: &SamplingMessage| m.content.first_text().is_some());
            Ok(CreateMessageResult::new("m", format!("{tools:?} {said:?}")).with_stop_reason("endTurn"))
        })
        .build()
        .unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let tools = json!({"tools": [{"name": "w", "inputSchema": {"type": "object"}}]});
    let server = script(&lab, peer, vec![ask(1, &json!({"k": sampling(&tools)}), None), answer(2, "")]);
    lab.run(client.call_tool("t", &json!({}))).unwrap();
    drop(client);
    let said = &lab.run(server)[1]["params"]["inputResponses"]["k"];
    assert_eq!(
        (&said["content"]["text"], &said["stopReason"]),
        (&json!("[\"w\"] Some(true)"), &json!("endTurn"))
    );
}

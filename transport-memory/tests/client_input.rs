//! Questions in the middle of a call, answered by the client's handlers. The server is lines written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use sansio_mcp::client::{Abandon, Routing};
use sansio_mcp::model::{CreateMessageResult, ElicitAction, ElicitResult, RawMembers, Root, SamplingMessage};
use sansio_mcp::violation::PeerViolation;
use sansio_mcp_memory::{Lab, Task};
use sansio_mcp_sdk::client::{CallError, ClientSetup, InputFailure};
use serde_json::{Value, json};
use support::{Peer, answer, ask, builder, error, progress, result, settle, start_setup};

const SECOND: Duration = Duration::from_secs(1);

fn form(schema: &Value) -> Value {
    json!({"method": "elicitation/create", "params": {"message": "Well?", "requestedSchema": schema}})
}

fn anything() -> Value {
    form(&json!({"type": "object", "properties": {"a": {"type": "string"}}}))
}

fn url() -> Value {
    json!({"method": "elicitation/create", "params": {"mode": "url", "message": "Go", "url": "https://a.example/x"}})
}

fn sampling(more: &Value) -> Value {
    let mut params =
        json!({"maxTokens": 5, "messages": [{"role": "user", "content": {"type": "text", "text": "2+2"}}]});
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    json!({"method": "sampling/createMessage", "params": params})
}

/// A client that agrees to everything.
fn willing() -> ClientSetup {
    builder()
        .on_form(async |form| form.accept(&json!({"a": "yes"})))
        .on_url(async |_| Ok(ElicitAction::Accept))
        .on_sampling(async |_| Ok(CreateMessageResult::new("m", "4")))
        .on_roots(async |_| Ok(vec![Root::new("file:///home").with_name("home")]))
        .build()
        .unwrap()
}

/// Answers each request with the next line, then returns all requests and the rest of what comes.
fn script(lab: &Lab, mut peer: Peer, lines: Vec<String>) -> Task<Vec<Value>> {
    lab.spawn(async move {
        let mut heard = Vec::new();
        for line in lines {
            heard.push(peer.line().await.unwrap());
            peer.send(line).await;
        }
        while let Some(line) = peer.line().await {
            heard.push(line);
        }
        heard
    })
}

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

/// Counts those that live.
struct Living(Arc<AtomicUsize>);

impl Living {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers the question `fast` after a second as `fail` says and never another.
fn slow(lab: &Lab, living: &Arc<AtomicUsize>, fail: bool) -> ClientSetup {
    let (clock, living) = (lab.clock(), Arc::clone(living));
    builder()
        .on_form(move |form| {
            let (clock, living) = (clock.clone(), Living::new(&living));
            async move {
                if &*form.key == "fast" {
                    sansio_mcp_sdk::clock::Clock::sleep(&clock, SECOND).await;
                    if fail {
                        return Err(InputFailure::new("the printer is on fire"));
                    }
                    return form.accept(&json!({}));
                }
                pending::<()>().await;
                drop(living);
                unreachable!()
            }
        })
        .build()
        .unwrap()
}

#[test]
fn edge_29_questions_are_asked_at_once_and_the_first_failure_withdraws_the_others() {
    let lab = Lab::new();
    let living = Arc::new(AtomicUsize::new(0));
    let (client, peer) = start_setup(&lab, slow(&lab, &living, true));
    let questions = json!({"one": anything(), "fast": anything(), "two": anything()});
    let server = script(&lab, peer, vec![ask(1, &questions, Some("s"))]);
    let call = lab.spawn(client.call_tool("t", &json!({})));
    lab.advance(SECOND / 2);
    assert_eq!((living.load(Ordering::Relaxed), call.is_done()), (3, false));
    lab.advance(SECOND);
    let failed = call.take().unwrap().unwrap_err();
    assert_eq!((living.load(Ordering::Relaxed), failed.code()), (0, "INPUT_FAILED"));
    assert_eq!(failed, CallError::InputFailed("the printer is on fire".into()));
    assert_eq!(client.open_calls(), 0);
    drop(client);
    assert_eq!(lab.run(server).len(), 1, "neither a retry nor a cancel");
}

#[test]
fn dropping_cancelling_or_losing_the_call_withdraws_its_questions_and_says_nothing() {
    let lab = Lab::new();
    let living = Arc::new(AtomicUsize::new(0));
    for how in ["drop", "cancel", "close", "lose"] {
        let (client, mut peer) = start_setup(&lab, slow(&lab, &living, false));
        lab.run(async {
            let mut call = client.call_tool("t", &json!({}));
            let mut poll = async || poll_fn(|cx| Poll::Ready(Pin::new(&mut call).poll(cx))).await;
            assert!(poll().await.is_pending());
            peer.request().await;
            peer.send(ask(1, &json!({"one": anything(), "two": anything()}), None)).await;
            settle().await;
            assert!(poll().await.is_pending());
            assert_eq!(living.load(Ordering::Relaxed), 2, "{how}");
            match how {
                "drop" => drop(call),
                "cancel" => {
                    call.cancel("never mind");
                    assert_eq!(call.await.unwrap_err().code(), "CANCELLED");
                }
                "close" => {
                    client.close();
                    assert_eq!(call.await.unwrap_err().code(), "CLOSED");
                }
                _ => {
                    drop(peer);
                    assert_eq!(call.await.unwrap_err().code(), "LOST");
                    assert_eq!(living.load(Ordering::Relaxed), 0);
                    return;
                }
            }
            assert_eq!((living.load(Ordering::Relaxed), client.open_calls()), (0, 0), "{how}");
            settle().await;
            assert_eq!(peer.ready_line().await, None, "{how}: nothing on the wire");
        });
    }
}

#[test]
fn a_question_has_a_deadline_of_its_own_and_those_of_the_call_stand_still() {
    let lab = Lab::new();
    let living = Arc::new(AtomicUsize::new(0));
    let (client, peer) = start_setup(&lab, slow(&lab, &living, false));
    let questions = json!({"fast": anything(), "never": anything()});
    let lines =
        vec![ask(1, &questions, None), ask(2, &json!({"fast": anything()}), None), answer(3, "in time")];
    let server = script(&lab, peer, lines);
    let call = client.call_tool("t", &json!({})).total_timeout(Some(SECOND)).answer_within(Some(60 * SECOND));
    assert_eq!(lab.run(call).unwrap_err(), CallError::InputTimedOut);
    assert_eq!((lab.clock().elapsed(), living.load(Ordering::Relaxed)), (60 * SECOND, 0));
    // A second of answering does not count against a total of a second.
    let call = client.call_tool("t", &json!({})).total_timeout(Some(SECOND)).answer_within(Some(2 * SECOND));
    assert_eq!(lab.run(call).unwrap().first_text(), Some("in time"));
    drop(client);
    assert_eq!(lab.run(server).len(), 3);
}

#[test]
fn the_deadline_of_the_client_holds_unless_the_call_says_otherwise() {
    let lab = Lab::new();
    let setup = builder().answer_within(SECOND).on_form(async |_| pending().await).build().unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let questions = json!({"k": anything()});
    script(&lab, peer, vec![ask(1, &questions, None), ask(2, &questions, None)]);
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err().code(), "INPUT_TIMED_OUT");
    assert_eq!(lab.clock().elapsed(), SECOND);
    let call = lab.spawn(client.call_tool("t", &json!({})).answer_within(None));
    lab.advance(3600 * SECOND);
    assert!(!call.is_done());
}

#[test]
fn a_panicking_handler_fails_its_call_alone() {
    let lab = Lab::new();
    let setup = builder()
        .on_form(async |form| match &*form.key {
            "ok" => form.accept(&json!({})),
            _ => panic!("contained: the handler of a question panics"),
        })
        .on_url(|_| -> std::future::Ready<Result<ElicitAction, InputFailure>> {
            panic!("contained: it does not even begin")
        })
        .build()
        .unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let lines = vec![
        ask(1, &json!({"bad": anything(), "ok": anything()}), None),
        ask(2, &json!({"ok": anything(), "u": url()}), None),
        ask(3, &json!({"ok": anything()}), None),
        answer(4, "fine"),
    ];
    script(&lab, peer, lines);
    for _ in 0..2 {
        let failed = lab.run(client.call_tool("t", &json!({}))).unwrap_err();
        assert!(failed.to_string().contains("panicked"), "{failed}");
    }
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap().first_text(), Some("fine"));
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
fn eight_rounds_are_answered_and_at_the_ninth_nobody_is_asked() {
    let lab = Lab::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let setup = builder()
        .on_form(move |form| {
            count.fetch_add(1, Ordering::Relaxed);
            async move { form.accept(&json!({})) }
        })
        .build()
        .unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let lines = (1..=9).map(|id| ask(id, &json!({"k": anything()}), Some(&id.to_string()))).collect();
    let server = script(&lab, peer, lines);
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err(), CallError::RoundsExceeded);
    assert_eq!(asked.load(Ordering::Relaxed), 8);
    drop(client);
    let heard = lab.run(server);
    let states: Vec<_> = heard.iter().map(|line| line["params"]["requestState"].as_str()).collect();
    assert_eq!(states.len(), 9);
    assert_eq!(
        (states[0], states[1], states[8]),
        (None, Some("1"), Some("8")),
        "each retry has the last state"
    );
}

#[test]
fn rounds_of_state_alone_are_paced_and_count() {
    let lab = Lab::new();
    // No handlers: nobody is asked anything.
    let (client, peer) = start_setup(&lab, support::config(Routing::Shared, Abandon::Notify));
    let state = |id| result(id, &json!({"resultType": "input_required", "requestState": ""}));
    let server = script(&lab, peer, (1..=9).map(state).collect());
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err().code(), "ROUNDS_EXCEEDED");
    assert!(lab.clock().elapsed() >= Duration::from_millis(8 * 50), "{:?}", lab.clock().elapsed());
    drop(client);
    let heard = lab.run(server);
    assert!(heard[1..].iter().all(|line| line["params"]["requestState"] == ""));
    assert!(heard.iter().all(|line| line["params"].get("inputResponses").is_none()));
}

#[test]
fn a_version_is_corrected_once_a_call_and_answers_survive_it() {
    let lab = Lab::new();
    let setup = builder()
        .versions(["2027-01-01", "2026-07-28"])
        .on_form(async |form| form.accept(&json!({"a": "kept"})))
        .build()
        .unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let wrong = |id| error(id, -32022, &json!({"supported": ["2026-07-28"], "requested": "2027-01-01"}));
    let back = |id| error(id, -32022, &json!({"supported": ["2027-01-01"], "requested": "2026-07-28"}));
    let lines =
        vec![ask(1, &json!({"k": anything()}), Some("s")), wrong(2), answer(3, "done"), back(4), wrong(5)];
    let server = script(&lab, peer, lines);
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap().first_text(), Some("done"));
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err().code(), "PEER_ERROR");
    drop(client);
    let heard = lab.run(server);
    let version = |n: usize| &heard[n]["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    assert_eq!((version(1), version(2)), (&json!("2027-01-01"), &json!("2026-07-28")));
    // What was found out is kept, and may turn out wrong as well.
    assert_eq!((version(3), version(4)), (&json!("2026-07-28"), &json!("2027-01-01")));
    for retry in [1, 2] {
        assert_eq!(heard[retry]["params"]["inputResponses"]["k"]["content"]["a"], "kept");
        assert_eq!(heard[retry]["params"]["requestState"], "s");
    }
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

#[test]
fn progress_before_and_after_a_question_comes_in_order() {
    let lab = Lab::new();
    let (client, mut peer) = start_setup(&lab, willing());
    lab.spawn(async move {
        peer.request().await;
        peer.send(progress(1, 1) + &progress(1, 2) + &ask(1, &json!({"k": anything()}), None)).await;
        peer.request().await;
        peer.send(progress(2, 1) + &answer(2, "done")).await;
        peer.line().await
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let call =
        client.call_tool("t", &json!({})).on_progress(move |step| log.lock().unwrap().push(step.progress));
    lab.run(call).unwrap();
    assert_eq!(*seen.lock().unwrap(), [1.0, 2.0, 1.0]);
}

#[test]
fn two_calls_that_ask_at_once_are_answered_apart() {
    let lab = Lab::new();
    let setup = builder()
        .on_form(async |form| {
            let target = form.target.clone();
            form.accept(&json!({"a": target}))
        })
        .build()
        .unwrap();
    let (client, mut peer) = start_setup(&lab, setup);
    let server = lab.spawn(async move {
        let (one, two) = (peer.request().await, peer.request().await);
        peer.send(
            ask(one, &json!({"k": anything()}), Some("1")) + &ask(two, &json!({"k": anything()}), Some("2")),
        )
        .await;
        let mut retries = vec![peer.line().await.unwrap(), peer.line().await.unwrap()];
        retries.sort_by_key(|retry| retry["params"]["name"].to_string());
        for retry in &retries {
            peer.send(answer(retry["id"].as_i64().unwrap(), retry["params"]["name"].as_str().unwrap())).await;
        }
        retries
    });
    let one = lab.spawn(client.call_tool("one", &json!({})));
    let two = lab.spawn(client.call_tool("two", &json!({})));
    assert_eq!(lab.run(one).unwrap().first_text(), Some("one"));
    assert_eq!(lab.run(two).unwrap().first_text(), Some("two"));
    for (retry, state) in lab.run(server).iter().zip(["1", "2"]) {
        let params = &retry["params"];
        assert_eq!(params["inputResponses"]["k"]["content"]["a"], params["name"]);
        assert_eq!(params["requestState"], state);
    }
}

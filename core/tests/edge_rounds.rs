//! Progress, rounds of input, corrected revisions: rows of the list of edge cases, by number.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use sansio_mcp::client::{
    Abandon, CallSpec, Client, ClientConfig, ClientEvent, InputAnswer, Outcome, Routing, StreamId,
};
use sansio_mcp::limits::{MAX_UNSENT_BYTES, MAX_UNSENT_PROGRESS};
use sansio_mcp::misuse::Misuse;
use sansio_mcp::model::{ClientCapabilities, Implementation, RawJson};
use sansio_mcp::server::{Progress, Reported};
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};
use short::{
    ClientExt, DONE, START, ServerExt, at, call_with_token, client, client_of, exchange, outcome, server,
    tool,
};

#[path = "support/short.rs"]
mod short;

fn progress(token: &Value, progress: f64) -> Value {
    json!({"method": "notifications/progress", "params": {"progressToken": token, "progress": progress}})
}

fn ask(id: i64, rest: &Value) -> Value {
    let mut result = json!({"resultType": "input_required"});
    for (key, value) in rest.as_object().unwrap() {
        result[key] = value.clone();
    }
    json!({"id": id, "result": result})
}

fn questions() -> Value {
    json!({"a": {"method": "elicitation/create", "params": {"message": "m"}}})
}

#[test]
fn edge_25_progress_of_one_request_never_travels_on_the_stream_of_another() {
    let mut client = client_of(Routing::PerRequest, Abandon::CloseStream);
    client.call(START, tool().progress()).unwrap();
    client.call(START, tool().progress()).unwrap();
    let (one, two) = (client.next_stream().unwrap().0, client.next_stream().unwrap().0);
    let line =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    for wrong in [two, StreamId::SHARED] {
        client.handle_message(START, wrong, line.as_bytes());
        assert_eq!(client.events(), [ClientEvent::Violation(PeerViolation::WrongStream)]);
    }
    client.handle_message(START, one, line.as_bytes());
    assert!(matches!(client.events().as_slice(), [ClientEvent::Progress { .. }]));
    // Nor an answer.
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    client.handle_message(START, two, answer.as_bytes());
    assert_eq!(client.events(), [ClientEvent::Violation(PeerViolation::WrongStream)]);
    assert_eq!(client.open_calls(), 2);
    // The server: what a request sends is on its own stream, under its own token, whatever its type.
    for token in ["0", "\"\"", "-1", "\"a\\n\"", "9007199254740993"] {
        let mut exchange = exchange();
        exchange.handle_message(call_with_token("1", token).as_bytes());
        exchange.progress(&Progress::new(1.0)).unwrap();
        let mut out = Vec::new();
        exchange.poll_transmit(&mut out).unwrap();
        let sent: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(sent["params"]["progressToken"], serde_json::from_str::<Value>(token).unwrap());
    }
}

#[test]
fn edge_27_progress_is_sent_and_told_before_the_answer_and_never_after() {
    let mut server = server();
    let (serving, _) = server.asked(call_with_token("1", "0"));
    for n in 1..=3 {
        assert_eq!(server.progress(serving, &Progress::new(f64::from(n))), Ok(Reported::Queued));
    }
    server.respond(serving, &DONE).unwrap().unwrap();
    assert_eq!(server.progress(serving, &Progress::new(4.0)), Err(Misuse::Over));
    let heard = server.heard();
    let told: Vec<&Value> = heard.iter().map(|message| &message["params"]["progress"]).collect();
    assert_eq!(told, [&json!(1), &json!(2), &json!(3), &Value::Null]);
    assert_eq!(server.progress(serving, &Progress::new(5.0)), Err(Misuse::Over));
    assert!(server.heard().is_empty());

    let mut client = client();
    client.calls(tool().progress());
    for n in [1.0, 2.0] {
        client.hears(&progress(&json!(1), n));
    }
    client.hears(&json!({"id": 1, "result": {"content": []}}));
    client.hears(&progress(&json!(1), 3.0));
    let events = client.events();
    assert!(matches!(
        events.as_slice(),
        [ClientEvent::Progress { .. }, ClientEvent::Progress { .. }, ClientEvent::Finished { .. }]
    ));
}

#[test]
fn edge_28_a_stuck_reader_costs_bounded_memory_and_still_gets_the_answer() {
    let mut server = server();
    let (serving, _) = server.asked(call_with_token("1", "\"t\""));
    for n in 0..10_000 {
        let report = Progress::new(f64::from(n)).of(10_000.0).message("a message");
        let reported = server.progress(serving, &report).unwrap();
        assert_eq!(reported == Reported::Queued, n < 16);
    }
    assert!(server.unsent_bytes() < 16 * 1000);
    server.respond(serving, &DONE).unwrap().unwrap();
    let heard = server.heard();
    assert_eq!(heard.len(), MAX_UNSENT_PROGRESS + 1);
    let told: Vec<&Value> = heard.iter().map(|message| &message["params"]["progress"]).collect();
    assert_eq!((told[0], told[14], told[15]), (&json!(0), &json!(14), &json!(9999)));
    assert_eq!(heard[16]["result"]["content"], json!([]));
    // The same by bytes, with few large ones.
    let (serving, _) = server.asked(call_with_token("2", "\"t\""));
    let large = "x".repeat(MAX_UNSENT_BYTES / 3);
    for n in 0..100 {
        server.progress(serving, &Progress::new(f64::from(n)).message(&large)).unwrap();
    }
    assert!(server.unsent_bytes() < 2 * MAX_UNSENT_BYTES);
}

#[test]
fn edge_30_state_goes_back_byte_for_byte_on_the_retry_alone_under_a_new_id() {
    let state = "\u{0}\"\\\n\r\u{7f}\u{e9}\u{1f600} /\u{2028}==";
    let mut client = client();
    let call = client.calls(tool());
    let result = RawJson::from_text("{\"action\":\n\"accept\"}").unwrap();
    let answers = [InputAnswer { key: "a", result: result.as_raw() }];
    client.hears(&ask(1, &json!({"inputRequests": questions(), "requestState": state})));
    client.answer(START, call, &answers).unwrap();
    // A call made beside it carries none of it.
    client.call(START, tool()).unwrap();
    let sent = client.sends();
    assert_eq!(sent.iter().map(|line| line["id"].clone()).collect::<Vec<_>>(), [json!(2), json!(3)]);
    assert_eq!(sent[0]["params"]["requestState"], json!(state));
    assert_eq!(sent[0]["params"]["inputResponses"], json!({"a": {"action": "accept"}}));
    assert_eq!(sent[1]["params"].get("requestState"), None);
    assert_eq!(sent[1]["params"].get("inputResponses"), None);
    // Absent where there was none, and an explicit null is none; the answers of an earlier round are not sent again.
    let null = json!({"inputRequests": questions(), "requestState": null});
    for (id, none) in [(2, json!({"inputRequests": questions()})), (4, null)] {
        client.hears(&ask(id, &none));
        client.answer(START, call, &[]).unwrap();
        let sent = client.sends();
        assert_eq!(sent[0]["params"].get("requestState"), None);
        assert_eq!(sent[0]["params"]["inputResponses"], json!({}));
    }
    // State alone: no answers.
    client.hears(&ask(5, &json!({"requestState": ""})));
    client.handle_timeout(at(1000));
    let sent = client.sends();
    assert_eq!(sent[0]["params"]["requestState"], json!(""));
    assert_eq!(sent[0]["params"].get("inputResponses"), None);
}

#[test]
fn edge_34_a_round_of_nothing_and_a_round_where_none_is_allowed_are_invalid() {
    let end = |spec: CallSpec, result: &Value| {
        let mut client = client();
        client.calls(spec);
        client.hears(&ask(1, result));
        outcome(&mut client)
    };
    let nothing = Outcome::BadPeer(PeerViolation::InputWithoutContent);
    let malformed = Outcome::BadPeer(PeerViolation::MalformedResult);
    let not_allowed = Outcome::BadPeer(PeerViolation::InputNotAllowed);
    for none in
        [json!({}), json!({"inputRequests": null, "requestState": null}), json!({"inputRequests": {}})]
    {
        assert_eq!(end(tool(), &none), nothing, "{none}");
    }
    for odd in [
        json!({"inputRequests": []}),
        json!({"inputRequests": "a"}),
        json!({"inputRequests": {"a": 5}}),
        json!({"inputRequests": {"a": {}}}),
        json!({"inputRequests": {"a": {"method": "m", "params": 5}}}),
        json!({"requestState": 5}),
    ] {
        assert_eq!(end(tool(), &odd), malformed, "{odd}");
    }
    for spec in [CallSpec::discover(), CallSpec::list_tools(None), CallSpec::new("x/y", &json!({})).unwrap()]
    {
        assert_eq!(end(spec, &json!({"inputRequests": questions()})), not_allowed);
    }
    for method in ["prompts/get", "resources/read"] {
        let mut client = client();
        client.calls(CallSpec::new(method, &json!({"name": "n"})).unwrap());
        client.hears(&ask(1, &json!({"requestState": "s"})));
        assert_eq!(client.events(), []);
    }
}

#[test]
fn edge_35_retries_change_neither_the_params_nor_the_callers_metadata() {
    let meta = json!({"traceparent": "00-1", "x/y": {"a": [1, null]}});
    let arguments = json!({"deep": {"a": [1, 2.50, "\u{e9}"]}, "requestState": "mine", "_meta": 1});
    let mut client = client();
    let call = client.calls(CallSpec::tool("t", &arguments).unwrap().progress().meta(&meta).unwrap());
    for round in 1..=8 {
        let last = round + 1;
        client.hears(&ask(round, &json!({"inputRequests": questions(), "requestState": "s"})));
        client.answer(START, call, &[]).unwrap();
        let sent = client.sends().remove(0);
        assert_eq!(sent["id"], json!(last));
        assert_eq!(sent["params"]["arguments"], arguments);
        assert_eq!(sent["params"]["_meta"]["traceparent"], meta["traceparent"]);
        assert_eq!(sent["params"]["_meta"]["x/y"], meta["x/y"]);
        // Added, nothing lost, and a token of its own for each attempt.
        assert_eq!(sent["params"]["_meta"]["progressToken"], json!(last));
        assert_eq!(sent["params"]["_meta"].as_object().unwrap().len(), 6);
    }
    // The eighth was asked and answered; a ninth is asked of nobody.
    client.events();
    client.hears(&ask(9, &json!({"inputRequests": questions()})));
    assert_eq!(outcome(&mut client), Outcome::RoundsExceeded);
}

/// Progress that waits for the application is never given out before what came ahead of it.
#[test]
fn edge_27_progress_of_a_later_attempt_does_not_take_the_place_of_an_earlier_ones() {
    let mut client = client();
    let call = client.calls(tool().progress());
    for n in 0..20 {
        client.hears(&progress(&json!(1), f64::from(n)));
    }
    client.hears(&ask(1, &json!({"inputRequests": questions()})));
    client.answer(START, call, &[]).unwrap();
    client.sends();
    for n in 0..3 {
        client.hears(&progress(&json!(2), f64::from(n)));
    }
    let events = client.events();
    let numbers = events.iter().map(|event| match event {
        ClientEvent::Progress { progress, .. } => *progress,
        _ => -1.0,
    });
    let mut expected: Vec<f64> = (0..15).map(f64::from).collect();
    expected.extend([19.0, -1.0, 2.0]);
    assert_eq!(numbers.collect::<Vec<f64>>(), expected);
}

/// A client that speaks two revisions, preferring the first.
fn client_of_two() -> Client {
    let config = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default());
    Client::new(Arc::new(config.versions(["2027-01-01", "2026-07-28"]).build().unwrap()))
}

/// The id and revision of each request that it sends.
fn sent(client: &mut Client) -> Vec<(i64, String)> {
    let version = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    let of = |request: Value| {
        let version = request.pointer(version).unwrap().as_str().unwrap();
        (request["id"].as_i64().unwrap(), version.to_owned())
    };
    client.sends().into_iter().map(of).collect()
}

fn refuses(id: i64, supported: &[&str]) -> Value {
    let data = json!({"supported": supported, "requested": "?"});
    json!({"id": id, "error": {"code": -32022, "message": "no", "data": data}})
}

#[test]
fn edge_43_a_revision_that_the_server_took_is_kept_for_later_calls() {
    let mut client = client_of_two();
    client.call(START, tool()).unwrap();
    assert_eq!(sent(&mut client), [(1, "2027-01-01".into())]);
    client.hears(&refuses(1, &["2026-07-28"]));
    assert_eq!(sent(&mut client), [(2, "2026-07-28".into())]);
    // Named is not yet taken.
    client.call(START, tool()).unwrap();
    assert_eq!(sent(&mut client), [(3, "2027-01-01".into())]);
    client.hears(&json!({"id": 2, "result": {"content": []}}));
    client.call(START, tool()).unwrap();
    assert_eq!(sent(&mut client), [(4, "2026-07-28".into())]);
    // It holds until the server changes its mind.
    client.hears(&refuses(4, &["2027-01-01"]));
    assert_eq!(sent(&mut client), [(5, "2027-01-01".into())]);
    client.hears(&json!({"id": 5, "error": {"code": -32602, "message": "no"}}));
    client.call(START, tool()).unwrap();
    assert_eq!(sent(&mut client), [(6, "2027-01-01".into())]);
}

#[test]
fn edge_43_a_correction_that_is_refused_again_is_not_kept() {
    let mut client = client_of_two();
    client.call(START, tool()).unwrap();
    client.sends();
    client.hears(&refuses(1, &["2026-07-28"]));
    client.sends();
    client.hears(&refuses(2, &["2027-01-01"]));
    assert!(client.ends().iter().any(|(_, how)| *how == "PEER_ERROR"), "one correction a call");
    client.call(START, tool()).unwrap();
    assert_eq!(sent(&mut client), [(3, "2027-01-01".into())]);
}

#[test]
fn edge_43_a_server_that_lists_the_revision_it_refuses_is_asked_once_more_under_it() {
    let config = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default());
    let mut client = Client::new(Arc::new(config.build().unwrap()));
    client.call(START, tool()).unwrap();
    assert_eq!(sent(&mut client), [(1, "2026-07-28".into())]);
    client.hears(&refuses(1, &["2025-11-25", "2026-07-28"]));
    assert_eq!(sent(&mut client), [(2, "2026-07-28".into())]);
    client.hears(&refuses(2, &["2026-07-28"]));
    assert!(client.ends().iter().any(|(_, how)| *how == "PEER_ERROR"), "one correction a call");
    // Another that both speak goes first.
    let mut client = client_of_two();
    client.call(START, tool()).unwrap();
    client.sends();
    client.hears(&refuses(1, &["2027-01-01", "2026-07-28"]));
    assert_eq!(sent(&mut client), [(2, "2026-07-28".into())]);
}

//! What a message may be, and what becomes of one that is not: rows of the list of edge cases, by number.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sansio_mcp::client::{ClientEvent, Outcome, StreamId};
use sansio_mcp::id::RequestId;
use sansio_mcp::server::{EncodeError, Kind, ResultBody, ServerEvent, Status};
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};
use short::{
    ClientExt, DONE, START, ServerExt, call, cancel, client, code, exchange, outcome, request, server,
    single, tool,
};

#[path = "support/short.rs"]
mod short;

#[test]
fn edge_01_odd_ids_are_ids_and_keep_their_type() {
    let mut server = server();
    let ids =
        ["0", "\"\"", "-1", "1", "\"1\"", "9223372036854775807", "-9223372036854775808", r#""\u00e9\"\n""#];
    let mut served = Vec::new();
    for id in ids {
        served.push(server.asked(call(id)).0);
    }
    for serving in served {
        server.respond(serving, &DONE).unwrap().unwrap();
    }
    let answered: Vec<Value> = server.heard().into_iter().map(|answer| answer["id"].clone()).collect();
    let sent: Vec<Value> = ids.iter().map(|id| serde_json::from_str(id).unwrap()).collect();
    assert_eq!(answered, sent);
}

#[test]
fn edge_01_what_is_no_id_makes_an_invalid_request_and_not_a_notification() {
    for id in ["true", "1.5", "1e3", "null", "{}", "[1]", "9223372036854775808", "-1e400"] {
        let mut server = server();
        // Were it taken for a notification, nothing would be answered.
        let answer = server.answers(call(id));
        let expected = if id == "-1e400" { [-32700, -32600] } else { [-32600; 2] };
        assert!(expected.contains(&code(&answer)), "{id}: {answer}");
        assert!(answer.get("id").is_none(), "{answer}");
        assert_eq!(server.in_flight(), 0);
    }
    let long = format!("\"{}\"", "x".repeat(257));
    assert_eq!(code(&server().answers(call(&long))), -32600);
    assert_eq!(
        server().asked(call(&format!("\"{}\"", "x".repeat(256)))).1.wire_id(),
        &RequestId::from("x".repeat(256))
    );
}

#[test]
fn edge_02_a_cancel_of_true_cancels_nothing() {
    for odd in ["true", "null", "1.0", "\"1\"", "{}", "[1]"] {
        let mut server = server();
        let (serving, _) = server.asked(call("1"));
        server.says(cancel(odd));
        assert!(server.is_running(serving), "{odd}");
        assert!(server.events().is_empty() && server.heard().is_empty());
    }
}

#[test]
fn edge_05_late_unknown_and_id_less_responses_are_dropped_and_the_session_lives() {
    let mut client = client();
    let first = client.calls(tool());
    let second = client.calls(tool());
    let complete = json!({"resultType": "complete", "content": []});
    client.hears(&json!({"id": 1, "result": complete}));
    assert_eq!(client.ends(), [(first, "COMPLETE")]);
    // Late: silently.
    client.hears(&json!({"id": 1, "result": complete}));
    client.hears(&json!({"id": 1, "error": {"code": 1, "message": "m"}}));
    assert_eq!(client.events(), []);
    // Never asked: noted.
    for odd in [json!(7), json!(0), json!("1"), json!(-1)] {
        client.hears(&json!({"id": odd, "result": complete}));
        assert_eq!(client.events(), [ClientEvent::Violation(PeerViolation::UnknownResponse)]);
    }
    client.hears(&json!({"id": null, "error": {"code": -32700, "message": "m"}}));
    client.hears(&json!({"error": {"code": -32700, "message": "m"}}));
    assert_eq!(client.events().len(), 2);
    assert_eq!(client.open_calls(), 1);
    client.hears(&json!({"id": 2, "result": complete}));
    assert_eq!(client.ends(), [(second, "COMPLETE")]);
    assert!(client.sends().is_empty(), "a client never answers");
}

#[test]
fn edge_05_a_response_to_a_server_is_noted_and_nothing_more() {
    let mut server = server();
    let (serving, _) = server.asked(call("1"));
    server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(server.violations(), [PeerViolation::ResponseToServer]);
    assert!(server.is_running(serving) && server.heard().is_empty());
}

#[test]
fn edge_06_keys_are_matched_exactly_and_none_stands_twice() {
    let mut server = server();
    for odd in [
        r#"{"jsonrpc":"2.0","id":1,"Method":"server/discover"}"#,
        r#"{"JSONRPC":"2.0","id":1,"method":"server/discover"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"server/discover"}"#,
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","method":"server/discover"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":null,"params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","\u0069d":2}"#,
    ] {
        assert_eq!(code(&server.answers(odd)), -32600, "{odd}");
    }
    // A key inside params that stands twice: the id is known, so it is answered.
    let twice = server.answers(request("1", "tools/call", r#""name":"a","name":"b""#));
    assert_eq!((code(&twice), &twice["id"]), (-32602, &json!(1)));
    // Keys nobody knows may be anything, twice too.
    let other = call("1").replacen('{', r#"{"ID":2,"x":1,"x":2,"#, 1);
    assert_eq!(server.asked(other).1.wire_id(), &RequestId::from(1));
}

#[test]
fn edge_07_a_batch_is_refused_as_invalid() {
    let whole = format!("[{},{}]", call("1"), call("2"));
    for batch in ["[]", "[1]", "  [ ]", &whole] {
        let answer = server().answers(batch);
        assert_eq!(code(&answer), -32600, "{batch}");
        assert!(answer.get("id").is_none());
    }
    let mut exchange = exchange();
    exchange.handle_message(whole.as_bytes());
    let (kind, answer) = single(&mut exchange).unwrap();
    assert_eq!((kind, code(&answer)), (Kind::Response(Status::BadRequest), -32600));
}

#[test]
fn edge_08_hostile_json_is_an_error_or_an_answer_in_linear_time() {
    // Quadratic time would be ten to the tenth steps for each of these: the test would not end.
    let deep = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    let arrays = deep("[", "]");
    let objects = deep("{\"a\":", "}").replace(":}", ":1}");
    for deep in [&arrays, &objects, &"[".repeat(200_000)] {
        for line in [
            deep.clone(),
            request("1", "tools/call", &format!("\"name\":\"t\",\"arguments\":{deep}")),
            request("1", "tools/call", &format!("\"name\":\"t\",\"arguments\":{{\"a\":{deep}}}")),
            request("1", "tools/call", &format!("\"name\":{deep}")),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{deep},\"method\":\"a\"}}"),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{deep}}}"),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{deep}}}"),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{deep}}}"),
        ] {
            let mut server = server();
            server.says(&line);
            server.heard();
            let mut client = client();
            client.calls(tool());
            client.handle_message(START, StreamId::SHARED, line.as_bytes());
            client.events();
        }
    }
    let questions = format!(r#"{{"a":{{"method":"m","params":{{"a":{arrays}}}}}}}"#);
    let mut client = client();
    client.calls(tool());
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"input_required","inputRequests":{questions}}}}}"#
    );
    client.handle_message(START, StreamId::SHARED, line.as_bytes());
    assert_eq!(client.events().len(), 1);
}

#[test]
fn edge_08_odd_strings_and_numbers_are_an_error_or_an_answer() {
    let mut server = server();
    // A lone surrogate in what the engine reads is not JSON for it; in what it leaves raw it is the handler's matter.
    assert_eq!(code(&server.answers(request("1", "tools/call", r#""name":"\ud800""#))), -32602);
    assert_eq!(code(&server.answers(request(r#""\udc00""#, "tools/list", ""))), -32700);
    let (serving, asked) =
        server.asked(request("1", "tools/call", r#""name":"t","arguments":{"a":"\ud800"}"#));
    assert!(serde_json::from_str::<Value>(asked.arguments().unwrap()).is_err());
    server.respond(serving, &DONE).unwrap().unwrap();
    server.heard();
    // NUL and numbers beyond anything.
    let (_, asked) = server.asked(request("2", "tools/call", r#""name":"a\u0000b","arguments":{"n":1e999}"#));
    assert_eq!(asked.name(), Some("a\0b"));
    assert_eq!(code(&server.answers(b"\x00".as_slice())), -32700);
    assert_eq!(code(&server.answers(b"\xff\xfe".as_slice())), -32700);
}

#[test]
fn edge_09_a_client_never_answers_and_a_server_answers_each_bad_message_once() {
    let mut client = client();
    for junk in ["", "{", "[]", "null", "{}", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, r#"{"id":1}"#] {
        client.handle_message(START, StreamId::SHARED, junk.as_bytes());
        assert!(!client.has_output() && client.sends().is_empty(), "{junk}");
    }
    assert_eq!(client.events().len(), 7);
    let mut server = server();
    for junk in ["", "{", "nul", "{\"a\":}"] {
        assert_eq!(code(&server.answers(junk)), -32700, "{junk}");
    }
    // Our own answer to junk, sent back to us, is noted and not answered: two servers do not talk for ever.
    server.says("{");
    let answer = server.heard().remove(0);
    server.says(answer.to_string());
    assert!(server.heard().is_empty());
}

#[test]
fn edge_10_the_result_type_is_looked_at_first() {
    let ask = json!({"a": {"method": "elicitation/create", "params": {}}});
    let mut client = client();
    client.calls(tool());
    client.hears(&json!({"id": 1, "result": {
        "content": [], "isError": false, "resultType": "input_required", "inputRequests": ask
    }}));
    assert!(matches!(client.events().as_slice(), [ClientEvent::InputRequired { round: 1, .. }]));

    for (result, expected) in [
        (json!({"resultType": "partial", "content": []}), Some(PeerViolation::UnknownResultType)),
        (json!({"resultType": "", "content": []}), Some(PeerViolation::UnknownResultType)),
        (json!({"resultType": "Complete"}), Some(PeerViolation::UnknownResultType)),
        (json!({"resultType": null}), Some(PeerViolation::MalformedResult)),
        (json!("complete"), Some(PeerViolation::MalformedResult)),
        (json!({"content": []}), None),
        (json!({"resultType": "complete"}), None),
        // An answer may have members of these names.
        (json!({"resultType": "complete", "inputRequests": {}, "requestState": "s"}), None),
    ] {
        let mut client = short::client();
        client.calls(tool());
        client.hears(&json!({"id": 1, "result": result}));
        match (outcome(&mut client), expected) {
            (Outcome::BadPeer(rule), Some(expected)) => assert_eq!(rule, expected, "{result}"),
            (Outcome::Complete(_), None) => {}
            other => panic!("{result}: {other:?}"),
        }
    }
}

#[test]
fn edge_10_a_response_that_cannot_be_read_ends_its_call() {
    for response in [
        json!({"id": 1, "error": {"code": "x", "message": "m"}}),
        json!({"id": 1, "error": null}),
        json!({"id": 1, "error": {"code": 1}}),
        json!({"id": 1, "result": {}, "error": {"code": 1, "message": "m"}}),
        json!({"id": 1, "result": {}, "error": null}),
        json!({"id": 1, "result": 5}),
    ] {
        let mut client = client();
        client.calls(tool());
        client.hears(&response);
        assert_eq!(outcome(&mut client), Outcome::BadPeer(PeerViolation::MalformedResult), "{response}");
    }
}

#[test]
fn edge_11_params_are_never_null() {
    let mut client = client();
    for spec in [
        sansio_mcp::client::CallSpec::discover(),
        sansio_mcp::client::CallSpec::list_tools(None),
        sansio_mcp::client::CallSpec::new("x/y", &json!({})).unwrap(),
        tool(),
    ] {
        client.call(START, spec).unwrap();
        let sent = client.sends();
        assert!(sent[0]["params"].is_object() && !sent[0].to_string().contains("null"), "{sent:?}");
    }
    let mut server = server();
    // Read, a null is absent.
    let answer = server.answers(r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":null}"#);
    assert_eq!(code(&answer), -32602);
    for members in [r#""cursor":null"#, r#""inputResponses":null,"requestState":null"#] {
        let (serving, asked) = server.asked(request("1", "tools/list", members));
        assert_eq!((asked.cursor(), asked.input_responses(), asked.request_state()), (None, None, None));
        server.respond(serving, &DONE).unwrap().unwrap();
        server.heard();
    }
}

#[test]
fn edge_12_a_result_that_cannot_be_encoded_is_answered_as_internal_error() {
    struct Half;
    impl ResultBody for Half {
        fn write_members(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
            out.extend_from_slice(b"\"content\":[");
            Err(EncodeError("no".into()))
        }
    }
    let mut server = server();
    let (serving, _) = server.asked(call("\"a\""));
    let (other, _) = server.asked(call("2"));
    assert!(server.respond(serving, &Half).unwrap().is_err());
    assert!(server.respond(serving, &DONE).is_err(), "it was answered");
    server.respond(other, &DONE).unwrap().unwrap();
    let heard = server.heard();
    assert_eq!((code(&heard[0]), &heard[0]["id"]), (-32603, &json!("a")));
    assert_eq!(heard[1]["result"]["content"], json!([]));
    let mut exchange = exchange();
    exchange.handle_message(call("1").as_bytes());
    assert!(matches!(exchange.poll_event(), Some(ServerEvent::Request { .. })));
    assert!(exchange.respond(&Half).unwrap().is_err());
    assert_eq!(code(&single(&mut exchange).unwrap().1), -32603);
}

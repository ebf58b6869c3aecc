//! A request that is answered with questions: what goes out, and when it may not.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use sansio_mcp::misuse::Misuse;
use sansio_mcp::model::{Implementation, InputRequest, InputRequests, InputRequiredResult, RawJson};
use sansio_mcp::server::{Exchange, Server, ServerConfig, ServerEvent};
use serde_json::json;
use short::{DONE, ServerExt, call, cancel, exchange, request, server, single};

#[path = "support/short.rs"]
mod short;

fn questions() -> InputRequiredResult {
    let questions: InputRequests =
        [("where".to_owned(), InputRequest::list_roots())].into_iter().collect::<InputRequests>();
    InputRequiredResult::default().with_input_requests(questions)
}

#[test]
fn questions_and_state_go_out_as_what_they_are() {
    let mut server = server();
    let (serving, _) = server.asked(call("1"));
    let meta = RawJson::from_text(r#"{"a/b":1}"#).unwrap();
    server.ask(serving, &questions().with_request_state("s\"1".to_owned()).with_meta(meta)).unwrap();
    assert!(!server.is_running(serving));
    let expected = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "resultType": "input_required",
        "inputRequests": {"where": {"method": "roots/list"}},
        "requestState": "s\"1",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}, "a/b": 1},
    }});
    assert_eq!(server.heard(), std::slice::from_ref(&expected));
    assert_eq!(server.in_flight(), 0);

    let mut exchange = exchange();
    exchange.handle_message(call("1").as_bytes());
    exchange.ask(&questions()).unwrap();
    let (_, same) = single(&mut exchange).unwrap();
    assert_eq!(same["result"]["inputRequests"], expected["result"]["inputRequests"]);
    assert!(exchange.is_finished());
}

#[test]
fn nothing_to_ask_is_misuse_and_changes_nothing() {
    let mut server = server();
    let (serving, _) = server.asked(call("1"));
    let empty = InputRequiredResult::default();
    assert_eq!(server.ask(serving, &empty), Err(Misuse::CannotAsk));
    assert_eq!(server.ask(serving, &empty.with_input_requests(InputRequests::new())), Err(Misuse::CannotAsk));
    assert!(server.is_running(serving));
    server.respond(serving, &DONE).unwrap().unwrap();
    assert_eq!(server.ask(serving, &questions()), Err(Misuse::Over), "it is answered");
    assert_eq!(server.heard().len(), 1);
}

#[test]
fn a_method_that_may_not_ask_does_not() {
    let capabilities = serde_json::from_value(json!({"tools": {}, "prompts": {}, "resources": {}})).unwrap();
    let config = Arc::new(
        ServerConfig::builder(Implementation::new("s", "1"), capabilities).method("x/y").build().unwrap(),
    );
    for (method, members, may) in [
        ("tools/call", r#""name":"t""#, true),
        ("prompts/get", r#""name":"p""#, true),
        ("resources/read", r#""uri":"u""#, true),
        ("x/y", "", true),
        ("tools/list", "", false),
        ("resources/templates/list", "", false),
    ] {
        let mut server = Server::new(Arc::clone(&config));
        let (serving, _) = server.asked(request("1", method, members));
        let mut exchange = Exchange::new(Arc::clone(&config));
        exchange.handle_message(request("1", method, members).as_bytes());
        assert!(matches!(exchange.poll_event(), Some(ServerEvent::Request { .. })));
        let expected = if may { Ok(()) } else { Err(Misuse::CannotAsk) };
        assert_eq!(server.ask(serving, &questions()), expected, "{method}");
        assert_eq!(exchange.ask(&questions()), expected, "{method}");
        assert_eq!((server.is_running(serving), exchange.is_running()), (!may, !may), "{method}");
    }
}

#[test]
fn a_cancel_withdraws_a_question_that_was_not_taken() {
    let mut server = server();
    let (serving, _) = server.asked(call("1"));
    server.ask(serving, &questions()).unwrap();
    server.says(cancel("1"));
    assert!(server.heard().is_empty());
    assert_eq!(server.ask(serving, &questions()), Err(Misuse::Over));
}

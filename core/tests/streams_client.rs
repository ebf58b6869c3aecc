//! A client with a stream for each request: what a transport like HTTP can say about one, and headers that were refused.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use sansio_mcp::client::{
    CallSpec, Client, ClientConfig, ClientEvent, ClientKind, ListenSpec, Outcome, StreamId, TransportError,
};
use sansio_mcp::id::CallId;
use sansio_mcp::model::{ClientCapabilities, Implementation};
use sansio_mcp::time::{Mono, Now};
use serde_json::json;

const NOW: Now = Now::at(Mono::ZERO);

fn client() -> Client {
    let config = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default());
    Client::new(Arc::new(config.build().unwrap().over_streams()))
}

fn tool(client: &mut Client) -> CallId {
    client.call(NOW, CallSpec::tool("t", &json!({"a": 1})).unwrap()).unwrap()
}

/// Takes the request that waits: its stream, its id, its text.
fn taken(client: &mut Client) -> (StreamId, i64, serde_json::Value) {
    let stream = client.poll_ready_stream().unwrap();
    let mut text = Vec::new();
    let transmit = client.poll_transmit(stream, &mut text).unwrap();
    assert!(matches!(transmit.kind, ClientKind::Request(_)));
    let text: serde_json::Value = serde_json::from_slice(&text).unwrap();
    (stream, text["id"].as_i64().unwrap(), text)
}

fn error(id: &str, code: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":{code},"message":"m"}}}}"#)
}

#[test]
fn what_waits_on_a_stream() {
    let mut client = client();
    let call = tool(&mut client);
    let listen = client.listen(NOW, &ListenSpec::new().tools()).unwrap();
    let (one, two) = (client.poll_ready_stream().unwrap(), client.poll_ready_stream().unwrap());
    assert_eq!((client.waiting_on(one), client.waiting_on(two)), (Some((call, false)), Some((listen, true))));
    assert_eq!(client.waiting_on(StreamId::SHARED), None);
    assert_eq!(client.version(call), Some("2026-07-28"));
    client.poll_transmit(one, &mut Vec::new()).unwrap();
    assert_eq!(client.waiting_on(one), None);
    assert!(client.awaits(one) && client.awaits(two));
    client.cancel(NOW, listen, None).unwrap();
    assert!(client.waiting_on(two).is_none() && !client.awaits(two));
}

#[test]
fn an_error_without_an_id_answers_the_one_request_of_its_stream() {
    for id in ["", r#""id":null,"#] {
        let mut client = client();
        let call = tool(&mut client);
        let (stream, _, _) = taken(&mut client);
        client.handle_message(NOW, StreamId::SHARED, error(id, -32600).as_bytes());
        assert!(matches!(client.poll_event(), Some(ClientEvent::Violation(_))));
        client.handle_message(NOW, stream, error(id, -32600).as_bytes());
        let Some(ClientEvent::Finished { call: ended, outcome: Outcome::Error(error) }) = client.poll_event()
        else {
            panic!();
        };
        assert_eq!((ended, error.code), (call, -32600));
    }
    // A result says whose it is.
    let mut client = client();
    tool(&mut client);
    let (stream, _, _) = taken(&mut client);
    client.handle_message(NOW, stream, br#"{"jsonrpc":"2.0","result":{}}"#);
    assert!(matches!(client.poll_event(), Some(ClientEvent::Violation(_))));
}

#[test]
fn a_failure_of_a_stream_ends_its_call_alone() {
    let mut client = client();
    let (one, two) = (tool(&mut client), tool(&mut client));
    let (stream, _, _) = taken(&mut client);
    let failure = TransportError::new("NO_ANSWER", "nothing").with_status(202);
    client.handle_stream_failure(NOW, stream, failure.clone());
    client.handle_stream_failure(NOW, stream, failure.clone());
    let outcome = Outcome::Transport(Arc::new(failure));
    assert_eq!(outcome.code(), "NO_ANSWER");
    assert_eq!(client.poll_event(), Some(ClientEvent::Finished { call: one, outcome }));
    assert_eq!(client.poll_event(), None);
    assert!(client.state(two).is_some());
}

#[test]
fn refused_headers_wait_for_a_correction_where_somebody_makes_one() {
    for (corrects, again) in [(false, false), (true, false), (true, true)] {
        let mut client = client();
        if corrects {
            client.correct_headers();
        }
        let call = tool(&mut client);
        let (stream, id, text) = taken(&mut client);
        client.handle_message(NOW, stream, error(&format!("\"id\":{id},"), -32020).as_bytes());
        if corrects {
            assert_eq!(client.poll_event(), Some(ClientEvent::HeadersRefused { call }));
            assert!(client.state(call).is_some());
            // The end of the old stream is nothing to it.
            client.handle_stream_end(NOW, stream, "over");
            client.corrected(NOW, call, again);
        }
        if again {
            let (next, new, retried) = taken(&mut client);
            assert!(new > id);
            assert_eq!(retried["params"], text["params"]);
            // Not a second time.
            client.corrected(NOW, call, true);
            client.handle_message(NOW, next, error(&format!("\"id\":{new},"), -32020).as_bytes());
        }
        let Some(ClientEvent::Finished { outcome: Outcome::Error(error), .. }) = client.poll_event() else {
            panic!("{corrects} {again}");
        };
        assert_eq!(error.code, -32020);
        assert_eq!((client.poll_event(), client.open_calls()), (None, 0));
    }
}

#[test]
fn only_calls_of_tools_have_headers_to_correct_and_a_cancelled_one_has_none() {
    let mut client = client();
    client.correct_headers();
    client.call(NOW, CallSpec::read_resource("a:b")).unwrap();
    let (stream, id, _) = taken(&mut client);
    client.handle_message(NOW, stream, error(&format!("\"id\":{id},"), -32020).as_bytes());
    assert!(matches!(client.poll_event(), Some(ClientEvent::Finished { .. })));
    let call = tool(&mut client);
    let (stream, id, _) = taken(&mut client);
    client.handle_message(NOW, stream, error(&format!("\"id\":{id},"), -32020).as_bytes());
    client.cancel(NOW, call, None).unwrap();
    client.corrected(NOW, call, true);
    assert!(client.poll_ready_stream().is_none(), "nothing is on the wire");
}

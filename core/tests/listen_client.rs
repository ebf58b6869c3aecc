//! Subscriptions on the client: acknowledgement, changes, the three ends (basic/patterns/subscriptions).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sansio_mcp::client::{
    Abandon, CallSpec, Client, ClientEvent, ClientKind, ListenSpec, Outcome, Refused, Routing, StreamId,
    Timeout,
};
use sansio_mcp::subscription::Changed;
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};
use short::{ClientExt, START, at, client, client_of};

#[path = "support/short.rs"]
mod short;

fn told(method: &str, id: &Value, more: &Value) -> Value {
    let mut params = more.clone();
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
    json!({"method": format!("notifications/{method}"), "params": params})
}

fn acknowledged(id: i64) -> Value {
    told("subscriptions/acknowledged", &json!(id), &json!({"notifications": {"toolsListChanged": true}}))
}

fn tools(id: i64) -> Value {
    told("tools/list_changed", &json!(id), &json!({}))
}

fn updated(id: i64, uri: &str) -> Value {
    told("resources/updated", &json!(id), &json!({ "uri": uri }))
}

/// A client with an acknowledged subscription to the list of tools and the resource `a`.
fn listening() -> (Client, sansio_mcp::id::CallId) {
    let mut client = client();
    let call = client.listen(START, &ListenSpec::new().tools().resource("a")).unwrap();
    client.sends();
    client.hears(&acknowledged(1));
    client.events();
    (client, call)
}

const BREACH: ClientEvent = ClientEvent::Violation(PeerViolation::NotSubscribed);

#[test]
fn a_subscription_sends_its_filter_and_tells_the_acknowledgement_then_changes() {
    let mut client = client();
    let call = client.listen(START, &ListenSpec::new().tools().resource("a").resource("b\"")).unwrap();
    let sent = client.sends();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["method"], "subscriptions/listen");
    assert_eq!(
        sent[0]["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["a", "b\""]})
    );
    assert!(!client.is_listening(call));
    client.hears(&acknowledged(1));
    assert!(client.is_listening(call));
    client.hears(&tools(1));
    client.hears(&updated(1, "b\""));
    let acknowledged = r#"{"toolsListChanged":true}"#.into();
    assert_eq!(
        client.events(),
        [
            ClientEvent::Listening { call, acknowledged },
            ClientEvent::Changed { call, change: Changed::Tools },
            ClientEvent::Changed { call, change: Changed::Resource("b\"".into()) },
        ]
    );
}

#[test]
fn edge_55_nothing_counts_before_the_acknowledgement_and_nothing_that_was_not_asked_for() {
    let mut client = client();
    client.listen(START, &ListenSpec::new().tools().resource("a")).unwrap();
    client.hears(&acknowledged(1));
    assert_eq!(client.events(), [BREACH], "it was not even sent");
    client.sends();
    client.hears(&tools(1));
    assert_eq!(client.events(), [BREACH], "before the acknowledgement");
    client.hears(&acknowledged(1));
    client.events();
    client.hears(&acknowledged(1));
    assert_eq!(client.events(), [BREACH], "acknowledged twice");
    for not_asked in [
        told("prompts/list_changed", &json!(1), &json!({})),
        told("resources/list_changed", &json!(1), &json!({})),
        updated(1, "ab"),
        updated(1, ""),
        told("resources/updated", &json!(1), &json!({})),
        told("tools/list_changed", &json!("1"), &json!({})),
        told("tools/list_changed", &json!(true), &json!({})),
        told("tools/list_changed", &json!(2), &json!({})),
        json!({"method": "notifications/tools/list_changed"}),
        json!({"method": "notifications/tools/list_changed", "params": {"_meta": {}}}),
    ] {
        client.hears(&not_asked);
        assert_eq!(client.events(), [BREACH], "{not_asked}");
    }
    client.hears(&tools(1));
    assert_eq!(client.events().len(), 1, "it lives");
}

#[test]
fn edge_56_equal_changes_that_nobody_collected_stand_for_each_other() {
    let (mut client, call) = listening();
    for _ in 0..10_000 {
        client.hears(&tools(1));
        client.hears(&updated(1, "a"));
    }
    let change = |change| ClientEvent::Changed { call, change };
    assert_eq!(client.events(), [change(Changed::Tools), change(Changed::Resource("a".into()))]);
    client.hears(&tools(1));
    assert_eq!(client.events(), [change(Changed::Tools)], "what was collected may come again");
}

#[test]
fn an_update_of_a_part_is_one_of_the_resource_that_was_asked_for() {
    let (mut client, call) = listening();
    for n in 0..10_000 {
        client.hears(&updated(1, &format!("a/{n}")));
    }
    client.hears(&updated(1, "a"));
    client.hears(&updated(1, "a#part"));
    let change = Changed::Resource("a".into());
    assert_eq!(client.events(), [ClientEvent::Changed { call, change }]);
}

#[test]
fn edge_57_graceful_end_cancel_and_loss_are_three_outcomes() {
    let (mut client, call) = listening();
    let end = json!({"id": 1, "result": {"resultType": "complete",
        "_meta": {"io.modelcontextprotocol/subscriptionId": 1}}});
    client.hears(&end);
    assert_eq!(client.ends(), [(call, "COMPLETE")]);
    assert!(!client.is_listening(call));
    client.hears(&tools(1));
    client.hears(&acknowledged(1));
    assert_eq!(client.events(), [], "what comes late is dropped silently");

    let (mut client, call) = listening();
    client.cancel(START, call, None).unwrap();
    let sent = client.sends();
    assert_eq!((sent.len(), &sent[0]["params"]["requestId"]), (1, &json!(1)));
    assert_eq!(client.ends(), [(call, "CANCELLED")]);

    let (mut client, call) = listening();
    client.handle_stream_end(START, StreamId::SHARED, "reset");
    assert_eq!(client.ends(), [(call, "LOST")]);

    let (mut client, call) = listening();
    client.hears(&json!({"id": 1, "error": {"code": -32603, "message": "m"}}));
    assert_eq!(client.ends(), [(call, "PEER_ERROR")]);
}

#[test]
fn a_subscription_has_a_deadline_for_its_acknowledgement_and_none_after_it() {
    let mut client = client();
    let call = client.listen(START, &ListenSpec::new().tools()).unwrap();
    client.sends();
    client.handle_timeout(at(59_999));
    assert_eq!(client.events(), []);
    client.handle_timeout(at(60_000));
    let outcome = Outcome::TimedOut(Timeout::Total);
    assert_eq!(client.events(), [ClientEvent::Finished { call, outcome }]);
    assert_eq!(client.sends().len(), 1, "the server is told");

    let (mut client, call) = listening();
    assert!(client.poll_timeout().is_none());
    client.handle_timeout(at(1_000_000_000));
    assert!(client.is_listening(call));
}

#[test]
fn on_streams_of_their_own_subscriptions_hear_only_what_comes_on_their_stream() {
    let mut client = client_of(Routing::PerRequest, Abandon::CloseStream);
    let one = client.listen(START, &ListenSpec::new().tools()).unwrap();
    let two = client.listen(START, &ListenSpec::new().tools()).unwrap();
    let (first, second) = (client.next_stream().unwrap().0, client.next_stream().unwrap().0);
    let say = |client: &mut Client, stream, message: &Value| {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        client.handle_message(START, stream, message.to_string().as_bytes());
    };
    say(&mut client, second, &acknowledged(1));
    assert_eq!(client.events(), [ClientEvent::Violation(PeerViolation::WrongStream)]);
    say(&mut client, first, &acknowledged(1));
    say(&mut client, second, &acknowledged(2));
    say(&mut client, second, &tools(2));
    assert!(client.is_listening(one) && client.is_listening(two));
    assert_eq!(client.events().last(), Some(&ClientEvent::Changed { call: two, change: Changed::Tools }));
    client.handle_stream_end(START, first, "reset");
    assert_eq!(client.ends(), [(one, "LOST")]);
    client.cancel(START, two, None).unwrap();
    assert_eq!(client.next_stream().unwrap().1, ClientKind::CloseStream);
}

#[test]
fn a_subscription_is_not_opened_as_a_plain_call() {
    assert_eq!(
        CallSpec::new("subscriptions/listen", &json!({"notifications": {}})).err(),
        Some(Refused::Listen)
    );
}

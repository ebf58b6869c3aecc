//! Log messages on the client: who asked, whose they are, how many wait (server/utilities/logging).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sansio_mcp::client::{Abandon, Client, ClientEvent, Refused, Routing, StreamId};
use sansio_mcp::id::CallId;
use sansio_mcp::limits::{MAX_WAITING_LOG_BYTES, MAX_WAITING_LOGS};
use sansio_mcp::model::LoggingLevel;
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};
use short::{ClientExt, START, client, client_of, tool};

#[path = "support/short.rs"]
mod short;

const MALFORMED: ClientEvent = ClientEvent::Violation(PeerViolation::MalformedLog);
const NOT_ASKED: ClientEvent = ClientEvent::Violation(PeerViolation::LogNotAskedFor);

fn log(level: &str, data: &Value) -> Value {
    json!({"method": "notifications/message", "params": {"level": level, "data": data}})
}

/// Whose each message is, and its data.
fn heard(client: &mut Client) -> Vec<(Option<CallId>, Value)> {
    let only = |event| match event {
        ClientEvent::Log { call, message } => Some((call, message.data_as().unwrap())),
        _ => None,
    };
    client.events().into_iter().filter_map(only).collect()
}

#[test]
fn a_call_asks_for_a_level_and_gets_messages_of_that_level_and_above() {
    let mut client = client();
    let call = client.call(START, tool().log_level(LoggingLevel::Warning)).unwrap();
    client.hears(&log("error", &json!("early")));
    assert_eq!(client.events(), [NOT_ASKED], "the request was not even sent");
    let sent = client.sends();
    assert_eq!(sent[0]["params"]["_meta"]["io.modelcontextprotocol/logLevel"], "warning");
    client.hears(&log("info", &json!(1)));
    assert_eq!(client.events(), [NOT_ASKED]);
    let mut message = log("warning", &json!({"deep": [1]}));
    message["params"]["logger"] = json!("db");
    client.hears(&message);
    match client.events().as_slice() {
        [ClientEvent::Log { call: Some(of), message }] => {
            assert_eq!(
                (*of, message.level, message.logger.as_deref()),
                (call, LoggingLevel::Warning, Some("db"))
            );
            assert_eq!(&*message.data, r#"{"deep":[1]}"#);
        }
        other => panic!("{other:?}"),
    }
    client.hears(&json!({"id": 1, "result": {"content": []}}));
    client.events();
    client.hears(&log("error", &json!("late")));
    assert_eq!(client.events(), [NOT_ASKED]);
}

#[test]
fn on_a_shared_channel_a_message_is_of_the_only_call_it_can_be_of_or_of_nobody_in_particular() {
    let mut client = client();
    client.calls(tool());
    let debug = client.calls(tool().log_level(LoggingLevel::Debug));
    let error = client.calls(tool().log_level(LoggingLevel::Error));
    client.hears(&log("info", &json!(1)));
    client.hears(&log("alert", &json!(2)));
    assert_eq!(heard(&mut client), [(Some(debug), json!(1)), (None, json!(2))]);
    client.cancel(START, debug, None).unwrap();
    client.hears(&log("alert", &json!(3)));
    assert_eq!(heard(&mut client), [(Some(error), json!(3))]);
}

/// Its cancel crosses it on the way; nothing in it says whose it was.
#[test]
fn a_message_for_a_call_that_was_given_up_in_flight_breaks_no_rule() {
    let mut client = client();
    let warning = client.calls(tool().log_level(LoggingLevel::Warning));
    let unsent = client.call(START, tool().log_level(LoggingLevel::Debug)).unwrap();
    client.cancel(START, unsent, None).unwrap();
    client.cancel(START, warning, None).unwrap();
    client.events();
    client.hears(&log("warning", &json!("late")));
    assert_eq!(client.events(), []);
    client.hears(&log("info", &json!("nobody sent a request that asked for this")));
    assert_eq!(client.events(), [NOT_ASKED]);
}

#[test]
fn on_streams_of_their_own_a_message_is_of_the_call_of_its_stream() {
    let mut client = client_of(Routing::PerRequest, Abandon::CloseStream);
    let one = client.call(START, tool().log_level(LoggingLevel::Info)).unwrap();
    let two = client.call(START, tool().log_level(LoggingLevel::Error)).unwrap();
    client.call(START, tool()).unwrap();
    let streams: Vec<StreamId> = std::iter::from_fn(|| client.next_stream()).map(|next| next.0).collect();
    let say = |client: &mut Client, stream, message: &Value| {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        client.handle_message(START, stream, message.to_string().as_bytes());
    };
    say(&mut client, streams[1], &log("error", &json!(1)));
    say(&mut client, streams[0], &log("error", &json!(2)));
    assert_eq!(heard(&mut client), [(Some(two), json!(1)), (Some(one), json!(2))]);
    for (stream, level) in [(streams[1], "info"), (streams[2], "emergency")] {
        say(&mut client, stream, &log(level, &json!(3)));
        assert_eq!(client.events(), [NOT_ASKED]);
    }
    client.cancel(START, one, None).unwrap();
    client.events();
    say(&mut client, streams[0], &log("error", &json!(4)));
    assert_eq!(client.events(), [], "what comes late for a call that is over is dropped silently");
}

#[test]
fn what_is_no_log_message_is_dropped_and_the_call_goes_on() {
    let mut client = client();
    client.calls(tool().log_level(LoggingLevel::Debug));
    for params in [
        json!(null),
        json!([]),
        json!({}),
        json!({"level": "info"}),
        json!({"data": 1}),
        json!({"level": "loud", "data": 1}),
        json!({"level": "Info", "data": 1}),
        json!({"level": 3, "data": 1}),
        json!({"level": "info", "data": 1, "logger": 7}),
    ] {
        client.hears(&json!({"method": "notifications/message", "params": params}));
        assert_eq!(client.events(), [MALFORMED], "{params}");
    }
    client.handle_message(
        START,
        StreamId::SHARED,
        br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","level":"info","data":1}}"#,
    );
    assert_eq!(client.events(), [MALFORMED]);
    client.hears(&log("debug", &json!(null)));
    assert_eq!(heard(&mut client).len(), 1, "null is data");
}

#[test]
fn messages_that_nobody_collects_cost_bounded_memory() {
    let mut client = client();
    client.calls(tool().log_level(LoggingLevel::Debug));
    for n in 0..10_000 {
        client.hears(&log("info", &json!(n)));
    }
    assert_eq!(client.dropped_logs(), 10_000 - MAX_WAITING_LOGS as u64);
    let kept = heard(&mut client);
    assert_eq!(kept.len(), MAX_WAITING_LOGS);
    assert_eq!((&kept[0].1, &kept.last().unwrap().1), (&json!(0), &json!(MAX_WAITING_LOGS - 1)));
    // Bytes count too; one message may always wait.
    let long = "x".repeat(MAX_WAITING_LOG_BYTES);
    client.hears(&log("info", &json!(long)));
    client.hears(&log("info", &json!(1)));
    assert_eq!(heard(&mut client).len(), 1);
    client.hears(&log("info", &json!(1)));
    assert_eq!(heard(&mut client).len(), 1, "what was collected makes room");
}

#[test]
fn the_level_is_not_set_behind_the_engines_back() {
    let refused = tool().meta(&json!({"io.modelcontextprotocol/logLevel": "info"})).err();
    assert_eq!(refused, Some(Refused::Reserved("io.modelcontextprotocol/logLevel")));
    // And it is carried by every attempt.
    let mut client = client();
    client.calls(tool().log_level(LoggingLevel::Info));
    client.hears(&json!({"id": 1, "result": {"resultType": "input_required", "inputRequests":
        {"a": {"method": "roots/list"}}}}));
    let Some(ClientEvent::InputRequired { call, .. }) = client.poll_event() else { panic!() };
    client.hears(&log("info", &json!(1)));
    assert_eq!(client.events(), [NOT_ASKED], "nothing is in flight");
    client.answer(START, call, &[]).unwrap();
    let sent = client.sends();
    assert_eq!(sent[0]["params"]["_meta"]["io.modelcontextprotocol/logLevel"], "info");
}

//! Giving up, deadlines, duplicates and losses: rows of the list of edge cases, by number.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sansio_mcp::client::{
    Abandon, CallSpec, ClientEvent, ClientKind, InputAnswer, Outcome, Refused, Routing, StreamId,
};
use sansio_mcp::code::wire;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::model::RawJson;
use sansio_mcp::server::{ErrorReply, Kind, Progress, ServerEvent, Status, Stopped};
use sansio_mcp::violation::PeerViolation;
use serde_json::json;
use short::{
    ClientExt, DONE, START, ServerExt, at, call, call_with_token, cancel, client, client_of, code, exchange,
    outcome, request, seconds, server, server_with, single, tool,
};

#[path = "support/short.rs"]
mod short;

#[test]
fn edge_03_on_a_pipe_a_second_request_with_an_id_in_flight_disturbs_nothing() {
    let mut server = server();
    let (first, _) = server.asked(call("1"));
    server.says(call("1"));
    assert_eq!(server.violations(), [PeerViolation::DuplicateId]);
    // Nor may an answer of the engine's own be taken for the first's.
    server.says(request("1", "server/discover", ""));
    server.says(request("1", "no/such", ""));
    assert_eq!(server.violations(), [PeerViolation::DuplicateId; 2]);
    assert!(server.heard().is_empty());
    // "1" is another id.
    server.asked(call("\"1\""));
    server.respond(first, &DONE).unwrap().unwrap();
    // Answered, but not yet taken: still in flight.
    server.says(call("1"));
    assert_eq!(server.violations(), [PeerViolation::DuplicateId]);
    assert_eq!(server.heard().len(), 1);
    server.asked(call("1"));
}

#[test]
fn edge_03_after_an_answer_or_a_cancel_the_id_is_free_and_the_old_handler_cannot_answer_it() {
    let mut server = server();
    let (old, _) = server.asked(call("1"));
    server.says(cancel("1"));
    assert_eq!(server.stops(), [Stopped::Cancelled(None)]);
    let (new, _) = server.asked(call("1"));
    assert_eq!(server.respond(old, &DONE).unwrap_err(), Misuse::Over);
    assert_eq!(server.progress(old, &Progress::new(1.0)).unwrap_err(), Misuse::Over);
    assert!(server.heard().is_empty() && server.is_running(new));
    server.respond(new, &DONE).unwrap().unwrap();
    server.heard();
    let (newest, _) = server.asked(call("1"));
    for late in [old, new] {
        let refusal = ErrorReply::new(wire::INVALID_PARAMS, "no");
        assert_eq!(server.refuse(late, Status::Ok, &refusal).unwrap_err(), Misuse::Over);
    }
    assert!(server.is_running(newest));
}

#[test]
fn edge_03_exchanges_know_nothing_of_each_others_ids() {
    let (mut one, mut two) = (exchange(), exchange());
    for exchange in [&mut one, &mut two] {
        exchange.handle_message(call("1").as_bytes());
        exchange.respond(&DONE).unwrap().unwrap();
    }
    assert_eq!(single(&mut one), single(&mut two));
    // A second request on the same stream is no business of a server's: noted, not answered.
    one.handle_message(call("2").as_bytes());
    let events: Vec<_> = std::iter::from_fn(|| one.poll_event()).collect();
    assert!(matches!(
        events.as_slice(),
        [ServerEvent::Request { .. }, ServerEvent::Violation(PeerViolation::SecondRequest)]
    ));
    assert_eq!(single(&mut one), None);
}

#[test]
fn edge_13_after_the_cancel_was_read_nothing_is_on_the_wire() {
    let mut server = server();
    let (serving, _) = server.asked(call_with_token("1", "7"));
    server.progress(serving, &Progress::new(1.0)).unwrap();
    server.says(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}"#,
    );
    assert_eq!(server.stops(), [Stopped::Cancelled(Some("r".into()))]);
    assert_eq!(server.respond(serving, &DONE).unwrap_err(), Misuse::Over);
    let refusal = ErrorReply::new(wire::INTERNAL_ERROR, "panicked");
    assert_eq!(server.refuse(serving, Status::Ok, &refusal).unwrap_err(), Misuse::Over);
    assert!(server.heard().is_empty());
    assert_eq!((server.in_flight(), server.unsent_bytes()), (0, 0));
}

/// Requests that the engine answers itself, each in another way.
fn answered_by_the_engine(id: &str) -> [String; 5] {
    let old = call(id).replace("2026-07-28", "2025-11-25");
    let initialize = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize"}}"#);
    [
        request(id, "server/discover", ""),
        request(id, "no/such", ""),
        request(id, "tools/call", ""),
        old,
        initialize,
    ]
}

#[test]
fn edge_03_an_answer_of_the_engines_own_keeps_its_id_until_it_is_taken() {
    for own in answered_by_the_engine("1") {
        let mut server = server();
        server.says(&own);
        for second in [&own, &call("1"), &request("1", "server/discover", "")] {
            server.says(second);
            assert_eq!(server.violations(), [PeerViolation::DuplicateId], "{own} {second}");
        }
        assert_eq!((server.in_flight(), server.heard().len()), (1, 1), "{own}");
        let (serving, _) = server.asked(call("1"));
        assert!(server.is_running(serving) && server.heard().is_empty());
    }
}

#[test]
fn edge_13_a_cancel_withdraws_an_answer_of_the_engines_own() {
    for own in answered_by_the_engine("1") {
        let mut server = server();
        for other in ["0", "2"] {
            server.says(request(other, "server/discover", ""));
        }
        server.says(&own);
        server.says(cancel("1"));
        server.says(cancel("1"));
        let heard = server.heard();
        let ids: Vec<_> = heard.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [0, 2], "{own}");
        assert_eq!((server.in_flight(), server.unsent_bytes()), (0, 0));
        assert!(server.events().is_empty(), "the application never heard of it");
        // The id is free, and what was withdrawn does not answer for the next.
        server.asked(call("1"));
        assert!(server.heard().is_empty(), "{own}");
    }
    // Taken first: the cancel is late.
    let mut server = server();
    assert_eq!(server.answers(request("1", "server/discover", ""))["id"], 1);
    server.says(cancel("1"));
    assert!(server.events().is_empty() && server.heard().is_empty());
}

/// A refusal because too many bytes are in flight can be withdrawn; one because too many requests are cannot: there
/// is no room to remember it.
#[test]
fn edge_13_a_refusal_as_busy_is_withdrawn_while_there_is_room_to_remember_it() {
    let mut server = server_with(|limits| limits.in_flight_bytes = 1);
    server.asked(call("1"));
    server.says(call("2"));
    assert_eq!((server.violations(), server.in_flight()), (vec![PeerViolation::TooManyRequests], 2));
    server.says(cancel("2"));
    assert!(server.heard().is_empty());

    let mut server = server_with(|limits| limits.in_flight = 1);
    server.asked(call("1"));
    server.says(call("2"));
    server.says(request("3", "server/discover", ""));
    server.says(cancel("2"));
    assert_eq!(server.violations(), [PeerViolation::TooManyRequests]);
    assert_eq!(server.in_flight(), 1);
    assert_eq!(server.heard().len(), 2);
}

#[test]
fn edge_14_completion_and_cancel_in_one_turn_are_decided_once() {
    let mut server = server();
    // The answer first, and taken: the cancel is late.
    let (serving, _) = server.asked(call("1"));
    server.respond(serving, &DONE).unwrap().unwrap();
    assert_eq!(server.heard().len(), 1);
    server.says(cancel("1"));
    assert!(server.events().is_empty() && server.heard().is_empty());
    // The answer first, not taken: withdrawn, and its handler, which is through, is told nothing.
    let (serving, _) = server.asked(call("1"));
    server.respond(serving, &DONE).unwrap().unwrap();
    server.says(cancel("1"));
    assert!(server.events().is_empty() && server.heard().is_empty());
    // The cancel first, twice.
    let (serving, _) = server.asked(call("1"));
    server.says(cancel("1"));
    server.says(cancel("1"));
    assert_eq!(server.respond(serving, &DONE).unwrap_err(), Misuse::Over);
    assert_eq!(server.stops(), [Stopped::Cancelled(None)]);
    assert!(server.heard().is_empty());
    // The client: whichever it hears of first.
    let mut client = client();
    let call = client.calls(tool());
    client.hears(&json!({"id": 1, "result": {"content": []}}));
    assert_eq!(client.cancel(START, call, None), Err(Misuse::Over));
    assert!(client.sends().is_empty());
    assert_eq!(client.ends(), [(call, "COMPLETE")]);
    let call = client.calls(tool());
    client.cancel(START, call, None).unwrap();
    client.hears(&json!({"id": 2, "result": {"content": []}}));
    assert_eq!(client.events().len(), 1);
}

#[test]
fn edge_16_what_was_not_written_is_neither_sent_nor_cancelled() {
    let mut client = client();
    let unsent = client.call(START, tool()).unwrap();
    let sent = client.call(START, tool()).unwrap();
    client.cancel(START, unsent, Some("r")).unwrap();
    let lines = client.sends();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["id"], json!(2));
    client.cancel(START, sent, Some("r")).unwrap();
    assert_eq!(
        client.sends(),
        [
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "reason": "r"}})
        ]
    );
    for abandon in [Abandon::CloseStream, Abandon::Notify] {
        let mut client = client_of(Routing::PerRequest, abandon);
        let call = client.call(START, tool()).unwrap();
        let stream = client.poll_ready_stream().unwrap();
        client.cancel(START, call, None).unwrap();
        assert_eq!(client.poll_transmit(stream, &mut Vec::new()), None);
        assert_eq!(client.poll_ready_stream(), None);
    }
}

/// Row 17 speaks of `initialize`. This era has no such request: the client has no way to describe one as its own, and the
/// server refuses it as a request for another revision, at once, so that there is nothing to cancel.
#[test]
fn edge_17_there_is_no_initialize_to_cancel() {
    let mut server = server();
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
    let answer = server.answers(line);
    assert_eq!(code(&answer), wire::UNSUPPORTED_VERSION);
    server.says(cancel("1"));
    assert!(server.events().is_empty() && server.heard().is_empty());
}

#[test]
fn edge_19_giving_up_one_of_two_calls_leaves_the_other_alone() {
    let mut client = client();
    let (one, two) = (client.calls(tool()), client.calls(tool()));
    client.cancel(START, one, None).unwrap();
    assert_eq!(client.sends().len(), 1);
    client.hears(&json!({"id": 2, "result": {"content": []}}));
    assert_eq!(client.ends(), [(one, "CANCELLED"), (two, "COMPLETE")]);
    let mut server = server();
    let (one, _) = server.asked(call("1"));
    let (two, _) = server.asked(call("2"));
    server.says(cancel("1"));
    assert!(!server.is_running(one) && server.is_running(two));
}

/// A stream that nobody reads does not hold back what another has to say.
#[test]
fn edge_19_a_stuck_stream_does_not_hold_back_the_cancel_of_another() {
    let mut client = client_of(Routing::PerRequest, Abandon::Notify);
    let calls = [client.call(START, tool()).unwrap(), client.call(START, tool()).unwrap()];
    let streams: Vec<StreamId> = (0..2).map(|_| client.next_stream().unwrap().0).collect();
    for call in calls {
        client.cancel(START, call, None).unwrap();
    }
    let mut out = Vec::new();
    let sent = client.poll_transmit(streams[1], &mut out).unwrap();
    assert!(sent.last && sent.kind == ClientKind::Notification);
    assert!(String::from_utf8(out).unwrap().contains("\"requestId\":2"));
    // Each is named once, the stuck one too; and a stream that has gone takes what was to be said along.
    assert_eq!(client.poll_ready_stream(), Some(streams[0]));
    assert_eq!(client.poll_ready_stream(), None);
    assert!(client.has_output());
    client.handle_stream_end(START, streams[0], "reset");
    assert!(!client.has_output());
    assert_eq!(client.poll_transmit(streams[0], &mut Vec::new()), None);
}

#[test]
fn edge_20_a_lost_connection_ends_every_call_at_once_with_its_cause() {
    let mut client = client();
    let spec = || tool().idle_timeout(seconds(1)).total_timeout(Some(seconds(2)));
    let asked = client.calls(spec());
    let in_flight = client.calls(spec());
    client.hears(&json!({"id": 1, "result": {"resultType": "input_required", "inputRequests": {"a": {"method": "m"}}}}));
    let queued = client.call(START, spec()).unwrap();
    client.events();
    client.handle_stream_end(at(1), StreamId::SHARED, "broken pipe");
    let events = client.events();
    let lost = |call| ClientEvent::Finished { call, outcome: Outcome::Lost("broken pipe".into()) };
    assert_eq!(events, [lost(asked), lost(in_flight), lost(queued)]);
    assert_eq!(client.poll_timeout(), None, "all timers die with the connection");
    assert!(!client.has_output());
    assert_eq!(client.call(at(1), tool()), Err(Refused::Closed));

    let mut server = server();
    let (running, _) = server.asked(call("1"));
    let (answered, _) = server.asked(call("2"));
    server.respond(answered, &DONE).unwrap().unwrap();
    server.handle_stream_end(at(1));
    assert_eq!(server.stops(), [Stopped::Lost]);
    assert!(!server.is_running(running) && server.heard().is_empty());
    assert_eq!(server.respond(running, &DONE).unwrap_err(), Misuse::Over);
    server.says(call("3"));
    assert!(server.events().is_empty() && server.is_finished());
}

#[test]
fn edge_20_a_lost_stream_ends_its_own_call_alone() {
    let mut client = client_of(Routing::PerRequest, Abandon::CloseStream);
    let calls = [client.call(START, tool()).unwrap(), client.call(START, tool()).unwrap()];
    let streams: Vec<StreamId> = (0..2).map(|_| client.next_stream().unwrap().0).collect();
    client.handle_stream_end(START, streams[0], "reset");
    assert_eq!(client.ends(), [(calls[0], "LOST")]);
    assert_eq!(client.open_calls(), 1);
    assert_eq!(client.poll_ready_stream(), None, "what has gone is not closed");
    let mut exchange = exchange();
    exchange.handle_message(call("1").as_bytes());
    exchange.handle_stream_end();
    let events: Vec<_> = std::iter::from_fn(|| exchange.poll_event()).collect();
    assert!(matches!(
        events.as_slice(),
        [ServerEvent::Request { .. }, ServerEvent::Stopped { why: Stopped::Lost, .. }]
    ));
}

#[test]
fn edge_21_progress_re_arms_the_idle_deadline_and_never_the_total() {
    let progress = |n: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":{n}}}}}"#
        )
    };
    // No progress at all.
    let mut client = client();
    client.calls(tool().idle_timeout(seconds(1)).total_timeout(Some(seconds(10))));
    client.handle_timeout(at(999));
    assert_eq!(client.events(), []);
    client.handle_timeout(at(1000));
    assert_eq!(outcome(&mut client).code(), "TIMED_OUT_IDLE");
    assert_eq!(client.sends()[0]["params"]["reason"], json!("timed out"));
    // Steady progress.
    let mut client = short::client();
    client.calls(tool().idle_timeout(seconds(1)).total_timeout(Some(seconds(10))));
    for n in 1..=19 {
        client.handle_message(at(n * 500), StreamId::SHARED, progress(n).as_bytes());
        client.handle_timeout(at(n * 500));
    }
    assert_eq!(client.open_calls(), 1);
    // Progress that does not increase is no sign of life.
    client.handle_message(at(9900), StreamId::SHARED, progress(19).as_bytes());
    assert_eq!(client.poll_timeout().unwrap().at(), at(10_000).mono);
    client.events();
    client.handle_timeout(at(10_000));
    assert_eq!(outcome(&mut client).code(), "TIMED_OUT_TOTAL");
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn edge_21_the_total_holds_across_rounds_of_input_and_stands_still_while_a_person_thinks() {
    let mut client = client();
    let call = client.calls(tool().total_timeout(Some(seconds(10))));
    let ask = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"m"}}}}"#;
    client.handle_message(at(6000), StreamId::SHARED, ask.as_bytes());
    assert_eq!(client.poll_timeout(), None);
    client.handle_timeout(at(100_000));
    assert_eq!(client.open_calls(), 1);
    let result = RawJson::from_text("{}").unwrap();
    client.answer(at(100_000), call, &[InputAnswer { key: "a", result: result.as_raw() }]).unwrap();
    client.sends();
    client.handle_timeout(at(103_999));
    assert_eq!(client.open_calls(), 1);
    client.handle_timeout(at(104_000));
    client.events().retain(|event| !matches!(event, ClientEvent::InputRequired { .. }));
    assert_eq!(client.open_calls(), 0);
    // While only state goes back and forth the server has the ball: the total runs.
    let mut client = short::client();
    client.calls(tool().total_timeout(Some(seconds(1))));
    let state = |id: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","requestState":"s"}}}}"#
        )
    };
    client.handle_message(at(900), StreamId::SHARED, state(1).as_bytes());
    client.handle_timeout(at(950));
    assert_eq!(client.sends().len(), 1);
    client.handle_timeout(at(1000));
    assert_eq!(outcome(&mut client).code(), "TIMED_OUT_TOTAL");
}

#[test]
fn edge_22_an_idle_deadline_asks_for_progress() {
    let mut client = client();
    client.call(START, tool().idle_timeout(seconds(1))).unwrap();
    client.call(START, tool()).unwrap();
    let sent = client.sends();
    assert_eq!(sent[0]["params"]["_meta"]["progressToken"], json!(1));
    assert_eq!(sent[1]["params"]["_meta"].get("progressToken"), None);
}

#[test]
fn edge_24_closing_a_stream_waits_for_nothing() {
    let mut client = client_of(Routing::PerRequest, Abandon::CloseStream);
    let call = client.call(START, CallSpec::list_tools(None)).unwrap();
    let (stream, kind, _) = client.next_stream().unwrap();
    assert_eq!(kind, ClientKind::Request(call));
    // Not one byte of the answer was read.
    client.cancel(START, call, Some("r")).unwrap();
    let (closed, kind, bytes) = client.next_stream().unwrap();
    assert_eq!((closed, kind, bytes.as_str()), (stream, ClientKind::CloseStream, ""));
    assert_eq!(client.ends(), [(call, "CANCELLED")]);
    assert!(!client.has_output() && client.poll_timeout().is_none());
    // On the stream itself a posted cancel does nothing; it is a message like any other notification: accepted.
    let mut exchange = exchange();
    exchange.handle_message(cancel("1").as_bytes());
    assert!(exchange.is_finished() && exchange.poll_event().is_none());
    assert_eq!(single(&mut exchange), None);
    // A message of a client that is no request is at fault where a request belongs.
    let mut exchange = short::exchange();
    exchange.handle_message(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(single(&mut exchange).unwrap().0, Kind::Response(Status::BadRequest));
}

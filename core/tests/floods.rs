//! Peers and applications that overdo it: memory stays within the limits (invariant 8 in `tests/PROMISES.md`).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sansio_mcp::client::{CallSpec, ClientEvent, Refused, StreamId};
use sansio_mcp::limits::{ClientLimits, MAX_WAITING_VIOLATIONS, ServerLimits};
use sansio_mcp::misuse::Misuse;
use sansio_mcp::server::{Progress, ServerEvent};
use sansio_mcp::violation::PeerViolation;
use short::{
    ClientExt, DONE, START, ServerExt, call, call_with_token, cancel, client, client_with, request, server,
    server_with, tool,
};

#[path = "support/short.rs"]
mod short;

const MANY: u32 = 60_000;

#[test]
fn requests_with_an_unread_outlet() {
    let mut server = server();
    let limits = ServerLimits::default();
    let mut served = Vec::new();
    let mut most = 0;
    for id in 0..MANY {
        server.says(call_with_token(&id.to_string(), "1"));
        while let Some(event) = server.poll_event() {
            if let ServerEvent::Request { serving, .. } = event {
                served.push(serving);
            }
        }
        most = most.max(server.unsent_bytes());
        assert!(server.in_flight() <= limits.in_flight);
    }
    assert_eq!(served.len(), limits.in_flight);
    assert!(server.is_congested() && !server.wants_input());
    // One answer may pass the limit; then messages are dropped.
    assert!(most < limits.outgoing_bytes + 1000, "{most}");
    assert!(server.dropped_violations() == 0, "they were collected");
    // The outlet is read: everything goes on.
    let busy = server.heard().len();
    assert!(busy > 20_000 && busy < MANY as usize - served.len(), "{busy}");
    assert!(server.wants_input() && !server.is_congested());
    for serving in served {
        server.progress(serving, &Progress::new(1.0)).unwrap();
        server.respond(serving, &DONE).unwrap().unwrap();
    }
    assert_eq!(server.heard().len(), 2 * limits.in_flight);
    assert_eq!((server.in_flight(), server.unsent_bytes()), (0, 0));
}

/// What a request holds is more than its line: each key of its metadata costs too.
#[test]
fn long_requests_that_are_not_answered() {
    let most = 100_000;
    let mut server = server_with(|limits| limits.in_flight_bytes = most);
    let keys = (0..100).fold(String::new(), |keys, n| keys + &format!("\"k{n}\":0,"));
    let long = |id: u32| call(&id.to_string()).replace("\"_meta\":{", &format!("\"_meta\":{{{keys}"));
    let line = long(0).len();
    let mut served = Vec::new();
    for id in 0..MANY {
        server.says(long(id));
        match server.poll_event() {
            Some(ServerEvent::Request { serving, .. }) => served.push(serving),
            Some(ServerEvent::Violation(PeerViolation::TooManyRequests)) => {}
            event => panic!("{event:?}"),
        }
        server.heard();
    }
    assert!((2..most / line).contains(&served.len()), "{}", served.len());
    // What is over makes room, and one alone may be as long as a message.
    for serving in served {
        server.respond(serving, &DONE).unwrap().unwrap();
    }
    server.heard();
    server
        .asked(call("1").replace("\"_meta\":{", &format!("\"_meta\":{{\"k\":\"{}\",", "x".repeat(2 * most))));
    server.says(call("2"));
    assert_eq!(server.violations(), [PeerViolation::TooManyRequests]);
}

/// While the outlet is full cancels are heard: they make room.
#[test]
fn a_full_outlet_hears_cancels() {
    let mut server = server_with(|limits| {
        limits.congested_bytes = 500;
        limits.outgoing_bytes = 1000;
    });
    let (serving, _) = server.asked(call("1"));
    let text = format!("\"content\":\"{}\"", "x".repeat(2000));
    let large = sansio_mcp::server::WrittenBody { members: text.as_bytes(), meta: None };
    server.respond(serving, &large).unwrap().unwrap();
    for line in [call("2"), request("3", "server/discover", ""), "junk".to_string()] {
        server.says(line);
        assert_eq!(server.violations(), [PeerViolation::Flood]);
    }
    server.says(cancel("1"));
    assert_eq!(server.unsent_bytes(), 0);
    assert!(server.wants_input());
    server.asked(call("2"));
}

#[test]
fn requests_and_their_cancels_without_an_event_collected() {
    let mut server = server();
    for id in 0..MANY {
        server.says(call(&id.to_string()));
        server.says(cancel(&id.to_string()));
        server.heard();
    }
    assert_eq!(server.in_flight(), 0);
    let mut events = server.events();
    events.retain(|event| !matches!(event, ServerEvent::Violation(PeerViolation::TooManyRequests)));
    assert_eq!(events.len(), 2 * ServerLimits::default().in_flight, "a request and its stop each; then busy");
    // Each is told in order, and once they are collected the server serves on.
    for pair in events.chunks(2) {
        let [ServerEvent::Request { serving, .. }, ServerEvent::Stopped { serving: stopped, .. }] = pair
        else {
            panic!("{pair:?}")
        };
        assert_eq!(serving, stopped);
    }
    server.asked(call("1"));
}

#[test]
fn calls_and_their_cancels_without_an_event_collected() {
    let most = 1000;
    let mut client = client_with(|limits| limits.calls = most);
    let mut refused = 0;
    for _ in 0..MANY {
        match client.call(START, tool()) {
            Ok(call) => client.cancel(START, call, None).unwrap(),
            Err(Refused::TooManyCalls) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(refused, MANY as usize - most);
    assert!(!client.has_output(), "none was sent");
    assert_eq!(client.poll_timeout(), None);
    assert_eq!(client.ends().len(), most);
    client.call(START, tool()).unwrap();
    // The default limit has room for all of them.
    assert!(ClientLimits::default().calls > MANY as usize);
}

#[test]
fn violations_without_an_event_collected() {
    let mut server = server();
    let mut client = client();
    for _ in 0..MANY {
        server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        client.handle_message(START, StreamId::SHARED, b"junk");
    }
    let dropped = u64::from(MANY) - MAX_WAITING_VIOLATIONS as u64;
    assert_eq!((server.dropped_violations(), client.dropped_violations()), (dropped, dropped));
    assert_eq!(server.events().len(), MAX_WAITING_VIOLATIONS);
    assert_eq!(client.events().len(), MAX_WAITING_VIOLATIONS);
    server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(server.events().len(), 1);
}

#[test]
fn progress_without_an_event_collected() {
    let mut client = client();
    client.calls(tool().progress());
    // What stands before it is collected when it is full: the place of the newest is counted from the first event ever.
    for _ in 0..5 {
        client.handle_message(START, StreamId::SHARED, b"junk");
    }
    let mut before = Vec::new();
    for n in 0..MANY {
        if n == 100 {
            before.extend((0..5).map(|_| client.poll_event().unwrap()));
        }
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":{n}}}}}"#
        );
        client.handle_message(START, StreamId::SHARED, line.as_bytes());
    }
    let told: Vec<f64> = client
        .events()
        .into_iter()
        .map(|event| match event {
            ClientEvent::Progress { progress, .. } => progress,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(before, vec![ClientEvent::Violation(PeerViolation::NotAMessage); 5]);
    assert_eq!((told.len(), told[14], told[15]), (16, 14.0, f64::from(MANY - 1)));
}

#[test]
fn calls_that_are_not_taken() {
    let mut client = client_with(|limits| limits.outgoing_bytes = 10_000);
    let spec = || CallSpec::tool("t", &serde_json::json!({"text": "x".repeat(1000)})).unwrap();
    let mut made = Vec::new();
    loop {
        match client.call(START, spec()) {
            Ok(call) => made.push(call),
            Err(refused) => {
                assert_eq!(refused, Refused::TooManyBytes);
                break;
            }
        }
    }
    assert_eq!(made.len(), 9);
    // What is withdrawn makes room, what is sent too.
    client.cancel(START, made[0], None).unwrap();
    client.call(START, spec()).unwrap();
    assert_eq!(client.call(START, spec()), Err(Refused::TooManyBytes));
    assert_eq!(client.sends().len(), 9);
    for _ in 0..9 {
        client.call(START, spec()).unwrap();
    }
    assert_eq!(client.cancel(START, made[0], None), Err(Misuse::Over));
}

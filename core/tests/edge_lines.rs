//! Lines on a pipe, the end of input, a busy server: rows of the list of edge cases, by number.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sansio_mcp::limits::MAX_MESSAGE;
use sansio_mcp::server::{Deadline, Server, ServerEvent, Stopped};
use sansio_mcp::wire::{Frame, Framer, Malformed};
use serde_json::json;
use short::{DONE, START, ServerExt, at, call, cancel, code, request, server, server_with};

#[path = "support/short.rs"]
mod short;

/// What a transport does with bytes that it read.
fn read(framer: &mut Framer, server: &mut Server, bytes: &[u8]) {
    let mut frames = framer.feed(bytes);
    while let Some(frame) = frames.next() {
        match frame {
            Frame::Line(line) => server.handle_message(START, line),
            Frame::TooLong => server.handle_malformed(START, Malformed::NotJson),
        }
    }
}

/// The ids of the requests that reached the application.
fn asked(server: &mut Server) -> Vec<String> {
    let ids = server.events().into_iter().filter_map(|event| match event {
        ServerEvent::Request { request, .. } => Some(request.wire_id().to_string()),
        _ => None,
    });
    ids.collect()
}

#[test]
fn edge_36_line_ends_byte_order_mark_blank_lines_and_split_characters() {
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    for id in ["\"\u{e9}\"", "\"\u{1f600}\""] {
        bytes.extend_from_slice(call(id).as_bytes());
        bytes.extend_from_slice(b"\r\n\r\n \t\n");
    }
    bytes.extend_from_slice(call("3").as_bytes());
    bytes.push(b'\n');
    for size in [1, 2, 3, 7, bytes.len()] {
        let (mut framer, mut server) = (Framer::new(MAX_MESSAGE), server());
        for piece in bytes.chunks(size) {
            read(&mut framer, &mut server, piece);
        }
        assert_eq!(asked(&mut server), ["\"\u{e9}\"", "\"\u{1f600}\"", "3"]);
        assert!(server.heard().is_empty(), "blank lines are not bad lines");
    }
    // Written: one line, whatever stands in the strings.
    let mut server = server();
    let (serving, _) = server.asked(call(r#""a\r\nb""#));
    let members = b"\"content\":[],\n\r\n\"structuredContent\":{\"a\":\r\n1}";
    server.respond(serving, &sansio_mcp::server::WrittenBody { members, meta: None }).unwrap().unwrap();
    let mut out = Vec::new();
    server.poll_transmit(&mut out).unwrap();
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'));
}

#[test]
fn edge_37_a_bad_line_costs_that_line() {
    let limit = 1000;
    let (mut framer, mut server) = (Framer::new(limit), server());
    let mut bytes = Vec::new();
    for bad in [b"{".as_slice(), b"\xff\xfe", &[b'x'; 5000], b"[]"] {
        bytes.extend_from_slice(bad);
        bytes.push(b'\n');
        bytes.extend_from_slice(call(&(bytes.len()).to_string()).as_bytes());
        bytes.push(b'\n');
    }
    read(&mut framer, &mut server, &bytes);
    assert_eq!(asked(&mut server).len(), 4);
    let codes: Vec<i64> = server.heard().iter().map(code).collect();
    assert_eq!(codes, [-32700, -32700, -32700, -32600]);
}

#[test]
fn edge_38_the_limit_is_per_line() {
    let line = call("1");
    let limit = line.len();
    let twice = format!("{line}\n{}\r\n{} \n{}\n", call("2"), call("3"), call("4"));
    // Exactly the limit passes, one byte more does not, and what is behind it in the same read is served.
    for size in [twice.len(), 1, 7] {
        let (mut framer, mut server) = (Framer::new(limit), server());
        for piece in twice.as_bytes().chunks(size) {
            read(&mut framer, &mut server, piece);
        }
        assert_eq!(asked(&mut server), ["1", "2", "4"]);
        assert_eq!(server.heard().len(), 1);
    }
}

#[test]
fn edge_39_after_the_end_of_input_accepted_requests_may_finish_within_the_grace_time() {
    let mut server = server();
    let (one, _) = server.asked(call("1"));
    let (two, _) = server.asked(call("2"));
    server.handle_input_end(at(100));
    assert!(!server.wants_input() && !server.is_finished());
    assert_eq!(server.poll_timeout(), Some(Deadline::HalfCloseGrace(at(1600).mono)));
    server.respond(one, &DONE).unwrap().unwrap();
    assert_eq!(server.heard().len(), 1);
    server.handle_timeout(at(1599));
    assert!(server.is_running(two));
    server.handle_timeout(at(1600));
    assert_eq!(server.stops(), [Stopped::Closing]);
    assert!(server.is_finished() && server.poll_timeout().is_none());
    server.says(call("3"));
    assert!(server.events().is_empty());

    // Everything answered in time: nothing is left to wait for.
    let mut server = short::server();
    let (one, _) = server.asked(call("1"));
    server.handle_input_end(at(100));
    server.respond(one, &DONE).unwrap().unwrap();
    // An answer that was ready when time was up may still be taken.
    server.handle_timeout(at(10_000));
    assert_eq!(server.heard().len(), 1);
    assert_eq!(server.poll_timeout(), None);
    assert!(server.is_finished());
    // `printf '...' | server`: the engine's own answers too.
    let mut server = short::server();
    server.says(request("1", "server/discover", ""));
    server.handle_input_end(START);
    assert!(!server.is_finished());
    assert_eq!(server.heard().len(), 1);
    assert!(server.is_finished());
}

#[test]
fn edge_42_cancels_and_the_engines_own_answers_are_served_while_everything_is_busy() {
    let mut server = server_with(|limits| limits.in_flight = 2);
    let (one, _) = server.asked(call("1"));
    let (two, _) = server.asked(call("2"));
    let busy = server.answers(call("3"));
    assert_eq!(code(&busy), 1001);
    assert_eq!(busy["error"]["data"], json!({"code": "SERVER_BUSY", "retryAfterMs": 102}));
    let discovered = server.answers(request("4", "server/discover", ""));
    assert!(discovered["result"]["supportedVersions"].is_array());
    assert!(server.is_running(one) && server.is_running(two), "nothing else is disturbed");
    server.says(cancel("1"));
    assert_eq!(server.stops(), [Stopped::Cancelled(None)]);
    // The place is free again.
    server.asked(call("5"));
    // One was busy: the same id may come again.
    server.says(cancel("5"));
    server.stops();
    server.asked(call("3"));
}

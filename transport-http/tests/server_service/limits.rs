//! Every bound of the service.

use std::sync::Arc;

use http::Request;
use sansio_mcp_http::server::{BodyError, Config, Limits, Mode, Service};
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::Engine;

use crate::rig::{Parts, Rig, listen, post, s, tool, with};
use crate::shop::shop;

fn rig(change: impl FnOnce(&mut Limits)) -> (Rig, crate::shop::Log) {
    let mut limits = Limits::default();
    change(&mut limits);
    let (server, log) = shop();
    (Rig::new(server, Config::new().limits(limits)), log)
}

#[test]
fn no_limit_may_be_zero() {
    type Change = fn(&mut Limits);
    let table: [(&str, Change); 15] = [
        ("limits.body_bytes", |limits| limits.body_bytes = 0),
        ("limits.held_bytes", |limits| limits.held_bytes = 0),
        ("limits.body_time", |limits| limits.body_time = s(0)),
        ("limits.streams", |limits| limits.streams = 0),
        ("limits.commit_time", |limits| limits.commit_time = s(0)),
        ("limits.keep_alive", |limits| limits.keep_alive = s(0)),
        ("limits.write_time", |limits| limits.write_time = s(0)),
        ("limits.frame_bytes", |limits| limits.frame_bytes = 0),
        ("limits.connections", |limits| limits.connections = 0),
        ("limits.header_time", |limits| limits.header_time = s(0)),
        ("limits.idle_time", |limits| limits.idle_time = s(0)),
        ("limits.header_bytes", |limits| limits.header_bytes = 8191),
        ("limits.concurrent_streams", |limits| limits.concurrent_streams = 0),
        ("limits.pending_resets", |limits| limits.pending_resets = 0),
        ("limits.drain_time", |limits| limits.drain_time = s(0)),
    ];
    for (field, change) in table {
        let mut limits = Limits::default();
        change(&mut limits);
        let (engine, _driver) = Engine::new(shop().0.build().unwrap(), Arc::new(Lab::new().clock()));
        let error = Service::new(engine, Config::new().limits(limits)).unwrap_err();
        assert_eq!(error.field, field);
    }
}

#[test]
fn edge_54_a_body_over_the_limit_is_413_whatever_content_length_claims() {
    let body = tool("add").to_string();
    let (rig, _) = rig(|limits| limits.body_bytes = body.len());
    assert_eq!(rig.post(&tool("add")).status(), 200, "exactly the limit passes");
    // Told beforehand: nothing is read.
    let long = Long(Parts::default());
    let (head, _) = post(&tool("add")).into_parts();
    let sent = rig.send(Request::from_parts(head, long));
    assert_eq!((sent.status(), sent.code()), (413, -32700));
    // Not told, or told something else.
    for claim in [None, Some("1")] {
        for cut in [0, 1, body.len()] {
            let parts = Parts::default();
            let (head, _) = with(post(&tool("add")), "content-length", claim).into_parts();
            let sent = rig.send(Request::from_parts(head, parts.clone()));
            parts.push(body[..cut].to_owned());
            parts.push(body[cut..].to_owned());
            rig.lab.run_until_idle();
            assert_eq!(sent.status(), 0);
            parts.push(" ");
            rig.lab.run_until_idle();
            assert_eq!((sent.status(), sent.code()), (413, -32700), "{claim:?}");
            let polls = parts.polls();
            parts.push("more");
            rig.lab.run_until_idle();
            assert_eq!(parts.polls(), polls, "nothing more is read");
        }
    }
    rig.assert_free();
}

/// Says that it is longer than may be.
struct Long(Parts);

impl http_body::Body for Long {
    type Data = bytes::Bytes;
    type Error = &'static str;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, &'static str>>> {
        panic!("it is read")
    }

    fn size_hint(&self) -> http_body::SizeHint {
        let _ = &self.0;
        http_body::SizeHint::with_exact(u64::MAX)
    }
}

#[test]
fn a_body_in_pieces_is_put_together() {
    let (rig, _) = rig(|_| {});
    let body = tool("add").to_string();
    for size in [1, 7, body.len() - 1] {
        let parts = Parts::default();
        let (head, _) = post(&tool("add")).into_parts();
        let sent = rig.send(Request::from_parts(head, parts.clone()));
        for piece in body.as_bytes().chunks(size) {
            assert_eq!(sent.status(), 0);
            parts.push(piece.to_vec());
            rig.lab.run_until_idle();
        }
        parts.end();
        rig.lab.run_until_idle();
        assert_eq!(sent.json()["result"]["content"][0]["text"], "two");
    }
    rig.assert_free();
}

#[test]
fn a_slow_body_is_given_up() {
    let (rig, _) = rig(|_| {});
    let parts = Parts::default();
    let (head, _) = post(&tool("add")).into_parts();
    let sent = rig.send(Request::from_parts(head, parts.clone()));
    for _ in 0..29 {
        rig.lab.advance(s(1));
        parts.push("{");
        rig.lab.run_until_idle();
        assert_eq!((sent.status(), rig.service.facts().streams), (0, 1));
    }
    rig.lab.advance(s(1));
    assert_eq!((sent.status(), sent.code()), (408, -32600));
    rig.assert_free();
}

#[test]
fn a_body_that_breaks_off_is_a_bad_request() {
    let (rig, _) = rig(|_| {});
    let parts = Parts::default();
    parts.push("{");
    parts.fail();
    let (head, _) = post(&tool("add")).into_parts();
    let sent = rig.send(Request::from_parts(head, parts));
    assert_eq!((sent.status(), sent.code()), (400, -32700));
    rig.assert_free();
}

#[test]
fn so_many_streams_and_no_more() {
    let (rig, log) = rig(|limits| limits.streams = 3);
    let reading = rig.send(Request::from_parts(post(&tool("add")).into_parts().0, Parts::default()));
    let call = rig.post(&tool("sleep"));
    let listening = rig.post(&listen());
    let refused = rig.post(&tool("add"));
    assert_eq!((refused.status(), refused.code(), &*refused.header("retry-after")), (503, 1001, "1"));
    assert_eq!(rig.service.facts().streams, 3);
    for sent in [reading, call, listening] {
        assert_eq!(rig.post(&tool("add")).status(), 503);
        sent.disconnect();
        assert_eq!(rig.post(&tool("add")).status(), 200);
        // It is taken again.
        let _again = rig.post(&tool("sleep"));
    }
    assert_eq!(log.started.get(), 4);
}

#[test]
fn so_many_bytes_and_no_more() {
    let body = tool("sleep").to_string();
    let (rig, _) = rig(|limits| limits.held_bytes = body.len() * 2);
    let first = rig.post(&tool("sleep"));
    let second = rig.post(&tool("sleep"));
    assert_eq!(rig.service.facts().held_bytes, body.len() * 2);
    let refused = rig.post(&tool("sleep"));
    assert_eq!((refused.status(), refused.code()), (503, 1001));
    first.disconnect();
    let third = rig.post(&tool("sleep"));
    assert_eq!(third.status(), 0);
    second.disconnect();
    third.disconnect();
    rig.assert_free();
}

#[test]
fn a_stream_that_its_client_does_not_begin_to_read_is_cancelled_after_the_write_time() {
    // A call is a stream after 15 s, a listen at once.
    for (call, begins) in [(tool("sleep"), 15), (listen(), 0)] {
        let (rig, log) = rig(|_| {});
        let sent = rig.send_as(post(&call), false);
        rig.lab.advance(s(begins + 29));
        assert_eq!((rig.engine.facts().channels, rig.service.facts().streams), (1, 1));
        rig.lab.advance(s(1));
        assert_eq!((rig.engine.facts().channels, rig.service.facts().streams), (0, 0));
        assert_eq!(log.cleaned.get(), log.started.get());
        sent.read();
        assert_eq!((sent.error(), sent.parts().len()), (Some(BodyError::Stalled), 0));
        drop(sent);
        rig.assert_free();
    }
}

#[test]
fn who_takes_one_part_and_asks_for_no_other_is_cancelled_after_the_write_time() {
    use http_body::Body as _;
    let (rig, log) = rig(|_| {});
    let response = rig.lab.run(rig.service.call_shared(post(&tool("slow")))).unwrap();
    let mut body = response.into_body();
    let part = rig.lab.run(std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)));
    assert!(part.unwrap().unwrap().is_data());
    rig.lab.advance(s(29));
    assert_eq!((rig.engine.facts().running, log.cleaned.get()), (1, 0));
    rig.lab.advance(s(1));
    assert_eq!((rig.engine.facts().running, log.cleaned.get()), (0, 1), "nobody polled the body");
    assert_eq!(rig.service.facts().streams, 0);
    let part = rig.lab.run(std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)));
    assert_eq!(part.unwrap().unwrap_err(), BodyError::Stalled);
    assert!(body.is_end_stream());
    drop(body);
    rig.assert_free();
}

#[test]
fn what_waits_for_a_slow_reader_is_bounded() {
    let mut limits = Limits::default();
    limits.frame_bytes = 100;
    let (server, _) = shop();
    let rig = Rig::new(server, Config::new().limits(limits).mode(Mode::SseOnly));
    let sent = rig.post(&tool("ten"));
    assert_eq!(sent.events().len(), 11);
    let parts = sent.parts();
    assert!(parts.len() > 3, "{} parts", parts.len());
    rig.assert_free();
}

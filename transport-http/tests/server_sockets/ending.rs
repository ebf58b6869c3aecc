//! Clients that go, and servers that do.

use sansio_mcp_http::server::{Config, Mode};
use serde_json::json;

use crate::rig::{call, limits, listen, ms, on_each, post, until};

#[test]
fn a_disconnect_cancels_in_every_mode_and_clean_up_runs() {
    on_each(|serve| {
        for mode in [Mode::Auto, Mode::JsonOnly, Mode::SseOnly] {
            let rig = serve(limits(|limits| limits.commit_time = ms(20)).mode(mode));
            // Before its answer has begun, and once a stream has.
            let wires: Vec<_> = (0..10).map(|_| rig.call("hour")).collect();
            until(|| rig.log.started() == 10);
            let mut wires = wires.into_iter();
            for _ in 0..5 {
                drop(wires.next());
            }
            until(|| rig.log.cleaned() == 5);
            for mut wire in wires {
                if mode != Mode::JsonOnly {
                    assert!(wire.until("\r\n\r\n").contains("text/event-stream"));
                }
                drop(wire);
            }
            until(|| rig.log.cleaned() == 10);
            rig.assert_free();
            rig.assert_serves();
        }
    });
}

#[test]
fn a_connection_may_be_cut_in_every_phase() {
    on_each(|serve| {
        let rig = serve(Config::new());
        let request = post(&call("hour", &json!({})));
        for cut in 0..request.len() {
            let mut wire = rig.connect();
            wire.send(&request[..cut]);
        }
        rig.assert_free();
        assert_eq!(rig.log.started(), 0);
        // Half closed is closed: what was asked is cancelled.
        for _ in 0..50 {
            let mut wire = rig.connect();
            wire.send(&request);
            wire.end();
            assert_eq!(wire.rest(), b"");
        }
        until(|| rig.log.cleaned() == rig.log.started());
        rig.assert_free();
        rig.assert_serves();
    });
}

#[test]
fn shutdown_answers_listens_lets_calls_finish_and_ends() {
    on_each(|serve| {
        let rig = serve(limits(|limits| limits.drain_time = ms(600_000)));
        let mut listening = rig.connect();
        listening.send(&post(&listen()));
        listening.until("acknowledged");
        let mut calling = rig.call("waits");
        let idle = rig.connect();
        until(|| rig.log.started() == 1 && rig.handle.connections() == 3);
        rig.handle.shutdown();
        let rest = String::from_utf8(listening.rest()).unwrap();
        assert!(rest.contains("\"result\":{") && rest.ends_with("0\r\n\r\n"), "{rest}");
        until(|| rig.handle.connections() == 1);
        rig.log.release();
        let (head, body) = calling.response();
        assert!(head.starts_with("HTTP/1.1 200") && body.contains("done"), "{head}");
        assert_eq!(calling.rest(), b"");
        drop(idle);
        let (address, handle) = (rig.address, rig.handle.clone());
        rig.join();
        assert!(std::net::TcpStream::connect(address).is_err(), "nobody listens any more");
        assert_eq!(
            (handle.connections(), handle.facts().streams, handle.engine().facts().channels),
            (0, 0, 0)
        );
    });
}

#[test]
fn shutdown_cancels_what_takes_too_long() {
    on_each(|serve| {
        let rig = serve(limits(|limits| limits.drain_time = ms(1)));
        let mut calling = rig.call("hour");
        until(|| rig.log.started() == 1);
        rig.handle.shutdown();
        let (head, _) = calling.response();
        assert!(head.starts_with("HTTP/1.1 503"), "{head}");
        assert_eq!(calling.rest(), b"");
        let log = rig.log.clone();
        rig.join();
        assert_eq!(log.cleaned(), 1);
    });
}

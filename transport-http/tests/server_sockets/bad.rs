//! Clients that are slow, that do not read, and that are too many.

use sansio_mcp_http::server::Config;
use serde_json::json;

use crate::rig::{call, limits, listen, ms, on_each, post, until};

#[test]
fn a_slow_head_is_closed() {
    on_each(|serve| {
        let rig = serve(limits(|limits| limits.header_time = ms(50)));
        let request = post(&call("add", &json!({})));
        for begun in [0, 1, 3, 100] {
            let mut wire = rig.connect();
            wire.send(&request[..begun]);
            assert_eq!(wire.rest(), b"", "{begun} bytes");
        }
        // Also a second one on a connection that had a good one.
        let mut wire = rig.connect();
        wire.send(&request);
        wire.response();
        wire.send(&request[..100]);
        assert_eq!(wire.rest(), b"");
        rig.assert_free();
        rig.assert_serves();
    });
}

#[test]
fn a_connection_without_requests_is_closed_and_one_with_a_long_call_is_not() {
    on_each(|serve| {
        let rig = serve(limits(|limits| (limits.idle_time, limits.header_time) = (ms(30), ms(60))));
        let mut calling = rig.call("waits");
        let mut wire = rig.connect();
        wire.send(&post(&call("add", &json!({}))));
        wire.response();
        assert_eq!(wire.rest(), b"");
        rig.log.release();
        assert!(calling.response().1.contains("done"));
        assert_eq!(calling.rest(), b"");
        rig.assert_free();
    });
}

#[test]
fn a_slow_body_is_408() {
    on_each(|serve| {
        let rig = serve(limits(|limits| limits.body_time = ms(50)));
        let request = post(&call("add", &json!({})));
        let mut wire = rig.connect();
        wire.send(&request[..request.len() - 1]);
        assert!(wire.response().0.starts_with("HTTP/1.1 408"));
        assert_eq!(wire.rest(), b"");
        drop(wire);
        rig.assert_free();
        rig.assert_serves();
    });
}

#[test]
fn a_body_over_the_limit_is_413_and_the_connection_ends() {
    on_each(|serve| {
        let rig = serve(limits(|limits| limits.body_bytes = 1000));
        let long = call("add", &json!({"text": "x".repeat(2000)}));
        let told = post(&long);
        let head = String::from_utf8(told).unwrap().split_once("\r\n\r\n").unwrap().0.to_owned();
        let lines: Vec<_> = head.lines().filter(|line| !line.starts_with("content-length")).collect();
        let text = long.to_string();
        let chunked = format!(
            "{}\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{text}\r\n0\r\n\r\n",
            lines.join("\r\n"),
            text.len()
        );
        // Its client reads the answer after it has sent all of it, which the server does not wait for.
        let longer = post(&call("add", &json!({"text": "x".repeat(8_000_000)})));
        for request in [post(&long), chunked.into_bytes(), longer] {
            let mut wire = rig.connect();
            wire.send(&request);
            let (head, body) = wire.response();
            assert!(head.starts_with("HTTP/1.1 413") && body.contains("-32700"), "{head}");
        }
        rig.assert_free();
        rig.assert_serves();
    });
}

#[test]
fn a_client_that_never_reads_is_cut_off_and_everything_is_free() {
    on_each(|serve| {
        let rig = serve(limits(|limits| (limits.write_time, limits.streams) = (ms(100), 50)));
        // A stream of progress that nobody reads.
        let mut flooded = rig.connect();
        flooded.send(&post(&call("floods", &json!({}))));
        // Long answers that nobody reads, asked for until the server takes no more.
        let long = post(&call("echo", &json!({"text": "x".repeat(3_000_000)})));
        let wires: Vec<_> = (0..3)
            .map(|_| {
                let mut wire = rig.connect();
                for _ in 0..4 {
                    wire.send(&long);
                }
                wire
            })
            .collect();
        until(|| rig.log.cleaned() == 1);
        rig.assert_free();
        drop((flooded, wires));
        rig.assert_serves();
    });
}

#[test]
fn a_listen_whose_client_reads_nothing_costs_little_and_blocks_nobody() {
    on_each(|serve| {
        let rig = serve(Config::new());
        let unread: Vec<_> = (0..20)
            .map(|_| {
                let mut wire = rig.connect();
                wire.send(&post(&listen()));
                wire
            })
            .collect();
        until(|| rig.handle.engine().facts().subscriptions == 20);
        for _ in 0..1000 {
            rig.handle.engine().publish(sansio_mcp_sdk::server::Change::Tools).unwrap();
        }
        rig.assert_serves();
        drop(unread);
        rig.assert_free();
    });
}

#[test]
fn so_many_connections_and_no_more() {
    on_each(|serve| {
        let rig = serve(limits(|limits| limits.connections = 3));
        let mut wires: Vec<_> = (0..6).map(|_| rig.call("hour")).collect();
        until(|| rig.log.started() == 3);
        assert_eq!(rig.handle.connections(), 3);
        // Another is accepted when one has gone.
        for gone in 1..=3 {
            drop(wires.remove(0));
            until(|| rig.log.started() == 3 + gone);
            assert_eq!(rig.handle.connections(), 3);
        }
        drop(wires);
        rig.assert_free();
        rig.assert_serves();
    });
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    on_each(|serve| {
        let rig = serve(limits(|limits| limits.header_bytes = 8192));
        let mut wire = rig.connect();
        wire.send(
            format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(20_000)).as_bytes(),
        );
        let said = String::from_utf8(wire.rest()).unwrap();
        assert!(said.starts_with("HTTP/1.1 431"), "{said}");
        drop(wire);
        rig.assert_free();
        rig.assert_serves();
    });
}

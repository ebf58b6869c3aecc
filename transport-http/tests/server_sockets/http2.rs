//! HTTP/2 by hand: its frames, and headers in the plainest form that there is (RFC 9113; RFC 7541, section 6.2.2).

use sansio_mcp_http::server::Config;
use serde_json::json;

use crate::rig::{Rig, Wire, call, limits, listen, ms, on_each, until};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

fn literal(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(0);
    for text in [name, value] {
        assert!(text.len() < 127);
        out.push(u8::try_from(text.len()).unwrap());
        out.extend(text.as_bytes());
    }
}

fn headers(tool: Option<&str>, method: &str) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/mcp"),
        (":authority", "localhost"),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ] {
        literal(&mut block, name, value);
    }
    if let Some(tool) = tool {
        literal(&mut block, "mcp-name", tool);
    }
    block
}

/// A whole request.
fn request(stream: u32, body: &serde_json::Value) -> Vec<u8> {
    let block = headers(body["params"]["name"].as_str(), body["method"].as_str().unwrap());
    let mut bytes = frame(HEADERS, END_HEADERS, stream, &block);
    bytes.extend(frame(DATA, END_STREAM, stream, body.to_string().as_bytes()));
    bytes
}

fn open(rig: &Rig) -> Wire {
    let mut wire = rig.connect();
    wire.send(PREFACE);
    wire.send(&frame(SETTINGS, 0, 0, &[]));
    wire
}

/// The next frame; `None` at the end.
fn next(wire: &mut Wire) -> Option<(u8, u8, u32, Vec<u8>)> {
    let head = wire.try_take(9)?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
    Some((head[3], head[4], stream, wire.try_take(length)?))
}

#[test]
fn many_calls_on_one_connection() {
    on_each(|serve| {
        let rig = serve(Config::new());
        let mut wire = open(&rig);
        for n in 0..20 {
            wire.send(&request(n * 2 + 1, &call("echo", &json!({"n": n}))));
        }
        wire.send(&request(41, &listen()));
        let (mut answered, mut acknowledged) = (0, false);
        while answered < 20 || !acknowledged {
            let (kind, flags, stream, payload) = next(&mut wire).unwrap();
            if kind == DATA {
                let text = String::from_utf8(payload).unwrap();
                acknowledged |= stream == 41 && text.contains("acknowledged");
                answered += u32::from(
                    flags & END_STREAM != 0 && text.contains(&format!("\\\"n\\\":{}}}", stream / 2)),
                );
            }
        }
        // Resetting a stream is what a disconnect is elsewhere.
        wire.send(&request(43, &call("hour", &json!({}))));
        until(|| rig.log.started() == 1);
        wire.send(&frame(RESET, 0, 43, &8u32.to_be_bytes()));
        until(|| rig.log.cleaned() == 1);
        wire.send(&frame(RESET, 0, 41, &8u32.to_be_bytes()));
        until(|| rig.handle.facts().streams == 0);
        assert_eq!(rig.handle.connections(), 1);
        drop(wire);
        rig.assert_free();
    });
}

#[test]
fn a_flood_of_resets_leaves_nothing_behind() {
    on_each(|serve| {
        let rig = serve(Config::new());
        let block = headers(Some("hour"), "tools/call");
        let body = call("hour", &json!({})).to_string();
        for whole in [false, true] {
            let mut wire = open(&rig);
            let mut flood = Vec::new();
            for n in 0..20_000_u32 {
                let stream = n * 2 + 1;
                flood.extend(frame(HEADERS, END_HEADERS, stream, &block));
                if whole {
                    flood.extend(frame(DATA, END_STREAM, stream, body.as_bytes()));
                }
                flood.extend(frame(RESET, 0, stream, &8u32.to_be_bytes()));
            }
            wire.send(&flood);
            wire.end();
            // It is told to go, or all of it was worked through.
            let mut last = None;
            while let Some((kind, ..)) = next(&mut wire) {
                last = Some(kind);
            }
            assert!(
                last.is_none() || last == Some(GOAWAY) || last.is_some_and(|kind| kind != DATA),
                "{last:?}"
            );
            drop(wire);
            until(|| rig.log.cleaned() == rig.log.started());
            rig.assert_free();
            rig.assert_serves();
        }
    });
}

#[test]
fn a_connection_that_sends_nothing_but_its_preface_is_closed() {
    on_each(|serve| {
        let rig = serve(limits(|limits| limits.header_time = ms(50)));
        for begun in [1, 10, PREFACE.len()] {
            let mut wire = rig.connect();
            wire.send(&PREFACE[..begun]);
            wire.rest();
        }
        let mut wire = open(&rig);
        wire.rest();
        rig.assert_free();
        rig.assert_serves();
    });
}

#[test]
fn a_stream_without_window_is_ended_and_the_connection_goes_on() {
    on_each(|serve| {
        let rig = serve(limits(|limits| limits.write_time = ms(100)));
        let mut wire = rig.connect();
        wire.send(PREFACE);
        // INITIAL_WINDOW_SIZE is 0: nothing may be sent on any stream.
        wire.send(&frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
        wire.send(&request(1, &call("floods", &json!({}))));
        wire.send(&request(3, &listen()));
        until(|| rig.log.cleaned() == 1);
        until(|| rig.handle.facts().streams == 0);
        assert_eq!(rig.handle.connections(), 1);
        drop(wire);
        rig.assert_free();
    });
}

#[test]
fn shutdown_ends_listens_and_the_connection() {
    on_each(|serve| {
        let rig = serve(Config::new());
        let mut wire = open(&rig);
        wire.send(&request(1, &listen()));
        until(|| rig.handle.engine().facts().subscriptions == 1);
        rig.handle.shutdown();
        let mut text = String::new();
        let mut ended = false;
        while let Some((kind, flags, stream, payload)) = next(&mut wire) {
            if kind == DATA && stream == 1 {
                text += std::str::from_utf8(&payload).unwrap();
                ended |= flags & END_STREAM != 0;
            }
        }
        assert!(ended && text.contains("acknowledged") && text.contains("\"result\":{"), "{text}");
        rig.join();
    });
}

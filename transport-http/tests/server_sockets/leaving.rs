//! Requests that come while a server is told to leave: their clients could not know.

use serde_json::json;
use smol::future::zip;

use crate::rig::{Still, Wire, call, on_each_here, post};

fn add() -> Vec<u8> {
    post(&call("add", &json!({})))
}

/// That the next response is an answer, and the last one.
fn is_last(mut wire: Wire) {
    let (head, body) = wire.response();
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("connection: close"), "{head}");
    assert!(body.contains("two"), "{body}");
    assert_eq!(wire.rest(), b"");
}

#[test]
fn connections_that_wait_to_be_accepted_are_served() {
    on_each_here(async |Still { address, handle, serve }| {
        let mut wires = Vec::new();
        for _ in 0..3 {
            let mut wire = Wire::connect(address);
            wire.send(&add());
            wires.push(wire);
        }
        handle.shutdown();
        serve.await.unwrap();
        wires.into_iter().for_each(is_last);
    });
}

#[test]
fn a_request_on_a_connection_that_was_idle_is_served() {
    on_each_here(async |Still { address, handle, serve }| {
        let asks = async {
            let used = smol::unblock(move || {
                let mut wire = Wire::connect(address);
                wire.send(&add());
                assert!(wire.response().0.starts_with("HTTP/1.1 200"));
                wire
            });
            let mut wire = used.await;
            // The server has not read it yet.
            wire.send(&add());
            handle.shutdown();
            smol::unblock(|| is_last(wire)).await;
        };
        zip(serve, asks).await.0.unwrap();
    });
}

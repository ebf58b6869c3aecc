//! Callers, pump and server on threads of their own: every wake-up arrives.
#![allow(clippy::unwrap_used)]

mod support;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

use sansio_mcp::client::{Abandon, Routing};
use sansio_mcp_memory::{VirtualClock, duplex};
use sansio_mcp_sdk::client::Client;
use sansio_mcp_sdk::lines::pump;
use serde_json::json;
use support::{Peer, answer, config, progress};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        thread::park();
    }
}

#[test]
fn every_caller_on_every_thread_gets_his_answer() {
    let clock = Arc::new(VirtualClock::new());
    let (client, connection) = Client::connect(config(Routing::Shared, Abandon::Notify), clock.clone());
    let (ours, theirs) = duplex(700);
    let (reader, writer) = ours.split();
    let pump = thread::spawn(move || block_on(pump(connection, reader, writer, clock, 100_000)));
    let server = thread::spawn(move || {
        block_on(async {
            let mut peer = Peer::new(theirs);
            while let Some(request) = peer.line().await {
                let Some(id) = request["id"].as_i64() else {
                    continue;
                };
                let name = request["params"]["name"].as_str().unwrap();
                peer.send(progress(id, 1) + &answer(id, name)).await;
            }
        });
    });
    let callers: Vec<_> = (0..4)
        .map(|caller| {
            let client = client.clone();
            thread::spawn(move || {
                for n in 0..500 {
                    let name = format!("{caller} {n}");
                    let call = client.call_tool(&name, &json!({})).on_progress(|_| {});
                    let result = block_on(call).unwrap();
                    assert_eq!(result.first_text(), Some(&*name));
                }
            })
        })
        .collect();
    for caller in callers {
        caller.join().unwrap();
    }
    drop(client);
    pump.join().unwrap();
    server.join().unwrap();
}

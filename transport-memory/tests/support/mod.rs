//! A server that is nothing but bytes: the test writes them and reads what comes.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod questions;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp::client::{Abandon, ClientConfig, Routing};
use sansio_mcp::limits::MAX_MESSAGE;
use sansio_mcp::model::{ClientCapabilities, Implementation};
use sansio_mcp_memory::{Duplex, Lab, Task, duplex};
use sansio_mcp_sdk::client::{Client, ClientBuilder, ClientSetup};
use sansio_mcp_sdk::lines::pump;
use serde_json::{Value, json};

pub fn config(routing: Routing, abandon: Abandon) -> ClientConfig {
    ClientConfig::builder(Implementation::new("tester", "1"), ClientCapabilities::default())
        .binding(routing, abandon)
        .build()
        .unwrap()
}

/// One line of an answer with a text.
pub fn answer(id: i64, text: &str) -> String {
    let result = json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

pub fn error(id: i64, code: i64, data: &Value) -> String {
    format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", "data": data}})
    )
}

pub fn progress(id: i64, value: i64) -> String {
    let params =
        json!({"progressToken": id, "progress": value, "total": 10, "message": format!("at {value}")});
    format!("{}\n", json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
}

/// The server's end of a stream.
pub struct Peer {
    pub io: Duplex,
    held: Vec<u8>,
}

impl Peer {
    pub fn new(io: Duplex) -> Self {
        Self { io, held: Vec::new() }
    }

    /// Writes bytes as they are.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let mut rest = bytes.as_ref();
        while !rest.is_empty() {
            let n = poll_fn(|cx| Pin::new(&mut self.io.writer).poll_write(cx, rest)).await.unwrap();
            rest = &rest[n..];
        }
    }

    /// The next line; `None` at the end.
    pub async fn line(&mut self) -> Option<Value> {
        loop {
            if let Some(line) = self.next_held() {
                return Some(line);
            }
            let mut chunk = [0; 1000];
            let n = poll_fn(|cx| Pin::new(&mut self.io.reader).poll_read(cx, &mut chunk)).await.unwrap();
            if n == 0 {
                assert!(
                    self.held.is_empty(),
                    "a line without end: {:?}",
                    String::from_utf8_lossy(&self.held)
                );
                return None;
            }
            self.held.extend_from_slice(&chunk[..n]);
        }
    }

    /// The next line if it is there now.
    pub async fn ready_line(&mut self) -> Option<Value> {
        let mut line = std::pin::pin!(self.line());
        poll_fn(|cx| match line.as_mut().poll(cx) {
            Poll::Ready(line) => Poll::Ready(line),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    fn next_held(&mut self) -> Option<Value> {
        let end = self.held.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.held.drain(..=end).collect();
        Some(serde_json::from_slice(&line).unwrap())
    }

    /// Reads a request and returns its id.
    pub async fn request(&mut self) -> i64 {
        self.line().await.unwrap()["id"].as_i64().unwrap()
    }
}

/// A client on a shared channel that holds `capacity` bytes each way, its pump running in the lab.
pub fn start_with(lab: &Lab, capacity: usize) -> (Client, Peer, Task<()>) {
    let clock = Arc::new(lab.clock());
    let (client, connection) = Client::connect(config(Routing::Shared, Abandon::Notify), clock.clone());
    let (ours, theirs) = duplex(capacity);
    let (reader, writer) = ours.split();
    let task = lab.spawn(pump(connection, reader, writer, clock, MAX_MESSAGE));
    (client, Peer::new(theirs), task)
}

/// A client of this setup on a shared channel, its pump running in the lab.
pub fn start_setup(lab: &Lab, setup: impl Into<ClientSetup>) -> (Client, Peer) {
    let clock = Arc::new(lab.clock());
    let (client, connection) = Client::connect(setup, clock.clone());
    let (ours, theirs) = duplex(64 * 1024);
    let (reader, writer) = ours.split();
    lab.spawn(pump(connection, reader, writer, clock, MAX_MESSAGE));
    (client, Peer::new(theirs))
}

pub fn builder() -> ClientBuilder {
    Client::builder(Implementation::new("tester", "1"))
}

/// One line of a result.
pub fn result(id: i64, result: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// One line of a notification.
pub fn notification(method: &str, params: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params}))
}

/// One line that asks.
pub fn ask(id: i64, questions: &Value, state: Option<&str>) -> String {
    let mut asks = json!({"resultType": "input_required", "inputRequests": questions});
    if let Some(state) = state {
        asks["requestState"] = json!(state);
    }
    result(id, &asks)
}

pub fn start(lab: &Lab) -> (Client, Peer) {
    let (client, peer, _) = start_with(lab, 64 * 1024);
    (client, peer)
}

/// Lets every task run that can.
pub async fn settle() {
    for _ in 0..20 {
        let mut first = true;
        poll_fn(|cx| {
            if !std::mem::take(&mut first) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// A small generator of numbers for tests that try many orders; the same each time.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

//! A client that writes and does not read.
#![allow(clippy::unwrap_used)]

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp::client::ClientConfig;
use sansio_mcp::limits::ServerLimits;
use sansio_mcp::model::{ClientCapabilities, Implementation};
use sansio_mcp_memory::{Lab, duplex};
use sansio_mcp_sdk::client::Client;
use sansio_mcp_sdk::lines::pump;
use sansio_mcp_sdk::server::{Context, NoArguments, Server};
use sansio_mcp_sdk::{Engine, Local};

/// One read may hold more requests than there is room for answers. They wait; none is forgotten.
#[test]
fn every_request_is_answered_once_the_reader_reads() {
    const REQUESTS: usize = 500;
    let lab = Lab::new();
    let mut limits = ServerLimits::default();
    limits.congested_bytes = 1024;
    limits.outgoing_bytes = 2048;
    let server = Server::<Local>::builder("slow", "1").limits(limits).build().unwrap();
    let clock = Arc::new(lab.clock());
    let (engine, driver) = Engine::new(server, clock.clone());
    lab.spawn(driver);
    let (mut ours, theirs) = duplex(4096);
    let (reader, writer) = theirs.split();
    lab.spawn(pump(engine.connect(), reader, writer, clock, 1 << 20));
    let answers = lab.run(async {
        let mut requests = String::new();
        for id in 0..REQUESTS {
            requests += &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"no/such\"}}\n");
        }
        let (mut rest, mut answers, mut lines) = (requests.as_bytes(), Vec::new(), 0);
        // Reads only when it cannot write any more.
        while lines < REQUESTS {
            let wrote = poll_fn(|cx| {
                let full = Pin::new(&mut ours.writer).poll_write(cx, rest);
                let mut chunk = [0; 100];
                match full {
                    std::task::Poll::Ready(Ok(n)) if n > 0 => std::task::Poll::Ready(n),
                    _ => Pin::new(&mut ours.reader).poll_read(cx, &mut chunk).map(|read| {
                        for byte in &chunk[..read.unwrap()] {
                            lines += usize::from(*byte == b'\n');
                            answers.push(*byte);
                        }
                        0
                    }),
                }
            })
            .await;
            rest = &rest[wrote..];
        }
        String::from_utf8(answers).unwrap()
    });
    for (id, line) in answers.lines().enumerate() {
        assert!(line.contains(&format!("\"id\":{id},")), "{id}: {line}");
        assert!(line.contains("-32601"), "{line}");
    }
}

/// What is read beyond slots and queue would be refused; so it is not read before the rest was begun.
#[test]
fn nobody_is_busy_while_no_handler_is_slow() {
    const CALLS: usize = 3000;
    let lab = Lab::new();
    let server = Server::<Local>::builder("fast", "1")
        .slots(1)
        .queue(500)
        .tool("fast", async |_: NoArguments, _: Context<(), Local>| Ok("done"))
        .build()
        .unwrap();
    let clock = Arc::new(lab.clock());
    let (engine, driver) = Engine::new(server, clock.clone());
    lab.spawn(driver);
    let (ours, theirs) = duplex(1 << 20);
    let (reader, writer) = theirs.split();
    lab.spawn(pump(engine.connect(), reader, writer, clock.clone(), 1 << 20));
    let config =
        ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default()).build().unwrap();
    let (client, connection) = Client::connect(config, clock.clone());
    let (reader, writer) = ours.split();
    lab.spawn(pump(connection, reader, writer, clock, 1 << 20));
    let calls: Vec<_> =
        (0..CALLS).map(|_| lab.spawn(client.call_tool("fast", &serde_json::json!({})))).collect();
    lab.run(async {
        for call in calls {
            assert!(call.await.is_ok());
        }
    });
}

/// More is unsent than may be, so nothing is taken from it; that it has gone is noticed all the same.
#[test]
fn the_end_of_a_client_that_never_reads_ends_its_channel() {
    let lab = Lab::new();
    let mut limits = ServerLimits::default();
    limits.congested_bytes = 1024;
    limits.outgoing_bytes = 2048;
    let server = Server::<Local>::builder("slow", "1").limits(limits).build().unwrap();
    let clock = Arc::new(lab.clock());
    let (engine, driver) = Engine::new(server, clock.clone());
    lab.spawn(driver);
    let (mut ours, theirs) = duplex(4096);
    let (reader, writer) = theirs.split();
    let pump = lab.spawn(pump(engine.connect(), reader, writer, clock, 1 << 20));
    lab.run(async {
        let request = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"no/such\"}}\n");
        let requests: String = (0..1000).map(request).collect();
        let mut written = 0;
        while written < requests.len() {
            let wrote =
                poll_fn(|cx| Pin::new(&mut ours.writer).poll_write(cx, &requests.as_bytes()[written..]));
            written += wrote.await.unwrap();
        }
        lab.sleep(Duration::from_mins(1)).await;
        assert!(!pump.is_done(), "a slow reader is waited for");
        poll_fn(|cx| Pin::new(&mut ours.writer).poll_close(cx)).await.unwrap();
        let began = lab.clock().elapsed();
        pump.await;
        assert_eq!(lab.clock().elapsed(), began + Duration::from_millis(1500));
        assert_eq!(engine.facts().channels, 0);
    });
}

/// The waker of a transport whose writer is stuck is still needed after it was used once.
#[test]
fn a_server_that_shuts_down_does_not_wait_for_a_reader_that_does_not_read() {
    let lab = Lab::new();
    let inner = lab.clone();
    let server = Server::<Local>::builder("slow", "1")
        .tool("slow", move |_: NoArguments, _: Context<(), Local>| {
            let lab = inner.clone();
            async move {
                lab.sleep(Duration::from_secs(1)).await;
                Ok("x".repeat(100_000))
            }
        })
        .build()
        .unwrap();
    let clock = Arc::new(lab.clock());
    let (engine, driver) = Engine::new(server, clock.clone());
    lab.spawn(driver);
    let (mut ours, theirs) = duplex(4096);
    let (reader, writer) = theirs.split();
    let pump = lab.spawn(pump(engine.connect(), reader, writer, clock, 1 << 20));
    lab.run(async {
        // The second answer comes while the first is stuck.
        for id in 1..3 {
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"slow\",\"_meta\":{{\
                 \"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
                 \"io.modelcontextprotocol/clientCapabilities\":{{}}}}}}}}\n"
            );
            let wrote = poll_fn(|cx| Pin::new(&mut ours.writer).poll_write(cx, call.as_bytes())).await;
            assert_eq!(wrote.unwrap(), call.len());
            lab.sleep(Duration::from_millis(500)).await;
        }
        lab.sleep(Duration::from_secs(5)).await;
        engine.shutdown();
        let began = lab.clock().elapsed();
        pump.await;
        assert_eq!(lab.clock().elapsed(), began + Duration::from_millis(1500));
    });
}

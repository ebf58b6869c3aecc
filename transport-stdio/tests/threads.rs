//! The driver on plain threads, over streams of the test's own. The clock is the system's: what is tested of time is its
//! order alone.
#![allow(clippy::unwrap_used)]

use std::future::poll_fn;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::client::{CallError, Client, ClientConfig};
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::model::{ClientCapabilities, Implementation};
use sansio_mcp_sdk::protocol::time::Mono;
use sansio_mcp_sdk::server::{Context as Cx, Exit, NoArguments, Server};
use sansio_mcp_stdio::threads::{SystemClock, Wait, block_on, connect, serve_on};
use serde_json::json;

fn config() -> Arc<ClientConfig> {
    let me = Implementation::new("threads", "1");
    Arc::new(ClientConfig::builder(me, ClientCapabilities::default()).build().unwrap())
}

fn server() -> Server<Shared> {
    Server::shared("echo", "1")
        .tool("echo", async |_: NoArguments, cx: Cx<()>| {
            Ok::<_, Exit>(cx.meta::<String>("example.com/text").unwrap_or_default())
        })
        .tool("nap", async |_: NoArguments, cx: Cx<()>| {
            cx.sleep(Duration::from_millis(1)).await;
            Ok::<_, Exit>("awake")
        })
        .build()
        .unwrap()
}

/// A client of a server on another thread, over two pipes.
fn echo() -> (Client, thread::JoinHandle<()>) {
    let ((there, write), (read, back)) = (pipe().unwrap(), pipe().unwrap());
    let server = thread::spawn(|| serve_on(server(), there, back).unwrap());
    let (client, lines) = connect(config(), read, write).unwrap();
    let both = thread::spawn(|| {
        lines.join().unwrap();
        server.join().unwrap();
    });
    (client, both)
}

/// 300 KiB cross buffers of 64 KiB on each of the four threads.
#[test]
fn long_messages_cross_and_dropping_the_client_ends_both_sides() {
    let (client, both) = echo();
    let long = "x".repeat(300 * 1024);
    for text in [long.as_str(), "short", long.as_str()] {
        let call = client.call_tool("echo", &json!({})).meta(&json!({ "example.com/text": text }));
        assert_eq!(call.wait().unwrap().first_text(), Some(text));
    }
    assert_eq!(client.call_tool("nap", &json!({})).wait().unwrap().first_text(), Some("awake"));
    drop(client);
    both.join().unwrap();
}

#[test]
fn calls_of_many_threads_are_answered() {
    let (client, both) = echo();
    let threads: Vec<_> = (0..8)
        .map(|n: u32| {
            let client = client.clone();
            thread::spawn(move || {
                for i in 0..50 {
                    let text = format!("{n} {i}");
                    let call =
                        client.call_tool("echo", &json!({})).meta(&json!({ "example.com/text": text }));
                    assert_eq!(call.wait().unwrap().first_text(), Some(text.as_str()));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    drop(client);
    both.join().unwrap();
}

/// Takes its time, and tells when it is closed.
struct Slow(Arc<(Mutex<Vec<u8>>, AtomicBool)>);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for _ in 0..100 {
            thread::yield_now();
        }
        let n = bytes.len().min(1000);
        self.0.0.lock().unwrap().extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.0.1.store(true, Ordering::SeqCst);
    }
}

#[test]
fn serving_ends_once_everything_is_written_and_the_stream_closed() {
    let long = "x".repeat(200 * 1024);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "example.com/text": long,
    });
    let params = json!({ "name": "echo", "arguments": {}, "_meta": meta });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let written = Arc::new((Mutex::default(), AtomicBool::new(false)));
    serve_on(server(), io::Cursor::new(request.to_string()), Slow(Arc::clone(&written))).unwrap();
    assert!(written.1.load(Ordering::SeqCst));
    let answer: serde_json::Value = serde_json::from_slice(&written.0.lock().unwrap()).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], long);
}

/// A deadline passes while the server says nothing.
#[test]
fn a_deadline_passes_without_an_executor() {
    let ((there, write), (read, back)) = (pipe().unwrap(), pipe().unwrap());
    let (client, lines) = connect(config(), read, write).unwrap();
    let call = client.call_tool("any", &json!({})).total_timeout(Some(Duration::from_millis(1)));
    assert!(matches!(call.wait(), Err(CallError::TimedOut(_))));
    drop((client, there, back));
    lines.join().unwrap();
}

/// A stream that fails, or panics, as it is told.
struct Fails(&'static str);

impl Read for Fails {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {
            "panics" => panic!("as it is told"),
            why => Err(io::Error::other(why)),
        }
    }
}

impl Write for Fails {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.read(&mut []).map(|_| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lost(read: impl Read + Send + 'static, write: impl Write + Send + 'static) -> String {
    let (client, lines) = connect(config(), read, write).unwrap();
    let Err(error) = client.call_tool("any", &json!({})).wait() else { panic!("an answer") };
    lines.join().unwrap();
    error.to_string()
}

#[test]
fn a_stream_that_fails_or_panics_loses_its_connection() {
    let (_keep, write): (PipeReader, PipeWriter) = pipe().unwrap();
    let reason = lost(Fails("no more to read"), write);
    assert!(reason.contains("no more to read"), "{reason}");
    let (read, _keep) = pipe().unwrap();
    let reason = lost(read, Fails("no more room"));
    assert!(reason.contains("no more room"), "{reason}");
    let (_keep, write) = pipe().unwrap();
    let reason = lost(Fails("panics"), write);
    assert!(reason.contains("the thread that reads has ended"), "{reason}");
    let (read, _keep) = pipe().unwrap();
    let reason = lost(read, Fails("panics"));
    assert!(reason.contains("the thread that writes has ended"), "{reason}");
}

/// A future that uses the thread's own token while it is polled, and is woken meanwhile.
#[test]
fn a_wake_is_not_lost_to_other_code_that_parks() {
    let mut polls = 0;
    let polled = block_on(poll_fn(|cx| {
        polls += 1;
        if polls == 3 {
            return Poll::Ready(polls);
        }
        cx.waker().wake_by_ref();
        // Takes the token that the wake has left.
        thread::park();
        Poll::Pending
    }));
    assert_eq!(polled, 3);
}

#[test]
fn every_timer_goes_off_and_none_early() {
    let clock = SystemClock::new();
    let mut sleeps: Vec<_> = [3_u64, 1, 2, 0, 2]
        .map(|ms| Mono::from_nanos(ms * 1_000_000))
        .map(|at| (at, Some(clock.sleep_until(at))))
        .into();
    let asked = clock.clone();
    clock.block_on(poll_fn(move |cx| {
        for (at, sleep) in &mut sleeps {
            if sleep.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_ready()) {
                assert!(asked.now().mono >= *at, "{at:?}");
                *sleep = None;
            }
        }
        if sleeps.iter().all(|(_, sleep)| sleep.is_none()) { Poll::Ready(()) } else { Poll::Pending }
    }));
}

/// The thread in `block_on` has no timer of its own when another registers one.
#[test]
fn a_timer_of_another_thread_wakes_the_one_that_waits() {
    let clock = SystemClock::new();
    let (done, waits) = channel();
    let (waker_to, waker_of) = channel::<Waker>();
    let timers = clock.clone();
    let other = thread::spawn(move || {
        let waker = waker_of.recv().unwrap();
        let mut sleep = timers.sleep(Duration::from_millis(2));
        let mut cx = Context::from_waker(&waker);
        assert!(sleep.as_mut().poll(&mut cx).is_pending());
        // Kept until it is over.
        waits.recv().unwrap();
    });
    let mut first = true;
    clock.block_on(poll_fn(|cx| {
        if std::mem::take(&mut first) {
            waker_to.send(cx.waker().clone()).unwrap();
            return Poll::Pending;
        }
        Poll::Ready(())
    }));
    done.send(()).unwrap();
    other.join().unwrap();
}

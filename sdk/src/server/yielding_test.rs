//! P4: reports that nobody asked for take no lock. Whoever takes one here waits for himself.

use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use sansio_mcp::server::Progress;
use sansio_mcp::time::{Mono, Now};

use super::generator;
use crate::clock::{Clock, Sleep};
use crate::engine::{Engine, Hub};
use crate::server::{Context, NoArguments, Report, Server};
use crate::{Local, lines::Port};

struct Still;

impl Clock for Still {
    fn now(&self) -> Now {
        Now::default()
    }

    fn sleep_until(&self, _: Mono) -> Sleep {
        Box::pin(std::future::pending())
    }
}

const LINE: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{
"io.modelcontextprotocol/protocolVersion":"2026-07-28",
"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Runs the handler of a request without a token, which gets the engine's lock to hold; false if it never ends.
fn ends(
    handler: impl FnOnce(Arc<OnceLock<Arc<Hub>>>) -> crate::server::Builder<Local> + Send + 'static,
) -> bool {
    let (over, is_over) = channel();
    // On a thread of its own: a failure is a deadlock.
    std::thread::spawn(move || {
        let hub = Arc::new(OnceLock::new());
        let server = handler(Arc::clone(&hub)).build().unwrap();
        let (engine, driver) = Engine::new(server, Arc::new(Still));
        hub.set(Arc::clone(&engine.hub)).ok().unwrap();
        let connection = engine.connect();
        connection.handle_message(LINE);
        let cx = &mut TaskContext::from_waker(Waker::noop());
        assert!(pin!(driver).poll(cx).is_pending());
        let mut out = Vec::new();
        let _: Poll<()> = connection.poll_fill(cx, &mut out, 1000);
        over.send(String::from_utf8(out).unwrap()).unwrap();
    });
    let answer = is_over.recv_timeout(Duration::from_secs(20));
    answer.is_ok_and(|answer| answer.contains("\"text\":\"done\""))
}

#[test]
fn p4_a_report_without_a_token_takes_no_lock() {
    assert!(ends(|hub| Server::local("t", "1").tool("t", move |_: NoArguments, cx: Context<(), Local>| {
        let held = hub.get().unwrap().lock();
        for n in 0..100 {
            assert_eq!(cx.progress(f64::from(n), "x"), Report::NotAsked);
            assert_eq!(cx.report(&Progress::new(f64::from(n))), Report::NotAsked);
        }
        drop(held);
        async { Ok("done") }
    })));
}

#[test]
fn p4_a_yield_without_a_token_takes_no_lock() {
    assert!(ends(|hub| Server::local("t", "1").stream_tool("t", move |_: NoArguments, _| {
        let hub = Arc::clone(&hub);
        generator(async move |y| {
            let strays = Arc::clone(&y.strays);
            let held = (hub.get().unwrap().lock(), strays.items());
            for n in 0..20 {
                y.progress(f64::from(n), "x").await;
                y.report(f64::from(n), None, None).await;
            }
            drop(held);
            Ok("done")
        })
    })));
}

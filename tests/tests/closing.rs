//! How long an engine takes to end, and what it still holds when it does.
#![allow(missing_docs)]

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as Cx, Poll, Waker};
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp::time::{Mono, Now};
use sansio_mcp::wire::Framer;
use sansio_mcp_memory::{Lab, VirtualClock, pair};
use sansio_mcp_sdk::clock::{Clock, Sleep};
use sansio_mcp_sdk::lines::Port;
use sansio_mcp_sdk::server::{Builder, Context, Exit, NoArguments, Server, ToolSpec};
use sansio_mcp_sdk::{Connection, Engine, Shared};
use sansio_mcp_stdio::serve_on;
use sansio_mcp_tests::{Gate, Trace, tool};
use serde_json::json;

/// A server with one blocking tool that never asks whether it is cancelled, and returns when the gate opens. The lab
/// waits for it to begin.
fn stubborn(lab: &Lab, gate: &Gate, trace: &Trace) -> Builder<Shared> {
    let (gate, trace) = (gate.clone(), trace.clone());
    let begun = Mutex::new(Some(lab.external()));
    Server::shared("t", "1").slots(1).blocking_tool(
        ToolSpec::new("t").one_at_a_time(),
        move |_: NoArguments, cx: Context| {
            trace.note("begins");
            drop(begun.lock().unwrap().take());
            gate.wait();
            trace.note(format!("returns, cancelled: {}", cx.is_cancelled()));
            Ok("done")
        },
    )
}

/// Waits for what happens on another thread.
fn until(fact: impl Fn() -> bool) {
    while !fact() {
        std::thread::yield_now();
    }
}

fn call(connection: &Connection, id: i64) {
    let line = format!("{}\n", tool(id, "t", &json!({})));
    connection.feed(&mut Framer::new(10_000), line.as_bytes());
}

fn answers(connection: &Connection) -> String {
    let mut out = Vec::new();
    let _: Poll<()> = connection.poll_fill(&mut Cx::from_waker(Waker::noop()), &mut out, 10_000);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_body_that_never_asks_does_not_keep_a_server_whose_input_has_ended() {
    for bound in [None, Some(Duration::from_secs(10))] {
        let (lab, gate, trace) = (Lab::new(), Gate::new(), Trace::new());
        let mut server = stubborn(&lab, &gate, &trace);
        if let Some(bound) = bound {
            server = server.closing_bound(bound);
        }
        let (mut ours, theirs) = pair();
        let (reader, writer) = theirs.split();
        let served = lab.spawn(serve_on(server.build().unwrap(), reader, writer, Arc::new(lab.clock())));
        let output = lab.run(async {
            let line = format!("{}\n", tool(1, "t", &json!({})));
            let wrote = poll_fn(|cx| Pin::new(&mut ours.writer).poll_write(cx, line.as_bytes())).await;
            assert_eq!(wrote.unwrap(), line.len());
            drop(ours.writer);
            served.await;
            let mut output = [0; 100];
            poll_fn(|cx| Pin::new(&mut ours.reader).poll_read(cx, &mut output)).await.unwrap()
        });
        assert_eq!(output, 0, "nothing is sent for it");
        let end = Duration::from_millis(1500) + bound.unwrap_or(Duration::from_secs(3));
        assert_eq!((lab.clock().elapsed(), trace.all()), (end, vec!["begins".into()]));
        gate.open();
        until(|| trace.has("returns, cancelled: true"));
    }
}

#[test]
fn a_body_that_was_left_behind_holds_its_slot_until_it_returns() {
    let (lab, gate, trace) = (Lab::new(), Gate::new(), Trace::new());
    let server = stubborn(&lab, &gate, &trace).build().unwrap();
    let (engine, driver) = Engine::new(server, Arc::new(lab.clock()));
    let connection = engine.connect();
    call(&connection, 1);
    let driver = lab.spawn(driver);
    lab.run(lab.sleep(Duration::from_secs(1)));
    engine.shutdown();
    lab.run(driver);
    assert_eq!(lab.clock().elapsed(), Duration::from_secs(4));
    assert_eq!(engine.facts().running, 1);
    gate.open();
    until(|| engine.facts().running == 0);
    assert_eq!(answers(&connection), "");
}

/// An executor may drop what it was given at any time.
#[test]
fn a_body_whose_work_was_dropped_keeps_slot_and_lane_of_a_living_engine() {
    let (lab, gate, trace) = (Lab::new(), Gate::new(), Trace::new());
    let spawned = Arc::new(Mutex::new(Vec::new()));
    let works = Arc::clone(&spawned);
    let server =
        stubborn(&lab, &gate, &trace).slots(2).spawn_with(move |work| works.lock().unwrap().push(work));
    let (engine, driver) = Engine::new(server.build().unwrap(), Arc::new(lab.clock()));
    let _driver = lab.spawn(driver);
    let connection = engine.connect();
    let work = |lab: &Lab| {
        lab.run_until_idle();
        lab.spawn(spawned.lock().unwrap().pop().unwrap())
    };
    call(&connection, 1);
    let first = work(&lab);
    lab.run(lab.sleep(Duration::from_secs(1)));
    first.abort();
    assert!(answers(&connection).contains("the server stopped before the request was done"));
    call(&connection, 2);
    let second = work(&lab);
    lab.run_until_idle();
    assert_eq!((engine.facts().running, engine.facts().waiting, trace.count("begins")), (1, 1, 1));
    gate.open();
    until(|| {
        lab.run_until_idle();
        second.is_done()
    });
    assert_eq!((engine.facts().running, trace.count("begins")), (0, 2));
    assert!(answers(&connection).contains("\"id\":2,\"result\""));
}

#[test]
fn clean_ups_share_the_closing_bound() {
    let lab = Lab::new();
    let server = Server::shared("t", "1").tool("t", |_: NoArguments, cx: Context| {
        for _ in 0..3 {
            cx.on_exit(pending());
        }
        pending::<Result<&str, Exit>>()
    });
    let (engine, driver) = Engine::new(server.build().unwrap(), Arc::new(lab.clock()));
    let connection = engine.connect();
    call(&connection, 1);
    let driver = lab.spawn(driver);
    lab.run_until_idle();
    engine.shutdown();
    lab.run(driver);
    assert_eq!((lab.clock().elapsed(), engine.facts().running), (Duration::from_secs(3), 0));
}

/// Sleeps half of what it is asked for, as one that rounds or is shared may do.
struct Early(VirtualClock);

impl Clock for Early {
    fn now(&self) -> Now {
        self.0.now()
    }

    fn sleep_until(&self, at: Mono) -> Sleep {
        let now = self.0.now().mono;
        let half = (at.since(now) / 2).max(Duration::from_millis(1));
        self.0.sleep_until((now + half).min(at))
    }
}

#[test]
fn clean_up_has_its_whole_time_whenever_sleeps_wake() {
    let (lab, trace) = (Lab::new(), Trace::new());
    let (clock, notes) = (lab.clock(), trace.clone());
    let server = Server::shared("t", "1").tool("t", move |_: NoArguments, cx: Context| {
        let (clock, trace) = (clock.clone(), notes.clone());
        cx.on_exit(pending());
        cx.on_exit(async move {
            clock.sleep(Duration::from_secs(4)).await;
            trace.note("cleaned up");
        });
        async { Ok("done") }
    });
    let (engine, driver) = Engine::new(server.build().unwrap(), Arc::new(Early(lab.clock())));
    lab.spawn(driver);
    let connection = engine.connect();
    call(&connection, 1);
    lab.advance(Duration::from_millis(8_999));
    assert_eq!((trace.all(), engine.facts().running), (vec!["cleaned up".into()], 1));
    lab.advance(Duration::from_millis(1));
    assert_eq!(engine.facts().running, 0, "4 s, and the bound of 5 s for the one that never ends");
}

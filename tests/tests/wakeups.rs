//! Nobody who waits is forgotten, whatever polls him: wakers of one's own between the engine and a future of its, and
//! what changes between a look and the waker that is left after it.
#![allow(missing_docs, clippy::unused_async)]

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as Cx, Poll, Wake, Waker};

use sansio_mcp::wire::Framer;
use sansio_mcp_memory::VirtualClock;
use sansio_mcp_sdk::lines::Port;
use sansio_mcp_sdk::server::{Context, Exit, Next, NoArguments, Reply, Server, ToolSpec, generator};
use sansio_mcp_sdk::{Connection, Engine, Local, Shared};
use sansio_mcp_tests::{Bench, Gate, Trace, request, response, rows, tool};
use serde_json::json;

rows! {
    a_turn_in_the_lane_wakes_whoever_waits_for_it_in_the_layers: all;
    a_step_wakes_whichever_future_yielded_it: all;
    clean_up_registered_too_late_is_dropped_and_nothing_is_kept: all;
    what_a_layer_handed_to_another_task_ends_with_its_request: all;
    a_spawn_hook_that_panics_fails_that_call_alone: open;
}

/// Polls its future only when that future itself was woken, as sets of futures do.
struct OnlyWhenWoken<F> {
    future: Pin<Box<F>>,
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    woken: AtomicBool,
    outer: Mutex<Option<Waker>>,
}

impl Wake for Inner {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        let outer = self.outer.lock().unwrap().take();
        outer.into_iter().for_each(Waker::wake);
    }
}

fn only_when_woken<F: Future>(future: F) -> OnlyWhenWoken<F> {
    let inner = Arc::new(Inner { woken: AtomicBool::new(true), outer: Mutex::default() });
    OnlyWhenWoken { future: Box::pin(future), inner }
}

impl<F: Future> Future for OnlyWhenWoken<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Cx<'_>) -> Poll<F::Output> {
        *self.inner.outer.lock().unwrap() = Some(cx.waker().clone());
        if !self.inner.woken.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let waker = Waker::from(Arc::clone(&self.inner));
        self.future.as_mut().poll(&mut Cx::from_waker(&waker))
    }
}

async fn a_turn_in_the_lane_wakes_whoever_waits_for_it_in_the_layers(b: Bench) {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::shared("t", "1")
        .layer(|_: Context, next: Next<Shared>| only_when_woken(next.run()))
        .tool(ToolSpec::new("one").one_at_a_time(), move |_: NoArguments, _: Context| {
            let held = held.clone();
            async move {
                held.passed().await;
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    for id in [1, 2, 3] {
        wire.send(&tool(id, "one", &json!({}))).await;
    }
    b.settle().await;
    gate.open();
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 3, "{lines:?}");
}

async fn a_step_wakes_whichever_future_yielded_it(b: Bench) {
    let server = Server::shared("t", "1")
        .stream_tool("steps", |_: NoArguments, _: Context| {
            generator(async |y| {
                only_when_woken(async {
                    for step in 1..=3 {
                        y.progress(f64::from(step), "step").await;
                    }
                })
                .await;
                Ok::<_, Exit>("done")
            })
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "steps", &json!({}))).await;
    response(&wire.drain().await, 1);
}

async fn clean_up_registered_too_late_is_dropped_and_nothing_is_kept(b: Bench) {
    let (trace, kept) = (Trace::new(), Arc::new(Mutex::new(None::<Context>)));
    let keeps = Arc::clone(&kept);
    let server = Server::shared("t", "1")
        .tool("keep", move |_: NoArguments, cx: Context| {
            *keeps.lock().unwrap() = Some(cx);
            async { Ok("kept") }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "keep", &json!({}))).await;
    assert_eq!(wire.drain().await.len(), 1);
    let late = kept.lock().unwrap().take().unwrap();
    // It holds the context, which would hold it: nobody would ever drop either.
    let (held, flag) = (late.clone(), sansio_mcp_tests::DropFlag::new(&trace, "dropped"));
    late.on_exit(async move { drop((held, flag)) });
    drop(late);
    assert_eq!(trace.all(), ["dropped"]);
}

/// Four ways to leave a handler behind: a lane that is waited for when the request is cancelled, one that is waited for
/// when a layer answers, and both before anybody came to the lane.
async fn what_a_layer_handed_to_another_task_ends_with_its_request(b: Bench) {
    let (trace, hold, late) = (Trace::new(), Gate::new(), Gate::new());
    let by_layer = (b.lab.clone(), trace.clone(), late.clone());
    let (held, runs) = (hold.clone(), trace.clone());
    let server = Server::local("t", "1")
        .layer(move |cx: Context<(), Local>, next: Next<Local>| {
            let (lab, trace, late) = by_layer.clone();
            let how: String = cx.meta("example.com/how").unwrap_or_default();
            async move {
                if how.is_empty() {
                    return next.run().await;
                }
                let waits = how.contains("late").then_some(late);
                lab.spawn(async move {
                    if let Some(late) = waits {
                        late.passed().await;
                    }
                    next.run().await;
                    trace.note("ended");
                });
                if how.contains("cancelled") {
                    std::future::pending::<()>().await;
                }
                lab.sleep(std::time::Duration::from_nanos(1)).await;
                Reply::error(-1, "answered without it")
            }
        })
        .tool(ToolSpec::new("one").one_at_a_time(), move |_: NoArguments, _: Context<(), Local>| {
            let (held, runs) = (held.clone(), runs.clone());
            async move {
                runs.note("runs");
                held.passed().await;
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(0, "one", &json!({}))).await;
    b.settle().await;
    for (id, how) in ["answered", "answered late", "cancelled", "cancelled late"].iter().enumerate() {
        let meta = json!({"example.com/how": how});
        wire.send(&request(id + 1, "tools/call", json!({"name": "one", "arguments": {}}), &meta)).await;
    }
    b.settle().await;
    assert_eq!(wire.drain().await.len(), 2);
    wire.cancel(3).await;
    wire.cancel(4).await;
    b.settle().await;
    assert_eq!(trace.count("ended"), 2, "of those that waited in the lane");
    late.open();
    b.settle().await;
    assert_eq!(trace.count("ended"), 4, "and of those that came late");
    hold.open();
    assert_eq!(wire.drain().await.len(), 1);
    assert_eq!((trace.count("runs"), rig.running_or(0)), (1, 0), "none of them has begun");
}

async fn a_spawn_hook_that_panics_fails_that_call_alone(b: Bench) {
    let calls = AtomicUsize::new(0);
    let spawned = Arc::new(Mutex::new(Vec::new()));
    let queue = Arc::clone(&spawned);
    let server = Server::shared("t", "1")
        .spawn_with(move |work| {
            assert!(calls.fetch_add(1, Ordering::Relaxed) > 0, "the executor is not there yet");
            queue.lock().unwrap().push(work);
        })
        .tool("t", |_: NoArguments, _: Context| async { Ok("done") })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    assert_eq!(wire.drain().await[0]["error"]["code"], -32603);
    wire.send(&tool(2, "t", &json!({}))).await;
    b.settle().await;
    let work = spawned.lock().unwrap().pop().unwrap();
    work.await;
    response(&wire.drain().await, 2);
    assert_eq!(rig.running_or(0), 0);
}

/// Counts its wakes, and looks at an engine when it is dropped.
#[derive(Default)]
struct Watcher {
    wakes: AtomicUsize,
    looks_at: Option<Engine>,
}

impl Wake for Watcher {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(engine) = &self.looks_at {
            engine.facts();
        }
    }
}

fn waiting_server() -> Server<Shared> {
    Server::shared("t", "1")
        .tool("wait", |_: NoArguments, cx: Context| async move {
            cx.cancelled().await;
            Ok("never")
        })
        .build()
        .unwrap()
}

fn line(id: i64) -> String {
    format!("{}\n", tool(id, "wait", &json!({})))
}

fn feed(connection: &Connection, id: i64) {
    let line = line(id);
    assert_eq!(connection.feed(&mut Framer::new(10_000), line.as_bytes()), line.len());
}

/// The driver may run on another thread: between a channel's look at whether to read and the waker it leaves, it
/// may have begun everything, and been given something new.
#[test]
fn a_channel_that_was_told_to_wait_is_told_to_read_on() {
    let (engine, mut driver) = Engine::new(waiting_server(), Arc::new(VirtualClock::new()));
    let (busy, other) = (engine.connect(), engine.connect());
    let driven = Waker::noop();
    let mut drive = || assert!(Pin::new(&mut driver).poll(&mut Cx::from_waker(driven)).is_pending());
    let watcher = Arc::new(Watcher::default());
    let waker = Waker::from(Arc::clone(&watcher));

    feed(&busy, 1);
    assert!(!other.wants_input());
    drive();
    feed(&busy, 2);
    assert!(other.poll_fill(&mut Cx::from_waker(&waker), &mut Vec::new(), 1).is_pending());
    drive();
    assert_eq!(watcher.wakes.load(Ordering::Relaxed), 1);
    assert!(other.wants_input());
}

/// One chunk may ask for the list of tools hundreds of times, and lists take no slot.
#[test]
fn lists_wait_for_a_reader_that_is_far_behind() {
    const LISTS: usize = 200;
    let spec = ToolSpec::new("long").description("x".repeat(100_000));
    let server = Server::shared("t", "1").tool(spec, |_: NoArguments, _: Context| async { Ok("done") });
    let (engine, mut driver) = Engine::new(server.build().unwrap(), Arc::new(VirtualClock::new()));
    let connection = engine.connect();
    let lines: String = (0..LISTS).fold(String::new(), |all, id| {
        all + &format!("{}\n", request(id, "tools/list", json!({}), &json!({})))
    });
    connection.feed(&mut Framer::new(10_000), lines.as_bytes());
    let cx = &mut Cx::from_waker(Waker::noop());
    let mut answers = 0;
    for _ in 0..LISTS {
        assert!(Pin::new(&mut driver).poll(cx).is_pending());
        let mut out = Vec::new();
        let _: Poll<()> = connection.poll_fill(cx, &mut out, usize::MAX);
        assert!(out.len() < 1_200_000, "{} bytes that nobody reads", out.len());
        answers += out.split(|byte| *byte == b'\n').count() - 1;
    }
    assert_eq!(answers, LISTS);
}

/// What an executor does when a waker is dropped is its own affair: no lock is held meanwhile.
#[test]
fn wakers_are_dropped_while_no_lock_is_held() {
    let (done, ended) = std::sync::mpsc::channel();
    // On a thread of its own: a failure is a deadlock.
    std::thread::spawn(move || {
        let (engine, mut driver) = Engine::new(waiting_server(), Arc::new(VirtualClock::new()));
        let waker =
            || Waker::from(Arc::new(Watcher { wakes: AtomicUsize::new(0), looks_at: Some(engine.clone()) }));
        let mut drive = || assert!(Pin::new(&mut driver).poll(&mut Cx::from_waker(&waker())).is_pending());
        let fill = |connection: &Connection| {
            let _: Poll<()> = connection.poll_fill(&mut Cx::from_waker(&waker()), &mut Vec::new(), 1);
        };
        let connection = engine.connect();
        drive();
        drive();
        fill(&connection);
        fill(&connection);
        drop(connection);
        done.send(()).unwrap();
    });
    assert!(ended.recv_timeout(std::time::Duration::from_secs(20)).is_ok(), "a deadlock");
}

/// The same of what waits for a request to be stopped.
#[test]
fn wakers_that_wait_for_a_stop_are_dropped_while_no_lock_is_held() {
    /// Holds another of those futures, as the last reference to a task may.
    struct Holds(#[allow(dead_code)] sansio_mcp_sdk::Cancelled);
    impl Wake for Holds {
        fn wake(self: Arc<Self>) {}
    }

    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let server = Server::shared("t", "1")
            .tool("wait", |_: NoArguments, cx: Context| async move {
                let mut cancelled = Box::pin(cx.cancelled());
                for _ in 0..2 {
                    let mut held = cx.cancelled();
                    assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut held).poll(cx))).await.is_pending());
                    let waker = Waker::from(Arc::new(Holds(held)));
                    assert!(cancelled.as_mut().poll(&mut Cx::from_waker(&waker)).is_pending());
                }
                drop(cancelled);
                Ok("done")
            })
            .build()
            .unwrap();
        let (engine, mut driver) = Engine::new(server, Arc::new(VirtualClock::new()));
        let connection = engine.connect();
        feed(&connection, 1);
        assert!(Pin::new(&mut driver).poll(&mut Cx::from_waker(Waker::noop())).is_pending());
        assert_eq!(engine.facts().running, 0);
        done.send(()).unwrap();
    });
    assert!(ended.recv_timeout(std::time::Duration::from_secs(20)).is_ok(), "a deadlock");
}

//! P7, C4, C6, C9, E3 on real threads: `Server<Shared>` whose handlers run on a pool of four, the driver, both pumps and
//! the callers on threads of their own. Nothing is timed; what may race is given both ends, and what must not overlap
//! is counted.
#![allow(missing_docs)]

use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use sansio_mcp::client::ClientConfig;
use sansio_mcp::model::{ClientCapabilities, Implementation};
use sansio_mcp_memory::{VirtualClock, duplex};
use sansio_mcp_sdk::client::{CallError, Client};
use sansio_mcp_sdk::lines::pump;
use sansio_mcp_sdk::server::{Context, Exit, Server, ToolSpec, generator};
use sansio_mcp_sdk::{Engine, Shared};
use sansio_mcp_stdio::LINE_LIMIT;
use sansio_mcp_tests::Gate;
use serde_json::json;
use smol::future::{FutureExt, yield_now};

const CALLS: usize = 200;
const SLOTS: usize = 8;

/// How many are inside something, now and at most, and how often somebody was.
#[derive(Clone, Default)]
struct Count(Arc<[AtomicUsize; 3]>);

impl Count {
    fn enter(&self) {
        let [now, most, ever] = &*self.0;
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        ever.fetch_add(1, Ordering::SeqCst);
    }

    fn leave(&self) {
        self.0[0].fetch_sub(1, Ordering::SeqCst);
    }

    /// Now, at most, ever.
    fn all(&self) -> [usize; 3] {
        [0, 1, 2].map(|at| self.0[at].load(Ordering::SeqCst))
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Job {
    n: usize,
    /// The caller gives up once it has heard of progress.
    leaves: bool,
}

#[derive(Clone, Default)]
struct Counts {
    /// In a slot: from the handler's first line until its last clean-up is over.
    slots: Count,
    /// In the lane of `pay`, likewise.
    pay: Count,
    /// In the body of `press`.
    press: Count,
    /// Calls of `endless` that were cleaned up.
    cleaned: Count,
}

/// Enters now, leaves when the last clean-up is over.
fn hold(cx: &Context<(), Shared>, counts: &[&Count]) {
    let counts: Vec<Count> = counts.iter().copied().cloned().collect();
    counts.iter().for_each(Count::enter);
    cx.on_exit(async move {
        for _ in 0..3 {
            yield_now().await;
        }
        counts.iter().for_each(Count::leave);
    });
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(thread::panicking(), "a destructor, on purpose");
    }
}

fn server(counts: &Counts, executor: &Arc<smol::Executor<'static>>) -> Server<Shared> {
    let all = counts.clone();
    let counts = move || all.clone();
    let executor = Arc::clone(executor);
    Server::shared("t", "1")
        .slots(SLOTS)
        .spawn_with(move |work| {
            let work = AssertUnwindSafe(work).catch_unwind();
            let contained = async { work.await.unwrap_or_else(|_| std::process::abort()) };
            executor.spawn(contained).detach();
        })
        .stream_tool("job", {
            let counts = counts();
            move |job: Job, cx: Context| {
                hold(&cx, &[&counts.slots]);
                generator(async move |y| {
                    for n in 1..=10 {
                        y.report(f64::from(n), None, None).await;
                        yield_now().await;
                    }
                    Ok(job.n.to_string())
                })
            }
        })
        .stream_tool("endless", {
            let counts = counts();
            move |_: Job, cx: Context| {
                hold(&cx, &[&counts.slots]);
                let cleaned = counts.cleaned.clone();
                cx.on_exit(async move { cleaned.enter() });
                generator(async |y| {
                    // Ready again and again: it is stopped between two steps, or never.
                    for n in 0.. {
                        y.report(f64::from(n), None, None).await;
                    }
                    Ok(())
                })
            }
        })
        .tool("panics", {
            let counts = counts();
            move |job: Job, cx: Context| {
                hold(&cx, &[&counts.slots]);
                let how = job.n % 3;
                cx.on_exit(async move { assert!(how > 0, "a clean-up, on purpose") });
                async move {
                    let _bomb = (how == 1).then(|| Bomb);
                    yield_now().await;
                    assert!(how < 2, "a handler, on purpose");
                    Ok("survives")
                }
            }
        })
        .tool(ToolSpec::new("pay").one_at_a_time(), {
            let counts = counts();
            move |_: Job, cx: Context| {
                hold(&cx, &[&counts.slots, &counts.pay]);
                async move {
                    cx.progress(1.0, "begun");
                    for _ in 0..5 {
                        yield_now().await;
                    }
                    Ok("paid")
                }
            }
        })
        .blocking_tool(ToolSpec::new("press").one_at_a_time(), {
            let counts = counts();
            move |job: Job, cx| {
                counts.slots.enter();
                counts.press.enter();
                cx.progress(1.0, "begun");
                // Its caller goes away now, or never.
                while job.leaves && cx.check_cancelled().is_ok() {
                    thread::yield_now();
                }
                (0..20).for_each(|_| thread::yield_now());
                counts.press.leave();
                counts.slots.leave();
                Ok::<_, Exit>("pressed")
            }
        })
        .build()
        .unwrap()
}

/// How a call ended, unless its caller left, and the progress that he heard of.
type End = (Option<Result<String, CallError>>, Vec<f64>);

/// Calls, and gives up once the first report is there if `leaves`.
async fn call(client: &Client, name: &str, n: usize, leaves: bool) -> End {
    let (seen, begun) = (Arc::new(Mutex::new(Vec::new())), Gate::new());
    let (see, begin) = (Arc::clone(&seen), begun.clone());
    let call = client.call_tool(name, &json!({"n": n, "leaves": leaves})).on_progress(move |progress| {
        see.lock().unwrap().push(progress.progress);
        begin.open();
    });
    let done = async { Some(call.await.map(|result| result.first_text().unwrap_or_default().to_owned())) };
    let left = async {
        begun.passed().await;
        if !leaves {
            pending::<()>().await;
        }
        None
    };
    let end = left.or(done).await;
    let seen = seen.lock().unwrap().clone();
    (end, seen)
}

const NAMES: [&str; 5] = ["job", "endless", "panics", "pay", "press"];

/// Those of `endless`, and every other one of the lanes'.
fn leaves(n: usize) -> bool {
    NAMES[n % 5] == "endless" || n % 10 == 3 || n % 10 == 4
}

/// Four callers, each with a quarter of the calls at one time.
fn make_calls(client: &Client) -> Vec<(usize, End)> {
    let callers = (0..4).map(|caller| {
        let client = client.clone();
        thread::spawn(move || {
            let executor = smol::LocalExecutor::new();
            let calls: Vec<_> = (0..CALLS)
                .filter(|n| n / 5 % 4 == caller)
                .map(|n| (n, executor.spawn(call(&client, NAMES[n % 5], n, leaves(n)))))
                .collect();
            smol::block_on(executor.run(async {
                let mut ends = Vec::new();
                for (n, call) in calls {
                    ends.push((n, call.await));
                }
                ends
            }))
        })
    });
    let callers: Vec<_> = callers.collect();
    callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
}

#[test]
fn c6_e3_two_hundred_calls_on_four_threads() {
    let clock = Arc::new(VirtualClock::new());
    let (counts, executor) = (Counts::default(), Arc::new(smol::Executor::new()));
    let (stop, stopped) = smol::channel::bounded::<()>(1);
    let mut threads: Vec<_> = (0..4)
        .map(|_| {
            let (executor, stopped) = (Arc::clone(&executor), stopped.clone());
            thread::spawn(move || assert!(smol::block_on(executor.run(stopped.recv())).is_err()))
        })
        .collect();
    let (near, far) = duplex(64 * 1024);
    let (engine, driver) = Engine::new(server(&counts, &executor), clock.clone());
    let driver = thread::spawn(move || smol::block_on(driver));
    let (reader, writer) = far.split();
    let served = pump(engine.connect(), reader, writer, clock.clone(), LINE_LIMIT);
    threads.push(thread::spawn(move || smol::block_on(served)));
    let config = ClientConfig::builder(Implementation::new("t", "1"), ClientCapabilities::default());
    let (client, connection) = Client::connect(config.build().unwrap(), clock.clone());
    let (reader, writer) = near.split();
    let connected = pump(connection, reader, writer, clock, LINE_LIMIT);
    threads.push(thread::spawn(move || smol::block_on(connected)));

    for (n, (end, seen)) in make_calls(&client) {
        let name = NAMES[n % 5];
        assert!(seen.is_sorted_by(|one, next| one < next), "{name} {n}: {seen:?}");
        match (name, end) {
            ("job", Some(Ok(text))) => {
                assert_eq!(text, n.to_string());
                assert_eq!(seen, (1..=10).map(f64::from).collect::<Vec<f64>>());
            }
            // Its clean-up alone panics: then it was answered before.
            ("panics", Some(Ok(text))) => assert_eq!((text.as_str(), n % 3), ("survives", 0)),
            ("panics", Some(Err(CallError::Peer(error)))) => {
                assert_eq!((error.code, n % 3 > 0), (-32603, true));
            }
            ("pay", Some(Ok(text))) => assert_eq!(text, "paid"),
            ("press", Some(Ok(text))) => assert_eq!((text.as_str(), leaves(n)), ("pressed", false)),
            (_, None) => assert!(leaves(n) && name != "job"),
            (_, end) => panic!("{name} {n}: {end:?}"),
        }
    }
    drop((client, engine));
    // It ends when the last clean-up is over.
    driver.join().unwrap();
    stop.close();
    for thread in threads {
        thread.join().unwrap();
    }

    let each = CALLS / 5;
    let [now, most, ever] = counts.slots.all();
    assert_eq!((now, ever), (0, CALLS));
    assert!(most <= SLOTS, "{most} of {SLOTS} slots");
    assert_eq!(counts.pay.all(), [0, 1, each], "never two in a lane");
    assert_eq!(counts.press.all(), [0, 1, each], "never two in a lane");
    assert_eq!(counts.cleaned.all(), [each; 3], "each was stopped, and cleaned up once");
}

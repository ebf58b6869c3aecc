//! P4: a report of progress that nobody asked for costs nothing; and memory under a flood stays bounded. A binary of
//! its own for its allocator, which counts per thread.
#![allow(missing_docs, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use sansio_mcp::server::Progress;
use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Report, Server, generator};
use sansio_mcp_tests::{Bench, Gate, Trace, progress_of, request, responses, rows, tool, tool_with};
use serde_json::{Value, json};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    ALLOCATIONS.set(ALLOCATIONS.get() + u64::from(bytes > 0));
    LIVE.set(LIVE.get() + bytes);
    PEAK.set(PEAK.get().max(LIVE.get()));
}

// SAFETY: everything is done by the system's allocator; what is counted is plain numbers without destructors.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64);
        count(-(layout.size() as i64));
        // SAFETY: as the caller promised.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

rows! {
    p4_progress_without_a_token_allocates_nothing: all;
    p4_a_yield_without_a_token_allocates_nothing: live;
    p4_progress_without_a_token_formats_and_queues_nothing: open;
    p4_the_counter_counts_progress_with_a_token: live;
    p7_a_flood_of_progress_to_an_unread_pipe_is_bounded: live;
    edge_memory_of_a_channel_under_a_flood_is_bounded: [memory stdio];
}

fn reporting(
    with: &'static str,
    trace: &Trace,
) -> impl Fn(NoArguments, Context<(), Shared>) -> std::future::Ready<Result<&'static str, Exit>> + use<> {
    let trace = trace.clone();
    move |_, cx| {
        let before = ALLOCATIONS.get();
        for n in 0..1000 {
            let report = cx.progress(f64::from(n) / 10.0, format_args!("row {n} of {with}"));
            std::hint::black_box(report);
            cx.report(&Progress::new(f64::from(n)).of(1000.0).message(with));
        }
        let allocated = ALLOCATIONS.get() - before;
        trace.note(format!("{:?} {}", cx.progress(99.95, "last"), allocated > 0));
        std::future::ready(Ok("done"))
    }
}

async fn p4_progress_without_a_token_allocates_nothing(b: Bench) {
    let trace = Trace::new();
    let server = Server::<Shared>::builder("t", "1").tool("t", reporting("rows", &trace)).build().unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!(trace.all(), ["NotAsked false"]);
    assert_eq!(lines.len(), 1, "the answer alone");
}

async fn p4_a_yield_without_a_token_allocates_nothing(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<Shared>::builder("t", "1")
        .stream_tool("t", move |_: NoArguments, _| {
            let trace = for_tool.clone();
            generator(async move |y| {
                // What is made once is there: lists of the thread's and the driver's.
                for n in 0..500 {
                    y.report(f64::from(n), None, None).await;
                }
                let before = ALLOCATIONS.get();
                for n in 500..1500 {
                    y.progress(f64::from(n) / 20.0, "rows").await;
                    y.report(f64::from(n), Some(2000.0), Some("rows".into())).await;
                }
                trace.note((ALLOCATIONS.get() - before).to_string());
                Ok::<_, Exit>("done")
            })
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    assert_eq!(wire.drain().await.len(), 1, "the answer alone");
    wire.send(&tool_with(2, "t", 2)).await;
    wire.answer(2).await;
    let allocations = trace.all();
    assert_eq!(allocations[0], "0");
    assert_ne!(allocations[1], "0", "the counter counts");
}

async fn p4_the_counter_counts_progress_with_a_token(b: Bench) {
    let trace = Trace::new();
    let server = Server::<Shared>::builder("t", "1").tool("t", reporting("rows", &trace)).build().unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool_with(1, "t", 1)).await;
    wire.answer(1).await;
    assert!(trace.all()[0].ends_with(" true"), "{:?}", trace.all());
}

/// Nothing beyond the look at the token: no text is formatted, nothing is judged, counted or queued.
async fn p4_progress_without_a_token_formats_and_queues_nothing(b: Bench) {
    let gate = Gate::new();
    let go = gate.clone();
    let seen = Trace::new();
    let for_tool = seen.clone();
    let server = Server::<Shared>::builder("t", "1")
        .tool("t", move |_: NoArguments, cx: Context<(), Shared>| {
            let (go, seen) = (go.clone(), for_tool.clone());
            async move {
                go.passed().await;
                struct Loud(Trace);
                impl std::fmt::Display for Loud {
                    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        self.0.note("formatted");
                        Ok(())
                    }
                }
                assert_eq!(cx.progress(f64::NAN, Loud(seen.clone())), Report::NotAsked);
                assert_eq!(cx.progress(1.0, Loud(seen.clone())), Report::NotAsked);
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    b.settle().await;
    gate.open();
    assert_eq!(wire.drain().await.len(), 1);
    assert!(seen.all().is_empty(), "no text was formatted");
    assert_eq!(rig.facts().unwrap().refused_progress, 0, "not even a refusal was counted");
}

async fn p7_a_flood_of_progress_to_an_unread_pipe_is_bounded(b: Bench) {
    let nap = b.nap(Duration::from_micros(1));
    let server = Server::<Shared>::builder("t", "1")
        .stream_tool("t", move |_: NoArguments, _| {
            let nap = nap.clone();
            generator(async move |y| {
                for n in 1..=20_000 {
                    y.report(f64::from(n), None, Some("x".repeat(500).into())).await;
                    nap().await;
                }
                Ok::<_, Exit>("done")
            })
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool_with(1, "t", 1)).await;
    b.pass(Duration::from_millis(1)).await;
    let before = LIVE.get();
    PEAK.set(before);
    b.pass(Duration::from_secs(1)).await;
    let grown = PEAK.get() - before;
    assert!(grown < 1024 * 1024, "{grown} bytes for ten megabytes of reports");
    let lines = wire.drain().await;
    assert_eq!(progress_of(&lines, 1).last(), Some(&20_000.0));
    assert_eq!(responses(&lines, 1).len(), 1);
}

/// Requests of every kind that a peer sends and never reads the answers of: 60,000.
async fn edge_memory_of_a_channel_under_a_flood_is_bounded(b: Bench) {
    let server = Server::<Shared>::builder("t", "1")
        .tool("t", |_: NoArguments, _: Context<(), Shared>| async { Ok("x".repeat(200)) })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&tool(-1, "t", &json!({}))).await;
    wire.answer(-1).await;
    let before = LIVE.get();
    PEAK.set(before);
    let lines: Vec<Vec<u8>> = (0..4)
        .map(|kind| {
            let mut batch = Vec::new();
            for n in 0..15_000 {
                let id = kind * 15_000 + n;
                let message: Value = match kind {
                    0 => tool(id, "t", &json!({})),
                    1 => request(id, "server/discover", json!({}), &json!({})),
                    2 => request(id, "no/such", json!({}), &json!({})),
                    _ => tool(id, "nobody", &json!({})),
                };
                batch.extend_from_slice(message.to_string().as_bytes());
                batch.push(b'\n');
            }
            batch
        })
        .collect();
    let own = LIVE.get() - before;
    PEAK.set(LIVE.get());
    let mut writing = pin!(async {
        for batch in &lines {
            wire.bytes(batch).await;
        }
    });
    // Nothing is read: sooner or later the server stops reading too.
    let cx = &mut TaskContext::from_waker(Waker::noop());
    let mut stuck = 0;
    while stuck < 3 {
        match std::future::Future::poll(writing.as_mut(), cx) {
            Poll::Ready(()) => panic!("sixty thousand requests were taken and none of their answers"),
            Poll::Pending => stuck += 1,
        }
        let live = LIVE.get();
        b.settle().await;
        if LIVE.get() != live {
            stuck = 0;
        }
    }
    let grown = PEAK.get() - before - own;
    assert!(grown < 32 * 1024 * 1024, "{grown} bytes for one channel");
}

//! What the core allocates, counted: nothing for progress that nobody asked for (promise P4), and no more per request and
//! call than stated here.
#![allow(unsafe_code, reason = "an allocator that counts is an `unsafe impl`")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use sansio_mcp::client::{CallSpec, ClientEvent, Outcome, StreamId};
use sansio_mcp::server::{Progress, Reported, ServerEvent};
use short::{DONE, START, ServerExt, call, call_with_token, client, exchange, server};

#[path = "support/short.rs"]
mod short;

thread_local! {
    /// Allocations and reallocations of this thread.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    /// Bytes that this thread allocated and did not free.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed to the system's allocator as it is. Counting touches thread-local numbers, which are
// initialised at compile time and need no destructor, so it neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        HELD.set(HELD.get() + layout.size().cast_signed());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        HELD.set(HELD.get() + size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many allocations `work` makes.
fn count<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNT.get();
    let done = work();
    (COUNT.get() - before, done)
}

#[test]
fn progress_that_nobody_asked_for_allocates_nothing() {
    let mut server = server();
    let (silent, _) = server.asked(call("1"));
    let mut exchange = exchange();
    exchange.handle_message(call("1").as_bytes());
    let text = "x".repeat(1000);
    let (allocations, ()) = count(|| {
        for n in 0..1000 {
            let report = Progress::new(f64::from(n)).of(1000.0).message(&text);
            assert_eq!(server.progress(silent, &report), Ok(Reported::NotAsked));
            assert_eq!(exchange.progress(&report), Ok(Reported::NotAsked));
        }
    });
    assert_eq!(allocations, 0);
    assert_eq!((server.unsent_bytes(), exchange.unsent_bytes()), (0, 0));
    // The counter counts: with a token it is not nothing.
    let (asking, _) = server.asked(call_with_token("2", "1"));
    let (allocations, reported) = count(|| server.progress(asking, &Progress::new(1.0).message(&text)));
    assert_eq!(reported, Ok(Reported::Queued));
    assert!(allocations > 0);
}

#[test]
fn a_request_costs_the_server_few_allocations() {
    let mut server = server();
    let lines: Vec<String> = (0..2000).map(|id| call(&id.to_string())).collect();
    let mut out = Vec::with_capacity(1000);
    let mut serve = |line: &String| {
        server.handle_message(START, line.as_bytes());
        let Some(ServerEvent::Request { serving, .. }) = server.poll_event() else { panic!() };
        server.respond(serving, &DONE).unwrap().unwrap();
        out.clear();
        server.poll_transmit(&mut out).unwrap();
    };
    let (first, rest) = lines.split_at(1000);
    first.iter().for_each(&mut serve);
    let (allocations, ()) = count(|| rest.iter().for_each(&mut serve));
    let each = allocations.div_ceil(rest.len());
    println!("server: {each} allocations a request");
    // The copy of the message, and the request.
    assert!(each <= SERVER, "{each}");
}

/// Allocations of one request, sent and answered, at most.
const SERVER: usize = 2;

#[test]
fn a_call_costs_the_client_few_allocations() {
    let mut client = client();
    let mut out = Vec::with_capacity(1000);
    let answers: Vec<String> =
        (1..=2000).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#)).collect();
    let mut call = |answer: &String| {
        client.call(START, CallSpec::list_tools(None)).unwrap();
        out.clear();
        client.poll_transmit(StreamId::SHARED, &mut out).unwrap();
        client.handle_message(START, StreamId::SHARED, answer.as_bytes());
        let Some(ClientEvent::Finished { outcome: Outcome::Complete(_), .. }) = client.poll_event() else {
            panic!()
        };
    };
    let (first, rest) = answers.split_at(1000);
    first.iter().for_each(&mut call);
    let (allocations, ()) = count(|| rest.iter().for_each(&mut call));
    let each = allocations.div_ceil(rest.len());
    println!("client: {each} allocations a call");
    // The copy of the answer.
    assert!(each <= CLIENT, "{each}");
}

/// Allocations of one call, described, sent and answered, at most.
const CLIENT: usize = 1;

/// What has finished leaves nothing behind, however much there was (invariant 7 in `tests/PROMISES.md`): the same work
/// five times over holds no more.
#[test]
fn what_is_over_holds_no_memory() {
    let mut server = server();
    let mut client = client();
    let mut out = Vec::with_capacity(1000);
    let mut id = 0_u32;
    let mut rounds = |count: usize| {
        for _ in 0..count {
            id += 1;
            // Cancelled at the client, cancelled at the server, answered: by turns.
            let call = client.call(START, CallSpec::list_tools(None).progress()).unwrap();
            if id.is_multiple_of(3) {
                client.cancel(START, call, None).unwrap();
            }
            out.clear();
            while client.poll_transmit(StreamId::SHARED, &mut out).is_some() {
                server.handle_message(START, &out);
                out.clear();
            }
            if let Some(ServerEvent::Request { serving, .. }) = server.poll_event() {
                server.progress(serving, &Progress::new(1.0)).unwrap();
                if id.is_multiple_of(2) {
                    client.cancel(START, call, None).unwrap();
                } else {
                    server.respond(serving, &DONE).unwrap().unwrap();
                }
            }
            while client.poll_transmit(StreamId::SHARED, &mut out).is_some() {
                server.handle_message(START, &out);
                out.clear();
            }
            while server.poll_transmit(&mut out).is_some() {
                client.handle_message(START, StreamId::SHARED, &out);
                out.clear();
            }
            while client.poll_event().is_some() || server.poll_event().is_some() {}
        }
        HELD.get()
    };
    let first = rounds(10_000);
    let then = rounds(40_000);
    assert!(then - first < 1000, "{} bytes more are held", then - first);
}

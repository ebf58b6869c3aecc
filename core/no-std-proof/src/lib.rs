//! Client, server, admission and sealed state in a program without std: its own panic handler and allocator. If anything below pulls in
//! std there are two panic handlers, and this does not build.
//!
//! ```text
//! cargo build --manifest-path core/no-std-proof/Cargo.toml                  # builds
//! cargo build --manifest-path core/no-std-proof/Cargo.toml --features std   # must fail
//! ```
#![no_std]

extern crate alloc;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::ptr::null_mut;

use sansio_mcp::admission::{Admission, AdmissionLimits, ChannelKey};
use sansio_mcp::client::{CallSpec, Client, ClientConfig, StreamId};
use sansio_mcp::limits::STATE_LIFE;
use sansio_mcp::model::{ClientCapabilities, Implementation, RawMembers, ServerCapabilities};
use sansio_mcp::server::continuation::{
    Bound, Continuation, KeyRing, NoEntropy, Questions, SealKey, open_state, seal_state,
};
use sansio_mcp::server::{Server, ServerConfig, ServerEvent, WrittenBody};
use sansio_mcp::time::Now;

/// A round of state, sealed and opened; its number, or zero where something is missing.
#[unsafe(no_mangle)]
pub extern "C" fn sansio_mcp_proof_of_state() -> usize {
    round().unwrap_or(0)
}

fn round() -> Option<usize> {
    let none = |_: &mut [u8]| Err(NoEntropy);
    let ring = KeyRing::new(SealKey::random(&none).ok()?, none);
    let bound = Bound::new("tools/call", "{}", b"");
    let asked = Continuation::first().next_round(Questions::new(), None).ok()?;
    let state = seal_state(&ring, &bound, &asked, Now::default(), STATE_LIFE).ok()?;
    open_state(&ring, &state, &bound, Now::default()).ok().map(|opened| opened.round().into())
}

/// One call from end to end; the bytes of its answer, or zero where something is missing.
#[unsafe(no_mangle)]
pub extern "C" fn sansio_mcp_proof() -> usize {
    walk().unwrap_or(0)
}

fn walk() -> Option<usize> {
    let now = Now::default();
    let client = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default());
    let mut client = Client::new(Arc::new(client.build().ok()?));
    let server = ServerConfig::builder(Implementation::new("s", "1"), ServerCapabilities::default());
    let mut server = Server::new(Arc::new(server.method("x/echo").build().ok()?));
    let mut admission = Admission::new(AdmissionLimits::default()).ok()?;

    let params = RawMembers::new();
    client.call(now, CallSpec::new("x/echo", &params).ok()?).ok()?;
    let mut line = Vec::new();
    client.poll_transmit(StreamId::SHARED, &mut line)?;
    server.handle_message(now, &line);
    let Some(ServerEvent::Request { serving, .. }) = server.poll_event() else { return None };
    let entered = admission.enter(ChannelKey(0)).ok()?;
    admission.pass(entered.ticket, None).ok()?;
    server.respond(serving, &WrittenBody { members: b"", meta: None }).ok()?.ok()?;
    admission.finish(entered.ticket).ok()?;
    line.clear();
    server.poll_transmit(&mut line)?;
    client.handle_message(now, StreamId::SHARED, &line);
    client.poll_event().map(|_| line.len())
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

struct NoMemory;

// SAFETY: null says that there is no memory, which is always allowed; so nothing is ever freed. This library is built, not run.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: NoMemory = NoMemory;

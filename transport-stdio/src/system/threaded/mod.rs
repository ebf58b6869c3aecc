//! Blocking streams as asynchronous ones, each with a thread of its own.

mod reader;
mod writer;

pub(crate) use reader::Reader;
pub(crate) use writer::Writer;

use std::io;
use std::task::{Context, Waker};

/// Bytes handed over at a time.
const CHUNK: usize = 64 * 1024;

/// Starts a thread, or says that there are none left.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(format!("mcp-{name}")).spawn(work).map(drop)
}

/// Keeps a waker. The old one is returned, to be dropped where no lock is held: that may run an executor's code.
#[must_use]
pub(crate) fn keep(place: &mut Option<Waker>, cx: &Context<'_>) -> Option<Waker> {
    if place.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
        return None;
    }
    place.replace(cx.waker().clone())
}

/// Wakes whoever waits. Must be called without a lock: that may run an executor's code.
pub(crate) fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

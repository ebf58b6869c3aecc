//! A thread that writes.

use std::io::{self, ErrorKind, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_io::AsyncWrite;

use super::{CHUNK, keep, spawn, wake};

/// A blocking stream, written by a thread of its own, which flushes after every write.
///
/// Closing it drops the stream once everything is written. Dropping it unclosed drops what was not written yet; a write
/// that never returns keeps its thread.
#[derive(Debug)]
pub(crate) struct Writer {
    shared: Arc<Shared>,
}

#[derive(Default, Debug)]
struct Shared {
    state: Mutex<State>,
    /// There is something to write, or nothing will come any more.
    given: Condvar,
}

#[derive(Default, Debug)]
struct State {
    buffer: Vec<u8>,
    /// The thread writes what it took from the buffer.
    writing: bool,
    /// Nothing more is given.
    closing: bool,
    dropped: bool,
    /// The stream was dropped; a failure is told once.
    end: Option<io::Result<()>>,
    waker: Option<Waker>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be written, in place of `last`, which was. `None` if nothing will come.
    fn next(&self, mut last: Vec<u8>) -> Option<Vec<u8>> {
        last.clear();
        let mut state = self.lock();
        state.writing = false;
        let waker = state.waker.take();
        drop(state);
        wake(waker);
        let mut state = self.lock();
        while state.buffer.is_empty() && !state.closing && !state.dropped {
            state = self.given.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.dropped || state.buffer.is_empty() {
            return None;
        }
        state.writing = true;
        std::mem::swap(&mut state.buffer, &mut last);
        let waker = state.waker.take();
        drop(state);
        // There is room again.
        wake(waker);
        Some(last)
    }

    fn end(&self, how: io::Result<()>) {
        let waker = {
            let mut state = self.lock();
            state.writing = false;
            if state.end.is_none() {
                state.end = Some(how);
            }
            state.waker.take()
        };
        wake(waker);
    }
}

/// Tells the end also where the stream panics.
struct AtLast(Arc<Shared>);

impl Drop for AtLast {
    fn drop(&mut self) {
        self.0.end(Err(io::Error::other("the thread that writes has ended")));
    }
}

impl Writer {
    /// Begins to wait for bytes.
    ///
    /// # Errors
    /// There are no threads left.
    pub(crate) fn new(mut stream: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let at_last = AtLast(Arc::clone(&shared));
        spawn("write", move || {
            let mut bytes = Vec::new();
            let end = loop {
                match at_last.0.next(bytes) {
                    None => break Ok(()),
                    Some(next) => bytes = next,
                }
                if let Err(error) = stream.write_all(&bytes).and_then(|()| stream.flush()) {
                    break Err(error);
                }
            };
            // Closed before that is told.
            drop(stream);
            at_last.0.end(end);
        })?;
        Ok(Self { shared })
    }

    /// Ready if the stream has ended or `done` holds.
    fn poll_until(&self, cx: &Context<'_>, done: impl FnOnce(&State) -> bool) -> Poll<io::Result<()>> {
        let _old: Option<Waker>;
        let mut state = self.shared.lock();
        if let Some(end) = &mut state.end {
            return Poll::Ready(std::mem::replace(end, Err(ErrorKind::BrokenPipe.into())));
        }
        if done(&state) {
            return Poll::Ready(Ok(()));
        }
        _old = keep(&mut state.waker, cx);
        drop(state);
        Poll::Pending
    }
}

impl AsyncWrite for Writer {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.poll_until(cx, |state| state.buffer.len() < CHUNK || state.closing) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
        let mut state = self.shared.lock();
        if state.closing {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        let n = bytes.len().min(CHUNK.saturating_sub(state.buffer.len()));
        state.buffer.extend_from_slice(bytes.get(..n).unwrap_or_default());
        drop(state);
        self.shared.given.notify_one();
        Poll::Ready(Ok(n))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_until(cx, |state| state.buffer.is_empty() && !state.writing)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.lock().closing = true;
        self.shared.given.notify_one();
        self.poll_until(cx, |_| false)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _old = {
            let mut state = self.shared.lock();
            state.dropped = true;
            state.waker.take()
        };
        self.shared.given.notify_one();
    }
}

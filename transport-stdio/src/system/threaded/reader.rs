//! A thread that reads.

use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_io::AsyncRead;

use super::{CHUNK, keep, spawn, wake};

/// A blocking stream, read by a thread of its own, one chunk of 64 KiB ahead.
///
/// The thread ends with the stream, or when it next has something after this was dropped: nothing can call it back
/// from a read that never returns.
#[derive(Debug)]
pub(crate) struct Reader {
    shared: Arc<Shared>,
}

#[derive(Default, Debug)]
struct Shared {
    state: Mutex<State>,
    /// The chunk was taken, or nobody wants one any more.
    taken: Condvar,
}

#[derive(Default, Debug)]
struct State {
    chunk: Vec<u8>,
    /// What of the chunk was taken.
    at: usize,
    /// How the stream ended; a failure is told once.
    end: Option<io::Result<()>>,
    waker: Option<Waker>,
    dropped: bool,
}

impl Shared {
    /// A stream that panics while it is read must not take its user along.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a chunk over once the last was taken. Whether to go on.
    fn hand_over(&self, bytes: &[u8]) -> bool {
        let mut state = self.lock();
        while state.at < state.chunk.len() && !state.dropped {
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.dropped {
            return false;
        }
        state.chunk.clear();
        state.chunk.extend_from_slice(bytes);
        state.at = 0;
        let waker = state.waker.take();
        drop(state);
        wake(waker);
        true
    }

    fn end(&self, how: io::Result<()>) {
        let waker = {
            let mut state = self.lock();
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
        self.0.end(Err(io::Error::other("the thread that reads has ended")));
    }
}

impl Reader {
    /// Begins to read.
    ///
    /// # Errors
    /// There are no threads left.
    pub(crate) fn new(mut stream: impl Read + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let at_last = AtLast(Arc::clone(&shared));
        spawn("read", move || {
            let mut chunk = vec![0; CHUNK];
            let end = loop {
                match stream.read(&mut chunk) {
                    Ok(0) => break Ok(()),
                    Ok(n) if at_last.0.hand_over(chunk.get(..n).unwrap_or_default()) => {}
                    Ok(_) => return,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => break Err(error),
                }
            };
            at_last.0.end(end);
        })?;
        Ok(Self { shared })
    }
}

impl AsyncRead for Reader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let _old: Option<Waker>;
        let mut state = self.shared.lock();
        let rest = state.chunk.get(state.at..).unwrap_or_default();
        if !rest.is_empty() {
            let n = rest.len().min(buffer.len());
            if let (Some(to), Some(from)) = (buffer.get_mut(..n), rest.get(..n)) {
                to.copy_from_slice(from);
            }
            state.at += n;
            if state.at == state.chunk.len() {
                self.shared.taken.notify_one();
            }
            return Poll::Ready(Ok(n));
        }
        if let Some(end) = &mut state.end {
            return Poll::Ready(std::mem::replace(end, Ok(())).map(|()| 0));
        }
        _old = keep(&mut state.waker, cx);
        drop(state);
        Poll::Pending
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _old = {
            let mut state = self.shared.lock();
            state.dropped = true;
            state.waker.take()
        };
        self.shared.taken.notify_one();
    }
}

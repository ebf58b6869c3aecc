//! A bounded pipe of bytes.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_io::{AsyncRead, AsyncWrite};

/// Makes a pipe that holds at most `capacity` bytes (at least one).
///
/// The reader sees the end once the writer is closed or dropped and everything is read; the writer gets
/// `BrokenPipe` once the reader is dropped.
pub fn pipe(capacity: usize) -> (PipeReader, PipeWriter) {
    let bytes = Bytes { capacity: capacity.max(1), ..Bytes::default() };
    let bytes = Arc::new(Mutex::new(bytes));
    (PipeReader { bytes: Arc::clone(&bytes) }, PipeWriter { bytes })
}

#[derive(Default)]
struct Bytes {
    held: VecDeque<u8>,
    capacity: usize,
    /// Nothing more will be written.
    ended: bool,
    /// Nothing more will be read.
    broken: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Waits for the reader's end.
    watcher: Option<Waker>,
}

/// The end to read from.
pub struct PipeReader {
    bytes: Arc<Mutex<Bytes>>,
}

/// The end to write to.
pub struct PipeWriter {
    bytes: Arc<Mutex<Bytes>>,
}

fn lock(bytes: &Mutex<Bytes>) -> MutexGuard<'_, Bytes> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl AsyncRead for PipeReader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        // Wakers are dropped and woken outside the lock.
        let _old: Option<Waker>;
        let mut bytes = lock(&self.bytes);
        if bytes.held.is_empty() && !bytes.ended && !buffer.is_empty() {
            _old = bytes.reader.replace(cx.waker().clone());
            drop(bytes);
            return Poll::Pending;
        }
        let n = io::Read::read(&mut bytes.held, buffer)?;
        if bytes.held.is_empty() {
            // The next bytes go where the last ones went: a ring that goes round would touch all of its memory.
            bytes.held.clear();
        }
        let writer = if n > 0 { bytes.writer.take() } else { None };
        drop(bytes);
        wake(writer);
        Poll::Ready(Ok(n))
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let mut bytes = lock(&self.bytes);
        bytes.broken = true;
        bytes.held = VecDeque::new();
        let wakers = [bytes.writer.take(), bytes.watcher.take()];
        drop(bytes);
        wakers.into_iter().for_each(wake);
    }
}

impl AsyncWrite for PipeWriter {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let _old: Option<Waker>;
        let mut bytes = lock(&self.bytes);
        if bytes.broken || bytes.ended {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        let room = bytes.capacity - bytes.held.len();
        if room == 0 && !buffer.is_empty() {
            _old = bytes.writer.replace(cx.waker().clone());
            drop(bytes);
            return Poll::Pending;
        }
        let n = room.min(buffer.len());
        bytes.held.extend(buffer.get(..n).unwrap_or_default());
        let reader = bytes.reader.take();
        drop(bytes);
        wake(reader);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end();
        Poll::Ready(Ok(()))
    }
}

impl PipeWriter {
    fn end(&self) {
        let mut bytes = lock(&self.bytes);
        bytes.ended = true;
        let reader = bytes.reader.take();
        drop(bytes);
        wake(reader);
    }

    /// Completes when the reader has been dropped: nobody will ever read what is written.
    pub fn closed(&mut self) -> Closed<'_> {
        Closed { writer: self }
    }

    /// Polls [`closed`](Self::closed). One task at a time.
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let _old: Option<Waker>;
        let mut bytes = lock(&self.bytes);
        if bytes.broken {
            return Poll::Ready(());
        }
        _old = bytes.watcher.replace(cx.waker().clone());
        drop(bytes);
        Poll::Pending
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        self.end();
    }
}

/// See [`PipeWriter::closed`].
#[must_use = "futures do nothing unless polled"]
pub struct Closed<'a> {
    writer: &'a mut PipeWriter,
}

impl Future for Closed<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.writer.poll_closed(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(writer: &mut PipeWriter, text: &str) -> Poll<Result<usize, ErrorKind>> {
        let cx = &mut Context::from_waker(Waker::noop());
        Pin::new(writer).poll_write(cx, text.as_bytes()).map_err(|error| error.kind())
    }

    fn read(reader: &mut PipeReader, max: usize) -> Poll<String> {
        let mut buffer = vec![0; max];
        let cx = &mut Context::from_waker(Waker::noop());
        Pin::new(reader).poll_read(cx, &mut buffer).map(|n| {
            buffer.truncate(n.unwrap_or(0));
            String::from_utf8_lossy(&buffer).into_owned()
        })
    }

    #[test]
    fn no_more_than_its_capacity_and_in_order() {
        let (mut reader, mut writer) = pipe(4);
        assert_eq!(read(&mut reader, 9), Poll::Pending);
        assert_eq!(write(&mut writer, "abcdef"), Poll::Ready(Ok(4)));
        assert_eq!(write(&mut writer, "ef"), Poll::Pending);
        assert_eq!(read(&mut reader, 3), Poll::Ready("abc".into()));
        assert_eq!(write(&mut writer, "ef"), Poll::Ready(Ok(2)));
        assert_eq!(read(&mut reader, 9), Poll::Ready("def".into()));
    }

    #[test]
    fn the_end_is_seen_after_the_last_byte() {
        let (mut reader, mut writer) = pipe(4);
        assert_eq!(write(&mut writer, "ab"), Poll::Ready(Ok(2)));
        drop(writer);
        assert_eq!(read(&mut reader, 9), Poll::Ready("ab".into()));
        assert_eq!(read(&mut reader, 9), Poll::Ready(String::new()));
    }

    #[test]
    fn writing_to_nobody_is_a_broken_pipe() {
        let (reader, mut writer) = pipe(1);
        assert_eq!(write(&mut writer, "a"), Poll::Ready(Ok(1)));
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(writer.poll_closed(cx).is_pending());
        drop(reader);
        assert!(writer.poll_closed(cx).is_ready());
        assert_eq!(write(&mut writer, "b"), Poll::Ready(Err(ErrorKind::BrokenPipe)));
    }
}

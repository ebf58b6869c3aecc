//! Byte streams of `futures_io` as hyper wants them.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};
use hyper::rt::{Read, ReadBufCursor, Write};

use crate::system::fair::Reads;

/// Bytes of one read.
const READ: usize = 64 * 1024;

thread_local! {
    /// Streams are read into this and copied from it: hyper's own memory is not initialised, and clearing it before each read
    /// costs more than copying what came.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ].into());
}

/// A byte stream.
pub(crate) struct Io<T> {
    inner: T,
    vectored: bool,
    reads: Reads,
}

impl<T> Io<T> {
    /// `vectored`: several pieces are written in one system call.
    pub(crate) fn new(inner: T, vectored: bool) -> Self {
        Self { inner, vectored, reads: Reads::default() }
    }
}

impl<T: AsyncRead + Unpin> Read for Io<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut room: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        SCRATCH.with_borrow_mut(|scratch| {
            let most = room.remaining().min(scratch.len());
            let scratch = scratch.get_mut(..most).unwrap_or_default();
            let inner = Pin::new(&mut this.inner);
            let read = ready!(this.reads.poll(cx, |cx| inner.poll_read(cx, scratch)))?;
            room.put_slice(scratch.get(..read).unwrap_or_default());
            Poll::Ready(Ok(()))
        })
    }
}

impl<T: AsyncWrite + Unpin> Write for Io<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_close(cx)
    }
}

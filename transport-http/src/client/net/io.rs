//! Sockets as hyper wants them.

use std::io;
use std::pin::Pin;
#[cfg(any(feature = "smol", feature = "tls"))]
use std::task::{Context, Poll, ready};

#[cfg(any(feature = "smol", feature = "tls"))]
use futures_io::{AsyncRead, AsyncWrite};
#[cfg(any(feature = "smol", feature = "tls"))]
use hyper::rt::ReadBufCursor;
use hyper::rt::{Read, Write};

/// A connected socket, whatever is below.
pub(in crate::client) trait Socket: Read + Write + Unpin + Send {}
impl<T: Read + Write + Unpin + Send> Socket for T {}

/// A connection, and whether HTTP/2 was agreed on.
pub(in crate::client) type Connected = io::Result<(Box<dyn Socket>, bool)>;
/// One that is being made.
pub(in crate::client) type Connecting = Pin<Box<dyn Future<Output = Connected> + Send>>;
/// Makes connections.
pub(in crate::client) type Connector = Box<dyn Fn() -> Connecting + Send + Sync>;

/// Bytes of one read.
#[cfg(any(feature = "smol", feature = "tls"))]
const READ: usize = 16 * 1024;

#[cfg(any(feature = "smol", feature = "tls"))]
/// A byte stream of `futures_io`. It reads into a buffer of its own: copying what came is cheaper than clearing, at each
/// read, all the room there is.
pub(in crate::client) struct Io<T> {
    inner: T,
    buffer: Box<[u8]>,
    vectored: bool,
}

#[cfg(any(feature = "smol", feature = "tls"))]
impl<T> Io<T> {
    /// `vectored`: several pieces are written in one system call.
    pub(in crate::client) fn new(inner: T, vectored: bool) -> Self {
        Self { inner, buffer: vec![0; READ].into(), vectored }
    }
}

#[cfg(any(feature = "smol", feature = "tls"))]
impl<T: AsyncRead + Unpin> Read for Io<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut room: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { inner, buffer, .. } = self.get_mut();
        let most = room.remaining().min(buffer.len());
        let buffer = buffer.get_mut(..most).unwrap_or_default();
        let read = ready!(Pin::new(inner).poll_read(cx, buffer))?;
        room.put_slice(buffer.get(..read).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

#[cfg(any(feature = "smol", feature = "tls"))]
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

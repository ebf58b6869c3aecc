//! The bytes of a connection: what was read to find out its protocol comes first, and a write that makes no progress fails.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use sansio_mcp_sdk::clock::{Alarm, Clock};

use super::life::Life;
use crate::system::fair::Reads;

/// What every HTTP/2 connection begins with (RFC 9113, section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Reads of one turn that are thrown away.
const READS: usize = 16;

pub(super) struct Io<I> {
    inner: I,
    /// Read already.
    prefix: [u8; PREFACE.len()],
    /// What of it is left.
    left: std::ops::Range<usize>,
    /// Told of what is read while a head may be.
    life: Option<Arc<Life>>,
    clock: Arc<dyn Clock>,
    write_time: Duration,
    reads: Reads,
    /// Set while a write waits.
    stuck: Option<Alarm>,
}

impl<I: Read + Write + Unpin> Io<I> {
    pub(super) fn new(inner: I, life: Arc<Life>, clock: Arc<dyn Clock>, write_time: Duration) -> Self {
        let prefix = [0; PREFACE.len()];
        Self {
            inner,
            prefix,
            left: 0..0,
            life: Some(life),
            clock,
            write_time,
            reads: Reads::default(),
            stuck: None,
        }
    }

    /// Reads until it is known whether this is HTTP/2.
    pub(super) fn poll_is_http2(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            let known = self.left.end;
            if self.prefix.get(..known) != PREFACE.get(..known) {
                return Poll::Ready(Ok(false));
            }
            if known == PREFACE.len() {
                // Control frames come at any time there: they are no heads.
                self.life = None;
                return Poll::Ready(Ok(true));
            }
            let mut buf = ReadBuf::new(self.prefix.get_mut(known..).unwrap_or_default());
            ready!(Pin::new(&mut self.inner).poll_read(cx, buf.unfilled()))?;
            let read = buf.filled().len();
            if read == 0 {
                return Poll::Ready(Ok(false));
            }
            self.left.end += read;
        }
    }

    /// Ends our half, and if told to, throws away what still comes.
    pub(super) fn poll_last(&mut self, linger: bool, cx: &mut Context<'_>) -> Poll<()> {
        if ready!(Pin::new(&mut self.inner).poll_shutdown(cx)).is_err() || !linger {
            return Poll::Ready(());
        }
        let mut chunk = [0; 8 * 1024];
        for _ in 0..READS {
            let mut buf = ReadBuf::new(&mut chunk);
            let read = ready!(Pin::new(&mut self.inner).poll_read(cx, buf.unfilled()));
            if read.is_err() || buf.filled().is_empty() {
                return Poll::Ready(());
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Whether a write has got anywhere.
    fn watch<T>(&mut self, polled: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stuck = None;
            return polled;
        }
        let (clock, time) = (&*self.clock, self.write_time);
        let stuck = self.stuck.get_or_insert_with(|| Alarm::new(clock, clock.mono() + time));
        ready!(stuck.poll(clock, cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<I: Read + Write + Unpin> Read for Io<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.left.is_empty() {
            let end = this.left.end.min(this.left.start + buf.remaining());
            buf.put_slice(this.prefix.get(this.left.start..end).unwrap_or_default());
            this.left.start = end;
            return Poll::Ready(Ok(()));
        }
        let inner = Pin::new(&mut this.inner);
        ready!(this.reads.poll(cx, |cx| inner.poll_read(cx, buf)))?;
        if let Some(life) = &this.life {
            life.read();
        }
        Poll::Ready(Ok(()))
    }
}

impl<I: Read + Write + Unpin> Write for Io<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.watch(polled, cx)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_flush(cx);
        self.watch(polled, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.watch(polled, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.watch(polled, cx)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "io_test.rs"]
mod tests;

//! Two pipes, one each way.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use crate::pipe::{PipeReader, PipeWriter, pipe};

/// Bytes that each direction of a [`pair`] holds: what a pipe of the operating system does.
const PIPE: usize = 64 * 1024;

/// One end of a two-way byte stream. Its halves can be taken apart.
pub struct Duplex {
    /// What the other end writes.
    pub reader: PipeReader,
    /// What the other end reads.
    pub writer: PipeWriter,
}

/// Makes a two-way byte stream that holds at most `capacity` bytes each way.
pub fn duplex(capacity: usize) -> (Duplex, Duplex) {
    let (left_reader, right_writer) = pipe(capacity);
    let (right_reader, left_writer) = pipe(capacity);
    (
        Duplex { reader: left_reader, writer: left_writer },
        Duplex { reader: right_reader, writer: right_writer },
    )
}

/// The two ends of a shared channel, client and server, for [`sansio_mcp_sdk::lines::pump`].
pub fn pair() -> (Duplex, Duplex) {
    duplex(PIPE)
}

impl Duplex {
    /// The halves.
    pub fn split(self) -> (PipeReader, PipeWriter) {
        (self.reader, self.writer)
    }
}

impl AsyncRead for Duplex {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.reader).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Duplex {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(cx, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_close(cx)
    }
}

//! A client's connection whose end is told only once it is known what became of the server.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_io::AsyncWrite;
use sansio_mcp_sdk::client::ClientConnection;
use sansio_mcp_sdk::lines::Port;
use sansio_mcp_sdk::protocol::client::StreamId;
use sansio_mcp_sdk::protocol::time::Mono;
use sansio_mcp_sdk::protocol::wire::{Frame, Framer};

/// The connection, and what has been seen of its end.
pub(super) struct ChildPort {
    connection: ClientConnection,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// Nothing more will be read.
    output_ended: bool,
    /// Why that is, or why nothing more can be written.
    failure: Option<String>,
}

impl ChildPort {
    pub(super) fn new(connection: ClientConnection) -> Self {
        Self { connection, seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, cause: String) {
        self.seen().failure.get_or_insert(cause);
    }

    /// Everything that the server had to say was read.
    pub(super) fn output_ended(&self) -> bool {
        self.seen().output_ended
    }

    /// One of the two directions is at its end.
    pub(super) fn is_cut(&self) -> bool {
        let seen = self.seen();
        seen.output_ended || seen.failure.is_some()
    }

    /// Why it is, if that is a failure.
    pub(super) fn failure(&self) -> Option<String> {
        self.seen().failure.clone()
    }

    /// Ends the connection; whatever is in flight is lost.
    pub(super) fn tell(&self, cause: &str) {
        self.connection.stream_end(StreamId::SHARED, cause);
    }
}

impl Port for ChildPort {
    fn feed(&self, framer: &mut Framer, chunk: &[u8]) -> usize {
        self.connection.feed(framer, chunk)
    }

    fn input_end(&self, framer: &mut Framer) {
        match framer.finish() {
            Some(Frame::Line(line)) => drop(self.connection.handle_message(StreamId::SHARED, line)),
            Some(Frame::TooLong) => self.connection.handle_oversized(),
            None => {}
        }
        self.seen().output_ended = true;
    }

    fn lost(&self, cause: &str) {
        self.failed(cause.to_owned());
        self.seen().output_ended = true;
    }

    fn wants_input(&self) -> bool {
        self.connection.wants_input()
    }

    fn poll_fill(&self, cx: &mut Context<'_>, out: &mut Vec<u8>, max: usize) -> Poll<()> {
        self.connection.poll_fill(cx, out, max)
    }

    fn is_finished(&self) -> bool {
        self.connection.is_finished()
    }

    fn is_closing(&self) -> bool {
        self.connection.is_closing()
    }

    fn next_timeout(&self) -> Option<Mono> {
        self.connection.next_timeout()
    }

    fn handle_timeout(&self) {
        self.connection.handle_timeout();
    }
}

/// The server's stdin. A server that reads nothing any more may still have answers in its output: a failure to write
/// is noted, and what is written from then on goes nowhere.
pub(super) struct Input<W> {
    writer: W,
    port: Arc<ChildPort>,
    broken: bool,
}

impl<W> Input<W> {
    pub(super) fn new(writer: W, port: Arc<ChildPort>) -> Self {
        Self { writer, port, broken: false }
    }

    fn note<T>(&mut self, done: io::Result<T>, instead: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                self.broken = true;
                self.port.failed(format!("writing to it failed: {error}"));
                Ok(instead)
            }
            done => done,
        }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Input<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.broken {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.writer).poll_write(cx, bytes).map(|done| self.note(done, bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.broken {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.writer).poll_flush(cx).map(|done| self.note(done, ()))
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.broken {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.writer).poll_close(cx)
    }
}

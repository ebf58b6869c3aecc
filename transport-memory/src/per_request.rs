//! A stream for each request, as HTTP has them, in memory.
//!
//! The client opens a [`Duplex`] for a request and writes the message as a line. The server writes lines of messages
//! back and closes its half after the last. A client that will send no more for a request closes its half; one that
//! drops both halves has abandoned it, which the server sees with [`PipeWriter::closed`](crate::PipeWriter::closed).

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp::client::{ClientKind, StreamId};
use sansio_mcp::time::Mono;
use sansio_mcp::wire::{Frame, Framer};
use sansio_mcp_sdk::client::ClientConnection;
use sansio_mcp_sdk::clock::{Clock, Sleep};
use sansio_mcp_sdk::lines::Port;

use crate::duplex::{Duplex, duplex};

/// Reads of one stream in one turn.
const READS: usize = 16;

/// Makes the two ends of a transport whose streams hold at most `capacity` bytes each way.
pub fn per_request(capacity: usize) -> (StreamOpener, StreamAcceptor) {
    let streams = Arc::new(Mutex::new(Streams::default()));
    (StreamOpener { streams: Arc::clone(&streams), capacity }, StreamAcceptor { streams })
}

#[derive(Default)]
struct Streams {
    opened: VecDeque<Duplex>,
    acceptor: Option<Waker>,
    ended: bool,
    refused: bool,
}

fn lock(streams: &Mutex<Streams>) -> MutexGuard<'_, Streams> {
    streams.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The client's end: opens streams. Dropping it tells the server that no more will come.
pub struct StreamOpener {
    streams: Arc<Mutex<Streams>>,
    capacity: usize,
}

impl StreamOpener {
    /// Opens a stream; `None` if nobody accepts any.
    pub fn open(&self) -> Option<Duplex> {
        let (client, server) = duplex(self.capacity);
        let mut streams = lock(&self.streams);
        if streams.refused {
            return None;
        }
        streams.opened.push_back(server);
        let waker = streams.acceptor.take();
        drop(streams);
        if let Some(waker) = waker {
            waker.wake();
        }
        Some(client)
    }
}

impl Drop for StreamOpener {
    fn drop(&mut self) {
        let mut streams = lock(&self.streams);
        streams.ended = true;
        let waker = streams.acceptor.take();
        drop(streams);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The server's end: accepts streams. Dropping it closes those that were not accepted.
pub struct StreamAcceptor {
    streams: Arc<Mutex<Streams>>,
}

impl StreamAcceptor {
    /// The next stream; `None` once no more will come.
    pub async fn accept(&mut self) -> Option<Duplex> {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    /// Polls [`accept`](Self::accept).
    pub fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<Option<Duplex>> {
        let _old: Option<Waker>;
        let mut streams = lock(&self.streams);
        if let Some(stream) = streams.opened.pop_front() {
            return Poll::Ready(Some(stream));
        }
        if streams.ended {
            return Poll::Ready(None);
        }
        _old = streams.acceptor.replace(cx.waker().clone());
        drop(streams);
        Poll::Pending
    }
}

impl Drop for StreamAcceptor {
    fn drop(&mut self) {
        let mut streams = lock(&self.streams);
        streams.refused = true;
        let opened = std::mem::take(&mut streams.opened);
        drop(streams);
        drop(opened);
    }
}

/// Serves a client with a stream for each request until it is closed. Looks at every open stream at each turn, which
/// is meant for tests and for few streams.
pub async fn drive(
    connection: ClientConnection,
    opener: StreamOpener,
    clock: Arc<dyn Clock>,
    line_limit: usize,
) {
    let mut driver = Driver { connection, opener, clock, line_limit, live: BTreeMap::new(), alarm: None };
    poll_fn(|cx| driver.poll(cx)).await;
}

struct Driver {
    connection: ClientConnection,
    opener: StreamOpener,
    clock: Arc<dyn Clock>,
    line_limit: usize,
    live: BTreeMap<StreamId, Live>,
    alarm: Option<(Mono, Sleep)>,
}

/// One open stream.
struct Live {
    io: Duplex,
    framer: Framer,
    out: Vec<u8>,
    written: usize,
    /// Nothing more will be sent on it: close our half when all is written.
    last: bool,
}

impl Driver {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            while let Poll::Ready(stream) = self.connection.poll_ready_stream(cx) {
                let Some(stream) = stream else {
                    return Poll::Ready(());
                };
                self.send(stream);
            }
            let mut moved = false;
            let connection = &self.connection;
            self.live.retain(|stream, live| {
                let (alive, some) = live.turn(connection, *stream, cx);
                moved |= some;
                alive
            });
            moved |= self.time(cx);
            if !moved {
                return Poll::Pending;
            }
        }
    }

    /// Takes one message of a stream, which is opened for its request.
    fn send(&mut self, stream: StreamId) {
        let mut message = Vec::new();
        let Some(transmit) = self.connection.transmit(stream, &mut message) else {
            return;
        };
        message.push(b'\n');
        match transmit.kind {
            ClientKind::Request(_) => match self.opener.open() {
                Some(io) => {
                    let framer = Framer::new(self.line_limit);
                    let live = Live { io, framer, out: message, written: 0, last: transmit.last };
                    self.live.insert(stream, live);
                }
                None => self.connection.stream_end(stream, "the server accepts no streams"),
            },
            ClientKind::CloseStream => {
                self.live.remove(&stream);
            }
            // A notification for a request whose stream has gone has nobody to reach.
            _ => {
                if let Some(live) = self.live.get_mut(&stream) {
                    live.out.extend_from_slice(&message);
                    live.last = transmit.last;
                }
            }
        }
    }

    fn time(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(at) = self.connection.next_timeout()
            && self.alarm.as_ref().is_none_or(|(armed, _)| at < *armed)
        {
            self.alarm = Some((at, self.clock.sleep_until(at)));
        }
        let Some((_, sleep)) = &mut self.alarm else {
            return false;
        };
        if sleep.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.alarm = None;
        self.connection.handle_timeout();
        true
    }
}

impl Live {
    /// Writes and reads what can be; whether the stream is still open, and whether there may be more to do.
    fn turn(
        &mut self,
        connection: &ClientConnection,
        stream: StreamId,
        cx: &mut Context<'_>,
    ) -> (bool, bool) {
        // A write that fails shows when reading: the server may have answered before it closed.
        while let Some(rest) = self.out.get(self.written..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut self.io.writer).poll_write(cx, rest) {
                Poll::Ready(Ok(n)) => self.written += n,
                Poll::Ready(Err(_)) => self.written = self.out.len(),
                Poll::Pending => break,
            }
        }
        if self.last && self.written == self.out.len() {
            let _ = Pin::new(&mut self.io.writer).poll_close(cx);
        }
        let mut chunk = [0; 4096];
        for _ in 0..READS {
            match Pin::new(&mut self.io.reader).poll_read(cx, &mut chunk) {
                Poll::Pending => return (true, false),
                Poll::Ready(Ok(n)) if n > 0 => {
                    let mut lines = self.framer.feed(chunk.get(..n).unwrap_or_default());
                    while let Some(line) = lines.next() {
                        hand_in(connection, stream, &line);
                    }
                }
                Poll::Ready(_) => {
                    if let Some(line) = self.framer.finish() {
                        hand_in(connection, stream, &line);
                    }
                    connection.stream_end(stream, "the server closed the stream");
                    return (false, false);
                }
            }
        }
        (true, true)
    }
}

fn hand_in(connection: &ClientConnection, stream: StreamId, line: &Frame<'_>) {
    match line {
        Frame::Line(line) => {
            connection.handle_message(stream, line);
        }
        Frame::TooLong => connection.handle_oversized(),
    }
}

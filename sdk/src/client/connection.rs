//! The transport's half of a client.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use sansio_mcp::client::{Client, ClientTransmit, StreamId};
use sansio_mcp::id::CallId;
use sansio_mcp::time::{Mono, Now};
use sansio_mcp::wire::{Frame, Framer};

use super::shared::Shared;
use crate::lines::Port;

/// The transport's half of a client: on a shared channel it is a [`Port`] for [`lines::pump`](crate::lines::pump); a
/// transport with a stream for each request uses the methods below, and the deadline of the port.
///
/// Dropping it ends every call as lost.
pub struct ClientConnection {
    shared: Arc<Shared>,
}

impl ClientConnection {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// A stream on which something can be sent; `None` once nothing will be sent any more. A stream may turn out
    /// to have nothing when [`transmit`](Self::transmit) is called: its call was given up.
    ///
    /// The waker is kept, as [`Port::poll_fill`]'s is. For configurations with a stream per request.
    pub fn poll_ready_stream(&self, cx: &mut Context<'_>) -> Poll<Option<StreamId>> {
        let _old: Option<Waker>;
        let mut state = self.shared.lock();
        if let Some(stream) = state.core.poll_ready_stream() {
            return Poll::Ready(Some(stream));
        }
        if state.core.is_closed() {
            return Poll::Ready(None);
        }
        _old = keep(&mut state.transport, cx);
        drop(state);
        Poll::Pending
    }

    /// Appends the next message of a stream to `out`, without a line end.
    pub fn transmit(&self, stream: StreamId, out: &mut Vec<u8>) -> Option<ClientTransmit> {
        self.shared.lock().core.poll_transmit(stream, out)
    }

    /// The method of a call and what it is addressed to, its tool, prompt or resource: what the HTTP binding mirrors into headers.
    pub fn head(&self, call: CallId) -> Option<(String, Option<String>)> {
        let state = self.shared.lock();
        let method = state.core.method(call)?.to_owned();
        Some((method, state.core.target(call).map(str::to_owned)))
    }

    /// A message was read from a stream: any bytes.
    pub fn handle_message(&self, stream: StreamId, message: &[u8]) {
        self.shared.with(|state, now| state.core.handle_message(now, stream, message));
    }

    /// Bytes were read from a stream that are too many to be a message.
    pub fn handle_oversized(&self) {
        self.shared.with(|state, now| state.core.handle_oversized(now));
    }

    /// A stream has gone. Its call is lost, unless it has ended.
    pub fn stream_end(&self, stream: StreamId, cause: &str) {
        self.shared.stream_end(stream, cause);
    }
}

fn frame(now: Now, core: &mut Client, frame: &Frame<'_>) {
    match frame {
        Frame::Line(line) => core.handle_message(now, StreamId::SHARED, line),
        Frame::TooLong => core.handle_oversized(now),
    }
}

/// Keeps a waker; the old one is returned so that it can be dropped outside the lock.
fn keep(place: &mut Option<Waker>, cx: &Context<'_>) -> Option<Waker> {
    if place.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
        return None;
    }
    place.replace(cx.waker().clone())
}

impl Port for ClientConnection {
    fn feed(&self, framer: &mut Framer, chunk: &[u8]) -> usize {
        self.shared.with(|state, now| {
            let mut lines = framer.feed(chunk);
            while let Some(line) = lines.next() {
                frame(now, &mut state.core, &line);
            }
        });
        chunk.len()
    }

    fn input_end(&self, framer: &mut Framer) {
        self.shared.with(|state, now| {
            if let Some(line) = framer.finish() {
                frame(now, &mut state.core, &line);
            }
        });
        self.lost("the server closed the connection");
    }

    fn lost(&self, cause: &str) {
        self.stream_end(StreamId::SHARED, cause);
    }

    fn wants_input(&self) -> bool {
        !self.shared.is_closed()
    }

    fn poll_fill(&self, cx: &mut Context<'_>, out: &mut Vec<u8>, max: usize) -> Poll<()> {
        let _old: Option<Waker>;
        let start = out.len();
        let mut state = self.shared.lock();
        while out.len() - start < max && state.core.poll_transmit(StreamId::SHARED, out).is_some() {
            out.push(b'\n');
        }
        _old = keep(&mut state.transport, cx);
        drop(state);
        if out.len() > start { Poll::Ready(()) } else { Poll::Pending }
    }

    fn is_finished(&self) -> bool {
        // What was in flight when the client was closed is abandoned on the wire first.
        self.shared.is_closed() && !self.shared.lock().core.has_output()
    }

    fn is_closing(&self) -> bool {
        self.shared.is_closed()
    }

    fn next_timeout(&self) -> Option<Mono> {
        self.shared.next_deadline()
    }

    fn handle_timeout(&self) {
        self.shared.with(|state, now| state.core.handle_timeout(now));
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        self.lost("the transport was dropped");
    }
}

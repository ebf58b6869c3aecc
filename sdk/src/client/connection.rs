//! The transport's half of a client.

use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use sansio_mcp::client::{self as core, ClientKind, ClientTransmit, StreamId, TransportError};
use sansio_mcp::id::CallId;
use sansio_mcp::time::{Mono, Now};
use sansio_mcp::wire::{Frame, Framer};

use super::Client;
use super::shared::{Handle, Shared};
use crate::clock::Clock;
use crate::lines::Port;

/// The transport's half of a client: on a shared channel it is a [`Port`] for [`lines::pump`](crate::lines::pump); a
/// transport with a stream for each request uses the methods below, and the deadline of the port.
///
/// Dropping it ends every call as lost.
pub struct ClientConnection {
    shared: Arc<Shared>,
    handle: Weak<Handle>,
}

/// What a request is that waits to be taken from a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queued {
    /// A call.
    Call,
    /// A subscription, whose stream lasts.
    Listen,
}

/// The facts about a request that the HTTP binding repeats in headers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Head<'a> {
    /// Which call it is of.
    pub call: CallId,
    /// The method.
    pub method: &'a str,
    /// The tool, prompt or resource, where the call was described with it.
    pub target: Option<&'a str>,
    /// The revision of the specification.
    pub version: &'a str,
}

impl ClientConnection {
    pub(super) fn new(shared: Arc<Shared>, handle: Weak<Handle>) -> Self {
        Self { shared, handle }
    }

    /// The application's half, as long as somebody holds it or calls are open.
    pub fn client(&self) -> Option<Client> {
        self.handle.upgrade().map(|handle| Client { handle })
    }

    /// The clock that deadlines are measured with.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.shared.clock)
    }

    /// What waits to be taken from a stream, if that is a request: not if it was given up, or is in flight already.
    pub fn queued(&self, stream: StreamId) -> Option<Queued> {
        let (_, listen) = self.shared.lock().core.waiting_on(stream)?;
        Some(if listen { Queued::Listen } else { Queued::Call })
    }

    /// As [`transmit`](Self::transmit); a request is shown to `look` at the same time, while the client is locked: it must not
    /// use this connection or its client.
    pub fn transmit_with<T>(
        &self,
        stream: StreamId,
        out: &mut Vec<u8>,
        look: impl FnOnce(Head<'_>) -> T,
    ) -> Option<(ClientTransmit, Option<T>)> {
        let mut state = self.shared.lock();
        let core = &mut state.core;
        let transmit = core.poll_transmit(stream, out)?;
        let ClientKind::Request(call) = transmit.kind else { return Some((transmit, None)) };
        let head = Head {
            call,
            method: core.method(call).unwrap_or_default(),
            target: core.target(call),
            version: core.version(call).unwrap_or_default(),
        };
        let looked = look(head);
        Some((transmit, Some(looked)))
    }

    /// The transport mirrors arguments into headers: a call of a tool that is refused for them (-32020) waits to be
    /// [corrected](Self::corrected), and is told of by [`refused_headers`](Self::refused_headers).
    pub fn correct_headers(&self) {
        self.shared.lock().core.correct_headers();
    }

    /// A call that waits for its headers to be corrected. What makes one wait wakes the waker that
    /// [`poll_ready_stream`](Self::poll_ready_stream) kept.
    pub fn refused_headers(&self) -> Option<CallId> {
        self.shared.lock().refused.pop_front()
    }

    /// Headers were looked at again: the call is sent once more, or fails with the refusal where that would be of no use.
    pub fn corrected(&self, call: CallId, again: bool) {
        self.shared.with(|state, now| state.core.corrected(now, call, again));
    }

    /// Whether a call has not ended.
    pub fn is_open(&self, call: CallId) -> bool {
        self.shared.lock().core.state(call).is_some()
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

    /// A message was read from a stream: any bytes. Whether the request of that stream still waits for its answer, where each
    /// has a stream of its own.
    pub fn handle_message(&self, stream: StreamId, message: &[u8]) -> bool {
        self.shared.with(|state, now| {
            state.core.handle_message(now, stream, message);
            state.core.awaits(stream)
        })
    }

    /// What came on a stream of its own is no answer to its request, which fails with this error if it has not ended.
    pub fn stream_failure(&self, stream: StreamId, error: TransportError) {
        self.shared.with(|state, now| state.core.handle_stream_failure(now, stream, error));
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

fn frame(now: Now, core: &mut core::Client, frame: &Frame<'_>) {
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

//! What a transport holds of the engine.

use std::any::Any;
use std::sync::Arc;
use std::task::{Context, Poll};

use sansio_mcp::server::Transmit;
use sansio_mcp::time::Mono;
use sansio_mcp::wire::{Envelope, Frame, Framer, Malformed};

use super::channel::{ChannelId, Purpose, Terms};
use super::hub::Hub;
use crate::lines::Port;

/// One channel that all requests share. Dropping it ends the channel: everything running on it is cancelled,
/// its clean-up still runs.
#[must_use = "dropping a connection ends it"]
pub struct Connection {
    hub: Arc<Hub>,
    channel: ChannelId,
}

/// What a transport knows about an exchange when it opens it.
#[derive(Default)]
#[must_use = "options do nothing until an exchange is opened with them"]
pub struct ExchangeOptions {
    terms: Terms,
}

impl ExchangeOptions {
    /// Who is at the other end, verified; see [`Engine::connect_as`](super::Engine::connect_as).
    pub fn caller(mut self, caller: impl Into<Arc<[u8]>>) -> Self {
        self.terms.caller = Some(caller.into());
        self
    }

    /// Something that layers and handlers find with [`Context::get`](crate::server::Context::get) by its type, until the
    /// request is answered or its stream has gone: the head of an HTTP request, for one.
    pub fn attach<T: Any + Clone + Send + Sync>(mut self, value: T) -> Self {
        self.terms.attached = Some(Arc::new(value));
        self
    }

    /// The stream carries the answer and nothing before it. Handlers are told so
    /// ([`Context::carries_answer_only`](crate::server::Context::carries_answer_only)), their progress and logs are suppressed,
    /// and a subscription is refused.
    pub fn answer_only(mut self) -> Self {
        self.terms.answer_only = true;
        self
    }
}

/// What stands around each message of several that are taken together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Framing {
    /// In front of it.
    pub before: &'static [u8],
    /// Behind it.
    pub after: &'static [u8],
}

impl Framing {
    /// Nothing.
    pub const NONE: Self = Self::new(b"", b"");
    /// A line end behind each.
    pub const LINES: Self = Self::new(b"", b"\n");

    /// This in front of each message, and that behind it. A message is one line.
    pub const fn new(before: &'static [u8], after: &'static [u8]) -> Self {
        Self { before, after }
    }
}

/// What was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Filled {
    /// How many messages.
    pub messages: usize,
    /// What the last of them was.
    pub newest: Option<Transmit>,
}

impl Filled {
    /// There will be no more: the response was among them, or there was nothing any more.
    pub fn is_last(&self) -> bool {
        self.newest.is_none_or(|newest| newest.last)
    }
}

/// The stream of one request. Dropping it cancels the request, its clean-up still runs.
#[must_use = "dropping an exchange cancels its request"]
pub struct Exchange {
    hub: Arc<Hub>,
    channel: ChannelId,
}

impl Connection {
    pub(super) fn open(hub: &Arc<Hub>, caller: Option<Arc<[u8]>>) -> Self {
        let terms = Terms { caller, ..Terms::default() };
        let now = hub.now();
        let channel = hub.lock().open(&hub.config, Purpose::AllRequests, terms, now);
        Self { hub: Arc::clone(hub), channel }
    }

    /// A message was read: any bytes.
    pub fn handle_message(&self, message: &[u8]) {
        let now = self.hub.now();
        self.hub.lock().with_server(self.channel, |server| server.handle_message(now, message));
    }

    /// A message was read that is too long.
    pub fn handle_oversized(&self) {
        let now = self.hub.now();
        self.hub.lock().with_server(self.channel, |server| server.handle_malformed(now, Malformed::TooLong));
    }
}

impl Port for Connection {
    fn feed(&self, framer: &mut Framer, chunk: &[u8]) -> usize {
        let now = self.hub.now();
        let unread = self.hub.lock().with_server(self.channel, |server| {
            let mut frames = framer.feed(chunk);
            // One chunk may ask for more than may be unsent: its rest waits, it is not dropped.
            while server.wants_input()
                && let Some(frame) = frames.next()
            {
                match frame {
                    Frame::Line(line) => server.handle_message(now, line),
                    Frame::TooLong => server.handle_malformed(now, Malformed::TooLong),
                }
            }
            frames.unread()
        });
        chunk.len() - unread.unwrap_or(0)
    }

    fn input_end(&self, framer: &mut Framer) {
        let now = self.hub.now();
        self.hub.lock().with_server(self.channel, |server| {
            if let Some(Frame::Line(line)) = framer.finish() {
                server.handle_message(now, line);
            }
            server.handle_input_end(now);
        });
    }

    fn lost(&self, cause: &str) {
        tracing::debug!(cause, code = "LOST", "a channel was lost");
        let now = self.hub.now();
        self.hub.lock().with_server(self.channel, |server| server.handle_stream_end(now));
    }

    fn wants_input(&self) -> bool {
        self.hub.lock().wants_input(self.channel)
    }

    fn poll_fill(&self, cx: &mut Context<'_>, out: &mut Vec<u8>, max: usize) -> Poll<()> {
        let filled = self.hub.lock().fill(self.channel, out, max, Framing::LINES, cx.waker());
        if filled.messages == 0 { Poll::Pending } else { Poll::Ready(()) }
    }

    fn is_finished(&self) -> bool {
        self.hub.lock().server(self.channel).is_none_or(sansio_mcp::server::Server::is_finished)
    }

    fn is_closing(&self) -> bool {
        self.hub.lock().closing
    }

    fn next_timeout(&self) -> Option<Mono> {
        self.hub.lock().timeout(self.channel)
    }

    fn handle_timeout(&self) {
        let now = self.hub.now();
        self.hub.lock().with_server(self.channel, |server| server.handle_timeout(now));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let now = self.hub.now();
        self.hub.lock().close(self.channel, now);
    }
}

impl Exchange {
    pub(super) fn open(hub: &Arc<Hub>, options: ExchangeOptions) -> Self {
        let now = hub.now();
        let channel = hub.lock().open(&hub.config, Purpose::OneRequest, options.terms, now);
        Self { hub: Arc::clone(hub), channel }
    }

    /// The message of this stream was read: any bytes.
    pub fn handle_message(&self, message: &[u8]) {
        self.hub.lock().with_exchange(self.channel, |exchange| exchange.handle_message(message));
    }

    /// The message of this stream was read and parsed already.
    pub fn handle_envelope(&self, envelope: Envelope<'_>) {
        self.hub.lock().with_exchange(self.channel, |exchange| exchange.handle_envelope(envelope));
    }

    /// The message of this stream is too long.
    pub fn handle_oversized(&self) {
        self.hub.lock().with_exchange(self.channel, |exchange| exchange.handle_malformed(Malformed::TooLong));
    }

    /// Appends the next message, without anything around it, and tells what it is: from the first one a transport learns
    /// which form its answer takes. A long message that finds `out` empty is handed over without being copied. `None`:
    /// there will be none any more.
    pub fn poll_transmit(&self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<Option<Transmit>> {
        let filled = self.poll_fill(cx, out, 1, Framing::NONE);
        filled.map(|filled| filled.newest)
    }

    /// Appends all messages that are ready, each in its frame, until `out` holds about `max` bytes more: what is ready together
    /// goes out together. With no message: there will be none any more.
    pub fn poll_fill(
        &self,
        cx: &mut Context<'_>,
        out: &mut Vec<u8>,
        max: usize,
        frame: Framing,
    ) -> Poll<Filled> {
        let mut hub = self.hub.lock();
        let filled = hub.fill(self.channel, out, max, frame, cx.waker());
        if filled.messages > 0 {
            return Poll::Ready(filled);
        }
        let finished = hub.with_exchange(self.channel, |exchange| exchange.is_finished());
        if finished.unwrap_or(true) { Poll::Ready(filled) } else { Poll::Pending }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let now = self.hub.now();
        self.hub.lock().close(self.channel, now);
    }
}

//! What a transport holds of the engine.

use std::sync::Arc;
use std::task::{Context, Poll};

use sansio_mcp::time::Mono;
use sansio_mcp::wire::{Envelope, Frame, Framer, Malformed};

use super::channel::ChannelId;
use super::hub::Hub;
use crate::lines::Port;

/// One channel that all requests share. Dropping it ends the channel: everything running on it is cancelled,
/// its clean-up still runs.
#[must_use = "dropping a connection ends it"]
pub struct Connection {
    hub: Arc<Hub>,
    channel: ChannelId,
}

/// The stream of one request. Dropping it cancels the request, its clean-up still runs.
#[must_use = "dropping an exchange cancels its request"]
pub struct Exchange {
    hub: Arc<Hub>,
    channel: ChannelId,
}

impl Connection {
    pub(super) fn open(hub: Arc<Hub>, caller: Option<Arc<[u8]>>) -> Self {
        let channel = {
            let config = Arc::clone(&hub.config);
            let now = hub.now();
            hub.lock().open(&config, false, caller, now)
        };
        Self { hub, channel }
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
        let (count, _) = self.hub.lock().fill(self.channel, out, max, cx.waker());
        if count == 0 { Poll::Pending } else { Poll::Ready(()) }
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
    pub(super) fn open(hub: Arc<Hub>, caller: Option<Arc<[u8]>>) -> Self {
        let channel = {
            let config = Arc::clone(&hub.config);
            let now = hub.now();
            hub.lock().open(&config, true, caller, now)
        };
        Self { hub, channel }
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

    /// Appends messages, each with a line end, until `out` holds about `max` bytes. `Ready(true)`: the last
    /// of them was the response. `Ready(false)` with nothing appended: there will be none.
    pub fn poll_fill(&self, cx: &mut Context<'_>, out: &mut Vec<u8>, max: usize) -> Poll<bool> {
        let mut hub = self.hub.lock();
        let (count, last) = hub.fill(self.channel, out, max, cx.waker());
        if count > 0 {
            return Poll::Ready(last);
        }
        let finished = hub.with_exchange(self.channel, |exchange| exchange.is_finished());
        if finished.unwrap_or(true) { Poll::Ready(false) } else { Poll::Pending }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let now = self.hub.now();
        self.hub.lock().close(self.channel, now);
    }
}

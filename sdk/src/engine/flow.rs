//! What flows between a channel and its transport: whether to read on, what to write, when to look again.

use std::task::Waker;

use sansio_mcp::server::Server;
use sansio_mcp::time::Mono;

use super::channel::{ChannelId, Port};
use super::connection::{Filled, Framing};
use super::hub::HubState;
use super::signal::keep;

impl HubState {
    /// Looks at the shared port of a channel.
    pub(crate) fn server(&self, id: ChannelId) -> Option<&Server> {
        let channel = self.channels.get(id.index as usize)?.as_ref()?;
        match &channel.port {
            Port::Shared(server) if channel.generation == id.generation => Some(server),
            Port::Shared(_) | Port::Single(_) => None,
        }
    }

    /// Whether to read on. Not while the driver has yet to begin what it was given: reading is faster than
    /// running, and whatever is read beyond the queue would be refused although no handler is slow.
    pub(crate) fn wants_input(&mut self, id: ChannelId) -> bool {
        let wants = self.server(id).is_some_and(Server::wants_input);
        let pause = wants && !self.closing && !self.inbox.is_empty();
        if let Some(channel) = self.channel(id) {
            channel.paused = pause;
            // Once, however often it pauses and goes on before the driver comes round.
            if pause && !std::mem::replace(&mut channel.listed, true) {
                self.paused.push(id);
            }
        }
        wants && !pause
    }

    /// The driver has begun everything: channels may be read again.
    pub(super) fn resume(&mut self) {
        let mut paused = std::mem::take(&mut self.paused);
        paused.retain(|id| {
            let Some(channel) = self.channel(*id) else { return false };
            // One that left no waker yet hears of it when it does, or after what the driver is given until then.
            if channel.paused && channel.writer.is_none() {
                return true;
            }
            channel.listed = false;
            if std::mem::take(&mut channel.paused) {
                let writer = channel.writer.take();
                self.wakes.extend(writer);
            }
            false
        });
        self.paused = paused;
    }

    /// Appends what waits to be sent, each message in its frame, until there are about `max` new bytes. `waker` is kept
    /// for what comes next.
    pub(crate) fn fill(
        &mut self,
        id: ChannelId,
        out: &mut Vec<u8>,
        max: usize,
        frame: Framing,
        waker: &Waker,
    ) -> Filled {
        let mut filled = Filled::default();
        let Some(channel) = self.channel(id) else { return filled };
        let start = out.len();
        let framed = !frame.before.is_empty();
        while out.len() - start < max {
            // Nothing is written, and no room made, in front of a message that is not there.
            let unsent = if framed { channel.port.unsent_bytes() } else { 0 };
            if framed && unsent == 0 {
                break;
            }
            out.reserve(unsent.min(max));
            let before = out.len();
            out.extend_from_slice(frame.before);
            let transmit = match &mut channel.port {
                Port::Shared(server) => server.poll_transmit(out),
                Port::Single(exchange) => exchange.poll_transmit(out),
            };
            let Some(transmit) = transmit else {
                out.truncate(before);
                break;
            };
            out.extend_from_slice(frame.after);
            filled.messages += 1;
            filled.newest = Some(transmit);
        }
        let old = keep(&mut channel.writer, waker);
        let (held, paused, listening) = (channel.held, channel.paused, channel.subscriptions > 0);
        self.stale.extend(old);
        if paused && self.inbox.is_empty() {
            self.resume();
        }
        if listening {
            self.count_subscriptions(id);
        }
        if held {
            self.settle(id);
        }
        filled
    }

    /// The nearest deadline of a channel.
    pub(crate) fn timeout(&self, id: ChannelId) -> Option<Mono> {
        self.server(id)?.poll_timeout().map(sansio_mcp::server::Deadline::at)
    }
}

//! How requests on a shared channel end, and how the channel itself does.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::channel::{LARGE, Reading, Server};
use super::exchange::Input;
use super::outbox::KEEP;
use super::own::{OwnAnswers, enlist};
use super::serving::Ended;
use super::{ServerEvent, Stopped};
use crate::id::{RequestId, ServingId};
use crate::slab::Key;
use crate::time::Now;

/// Emptied outboxes kept for reuse.
const SPARE_OUTBOXES: usize = 256;

impl Server {
    /// The peer will send nothing more. What was accepted may finish within the grace time; then it is
    /// stopped (basic/transports/stdio, "Shutdown").
    pub fn handle_input_end(&mut self, now: Now) {
        self.tick(now);
        if self.input == Reading::Open {
            self.input = Reading::Ended;
            self.grace = Some(self.clock + self.config.limits.half_close_grace);
            self.end_subscriptions();
        }
    }

    /// The channel has gone: nothing can be sent, everything running is stopped.
    pub fn handle_stream_end(&mut self, now: Now) {
        self.tick(now);
        if self.input == Reading::Closed {
            return;
        }
        self.end_all(Input::StreamEnded, &Stopped::Lost);
        self.drop_output();
    }

    /// Time has passed. Early and repeated calls change nothing.
    pub fn handle_timeout(&mut self, now: Now) {
        self.tick(now);
        if self.grace.is_some_and(|grace| grace <= self.clock) {
            self.grace = None;
            self.end_all(Input::Closing, &Stopped::Closing);
        }
    }

    /// Stops everything and accepts nothing more. Answers that are queued may still be taken.
    pub fn close(&mut self, now: Now) {
        self.handle_input_end(now);
        self.grace = None;
        self.end_all(Input::Closing, &Stopped::Closing);
    }

    // Below: how.

    pub(super) fn cancelled(&mut self, id: &RequestId, reason: Option<Box<str>>) {
        if let Some(at) = self.by_id.get(id) {
            self.end(at, Input::PeerCancelled, || Stopped::Cancelled(reason));
        }
    }

    fn end_all(&mut self, input: Input, why: &Stopped) {
        let all: Vec<Key> = self.live.keys().collect();
        for at in all {
            self.end(at, input, || why.clone());
        }
    }

    fn end(&mut self, at: Key, input: Input, why: impl FnOnce() -> Stopped) {
        let Some(serving) = self.live.get_mut(at) else {
            return;
        };
        let before = serving.unsent();
        let ended = serving.end(input, &self.config);
        self.unsent = self.unsent + serving.unsent() - before;
        let answered = serving.has_output() && !core::mem::replace(&mut serving.listed, true);
        if answered {
            enlist(&mut self.ready, &self.live, at);
        }
        match ended {
            Ended::Stop => {
                self.forget(at);
                self.stops += 1;
                self.events.push_back(ServerEvent::Stopped { serving: ServingId::of(at), why: why() });
            }
            Ended::Withdrawn => self.forget(at),
            Ended::No => {}
        }
    }

    pub(super) fn forget(&mut self, at: Key) {
        if let Some(serving) = self.live.remove(at) {
            self.by_id.remove(serving.id());
            self.held -= serving.size;
            if serving.is_subscription() {
                self.subscriptions -= 1;
                self.named -= serving.named();
                self.listening.remove(&at);
            }
            if self.spare.len() < SPARE_OUTBOXES {
                let keep = if self.spare.is_empty() { LARGE } else { KEEP };
                self.spare.push(serving.into_outbox(keep));
            }
        }
    }

    fn drop_output(&mut self) {
        let rest: Vec<Key> = self.live.keys().collect();
        for at in rest {
            self.forget(at);
        }
        self.unsent = 0;
        self.own = OwnAnswers::default();
        self.ready = VecDeque::new();
        self.spare = Vec::new();
        self.spare_requests = Vec::new();
        self.grace = None;
        self.input = Reading::Closed;
    }
}

//! What goes to the server: attempts in order, and before them what there is to say about abandoned ones.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::call::{Input, State, step};
use super::calls::Client;
use super::config::{Abandon, Routing};
use super::deadline::{Timer, Why};
use super::event::{ClientKind, ClientTransmit, StreamId};
use super::render;
use crate::id::CallId;
use crate::slab::Key;

/// What waits to be sent.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// Attempts that were abandoned in flight, by id, and the reason to give. Sent before everything else.
    pub(super) abandoned: BTreeMap<i64, Option<Box<str>>>,
    /// The same in order. May name some whose stream has gone, or that were sent without being announced.
    pub(super) farewells: VecDeque<i64>,
    /// Attempts in order. May name some that were withdrawn.
    pub(super) attempts: VecDeque<i64>,
    /// Attempts that are really queued.
    pub(super) queued: usize,
    /// Bytes of their params.
    pub(super) bytes: usize,
}

impl Client {
    /// A stream on which something can be sent. With a stream per request each is named once for each message,
    /// whatever becomes of the others; those to be abandoned come first.
    pub fn poll_ready_stream(&mut self) -> Option<StreamId> {
        if self.config.routing == Routing::Shared {
            return self.has_output().then_some(StreamId::SHARED);
        }
        while let Some(id) = self.out.farewells.pop_front() {
            if self.out.abandoned.contains_key(&id) {
                return Some(stream_of(id));
            }
        }
        loop {
            let id = self.out.attempts.pop_front()?;
            if self.queued(id).is_some() {
                return Some(stream_of(id));
            }
        }
    }

    /// Appends the next message of a stream to `out`, without a line end. Cancellations come first.
    pub fn poll_transmit(&mut self, stream: StreamId, out: &mut Vec<u8>) -> Option<ClientTransmit> {
        let shared = self.config.routing == Routing::Shared;
        if shared != (stream == StreamId::SHARED) {
            return None;
        }
        let named = i64::try_from(stream.0).ok()?;
        if !self.out.abandoned.is_empty()
            && let Some(transmit) = self.farewell(shared, named, out)
        {
            return Some(transmit);
        }
        let (id, at) = if shared {
            loop {
                let id = self.out.attempts.pop_front()?;
                if let Some(at) = self.queued(id) {
                    break (id, at);
                }
            }
        } else {
            (named, self.queued(named)?)
        };
        let call = self.calls.get_mut(at)?;
        let revision = self.config.revisions.get(usize::from(call.revision))?;
        render::request(out, id, &call.spec, revision, call.retry.as_ref());
        call.state = step(call.state, Input::Taken).0;
        self.out.queued -= 1;
        self.out.bytes -= call.weight();
        let last = !shared && self.config.abandon == Abandon::CloseStream;
        Some(ClientTransmit { kind: ClientKind::Request(CallId::of(at)), last })
    }

    /// The call whose attempt `id` is queued.
    pub(super) fn queued(&self, id: i64) -> Option<Key> {
        let at = self.ids.owner(id)?;
        matches!(self.calls.get(at)?.state, State::Queued(_)).then_some(at)
    }

    /// What there is to say about an abandoned attempt: the first of all, or that of the stream `named`.
    fn farewell(&mut self, shared: bool, named: i64, out: &mut Vec<u8>) -> Option<ClientTransmit> {
        let (id, reason) = if shared {
            loop {
                let id = self.out.farewells.pop_front()?;
                if let Some(reason) = self.out.abandoned.remove(&id) {
                    break (id, reason);
                }
            }
        } else {
            (named, self.out.abandoned.remove(&named)?)
        };
        let kind = match self.config.abandon {
            Abandon::Notify => {
                render::cancelled(out, id, reason.as_deref());
                ClientKind::Notification
            }
            Abandon::CloseStream => ClientKind::CloseStream,
        };
        Some(ClientTransmit { kind, last: !shared })
    }

    pub(super) fn abandon(&mut self, id: i64, reason: Option<&str>) {
        if self.out.farewells.len() >= self.out.abandoned.len() * 2 + 64 {
            let abandoned = &self.out.abandoned;
            self.out.farewells.retain(|id| abandoned.contains_key(id));
        }
        self.out.abandoned.insert(id, reason.map(Into::into));
        self.out.farewells.push_back(id);
    }

    /// Queues an attempt: a new id, the deadlines running.
    pub(super) fn send(&mut self, at: Key) {
        if self.out.attempts.len() >= self.out.queued * 2 + 64 {
            let (ids, calls) = (&self.ids, &self.calls);
            self.out.attempts.retain(|id| {
                let owner = ids.owner(*id).and_then(|at| calls.get(at));
                owner.is_some_and(|call| matches!(call.state, State::Queued(_)))
            });
        }
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        let id = self.ids.issue(at);
        self.out.attempts.push_back(id);
        self.out.queued += 1;
        self.out.bytes += call.weight();
        call.attempt = Some(id);
        call.last_progress = None;
        call.newest = None;
        let idle = call.spec.idle.map(|idle| self.clock + idle);
        call.deadlines.idle = idle;
        let mut total = None;
        if call.deadlines.total.is_none() {
            total = call.deadlines.total_left.take().map(|left| self.clock + left);
            call.deadlines.total = total;
        }
        if let Some(idle) = idle {
            self.arm(idle, Timer { call: at, why: Why::Idle });
        }
        if let Some(total) = total {
            self.arm(total, Timer { call: at, why: Why::Total });
        }
    }
}

pub(super) fn stream_of(id: i64) -> StreamId {
    StreamId(u64::try_from(id).unwrap_or(0))
}

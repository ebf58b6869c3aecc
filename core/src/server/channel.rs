//! A channel that all requests share.

use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::ServerEvent;
use super::body::{EncodeError, ErrorReply, ResultBody};
use super::config::ServerConfig;
use super::exchange::State;
use super::ids::Ids;
use super::method::Method;
use super::outbox::Outbox;
use super::own::{OwnAnswers, enlist};
use super::request::Request;
use super::serving::{Progress, Reported, Serving};
use super::subscribed::Subscribed;
use super::transmit::{Status, Transmit};
use super::triage::{Answer, Triage, triage};
use crate::id::{RequestId, ServingId};
use crate::misuse::Misuse;
use crate::slab::{Key, Slab};
use crate::time::{Mono, Now};
use crate::violation::{PeerViolation, Waiting};
use crate::wire::known::{Known, KnownMeta};
use crate::wire::{Envelope, Malformed};

/// Requests kept for reuse, and the bytes that each may hold.
const SPARE_REQUESTS: usize = 64;
const SPARE_REQUEST_SIZE: usize = 4096;
/// Bytes that one spare outbox and one spare request may hold in place of that, so that large messages, one after
/// another, do not ask the allocator for new pages each time.
pub(super) const LARGE: usize = 128 * 1024;

/// A point in time that a server waits for, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Deadline {
    /// Accepted requests that are still running then are stopped.
    HalfCloseGrace(Mono),
}

impl Deadline {
    /// When it is due.
    pub fn at(self) -> Mono {
        match self {
            Self::HalfCloseGrace(at) => at,
        }
    }
}

/// The server's half of one shared channel. See the [module](super).
#[derive(Debug)]
pub struct Server {
    pub(super) config: Arc<ServerConfig>,
    pub(super) live: Slab<Serving>,
    pub(super) by_id: Ids,
    /// Those with something to send, in turn. May name some that have nothing any more.
    pub(super) ready: VecDeque<Key>,
    /// What the engine says by itself; sent before everything else.
    pub(super) own: OwnAnswers,
    pub(super) events: VecDeque<ServerEvent>,
    /// Stops among `events`.
    pub(super) stops: usize,
    violations: Waiting,
    /// Unsent bytes of all that is live.
    pub(super) unsent: usize,
    /// Subscriptions in `live`; those that were acknowledged.
    pub(super) subscriptions: usize,
    pub(super) listening: BTreeSet<Key>,
    /// Resources that they name.
    pub(super) named: usize,
    /// Bytes that the requests of all that is live hold.
    pub(super) held: usize,
    pub(super) spare: Vec<Outbox>,
    pub(super) spare_requests: Vec<Arc<Request>>,
    /// What the client said of itself in its first request, and most probably says in each.
    known: Option<KnownMeta>,
    pub(super) clock: Mono,
    pub(super) grace: Option<Mono>,
    pub(super) input: Reading,
}

/// What may still come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    Open,
    /// The peer sends nothing more; answers may still go out.
    Ended,
    /// Nothing goes in or out any more.
    Closed,
}

impl Server {
    /// A fresh channel.
    pub fn new(config: Arc<ServerConfig>) -> Self {
        Self {
            config,
            live: Slab::new(),
            by_id: Ids::default(),
            ready: VecDeque::new(),
            own: OwnAnswers::default(),
            events: VecDeque::new(),
            stops: 0,
            violations: Waiting::default(),
            unsent: 0,
            subscriptions: 0,
            listening: BTreeSet::new(),
            named: 0,
            held: 0,
            spare: Vec::new(),
            spare_requests: Vec::new(),
            known: None,
            clock: Mono::ZERO,
            grace: None,
            input: Reading::Open,
        }
    }

    // Facts.

    /// Requests not yet answered or stopped; an answer counts until it is taken, the engine's own too.
    pub fn in_flight(&self) -> usize {
        self.live.len()
    }

    /// Bytes that wait to be sent.
    pub fn unsent_bytes(&self) -> usize {
        self.unsent + self.own.untracked.len()
    }

    /// The reader is far behind: start no more work for this channel.
    pub fn is_congested(&self) -> bool {
        self.unsent_bytes() >= self.config.limits.congested_bytes
    }

    /// Whether to read on. False while too many bytes are unsent, and after the end of input.
    pub fn wants_input(&self) -> bool {
        self.input == Reading::Open && self.unsent_bytes() < self.config.limits.outgoing_bytes
    }

    /// Something can be sent.
    pub fn has_output(&self) -> bool {
        self.unsent_bytes() > 0
    }

    /// Nothing will happen any more: input has ended, and everything accepted is answered or stopped.
    pub fn is_finished(&self) -> bool {
        match self.input {
            Reading::Open => false,
            Reading::Ended => self.live.is_empty() && self.own.untracked.is_empty() && self.events.is_empty(),
            Reading::Closed => self.events.is_empty(),
        }
    }

    /// Violations that were dropped because nobody collected those before them.
    pub fn dropped_violations(&self) -> u64 {
        self.violations.dropped()
    }

    /// Whether a request may still be answered.
    pub fn is_running(&self, serving: ServingId) -> bool {
        self.live.get(serving.key()).is_some_and(|serving| serving.state() == State::Running)
    }

    // World in.

    /// A message was read: any bytes.
    pub fn handle_message(&mut self, now: Now, message: &[u8]) {
        let mut envelope = Envelope::unread();
        match envelope.read(message, Known { meta: self.known.as_ref(), ..Known::default() }) {
            Ok(()) => self.handle(now, &mut envelope),
            Err(why) => self.handle_malformed(now, why),
        }
    }

    /// A message was read and parsed already.
    pub fn handle_envelope(&mut self, now: Now, mut envelope: Envelope<'_>) {
        self.handle(now, &mut envelope);
    }

    fn handle(&mut self, now: Now, envelope: &mut Envelope<'_>) {
        self.tick(now);
        if self.input != Reading::Open {
            return;
        }
        if self.known.is_none() {
            self.known = KnownMeta::learn(envelope);
        }
        let outcome = triage(&self.config, envelope, &mut self.spare_requests);
        let flooded = self.unsent_bytes() >= self.config.limits.outgoing_bytes;
        match outcome {
            // A cancel makes room: it is heard whatever waits.
            Triage::Cancel { id, reason } => self.cancelled(&id, reason),
            Triage::Ignore => {}
            Triage::Violation(violation) => self.violation(violation),
            Triage::Answer(..) | Triage::Serve(_) if flooded => self.violation(PeerViolation::Flood),
            Triage::Answer(id, _) if self.by_id.contains(&id) => {
                self.violation(PeerViolation::DuplicateId);
            }
            Triage::Answer(id, answer) => {
                if let Some(violation) = answer.violation() {
                    self.violation(violation);
                }
                self.answer(id, &answer);
            }
            Triage::Serve(request) => self.accept(request),
        }
    }

    /// Something was read that is not a message, or too long to be one.
    pub fn handle_malformed(&mut self, now: Now, why: Malformed) {
        self.tick(now);
        if self.input != Reading::Open {
            return;
        }
        if self.unsent_bytes() >= self.config.limits.outgoing_bytes {
            self.violation(PeerViolation::Flood);
            return;
        }
        self.own.not_a_message(why);
        self.violation(PeerViolation::NotAMessage);
    }

    // Application in.

    /// Reports progress of a running request. A request that asked for none costs nothing.
    ///
    /// # Errors
    /// The request is over, or a number is not finite.
    pub fn progress(&mut self, serving: ServingId, report: &Progress<'_>) -> Result<Reported, Misuse> {
        self.with(serving, |_, request| request.progress(report))
    }

    /// Sends a notification for a running request, behind what is queued for it: a line of its log
    /// (`notifications/message`, if the request asked for a level), or one of an extension. `params` are the members
    /// of its params, separated by commas, without the braces. Returns false if it was dropped because
    /// [`MAX_UNSENT_BYTES`](crate::limits::MAX_UNSENT_BYTES) wait to be sent for this request already.
    ///
    /// # Errors
    /// The request is over.
    pub fn notify(&mut self, serving: ServingId, method: &str, params: &[u8]) -> Result<bool, Misuse> {
        self.with(serving, |_, request| request.notify(method, params))
    }

    /// Answers a request with a result.
    ///
    /// # Errors
    /// The request is over; inside, the result could not be encoded and -32603 was sent in its place.
    pub fn respond(
        &mut self,
        serving: ServingId,
        result: &(impl ResultBody + ?Sized),
    ) -> Result<Result<(), EncodeError>, Misuse> {
        self.with(serving, |config, request| {
            request.not_a_subscription()?;
            request.respond(&config.server_info, result)
        })
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// The request is over.
    pub fn refuse(
        &mut self,
        serving: ServingId,
        status: Status,
        error: &ErrorReply<'_>,
    ) -> Result<(), Misuse> {
        self.with(serving, |_, request| request.refuse(status, error))
    }

    /// Takes back a request that the application has done with: its memory serves the next. Nothing depends on it.
    pub fn reclaim(&mut self, mut request: Arc<Request>) {
        let keep = if self.spare_requests.is_empty() { LARGE } else { SPARE_REQUEST_SIZE };
        if self.input == Reading::Open
            && self.spare_requests.len() < SPARE_REQUESTS
            && request.held() <= keep
            && Arc::get_mut(&mut request).is_some()
        {
            self.spare_requests.push(request);
        }
    }

    // Out.

    /// Appends the next message to `out`, without a line end. The engine's own answers come first, then one
    /// message of each request in turn.
    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(kind) = self.own.untracked.pop(out) {
            return Some(Transmit { kind, last: true });
        }
        loop {
            let at = self.own.ready.pop_front().or_else(|| self.ready.pop_front())?;
            let Some(serving) = self.live.get_mut(at) else {
                continue;
            };
            serving.listed = false;
            let before = serving.unsent();
            let Some(transmit) = serving.poll_transmit(out) else {
                continue;
            };
            self.unsent -= before - serving.unsent();
            if transmit.last {
                self.forget(at);
            } else if serving.has_output() {
                serving.listed = true;
                self.ready.push_back(at);
            }
            return Some(transmit);
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        let event = self.events.pop_front()?;
        match &event {
            ServerEvent::Request { .. } => {}
            ServerEvent::Stopped { .. } => self.stops -= 1,
            ServerEvent::Violation(_) => self.violations.taken(),
        }
        Some(event)
    }

    /// The next deadline. There is none when no request is left for it to stop.
    pub fn poll_timeout(&self) -> Option<Deadline> {
        self.grace.filter(|_| !self.live.is_empty()).map(Deadline::HalfCloseGrace)
    }

    // Below: how.

    /// The peer may say more.
    pub(super) fn is_reading(&self) -> bool {
        self.input == Reading::Open
    }

    /// A request holds more bytes than before.
    pub(super) fn grow(&mut self, bytes: usize) {
        self.held += bytes;
    }

    pub(super) fn tick(&mut self, now: Now) {
        self.clock = self.clock.max(now.mono);
    }

    fn accept(&mut self, request: Arc<Request>) {
        if self.by_id.contains(request.wire_id()) {
            self.violation(PeerViolation::DuplicateId);
            return;
        }
        let id = request.wire_id().clone();
        let size = request.held();
        let subscription = *request.method() == Method::SubscriptionsListen;
        let fits = self.held == 0 || self.held + size <= self.config.limits.in_flight_bytes;
        if !self.has_room() || !fits || subscription && self.subscriptions >= self.config.limits.subscriptions
        {
            return self.too_many(id);
        }
        let outbox = self.spare.pop().unwrap_or_default();
        let mut serving = Serving::new(id.clone(), request.progress_token().cloned(), size, outbox);
        serving.may_ask = request.method().takes_input() != Some(false);
        serving.subscribed = subscription.then(|| Box::new(Subscribed::new()));
        let Some(at) = self.live.insert(serving) else { return self.too_many(id) };
        self.held += size;
        self.subscriptions += usize::from(subscription);
        self.by_id.insert(id, at);
        self.events.push_back(ServerEvent::Request { serving: ServingId::of(at), request });
    }

    /// Whether one more request may be in flight. A stopped one counts until its stop was polled: a peer that cancels
    /// what it asks must not fill memory, and what it asked is not over before its handler was told.
    pub(super) fn has_room(&self) -> bool {
        self.live.len() + self.stops < self.config.limits.in_flight
    }

    fn too_many(&mut self, id: RequestId) {
        self.answer(id, &Answer::busy(self.live.len()));
        self.violation(PeerViolation::TooManyRequests);
    }

    fn violation(&mut self, violation: PeerViolation) {
        if self.violations.may_wait() {
            self.events.push_back(ServerEvent::Violation(violation));
        }
    }

    /// Gives a command to a request and notes what it has to send.
    pub(super) fn with<T>(
        &mut self,
        serving: ServingId,
        command: impl FnOnce(&ServerConfig, &mut Serving) -> Result<T, Misuse>,
    ) -> Result<T, Misuse> {
        self.with_key(serving.key(), command)
    }

    pub(super) fn with_key<T>(
        &mut self,
        at: Key,
        command: impl FnOnce(&ServerConfig, &mut Serving) -> Result<T, Misuse>,
    ) -> Result<T, Misuse> {
        let request = self.live.get_mut(at).ok_or(Misuse::Over)?;
        let before = request.unsent();
        let done = command(&self.config, request)?;
        self.unsent = self.unsent + request.unsent() - before;
        if request.has_output() && !core::mem::replace(&mut request.listed, true) {
            enlist(&mut self.ready, &self.live, at);
        }
        Ok(done)
    }
}

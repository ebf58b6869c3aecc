//! The container around the table: ids, streams, deadlines, limits.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::call::{Count, Effect, Input, State, step};
use super::config::ClientConfig;
use super::deadline::{ClientDeadline, Deadlines, Timer, Why};
use super::event::{ClientEvent, InputAnswer, Outcome, PeerError, Received, StreamId, Timeout};
use super::ids::Issued;
use super::listening::{self, Listening};
use super::logs::Logs;
use super::outgoing::Outgoing;
use super::render::Retry;
use super::spec::{CallSpec, Refused};
use crate::id::CallId;
use crate::limits::retry_pause;
use crate::misuse::Misuse;
use crate::slab::{Key, Slab};
use crate::time::{Mono, Now};
use crate::timers::Timers;
use crate::violation::{PeerViolation, Waiting};
use crate::wire::known::{Known, KnownResultMeta};
use crate::wire::{Envelope, Message, write};

/// The client's half of a connection. See the [module](super).
#[derive(Debug)]
pub struct Client {
    pub(super) config: Arc<ClientConfig>,
    pub(super) calls: Slab<Call>,
    pub(super) ids: Issued,
    timers: Timers<Timer>,
    pub(super) out: Outgoing,
    pub(super) events: VecDeque<ClientEvent>,
    /// Events taken so far: the place of an event is counted from the first ever.
    pub(super) taken: u64,
    /// Ends of calls among `events`.
    ends: usize,
    violations: Waiting,
    pub(super) logs: Logs,
    pub(super) clock: Mono,
    closed: bool,
    /// Which of the configured revisions new calls are made under.
    pub(super) revision: u8,
    /// Somebody corrects headers that were refused.
    pub(super) corrects_headers: bool,
    result_meta: KnownResultMeta,
}

/// One logical call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) state: State,
    pub(super) spec: CallSpec,
    pub(super) retry: Option<Retry>,
    /// The id of the attempt that is queued or in flight.
    pub(super) attempt: Option<i64>,
    /// Which of the configured revisions the attempt is made under.
    pub(super) revision: u8,
    pub(super) deadlines: Deadlines,
    pub(super) last_progress: Option<f64>,
    /// Progress events that wait for the application, and where the newest of this attempt is.
    pub(super) waiting: usize,
    pub(super) newest: Option<u64>,
    /// What it listens to, if it is a subscription.
    pub(super) listening: Option<Box<Listening>>,
    /// The error that is being corrected.
    pub(super) refusal: Option<Box<PeerError>>,
}

impl Call {
    /// The bytes that its attempt adds to those of the engine.
    pub(super) fn weight(&self) -> usize {
        let retry = self
            .retry
            .as_ref()
            .map_or(0, |retry| retry.responses.len() + retry.state.as_deref().map_or(0, str::len));
        self.spec.members.len() + self.spec.meta.len() + retry
    }
}

impl Client {
    /// A fresh connection.
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self {
            config,
            calls: Slab::new(),
            ids: Issued::new(),
            timers: Timers::new(),
            out: Outgoing::default(),
            events: VecDeque::new(),
            taken: 0,
            ends: 0,
            violations: Waiting::default(),
            logs: Logs::default(),
            clock: Mono::ZERO,
            closed: false,
            revision: 0,
            corrects_headers: false,
            result_meta: KnownResultMeta::default(),
        }
    }

    // Facts.

    /// Calls that have not finished.
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }

    /// Something can be sent.
    pub fn has_output(&self) -> bool {
        self.out.queued > 0 || !self.out.abandoned.is_empty()
    }

    /// The method of a call.
    pub fn method(&self, call: CallId) -> Option<&str> {
        self.calls.get(call.key()).map(|call| &*call.spec.method)
    }

    /// What a call is addressed to within its method: the tool, prompt or resource.
    pub fn target(&self, call: CallId) -> Option<&str> {
        self.calls.get(call.key()).and_then(|call| call.spec.target())
    }

    /// Where a call stands; `None` when it has finished.
    pub fn state(&self, call: CallId) -> Option<State> {
        self.calls.get(call.key()).map(|call| call.state)
    }

    /// Violations that were dropped because nobody collected those before them.
    pub fn dropped_violations(&self) -> u64 {
        self.violations.dropped()
    }

    /// Log messages that were dropped because nobody collected those before them.
    pub fn dropped_logs(&self) -> u64 {
        self.logs.dropped()
    }

    /// Nothing can be called any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    // World in.

    /// A message was read from a stream: any bytes. What cannot be parsed is dropped; a client never answers.
    pub fn handle_message(&mut self, now: Now, stream: StreamId, message: &[u8]) {
        let mut envelope = Envelope::unread();
        let known = Known { result_meta: self.result_meta.get(), ..Known::default() };
        if envelope.read(message, known).is_ok() {
            self.handle(now, stream, &mut envelope);
        } else {
            self.handle_oversized(now);
        }
    }

    /// A message was read from a stream and parsed already.
    pub fn handle_envelope(&mut self, now: Now, stream: StreamId, mut envelope: Envelope<'_>) {
        self.handle(now, stream, &mut envelope);
    }

    fn handle(&mut self, now: Now, stream: StreamId, envelope: &mut Envelope<'_>) {
        self.tick(now);
        if self.closed {
            return;
        }
        let result = envelope.result_text();
        if let Some(meta) = result.and_then(|result| result.meta) {
            self.result_meta.learn(meta.get());
        }
        let (line, message) = envelope.parts_mut();
        match message {
            Message::Request { .. } => self.violation(PeerViolation::RequestToClient),
            Message::Response(response) => self.response(stream, Received { line, result }, response),
            Message::Notification { method, params } => match &**method {
                "notifications/progress" => match params {
                    Ok(Some(params)) => self.progress(stream, params),
                    _ => self.violation(PeerViolation::MalformedProgress),
                },
                "notifications/message" => self.logged(stream, line),
                method => {
                    if let Some(what) = listening::what(method) {
                        self.told(stream, line, what);
                    }
                }
            },
        }
    }

    /// Bytes were read that are too many to be a message.
    pub fn handle_oversized(&mut self, now: Now) {
        self.tick(now);
        if !self.closed {
            self.violation(PeerViolation::NotAMessage);
        }
    }

    /// Time has passed. Early and repeated calls change nothing.
    pub fn handle_timeout(&mut self, now: Now) {
        self.tick(now);
        while let Some((at, timer)) = self.timers.pop_due(self.clock) {
            let due = self.calls.get(timer.call).and_then(|call| call.deadlines.due(timer.why));
            match due {
                None => {}
                // It was moved on since it was armed.
                Some(due) if due > at && timer.why == Why::Idle => self.arm(due, timer),
                Some(due) if due != at => {}
                Some(_) => match timer.why {
                    Why::Idle => self.timed_out(timer.call, Timeout::Idle),
                    Why::Total => self.timed_out(timer.call, Timeout::Total),
                    Why::Retry => {
                        if let Some(call) = self.calls.get_mut(timer.call) {
                            call.deadlines.retry = None;
                        }
                        self.apply(timer.call, Input::RetryDue, |_| Outcome::Closed);
                    }
                },
            }
        }
        self.settle();
    }

    // Application in.

    /// Makes a call.
    ///
    /// # Errors
    /// A limit is reached or the channel has ended; nothing was sent.
    pub fn call(&mut self, now: Now, spec: CallSpec) -> Result<CallId, Refused> {
        self.begin(now, spec, None)
    }

    pub(super) fn begin(
        &mut self,
        now: Now,
        spec: CallSpec,
        listening: Option<Box<Listening>>,
    ) -> Result<CallId, Refused> {
        self.tick(now);
        if self.closed {
            return Err(Refused::Closed);
        }
        let limits = self.config.limits;
        // Ends that were not collected count too: an application that never looks must not fill memory.
        if self.calls.len() + self.ends >= limits.calls {
            return Err(Refused::TooManyCalls);
        }
        if self.out.bytes + spec.members.len() + spec.meta.len() > limits.outgoing_bytes {
            return Err(Refused::TooManyBytes);
        }
        let deadlines = Deadlines { total_left: spec.total, ..Deadlines::default() };
        let log = spec.log_level;
        let call = Call {
            state: State::Queued(Count::default()),
            spec,
            retry: None,
            attempt: None,
            revision: self.revision,
            deadlines,
            last_progress: None,
            waiting: 0,
            newest: None,
            listening,
            refusal: None,
        };
        let at = self.calls.insert(call).ok_or(Refused::TooManyCalls)?;
        if let Some(level) = log {
            self.logs.asked(level, at);
        }
        self.send(at);
        Ok(CallId::of(at))
    }

    /// Answers the questions of a call that waits for input. The peer sees the answers as they are.
    ///
    /// # Errors
    /// The call is over, is not waiting for input, or an answer is not an object.
    pub fn answer(&mut self, now: Now, call: CallId, answers: &[InputAnswer<'_>]) -> Result<(), Misuse> {
        self.tick(now);
        let at = call.key();
        let waiting = self.calls.get_mut(at).ok_or(Misuse::Over)?;
        if !matches!(waiting.state, State::AwaitingInput(_)) {
            return Err(Misuse::NotAsked);
        }
        if answers.iter().any(|answer| !answer.result.is_object()) {
            return Err(Misuse::NotAnObject);
        }
        let mut responses = Vec::from([b'{']);
        for (n, answer) in answers.iter().enumerate() {
            if n > 0 {
                responses.push(b',');
            }
            write::string(&mut responses, answer.key);
            responses.push(b':');
            write::raw(&mut responses, answer.result.get());
        }
        responses.push(b'}');
        waiting.retry.get_or_insert_default().responses = responses;
        self.apply(at, Input::Answered, |_| Outcome::Closed);
        Ok(())
    }

    /// Gives up on a call. If an attempt is in flight, the peer is told.
    ///
    /// # Errors
    /// The call is over.
    pub fn cancel(&mut self, now: Now, call: CallId, reason: Option<&str>) -> Result<(), Misuse> {
        self.tick(now);
        let at = call.key();
        if self.calls.get(at).is_none() {
            return Err(Misuse::Over);
        }
        self.apply_with(at, Input::Cancel, reason, |_| Outcome::Cancelled);
        Ok(())
    }

    /// Ends every call; nothing can be called any more. What is in flight is abandoned: the peer can still be told.
    pub fn close(&mut self, now: Now) {
        self.tick(now);
        self.finish_all(Input::Cancel, &Outcome::Closed);
    }

    // Out.

    /// The next event.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        let event = self.events.pop_front()?;
        self.taken += 1;
        match &event {
            ClientEvent::Progress { call, .. } => {
                if let Some(call) = self.calls.get_mut(call.key()) {
                    call.waiting -= 1;
                }
            }
            ClientEvent::Violation(_) => self.violations.taken(),
            ClientEvent::Finished { .. } => self.ends -= 1,
            ClientEvent::Changed { call, change } => {
                let call = self.calls.get_mut(call.key()).and_then(|call| call.listening.as_mut());
                if let Some(listening) = call {
                    listening.taken(change.as_change());
                }
            }
            ClientEvent::Log { message, .. } => self.logs.taken(message),
            ClientEvent::InputRequired { .. }
            | ClientEvent::Listening { .. }
            | ClientEvent::HeadersRefused { .. } => {}
        }
        Some(event)
    }

    /// The next deadline. It may turn out to have been moved on; then handling it changes nothing but the
    /// next.
    pub fn poll_timeout(&self) -> Option<ClientDeadline> {
        self.timers.next().map(|(at, timer)| ClientDeadline::of(at, timer.why))
    }

    // Below: how.

    pub(super) fn tick(&mut self, now: Now) {
        self.clock = self.clock.max(now.mono);
    }

    pub(super) fn violation(&mut self, violation: PeerViolation) {
        if self.violations.may_wait() {
            self.events.push_back(ClientEvent::Violation(violation));
        }
    }

    pub(super) fn arm(&mut self, due: Mono, timer: Timer) {
        let calls = &self.calls;
        self.timers.arm(due, timer, |at, timer| live(calls, at, timer));
    }

    pub(super) fn settle(&mut self) {
        let calls = &self.calls;
        self.timers.settle(|at, timer| live(calls, at, timer));
    }

    fn timed_out(&mut self, at: Key, which: Timeout) {
        self.apply_with(at, Input::Deadline, Some("timed out"), |_| Outcome::TimedOut(which));
    }

    pub(super) fn apply(&mut self, at: Key, input: Input, outcome: impl FnOnce(&mut Call) -> Outcome) {
        self.apply_with(at, input, None, outcome);
    }

    /// Gives an input to a call and does what the table says. `outcome` is how the call ended if this ends it.
    fn apply_with(
        &mut self,
        at: Key,
        input: Input,
        reason: Option<&str>,
        outcome: impl FnOnce(&mut Call) -> Outcome,
    ) {
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        let (state, effect) = step(call.state, input);
        call.state = state;
        match effect {
            Effect::None | Effect::Misuse | Effect::Ask | Effect::PassOn | Effect::Correct => {}
            Effect::Send => self.send(at),
            Effect::Pause => {
                let round = match state {
                    State::BackingOff(count) => count.round,
                    _ => 0,
                };
                let due = self.clock + retry_pause(round);
                call.deadlines.retry = Some(due);
                call.deadlines.idle = None;
                self.arm(due, Timer { call: at, why: Why::Retry });
            }
            Effect::Stray => self.violation(PeerViolation::UnknownResponse),
            Effect::Finish => {
                let outcome = outcome(call);
                self.finish(at, outcome);
            }
            Effect::FinishRoundsExceeded => self.finish(at, Outcome::RoundsExceeded),
            Effect::WithdrawAndFinish => {
                self.out.queued -= 1;
                self.out.bytes -= call.weight();
                let outcome = outcome(call);
                self.finish(at, outcome);
            }
            Effect::AbandonAndFinish => {
                let outcome = outcome(call);
                if let Some(level) = call.spec.log_level {
                    self.logs.abandoned(level);
                }
                if let Some(id) = call.attempt {
                    self.abandon(id, reason);
                }
                self.finish(at, outcome);
            }
        }
    }

    fn finish(&mut self, at: Key, outcome: Outcome) {
        if let Some(mut call) = self.calls.remove(at) {
            if let Some(listening) = &mut call.listening {
                listening.end();
            }
            if let Some(id) = call.attempt {
                self.ids.retire(id);
            }
            if let Some(level) = call.spec.log_level {
                self.logs.over(level, at);
            }
            self.ends += 1;
            self.events.push_back(ClientEvent::Finished { call: CallId::of(at), outcome });
            self.settle();
        }
    }

    pub(super) fn finish_all(&mut self, input: Input, outcome: &Outcome) {
        if self.closed {
            return;
        }
        self.closed = true;
        let all: Vec<Key> = self.calls.keys().collect();
        for at in all {
            self.apply(at, input, |_| outcome.clone());
        }
        self.timers.clear();
    }
}

/// Whether an armed deadline is still wanted. An idle deadline is moved on with every progress; the entry
/// armed first stands for all of its moves.
fn live(calls: &Slab<Call>, at: Mono, timer: Timer) -> bool {
    let due = calls.get(timer.call).and_then(|call| call.deadlines.due(timer.why));
    match timer.why {
        Why::Idle => due.is_some_and(|due| due >= at),
        Why::Total | Why::Retry => due == Some(at),
    }
}

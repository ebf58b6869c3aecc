//! The container around the table: ids, streams, deadlines, limits.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::call::{Count, Effect, Input, State, step};
use super::config::{Abandon, ClientConfig, Routing};
use super::deadline::{ClientDeadline, Deadlines, Timer, Why};
use super::event::{
    Answer, ClientEvent, ClientKind, ClientTransmit, InputAnswer, Outcome, PeerError, Question, StreamId,
    Timeout,
};
use super::ids::Issued;
use super::render::{self, Retry};
use super::spec::{CallSpec, Refused};
use crate::code::wire;
use crate::id::{CallId, ProgressToken, RequestId};
use crate::limits::{MAX_WAITING_PROGRESS, retry_pause};
use crate::misuse::Misuse;
use crate::slab::{Key, Slab};
use crate::time::{Mono, Now};
use crate::timers::Timers;
use crate::violation::{PeerViolation, Waiting};
use crate::wire::params::is_object;
use crate::wire::{Envelope, ErrorHead, Message, Params, Response, ResultHead, write};

/// The client's half of a connection. See the [module](super).
#[derive(Debug)]
pub struct Client {
    config: Arc<ClientConfig>,
    calls: Slab<Call>,
    ids: Issued,
    timers: Timers<Timer>,
    out: Outgoing,
    events: VecDeque<ClientEvent>,
    /// Events taken so far: the place of an event is counted from the first ever.
    taken: u64,
    /// Ends of calls among `events`.
    ends: usize,
    violations: Waiting,
    clock: Mono,
    closed: bool,
}

/// One logical call.
#[derive(Debug)]
struct Call {
    state: State,
    spec: CallSpec,
    retry: Option<Retry>,
    /// The id of the attempt that is queued or in flight.
    attempt: Option<i64>,
    /// Which of the configured revisions the attempt is made under.
    revision: u8,
    deadlines: Deadlines,
    last_progress: Option<f64>,
    /// Progress events that wait for the application, and where the newest of this attempt is.
    waiting: usize,
    newest: Option<u64>,
}

impl Call {
    /// The bytes that its attempt adds to those of the engine.
    fn weight(&self) -> usize {
        let retry = self
            .retry
            .as_ref()
            .map_or(0, |retry| retry.responses.len() + retry.state.as_deref().map_or(0, str::len));
        self.spec.members.len() + self.spec.meta.len() + retry
    }
}

/// What waits to be sent.
#[derive(Debug, Default)]
struct Outgoing {
    /// Attempts that were abandoned in flight, by id, and the reason to give. Sent before everything else.
    abandoned: BTreeMap<i64, Option<Box<str>>>,
    /// The same in order. May name some whose stream has gone, or that were sent without being announced.
    farewells: VecDeque<i64>,
    /// Attempts in order. May name some that were withdrawn.
    attempts: VecDeque<i64>,
    /// Attempts that are really queued.
    queued: usize,
    /// Bytes of their params.
    bytes: usize,
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
            clock: Mono::ZERO,
            closed: false,
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
        self.calls.get(key(call)).map(|call| &*call.spec.method)
    }

    /// What a call is addressed to within its method: the tool.
    pub fn target(&self, call: CallId) -> Option<&str> {
        self.calls.get(key(call)).and_then(|call| call.spec.target())
    }

    /// Where a call stands; `None` when it has finished.
    pub fn state(&self, call: CallId) -> Option<State> {
        self.calls.get(key(call)).map(|call| call.state)
    }

    /// Violations that were dropped because nobody collected those before them.
    pub fn dropped_violations(&self) -> u64 {
        self.violations.dropped()
    }

    /// Nothing can be called any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    // World in.

    /// A message was read from a stream: any bytes. What cannot be parsed is dropped; a client never answers.
    pub fn handle_message(&mut self, now: Now, stream: StreamId, message: &[u8]) {
        if let Ok(envelope) = Envelope::parse(message) {
            self.handle_envelope(now, stream, envelope);
        } else {
            self.handle_oversized(now);
        }
    }

    /// A message was read from a stream and parsed already.
    pub fn handle_envelope(&mut self, now: Now, stream: StreamId, envelope: Envelope<'_>) {
        self.tick(now);
        if self.closed {
            return;
        }
        let (line, message) = envelope.into_parts();
        match message {
            Message::Request { .. } => self.violation(PeerViolation::RequestToClient),
            Message::Response(response) => self.response(stream, line, response),
            Message::Notification { method, params } => {
                if &*method == "notifications/progress" {
                    match params {
                        Ok(Some(params)) => self.progress(stream, &params),
                        _ => self.violation(PeerViolation::MalformedProgress),
                    }
                }
            }
        }
    }

    /// Bytes were read that are too many to be a message.
    pub fn handle_oversized(&mut self, now: Now) {
        self.tick(now);
        if !self.closed {
            self.violation(PeerViolation::NotAMessage);
        }
    }

    /// A stream has gone: its attempt is lost. If it was the shared channel, every call is, and nothing can
    /// be called any more.
    pub fn handle_stream_end(&mut self, now: Now, stream: StreamId, cause: &str) {
        self.tick(now);
        let cause: Arc<str> = cause.into();
        if stream == StreamId::SHARED {
            self.finish_all(Input::Lost, &Outcome::Lost(cause));
            return;
        }
        if self.config.routing == Routing::Shared {
            return;
        }
        let Ok(id) = i64::try_from(stream.0) else {
            return;
        };
        // Nothing can be said on it any more.
        self.out.abandoned.remove(&id);
        if let Some(at) = self.ids.owner(id) {
            self.apply(at, Input::Lost, |_| Outcome::Lost(cause));
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
        let call = Call {
            state: State::Queued(Count::default()),
            spec,
            retry: None,
            attempt: None,
            revision: 0,
            deadlines,
            last_progress: None,
            waiting: 0,
            newest: None,
        };
        let at = self.calls.insert(call).ok_or(Refused::TooManyCalls)?;
        self.send(at);
        Ok(call_id(at))
    }

    /// Answers the questions of a call that waits for input. The peer sees the answers as they are.
    ///
    /// # Errors
    /// The call is over, is not waiting for input, or an answer is not an object.
    pub fn answer(&mut self, now: Now, call: CallId, answers: &[InputAnswer<'_>]) -> Result<(), Misuse> {
        self.tick(now);
        let at = key(call);
        let waiting = self.calls.get_mut(at).ok_or(Misuse::Over)?;
        if !matches!(waiting.state, State::AwaitingInput(_)) {
            return Err(Misuse::NotAsked);
        }
        if answers.iter().any(|answer| !is_object(answer.result)) {
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
        let at = key(call);
        if self.calls.get(at).is_none() {
            return Err(Misuse::Over);
        }
        self.apply_with(at, Input::Cancel, reason, |_| Outcome::Cancelled);
        Ok(())
    }

    /// Ends every call; nothing can be called any more.
    pub fn close(&mut self, now: Now) {
        self.tick(now);
        self.finish_all(Input::Lost, &Outcome::Closed);
    }

    // Out.

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
        Some(ClientTransmit { kind: ClientKind::Request(call_id(at)), last })
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        let event = self.events.pop_front()?;
        self.taken += 1;
        match &event {
            ClientEvent::Progress { call, .. } => {
                if let Some(call) = self.calls.get_mut(key(*call)) {
                    call.waiting -= 1;
                }
            }
            ClientEvent::Violation(_) => self.violations.taken(),
            ClientEvent::Finished { .. } => self.ends -= 1,
            ClientEvent::InputRequired { .. } => {}
        }
        Some(event)
    }

    /// The next deadline. It may turn out to have been moved on; then handling it changes nothing but the
    /// next.
    pub fn poll_timeout(&self) -> Option<ClientDeadline> {
        self.timers.next().map(|(at, timer)| ClientDeadline::of(at, timer.why))
    }

    // Below: how.

    fn tick(&mut self, now: Now) {
        self.clock = self.clock.max(now.mono);
    }

    fn violation(&mut self, violation: PeerViolation) {
        if self.violations.may_wait() {
            self.events.push_back(ClientEvent::Violation(violation));
        }
    }

    /// The call whose attempt `id` is queued.
    fn queued(&self, id: i64) -> Option<Key> {
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

    fn abandon(&mut self, id: i64, reason: Option<&str>) {
        if self.out.farewells.len() >= self.out.abandoned.len() * 2 + 64 {
            let abandoned = &self.out.abandoned;
            self.out.farewells.retain(|id| abandoned.contains_key(id));
        }
        self.out.abandoned.insert(id, reason.map(Into::into));
        self.out.farewells.push_back(id);
    }

    /// Queues an attempt: a new id, the deadlines running.
    fn send(&mut self, at: Key) {
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

    fn arm(&mut self, due: Mono, timer: Timer) {
        let calls = &self.calls;
        self.timers.arm(due, timer, |at, timer| live(calls, at, timer));
    }

    fn settle(&mut self) {
        let calls = &self.calls;
        self.timers.settle(|at, timer| live(calls, at, timer));
    }

    fn timed_out(&mut self, at: Key, which: Timeout) {
        self.apply_with(at, Input::Deadline, Some("timed out"), |_| Outcome::TimedOut(which));
    }

    fn apply(&mut self, at: Key, input: Input, outcome: impl FnOnce(&mut Call) -> Outcome) {
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
                if let Some(id) = call.attempt {
                    self.abandon(id, reason);
                }
                self.finish(at, outcome);
            }
        }
    }

    fn finish(&mut self, at: Key, outcome: Outcome) {
        if let Some(call) = self.calls.remove(at) {
            if let Some(id) = call.attempt {
                self.ids.retire(id);
            }
            self.ends += 1;
            self.events.push_back(ClientEvent::Finished { call: call_id(at), outcome });
            self.settle();
        }
    }

    fn finish_all(&mut self, input: Input, outcome: &Outcome) {
        if self.closed {
            return;
        }
        self.closed = true;
        let all: Vec<Key> = self.calls.keys().collect();
        for at in all {
            self.apply(at, input, |_| outcome.clone());
        }
        self.timers.clear();
        self.out = Outgoing::default();
    }

    /// The call that a response or progress for the attempt `id` on `stream` belongs to.
    fn owner(&self, stream: StreamId, id: i64) -> Result<Key, Option<PeerViolation>> {
        if self.config.routing == Routing::PerRequest
            && (stream == StreamId::SHARED || stream_of(id) != stream)
        {
            return Err(Some(PeerViolation::WrongStream));
        }
        // What comes late for something that is over is dropped silently.
        let late = self.ids.was_issued(id);
        self.ids.owner(id).ok_or((!late).then_some(PeerViolation::UnknownResponse))
    }

    fn response(&mut self, stream: StreamId, line: &str, response: Response<'_>) {
        let id = match response.id {
            Some(RequestId::Int(id)) => id,
            Some(RequestId::Str(_)) | None => return self.violation(PeerViolation::UnknownResponse),
        };
        let at = match self.owner(stream, id) {
            Ok(at) => at,
            Err(violation) => {
                return violation.into_iter().for_each(|violation| self.violation(violation));
            }
        };
        match response.outcome {
            Ok(result) => self.result(at, line, &result),
            Err(error) => self.error(at, &error),
        }
    }

    fn result(&mut self, at: Key, line: &str, result: &ResultHead<'_>) {
        let bad =
            |this: &mut Self, violation| this.apply(at, Input::Invalid, |_| Outcome::BadPeer(violation));
        if !result.well_formed {
            return bad(self, PeerViolation::MalformedResult);
        }
        match result.result_type.as_deref() {
            None | Some("complete") => {
                self.apply(at, Input::Complete, |call| {
                    // The call is over, so its members are of no more use.
                    Outcome::Complete(Answer::keep(line, core::mem::take(&mut call.spec.members)))
                });
            }
            Some("input_required") => self.input_required(at, result),
            Some(_) => bad(self, PeerViolation::UnknownResultType),
        }
    }

    fn input_required(&mut self, at: Key, result: &ResultHead<'_>) {
        let bad =
            |this: &mut Self, violation| this.apply(at, Input::Invalid, |_| Outcome::BadPeer(violation));
        let Some(call) = self.calls.get(at) else { return };
        if !matches!(&*call.spec.method, "tools/call" | "prompts/get" | "resources/read") {
            return bad(self, PeerViolation::InputNotAllowed);
        }
        if result.input_requests.is_none() && result.request_state.is_none() {
            return bad(self, PeerViolation::InputWithoutContent);
        }
        let questions = match result.input_requests.map(|raw| questions(raw.get())) {
            Some(Some(questions)) if questions.is_empty() && result.request_state.is_none() => {
                return bad(self, PeerViolation::InputWithoutContent);
            }
            Some(Some(questions)) => questions,
            Some(None) => return bad(self, PeerViolation::MalformedResult),
            None => Vec::new(),
        };
        let input = if questions.is_empty() { Input::SendsState } else { Input::AsksInput };
        self.apply(at, input, |_| Outcome::Closed);
        let clock = self.clock;
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        let round = match call.state {
            State::AwaitingInput(count) | State::BackingOff(count) => count.round,
            State::Queued(_) | State::InFlight(_) | State::Correcting(_) | State::Done => return,
        };
        // The attempt is over; the next has an id of its own.
        if let Some(id) = call.attempt.take() {
            self.ids.retire(id);
        }
        let state = result.request_state.as_deref().map(Into::into);
        call.retry = Some(Retry { responses: Vec::new(), state });
        if input == Input::AsksInput {
            // The ball is ours: neither deadline runs while a person thinks.
            call.deadlines.idle = None;
            call.deadlines.total_left = call.deadlines.total.take().map(|total| total.since(clock));
            self.events.push_back(ClientEvent::InputRequired { call: call_id(at), round, questions });
        }
        self.settle();
    }

    fn error(&mut self, at: Key, error: &ErrorHead<'_>) {
        let outcome = |_: &mut Call| {
            Outcome::Error(PeerError {
                code: error.code,
                message: error.message.to_string(),
                data: error.data.map(|data| data.get().into()),
            })
        };
        let next = (error.code == wire::UNSUPPORTED_VERSION).then(|| self.mutual(at, error)).flatten();
        let Some(next) = next else {
            return self.apply(at, Input::Failed, outcome);
        };
        self.apply(at, Input::Correctable, outcome);
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        if matches!(call.state, State::Correcting(_)) {
            call.revision = next;
            if let Some(id) = call.attempt.take() {
                self.ids.retire(id);
            }
            self.apply(at, Input::Corrected, |_| Outcome::Closed);
        }
    }

    /// The first of our revisions that the server supports and that this attempt was not made under.
    fn mutual(&self, at: Key, error: &ErrorHead<'_>) -> Option<u8> {
        #[derive(serde::Deserialize)]
        struct Data<'a> {
            #[serde(borrow)]
            supported: Vec<alloc::borrow::Cow<'a, str>>,
        }
        let data: Data<'_> = serde_json::from_str(error.data?.get()).ok()?;
        let tried = self.calls.get(at)?.revision;
        let supported = |version: &str| data.supported.iter().any(|supported| supported == version);
        let next = self
            .config
            .revisions
            .iter()
            .enumerate()
            .find(|(n, revision)| *n != usize::from(tried) && supported(&revision.version));
        next.and_then(|(n, _)| u8::try_from(n).ok())
    }

    fn progress(&mut self, stream: StreamId, params: &Params<'_>) {
        let (Some(token), Some(progress)) = (&params.progress_token, params.progress) else {
            return self.violation(PeerViolation::MalformedProgress);
        };
        let ProgressToken::Int(id) = token else {
            return self.violation(PeerViolation::UnknownToken);
        };
        let at = match self.owner(stream, *id) {
            Ok(at) => at,
            Err(None) => return,
            Err(Some(PeerViolation::WrongStream)) => return self.violation(PeerViolation::WrongStream),
            Err(Some(_)) => return self.violation(PeerViolation::UnknownToken),
        };
        let clock = self.clock;
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        if !call.spec.progress || !matches!(call.state, State::InFlight(_)) {
            return self.violation(PeerViolation::UnknownToken);
        }
        let rises = call.last_progress.is_none_or(|last| progress > last);
        let input = if rises { Input::Progress } else { Input::StaleProgress };
        let (state, effect) = step(call.state, input);
        call.state = state;
        if effect != Effect::PassOn {
            return self.violation(PeerViolation::ProgressNotIncreasing);
        }
        call.last_progress = Some(progress);
        // The timer armed earlier finds the deadline moved on and arms itself again.
        call.deadlines.idle = call.spec.idle.map(|idle| clock + idle);
        let message = params.message.as_ref().map(|message| (**message).into());
        let event = ClientEvent::Progress { call: call_id(at), progress, total: params.total, message };
        // Never in place of an earlier attempt's: what happened in between would come out of order.
        let newest = call
            .newest
            .filter(|_| call.waiting >= MAX_WAITING_PROGRESS)
            .and_then(|newest| usize::try_from(newest.checked_sub(self.taken)?).ok());
        if let Some(place) = newest.and_then(|newest| self.events.get_mut(newest)) {
            *place = event;
        } else {
            call.waiting += 1;
            call.newest = Some(self.taken + self.events.len() as u64);
            self.events.push_back(event);
        }
    }
}

/// The questions of a round, in order; `None` if they are not an object of objects.
fn questions(raw: &str) -> Option<Vec<Question>> {
    let requests: crate::model::InputRequests = serde_json::from_str(raw).ok()?;
    let questions = requests.iter().map(|(key, request)| {
        let request = serde_json::to_string(request).ok()?;
        Some(Question { key: key.into(), request: request.into() })
    });
    questions.collect()
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

fn stream_of(id: i64) -> StreamId {
    StreamId(u64::try_from(id).unwrap_or(0))
}

fn key(call: CallId) -> Key {
    (call.index, call.generation)
}

fn call_id((index, generation): Key) -> CallId {
    CallId { index, generation }
}

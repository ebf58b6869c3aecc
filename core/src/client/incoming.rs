//! What comes from the server, and which call it is for.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::call::{Effect, Input, State, step};
use super::calls::{Call, Client};
use super::config::Routing;
use super::event::{Answer, ClientEvent, Outcome, PeerError, Question, Received, StreamId};
use super::outgoing::stream_of;
use super::render::Retry;
use crate::code::wire;
use crate::id::{CallId, ProgressToken, RequestId};
use crate::limits::MAX_WAITING_PROGRESS;
use crate::model::may_ask;
use crate::slab::Key;
use crate::violation::PeerViolation;
use crate::wire::{ErrorHead, Params, Response, ResultHead};

impl Client {
    /// The call that a response or progress for the attempt `id` on `stream` belongs to.
    pub(super) fn owner(&self, stream: StreamId, id: i64) -> Result<Key, Option<PeerViolation>> {
        if self.config.routing == Routing::PerRequest
            && (stream == StreamId::SHARED || stream_of(id) != stream)
        {
            return Err(Some(PeerViolation::WrongStream));
        }
        // What comes late for something that is over is dropped silently.
        let late = self.ids.was_issued(id);
        self.ids.owner(id).ok_or((!late).then_some(PeerViolation::UnknownResponse))
    }

    pub(super) fn response(&mut self, stream: StreamId, text: Received<'_>, response: &Response<'_>) {
        let id = match response.id {
            Some(RequestId::Int(id)) => id,
            // On a stream with one request alone it can only be meant for that one.
            None if self.config.routing == Routing::PerRequest
                && response.outcome.is_err()
                && stream != StreamId::SHARED =>
            {
                i64::try_from(stream.0).unwrap_or_default()
            }
            Some(RequestId::Str(_)) | None => return self.violation(PeerViolation::UnknownResponse),
        };
        let at = match self.owner(stream, id) {
            Ok(at) => at,
            Err(violation) => {
                return violation.into_iter().for_each(|violation| self.violation(violation));
            }
        };
        self.learn(at, &response.outcome);
        match &response.outcome {
            Ok(result) => self.result(at, text, result),
            Err(error) => self.error(at, error),
        }
    }

    fn result(&mut self, at: Key, text: Received<'_>, result: &ResultHead<'_>) {
        let bad =
            |this: &mut Self, violation| this.apply(at, Input::Invalid, |_| Outcome::BadPeer(violation));
        if !result.well_formed {
            return bad(self, PeerViolation::MalformedResult);
        }
        match result.result_type.as_deref() {
            None | Some("complete") => {
                self.apply(at, Input::Complete, |call| {
                    // The call is over, so its members are of no more use.
                    let members = core::mem::take(&mut call.spec.members);
                    Outcome::Complete(Answer::keep(text, members, call.retry.is_some()))
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
        if !may_ask(&call.spec.method) {
            return bad(self, PeerViolation::InputNotAllowed);
        }
        let questions = result.input_requests.map_or(Some(Vec::new()), |raw| questions(raw.get()));
        let Some(questions) = questions else { return bad(self, PeerViolation::MalformedResult) };
        if questions.is_empty() && result.request_state.is_none() {
            return bad(self, PeerViolation::InputWithoutContent);
        }
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
            self.events.push_back(ClientEvent::InputRequired { call: CallId::of(at), round, questions });
        }
        self.settle();
    }

    /// A corrected attempt that is answered, and not with another refusal of its revision, has found the one to go on with.
    fn learn(&mut self, at: Key, outcome: &Result<ResultHead<'_>, ErrorHead<'_>>) {
        let refused = matches!(outcome, Err(error) if error.code == wire::UNSUPPORTED_VERSION);
        if let Some(call) = self.calls.get(at)
            && matches!(call.state, State::InFlight(count) if count.corrected)
            && !refused
        {
            self.revision = call.revision;
        }
    }

    fn error(&mut self, at: Key, error: &ErrorHead<'_>) {
        let refusal = || PeerError {
            code: error.code,
            message: error.message.to_string(),
            data: error.data.map(|data| data.get().into()),
        };
        let outcome = |_: &mut Call| Outcome::Error(refusal());
        if error.code == wire::HEADER_MISMATCH
            && self.corrects_headers
            && self.calls.get(at).is_some_and(|call| call.spec.method == "tools/call")
        {
            self.apply(at, Input::Correctable, outcome);
            if let Some(call) = self.calls.get_mut(at)
                && matches!(call.state, State::Correcting(_))
            {
                call.refusal = Some(refusal().into());
                if let Some(id) = call.attempt.take() {
                    self.ids.retire(id);
                }
                self.events.push_back(ClientEvent::HeadersRefused { call: CallId::of(at) });
            }
            return;
        }
        // A subscription that was acknowledged is past correcting: this ends it.
        let active =
            self.calls.get(at).and_then(|call| call.listening.as_ref()).is_some_and(|l| l.is_active());
        let correctable = error.code == wire::UNSUPPORTED_VERSION && !active;
        let next = correctable.then(|| self.mutual(at, error)).flatten();
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

    /// The first of our revisions that the server supports: another than this attempt's if there is one. A server that
    /// refuses a revision and lists it, one replica of several for example, is asked again under it.
    fn mutual(&self, at: Key, error: &ErrorHead<'_>) -> Option<u8> {
        #[derive(serde::Deserialize)]
        struct Data<'a> {
            #[serde(borrow)]
            supported: Vec<alloc::borrow::Cow<'a, str>>,
        }
        let data: Data<'_> = serde_json::from_str(error.data?.get()).ok()?;
        let tried = self.calls.get(at)?.revision;
        let supported = |version: &str| data.supported.iter().any(|supported| supported == version);
        let ours = &self.config.revisions;
        let mut mutual =
            (0u8..).zip(ours).filter(|(_, revision)| supported(&revision.version)).map(|(n, _)| n);
        let first = mutual.next()?;
        Some(if first == tried { mutual.next().unwrap_or(first) } else { first })
    }

    pub(super) fn progress(&mut self, stream: StreamId, params: &Params<'_>) {
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
        let event = ClientEvent::Progress { call: CallId::of(at), progress, total: params.total, message };
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

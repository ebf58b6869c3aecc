//! All questions of a round, answered at the same time within whatever polls the call.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sansio_mcp::model::{InputError, InputParams, InputRequest, RawJson};
use sansio_mcp::time::Mono;
use sansio_mcp::violation::PeerViolation;

use super::{Answering, InputFailure, Inputs, Question};
use crate::client::error::CallError;
use crate::client::extra::Asked;
use crate::clock::{Clock, Sleep};

/// Questions of one round. Nobody answers that many; each costs a future.
const MAX_QUESTIONS: usize = 64;

/// Answers by the keys of their questions.
type Answers = Vec<(Box<str>, RawJson)>;

/// A round under way. Dropping it withdraws what is not answered.
pub(in crate::client) struct Round {
    open: Vec<(Box<str>, Answering<RawJson>)>,
    answers: Answers,
    deadline: Option<(Mono, Sleep)>,
}

impl Round {
    /// Begins to answer. Unless all questions can be answered none is put to anybody.
    pub(in crate::client) fn begin(
        inputs: &Inputs,
        asked: Asked,
        within: Option<Duration>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, CallError> {
        if asked.questions.len() > MAX_QUESTIONS {
            return Err(CallError::BadPeer(PeerViolation::TooManyQuestions));
        }
        let Asked { round, questions, method, target } = asked;
        let mut jobs = Vec::with_capacity(questions.len());
        for question in questions {
            let request: InputRequest =
                question.read().map_err(|_| CallError::BadPeer(PeerViolation::MalformedQuestion))?;
            let checked = request.typed().and_then(|params| {
                // Nobody is sent to what is no URL.
                if let InputParams::Url(visit) = &params {
                    visit.check()?;
                }
                Ok(params)
            });
            let params = checked.map_err(|error| match error {
                InputError::Method(_) => CallError::InputUnsupported,
                error => {
                    tracing::debug!(%error, key = %question.key, "a question cannot be read");
                    CallError::BadPeer(PeerViolation::MalformedQuestion)
                }
            })?;
            let key = question.key.clone();
            let about = Question {
                params: (),
                round,
                key: question.key,
                method: method.clone(),
                target: target.clone(),
            };
            jobs.push((key, inputs.answer(params, &about).ok_or(CallError::InputUnsupported)?));
        }
        tracing::debug!(round, questions = jobs.len(), "the server asks for input");
        let mut this = Self { open: Vec::with_capacity(jobs.len()), answers: Vec::new(), deadline: None };
        for (key, job) in jobs {
            match catch_unwind(AssertUnwindSafe(job)) {
                Ok(answering) => this.open.push((key, answering)),
                Err(panic) => return Err(this.fail(&key, panicked(panic))),
            }
        }
        this.deadline = within.map(|within| {
            let at = clock.now().mono + within;
            (at, clock.sleep_until(at))
        });
        Ok(this)
    }

    /// All answers by key, or the first failure; the other questions are withdrawn then.
    pub(in crate::client) fn poll(
        &mut self,
        clock: &Arc<dyn Clock>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Answers, CallError>> {
        let mut at = 0;
        while let Some((_, answering)) = self.open.get_mut(at) {
            let answered = match catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(cx))) {
                Ok(Poll::Pending) => {
                    at += 1;
                    continue;
                }
                Ok(Poll::Ready(answered)) => answered,
                Err(panic) => Err(panicked(panic)),
            };
            // Its destructor is the application's code too.
            let (key, done) = self.open.remove(at);
            contained(move || drop(done));
            match answered {
                Ok(answer) => self.answers.push((key, answer)),
                Err(failure) => return Poll::Ready(Err(self.fail(&key, failure))),
            }
        }
        if self.open.is_empty() {
            return Poll::Ready(Ok(mem::take(&mut self.answers)));
        }
        while let Some((at, sleep)) = &mut self.deadline {
            if clock.now().mono >= *at {
                self.withdraw();
                return Poll::Ready(Err(CallError::InputTimedOut));
            }
            if sleep.as_mut().poll(cx).is_pending() {
                break;
            }
            // It may wake early.
            if clock.now().mono < *at {
                *sleep = clock.sleep_until(*at);
            }
        }
        Poll::Pending
    }

    fn fail(&mut self, key: &str, failure: InputFailure) -> CallError {
        self.withdraw();
        tracing::debug!(%failure, key, "a question could not be answered");
        CallError::InputFailed(failure.into_reason())
    }

    fn withdraw(&mut self) {
        for (_, open) in self.open.drain(..) {
            contained(move || drop(open));
        }
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        self.withdraw();
    }
}

fn panicked(panic: Box<dyn std::any::Any + Send>) -> InputFailure {
    // What was thrown may throw again when it is dropped.
    contained(move || drop(panic));
    InputFailure::panicked()
}

/// Runs the application's code; a panic is logged.
pub(in crate::client) fn contained(code: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(code)) {
        tracing::warn!("a handler or callback of the client panicked");
        let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
    }
}

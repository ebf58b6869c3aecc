//! One request that is being served: the table of [`exchange`](super::exchange) with what hangs on it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::convert::Infallible;

use super::body::{self, EncodeError, ErrorReply, ResultBody};
use super::config::ServerConfig;
use super::exchange::{Effect, Input, State, step};
use super::outbox::{KEEP, Outbox};
use super::subscribed::Subscribed;
use super::transmit::{Kind, Status, Transmit};
use super::triage::Answer;
use crate::code::wire;
use crate::id::{ProgressToken, RequestId};
use crate::limits::MAX_UNSENT_BYTES;
use crate::misuse::Misuse;

/// What became of a report of progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reported {
    /// It will be sent.
    Queued,
    /// The reader is slow: it will be sent in place of the one before it.
    Replaced,
    /// The request did not ask for progress; nothing was done.
    NotAsked,
    /// Not greater than what was reported before; not sent.
    NotIncreasing,
}

/// One report of progress (basic/patterns/progress).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// How far the work is, in any unit; increases with each report.
    pub progress: f64,
    /// How far it will be at the end, in the same unit, if that is known.
    pub total: Option<f64>,
    /// For a person.
    pub message: Option<&'a str>,
}

impl<'a> Progress<'a> {
    /// A report without total and message.
    pub fn new(progress: f64) -> Self {
        Self { progress, total: None, message: None }
    }

    /// Adds the value at the end of the work.
    #[must_use]
    pub fn of(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Adds a text for a person.
    #[must_use]
    pub fn message(mut self, message: &'a str) -> Self {
        self.message = Some(message);
        self
    }
}

/// How an input that ends a request left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    /// Its handler is to be stopped.
    Stop,
    /// Its handler had answered; the answer was withdrawn.
    Withdrawn,
    /// Nothing changed.
    No,
}

#[derive(Debug)]
pub(super) struct Serving {
    state: State,
    pub(super) id: RequestId,
    token: Option<ProgressToken>,
    /// The greatest progress reported.
    last: Option<f64>,
    pub(super) outbox: Outbox,
    /// What hangs on it if it is a subscription.
    pub(super) subscribed: Option<Box<Subscribed>>,
    /// Its method may be answered with a question.
    pub(super) may_ask: bool,
    /// Bytes that its request holds.
    pub(super) size: usize,
    /// It stands in its server's list of those with something to send.
    pub(super) listed: bool,
}

impl Serving {
    pub(super) fn new(id: RequestId, token: Option<ProgressToken>, size: usize, outbox: Outbox) -> Self {
        Self {
            state: State::Running,
            id,
            token,
            last: None,
            outbox,
            subscribed: None,
            may_ask: false,
            size,
            listed: false,
        }
    }

    /// One that the engine answers itself.
    pub(super) fn answered(id: RequestId, answer: &Answer, config: &ServerConfig, outbox: Outbox) -> Self {
        let mut serving = Self::new(id, None, 0, outbox);
        serving.state = step(serving.state, Input::Respond).0;
        serving.push(answer.status(), |out, id| answer.write(out, id, config));
        serving
    }

    pub(super) fn id(&self) -> &RequestId {
        &self.id
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn unsent(&self) -> usize {
        self.outbox.len()
    }

    pub(super) fn has_output(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Its outbox, empty, with at most `keep` bytes of memory.
    pub(super) fn into_outbox(mut self, keep: usize) -> Outbox {
        self.outbox.clear(keep);
        self.outbox
    }

    pub(super) fn progress(&mut self, report: &Progress<'_>) -> Result<Reported, Misuse> {
        if !report.progress.is_finite() || report.total.is_some_and(|total| !total.is_finite()) {
            return Err(Misuse::NotFinite);
        }
        let rises = self.last.is_none_or(|last| report.progress > last);
        let input = if rises { Input::Progress } else { Input::StaleProgress };
        let (state, effect) = step(self.state, input);
        self.state = state;
        match effect {
            Effect::Queue => {
                let Some(token) = &self.token else {
                    return Ok(Reported::NotAsked);
                };
                self.last = Some(report.progress);
                let replaced = self.outbox.push_progress(|out| {
                    body::progress(out, token, report.progress, report.total, report.message);
                });
                Ok(if replaced { Reported::Replaced } else { Reported::Queued })
            }
            Effect::Drop => {
                Ok(if self.token.is_some() { Reported::NotIncreasing } else { Reported::NotAsked })
            }
            Effect::Misuse | Effect::None | Effect::Withdraw | Effect::WithdrawAndStop => Err(Misuse::Over),
        }
    }

    /// Queues a notification, unless too much waits to be sent.
    pub(super) fn notify(&mut self, method: &str, params: &[u8]) -> Result<bool, Misuse> {
        let (state, effect) = step(self.state, Input::Notify);
        self.state = state;
        match effect {
            Effect::Queue => {
                let room = self.outbox.len() < MAX_UNSENT_BYTES;
                if room {
                    let written: Result<(), Infallible> = self.outbox.push(Kind::Notification, |out| {
                        body::notification(out, method, params);
                        Ok(())
                    });
                    debug_assert!(written.is_ok());
                }
                Ok(room)
            }
            Effect::Misuse | Effect::None | Effect::Drop | Effect::Withdraw | Effect::WithdrawAndStop => {
                Err(Misuse::Over)
            }
        }
    }

    /// Queues the result; if it cannot be encoded, -32603 in its place, and the error is returned inside.
    pub(super) fn respond(
        &mut self,
        server_info: &str,
        result: &(impl ResultBody + ?Sized),
    ) -> Result<Result<(), EncodeError>, Misuse> {
        self.answer()?;
        let id = &self.id;
        let kind = Kind::Response(Status::Ok);
        let encoded = self.outbox.push(kind, |out| body::result(out, id, "complete", server_info, result));
        if encoded.is_err() {
            let reply = ErrorReply::new(wire::INTERNAL_ERROR, "the result cannot be encoded");
            self.push_error(Status::Ok, &reply);
        }
        Ok(encoded)
    }

    pub(super) fn refuse(&mut self, status: Status, error: &ErrorReply<'_>) -> Result<(), Misuse> {
        self.refuse_subscription()?;
        self.answer()?;
        self.push_error(status, error);
        Ok(())
    }

    fn push_error(&mut self, status: Status, error: &ErrorReply<'_>) {
        self.push(status, |out, id| error.write(out, Some(id)));
    }

    fn push(&mut self, status: Status, write: impl FnOnce(&mut Vec<u8>, &RequestId)) {
        let id = &self.id;
        let written: Result<(), Infallible> = self.outbox.push(Kind::Response(status), |out| {
            write(out, id);
            Ok(())
        });
        debug_assert!(written.is_ok());
    }

    pub(super) fn answer(&mut self) -> Result<(), Misuse> {
        let (state, effect) = step(self.state, Input::Respond);
        self.state = state;
        match effect {
            Effect::Queue => Ok(()),
            Effect::Misuse | Effect::None | Effect::Drop | Effect::Withdraw | Effect::WithdrawAndStop => {
                Err(Misuse::Over)
            }
        }
    }

    /// An input that may end the request.
    pub(super) fn end(&mut self, input: Input, config: &ServerConfig) -> Ended {
        match input {
            Input::Closing => self.close_subscription(config),
            Input::PeerCancelled | Input::StreamEnded => self.lose_subscription(input),
            Input::Progress | Input::StaleProgress | Input::Notify | Input::Respond | Input::Taken => {}
        }
        let (state, effect) = step(self.state, input);
        self.state = state;
        match effect {
            Effect::WithdrawAndStop => {
                self.outbox.clear(KEEP);
                Ended::Stop
            }
            Effect::Withdraw => {
                self.outbox.clear(KEEP);
                Ended::Withdrawn
            }
            Effect::None | Effect::Queue | Effect::Drop | Effect::Misuse => Ended::No,
        }
    }

    pub(super) fn poll_transmit(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        let (kind, mark) = self.outbox.pop_marked(out)?;
        if let Some(subscribed) = &mut self.subscribed {
            subscribed.taken(mark);
        }
        let last = matches!(kind, Kind::Response(_));
        if last {
            self.state = step(self.state, Input::Taken).0;
        }
        Some(Transmit { kind, last })
    }
}

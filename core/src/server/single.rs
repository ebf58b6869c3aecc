//! One request with a stream of its own.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;

use super::body::{EncodeError, ErrorReply, ResultBody};
use super::config::ServerConfig;
use super::exchange::{Input, State};
use super::method::Method;
use super::outbox::Outbox;
use super::request::Request;
use super::serving::{Ended, Progress, Reported, Serving};
use super::subscribed::Subscribed;
use super::transmit::{Kind, Status, Transmit};
use super::triage::{Triage, malformed, triage};
use super::{ServerEvent, Stopped};
use crate::id::ServingId;
use crate::misuse::Misuse;
use crate::violation::PeerViolation;
use crate::wire::{Envelope, Malformed};

/// The only request of an exchange.
const THE_ONE: ServingId = ServingId::of((0, 0));

/// One request, its answer, and the stream that carries both: an HTTP POST, or a stream of the per-request
/// memory pipe. The stream's end cancels the request; a posted cancel notification is accepted and does
/// nothing (basic/transports/streamable-http).
#[derive(Debug)]
pub struct Exchange {
    config: Arc<ServerConfig>,
    phase: Phase,
    request: Option<Arc<Request>>,
    stopped: Option<Stopped>,
    violation: Option<PeerViolation>,
    closed: bool,
}

#[derive(Debug)]
enum Phase {
    /// The request has not been read.
    Waiting,
    /// It is being served.
    Serving(Box<Serving>),
    /// The engine answered it itself, or it was a notification: what is left to send.
    Answered(Outbox),
    /// Nothing will be sent.
    Over,
}

impl Exchange {
    /// A stream that nothing was read from yet.
    pub fn new(config: Arc<ServerConfig>) -> Self {
        Self { config, phase: Phase::Waiting, request: None, stopped: None, violation: None, closed: false }
    }

    // Facts.

    /// The name of the request in [`ServerEvent`]s.
    pub fn serving() -> ServingId {
        THE_ONE
    }

    /// Bytes that wait to be sent.
    pub fn unsent_bytes(&self) -> usize {
        match &self.phase {
            Phase::Serving(serving) => serving.unsent(),
            Phase::Answered(outbox) => outbox.len(),
            Phase::Waiting | Phase::Over => 0,
        }
    }

    /// Whether the request may still be answered.
    pub fn is_running(&self) -> bool {
        matches!(&self.phase, Phase::Serving(serving) if serving.state() == State::Running)
    }

    /// Nothing will be sent any more.
    pub fn is_finished(&self) -> bool {
        match &self.phase {
            Phase::Waiting => false,
            Phase::Serving(serving) => serving.state() == State::Done,
            Phase::Answered(outbox) => outbox.is_empty(),
            Phase::Over => true,
        }
    }

    // World in.

    /// The message of this stream was read: any bytes.
    pub fn handle_message(&mut self, message: &[u8]) {
        match Envelope::parse(message) {
            Ok(envelope) => self.handle_envelope(envelope),
            Err(why) => self.handle_malformed(why),
        }
    }

    /// The message of this stream was read and parsed already.
    pub fn handle_envelope(&mut self, mut envelope: Envelope<'_>) {
        if !matches!(self.phase, Phase::Waiting) {
            self.note(PeerViolation::SecondRequest);
            return;
        }
        match triage(&self.config, &mut envelope, &mut Vec::new()) {
            Triage::Serve(request) => {
                let token = request.progress_token().cloned();
                let mut serving = Serving::new(request.wire_id().clone(), token, 0, Outbox::default());
                serving.may_ask = request.method().takes_input() != Some(false);
                if *request.method() == Method::SubscriptionsListen {
                    serving.subscribed = Some(Box::new(Subscribed::new()));
                }
                self.phase = Phase::Serving(Box::new(serving));
                self.request = Some(request);
            }
            Triage::Answer(id, answer) => {
                self.violation = answer.violation();
                let config = Arc::clone(&self.config);
                self.own_answer(answer.status(), |out| answer.write(out, &id, &config));
            }
            Triage::Cancel { .. } | Triage::Ignore => self.phase = Phase::Over,
            Triage::Violation(violation) => {
                self.violation = Some(violation);
                self.own_answer(Status::BadRequest, |out| malformed(out, Malformed::NotAMessage));
            }
        }
    }

    /// What was read is not a message, or too long to be one.
    pub fn handle_malformed(&mut self, why: Malformed) {
        self.note(PeerViolation::NotAMessage);
        if matches!(self.phase, Phase::Waiting) {
            self.own_answer(Status::BadRequest, |out| malformed(out, why));
        }
    }

    /// The stream has gone: the request is cancelled.
    pub fn handle_stream_end(&mut self) {
        self.end(Input::StreamEnded, Stopped::Lost);
        self.phase = Phase::Over;
        self.closed = true;
    }

    // Application in.

    /// As [`Server::progress`](super::Server::progress).
    ///
    /// # Errors
    /// The request is over, or a number is not finite.
    pub fn progress(&mut self, report: &Progress<'_>) -> Result<Reported, Misuse> {
        self.serving_mut()?.progress(report)
    }

    /// As [`Server::notify`](super::Server::notify).
    ///
    /// # Errors
    /// The request is over.
    pub fn notify(&mut self, method: &str, params: &[u8]) -> Result<bool, Misuse> {
        self.serving_mut()?.notify(method, params)
    }

    /// As [`Server::respond`](super::Server::respond).
    ///
    /// # Errors
    /// The request is over; inside, the result could not be encoded and -32603 was sent in its place.
    pub fn respond(
        &mut self,
        result: &(impl ResultBody + ?Sized),
    ) -> Result<Result<(), EncodeError>, Misuse> {
        let config = Arc::clone(&self.config);
        let serving = self.serving_mut()?;
        serving.not_a_subscription()?;
        serving.respond(&config.server_info, result)
    }

    /// As [`Server::refuse`](super::Server::refuse).
    ///
    /// # Errors
    /// The request is over.
    pub fn refuse(&mut self, status: Status, error: &ErrorReply<'_>) -> Result<(), Misuse> {
        self.serving_mut()?.refuse(status, error)
    }

    /// Stops the request and accepts none. An answer that is queued may still be taken.
    pub fn close(&mut self) {
        self.end(Input::Closing, Stopped::Closing);
        self.closed = true;
        if matches!(self.phase, Phase::Waiting) {
            self.phase = Phase::Over;
        }
    }

    // Out.

    /// Appends the next message to `out`, without a line end.
    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        match &mut self.phase {
            Phase::Serving(serving) => serving.poll_transmit(out),
            Phase::Answered(outbox) => outbox.pop(out).map(|kind| Transmit { kind, last: true }),
            Phase::Waiting | Phase::Over => None,
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        if let Some(request) = self.request.take() {
            return Some(ServerEvent::Request { serving: THE_ONE, request });
        }
        if let Some(why) = self.stopped.take() {
            return Some(ServerEvent::Stopped { serving: THE_ONE, why });
        }
        self.violation.take().map(ServerEvent::Violation)
    }

    // Below: how.

    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    pub(super) fn being_served(&self) -> Option<&Serving> {
        match &self.phase {
            Phase::Serving(serving) => Some(serving),
            Phase::Waiting | Phase::Answered(_) | Phase::Over => None,
        }
    }

    pub(super) fn serving_mut(&mut self) -> Result<&mut Serving, Misuse> {
        match &mut self.phase {
            Phase::Serving(serving) => Ok(serving),
            Phase::Waiting | Phase::Answered(_) | Phase::Over => Err(Misuse::Over),
        }
    }

    fn end(&mut self, input: Input, why: Stopped) {
        if let Phase::Serving(serving) = &mut self.phase
            && serving.end(input, &self.config) == Ended::Stop
        {
            self.stopped = Some(why);
            self.phase = Phase::Over;
        }
    }

    /// Keeps the newest: a stream carries one message, so there is little to tell about others.
    fn note(&mut self, violation: PeerViolation) {
        if !self.closed {
            self.violation = Some(violation);
        }
    }

    fn own_answer(&mut self, status: Status, write: impl FnOnce(&mut Vec<u8>)) {
        let mut outbox = Outbox::default();
        let written: Result<(), Infallible> = outbox.push(Kind::Response(status), |out| {
            write(out);
            Ok(())
        });
        debug_assert!(written.is_ok());
        self.phase = Phase::Answered(outbox);
    }
}

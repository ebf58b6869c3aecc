//! Answering a request with questions (basic/patterns/mrtr).

use alloc::vec::Vec;

use super::body::{self, EncodeError, ResultBody};
use super::exchange::State;
use super::serving::Serving;
use super::transmit::{Kind, Status};
use super::{Exchange, Server};
use crate::id::ServingId;
use crate::misuse::Misuse;
use crate::model::InputRequiredResult;
use crate::wire::JsonText;

/// A result that only [`Serving::ask`] writes: under any other `resultType` it would be taken for an answer.
struct Asks<'a>(&'a InputRequiredResult);

impl ResultBody for Asks<'_> {
    fn write_members(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.0.write_members(out);
        Ok(())
    }

    fn meta(&self) -> Option<JsonText<'_>> {
        self.0.meta()
    }
}

impl Serving {
    fn ask(&mut self, server_info: &str, asks: &InputRequiredResult) -> Result<(), Misuse> {
        if self.state() != State::Running {
            return Err(Misuse::Over);
        }
        let questions = asks.input_requests.as_ref().is_some_and(|questions| !questions.is_empty());
        if !self.may_ask || !questions && asks.request_state.is_none() {
            return Err(Misuse::CannotAsk);
        }
        self.answer()?;
        let id = &self.id;
        let kind = Kind::Response(Status::Ok);
        let written =
            self.outbox.push(kind, |out| body::result(out, id, "input_required", server_info, &Asks(asks)));
        debug_assert!(written.is_ok());
        Ok(())
    }
}

impl Server {
    /// Answers a request by asking: the client is to send it again, as a request of its own, with its answers and the
    /// state. Whether the client can be asked these questions is the caller's to check before
    /// ([`InputRequests::missing_capabilities`](crate::model::InputRequests::missing_capabilities)).
    ///
    /// # Errors
    /// The request is over; or it is of a method that may not ask, or there is neither a question nor a state.
    pub fn ask(&mut self, serving: ServingId, asks: &InputRequiredResult) -> Result<(), Misuse> {
        self.with(serving, |config, request| request.ask(&config.server_info, asks))
    }
}

impl Exchange {
    /// As [`Server::ask`].
    ///
    /// # Errors
    /// The request is over; or it is of a method that may not ask, or there is neither a question nor a state.
    pub fn ask(&mut self, asks: &InputRequiredResult) -> Result<(), Misuse> {
        let config = self.config();
        self.serving_mut()?.ask(&config.server_info, asks)
    }
}

//! How a handler ends other than with its value.

use std::error::Error;
use std::fmt;

use sansio_mcp::model::CallToolResult;

use super::ask::InputRequired;
use super::reply::{Failure, Reply};

/// The way out of a handler: a question, a failure, an error of the protocol, or that it noticed its cancellation.
///
/// It converts from any type that implements [`Error`], so that `?` works on those, and is not an error itself, so that
/// no other error type and no layer can swallow it by converting it. Boxed errors and `anyhow::Error`, which do not
/// implement it, go through `map_err(Exit::error)`; what implements `Display` alone, through `map_err(Exit::failure)`.
/// Either way the client reads the text: what is not for it has to be mapped before.
pub struct Exit(Box<Kind>);

enum Kind {
    /// The tool failed; the model reads why and may try again.
    Failure(CallToolResult),
    Protocol(Failure),
    Input(InputRequired),
    Cancelled,
}

impl Exit {
    /// The tool failed, for this reason. The client gets a result with `isError`, which a model can act on.
    pub fn failure(reason: impl fmt::Display) -> Self {
        Self::result(CallToolResult::error(reason.to_string()))
    }

    /// The tool failed because of an error, which is told with its causes: for what does not convert by itself, such
    /// as `Box<dyn Error + Send + Sync>` and `anyhow::Error`, `.map_err(Exit::error)?`.
    pub fn error(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::failure(with_causes(&*error.into()))
    }

    /// The tool failed, with this result.
    pub fn result(mut result: CallToolResult) -> Self {
        result.is_error = Some(true);
        Self(Box::new(Kind::Failure(result)))
    }

    /// The request itself is at fault: a JSON-RPC error, which models seldom see.
    pub fn protocol(failure: Failure) -> Self {
        Self(Box::new(Kind::Protocol(failure)))
    }

    /// The handler needs input: the client asks its user, and the handler is entered again with the answers.
    pub fn input_required(asks: InputRequired) -> Self {
        Self(Box::new(match asks.checked() {
            Ok(asks) => Kind::Input(asks),
            Err(failure) => Kind::Protocol(failure),
        }))
    }

    /// Whether this is a question.
    pub fn is_input_required(&self) -> bool {
        matches!(*self.0, Kind::Input(_))
    }

    /// The handler noticed that it was cancelled. Nothing is sent.
    pub(crate) fn cancelled() -> Self {
        Self(Box::new(Kind::Cancelled))
    }

    /// Whether this is the way out that [`check_cancelled`](super::Context::check_cancelled) gives.
    pub fn is_cancelled(&self) -> bool {
        matches!(*self.0, Kind::Cancelled)
    }

    pub(crate) fn into_reply(self) -> Reply {
        match *self.0 {
            Kind::Failure(result) => result.into(),
            Kind::Protocol(failure) => Reply::Error(failure),
            Kind::Input(asks) => Reply::InputRequired(asks),
            // Only the stop itself leads here, and it was heard already.
            Kind::Cancelled => Reply::cancelled(),
        }
    }
}

impl<E: Error> From<E> for Exit {
    /// A failure of the tool, told with its causes.
    fn from(error: E) -> Self {
        Self::failure(with_causes(&error))
    }
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

impl fmt::Debug for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Failure(result) => f.debug_tuple("Failure").field(&result.first_text()).finish(),
            Kind::Protocol(failure) => f.debug_tuple("Protocol").field(failure).finish(),
            Kind::Input(asks) => f.debug_tuple("Input").field(asks).finish(),
            Kind::Cancelled => f.write_str("Cancelled"),
        }
    }
}

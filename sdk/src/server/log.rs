//! Log messages to the client (server/utilities/logging). The operator's log is `tracing`, and no part of this.

use sansio_mcp::model::{LoggingLevel, LoggingMessageParams, RawJson};
use serde::Serialize;

use super::context::Context;
use crate::mode::Mode;

/// What became of a log message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Logged {
    /// It will be sent.
    Queued,
    /// The request asked for no messages, or for graver ones alone, or its channel carries its answer alone
    /// ([`Context::carries_answer_only`]): nothing was written.
    NotAsked,
    /// The server was built without [`logging`](super::Builder::logging): nobody could have asked.
    NotDeclared,
    /// The reader is slow, and too much waits for it already; dropped.
    Dropped,
    /// It cannot be written as JSON.
    NotEncoded,
    /// The request is over.
    Over,
}

impl<S, M: Mode> Context<S, M> {
    /// Tells the client something, if its request asked for messages of this level. `data` is any JSON value, usually a text.
    /// It is written only then.
    pub fn log(&self, level: LoggingLevel, data: &(impl Serialize + ?Sized)) -> Logged {
        self.log_as(None, level, data)
    }

    /// As [`log`](Self::log), with the name of what says it.
    pub fn log_as(
        &self,
        logger: Option<&str>,
        level: LoggingLevel,
        data: &(impl Serialize + ?Sized),
    ) -> Logged {
        if !self.call.hub.logs {
            tracing::warn!(
                code = "LOG_NOT_DECLARED",
                "a handler logs to its client, and the server was built without it"
            );
            return Logged::NotDeclared;
        }
        if self.call.answer_only || self.call.request.log_level().is_none_or(|least| level < least) {
            return Logged::NotAsked;
        }
        let Ok(data) = RawJson::from_value(data) else { return Logged::NotEncoded };
        let mut params = LoggingMessageParams::new(level, data);
        params.logger = logger.map(str::to_owned);
        let Ok(text) = serde_json::to_string(&params) else { return Logged::NotEncoded };
        let members = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
        let (channel, serving) = (self.call.channel, self.call.serving);
        let sent = self.call.hub.lock().notify(channel, serving, "notifications/message", members.as_bytes());
        match sent {
            Ok(true) => Logged::Queued,
            Ok(false) => Logged::Dropped,
            Err(_) => Logged::Over,
        }
    }
}

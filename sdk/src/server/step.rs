//! What a handler's stream is made of.

use std::borrow::Cow;

use super::exit::Exit;

/// What a handler's stream yields.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<T> {
    /// Progress in percent, 0 to 100: the side channel.
    Percent {
        /// Increases with each step.
        percent: f64,
        /// For a person.
        message: Option<Cow<'static, str>>,
    },
    /// Progress in any unit.
    Progress {
        /// Increases with each step.
        progress: f64,
        /// The value at the end, if it is known.
        total: Option<f64>,
        /// For a person.
        message: Option<Cow<'static, str>>,
    },
    /// The response; nothing after it is polled.
    Done(Result<T, Exit>),
    /// Anything else: it goes to the operator's log and never to the client.
    Note(String),
}

impl<T> Step<T> {
    /// Progress in percent.
    pub fn percent(percent: f64, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Percent { percent, message: Some(message.into()) }
    }
}

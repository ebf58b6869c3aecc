//! Why a question could not be answered.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// A question could not be answered, which ends the call: a person who declines *has* answered.
///
/// It converts from any error, so that `?` works, and is not one itself.
#[derive(Clone, PartialEq, Eq)]
pub struct InputFailure(Arc<str>);

impl InputFailure {
    /// For this reason.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self(reason.to_string().into())
    }

    pub(super) fn panicked() -> Self {
        Self::new("the handler panicked")
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        &self.0
    }

    pub(super) fn into_reason(self) -> Arc<str> {
        self.0
    }
}

impl<E: Error> From<E> for InputFailure {
    fn from(error: E) -> Self {
        let mut reason = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            // Writing to a string cannot fail.
            let _ = write!(reason, ": {error}");
            source = error.source();
        }
        Self(reason.into())
    }
}

impl fmt::Debug for InputFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for InputFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

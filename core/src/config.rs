//! What is wrong with a configuration.

use alloc::string::String;

/// A configuration that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The field at fault.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: String,
}

impl ConfigError {
    /// A refusal that names `field`.
    pub fn new(field: &'static str, why: impl Into<String>) -> Self {
        Self { field, why: why.into() }
    }
}

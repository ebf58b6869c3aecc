//! Log messages that a server sends for a request that asks for them (server/utilities/logging). Deprecated by the
//! specification.

use alloc::string::String;

use super::members::RawMembers;
use super::names::names;
use super::open::{open_object, setters};
use super::raw::RawJson;

names! {
    /// The severities of RFC 5424, the mildest first (server/utilities/logging, "Log Levels").
    #[derive(PartialOrd, Ord)]
    pub enum LoggingLevel {
        /// For who debugs.
        Debug = "debug",
        /// General information.
        Info = "info",
        /// Normal but significant.
        Notice = "notice",
        /// Something may go wrong.
        Warning = "warning",
        /// Something went wrong.
        Error = "error",
        /// A component fails.
        Critical = "critical",
        /// Somebody must act at once.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}

open_object! {
    /// The params of `notifications/message` (server/utilities/logging, "Log Message Notifications").
    pub struct LoggingMessageParams {
        /// How severe it is.
        required "level" => level: LoggingLevel,
        /// Who says it.
        optional "logger" => logger: Option<String>,
        /// What there is to say; any JSON value.
        required "data" => data: RawJson,
        /// The notification's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl LoggingMessageParams {
    /// A message of any JSON value.
    pub fn new(level: LoggingLevel, data: RawJson) -> Self {
        Self { level, logger: None, data, meta: None, extra: RawMembers::new() }
    }

    /// A message of a text.
    pub fn text(level: LoggingLevel, text: impl Into<String>) -> Self {
        Self::new(level, RawJson::written(&text.into()))
    }
}

setters! { LoggingMessageParams {
    /// Says who says it.
    with_logger => logger: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

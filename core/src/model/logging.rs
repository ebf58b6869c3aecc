//! How severe a log message is (server/utilities/logging). Deprecated by the specification.

use super::names::names;

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

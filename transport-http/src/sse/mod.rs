//! Server-sent events: the stream that carries a request's notifications and its answer (WHATWG HTML, "Server-sent
//! events"; basic/transports/streamable-http, "Receiving Messages").

mod read;
mod write;

pub use read::{Event, Read, Reader, SseLimits};
pub use write::{FieldError, Fields, comment, event, message};

/// The media type of such a stream.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// The header by which a proxy is told not to hold events back, and its value (basic/transports/streamable-http,
/// "Receiving Messages").
pub const NO_BUFFERING: (&str, &str) = ("x-accel-buffering", "no");

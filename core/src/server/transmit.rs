//! What a server hands to its transport.

/// The class of a response, from which the HTTP binding derives its status (basic/transports/streamable-http).
/// Other bindings ignore it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Status {
    /// A result, or an error of the application's level: 200.
    Ok,
    /// The message itself was at fault: 400.
    BadRequest,
    /// There is no such method: 404.
    NotFound,
    /// Refused as busy: 503.
    Unavailable,
}

/// What kind of message it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// A progress notification.
    Progress,
    /// Another notification.
    Notification,
    /// A response.
    Response(Status),
}

/// One message that was appended to the caller's buffer, without a line end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Transmit {
    /// What it is.
    pub kind: Kind,
    /// Nothing will follow for the same request.
    pub last: bool,
}

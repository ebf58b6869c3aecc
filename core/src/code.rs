//! The codes of failures, on the wire and off it.

/// Codes of JSON-RPC error objects.
///
/// The first eight are the specification's (basic/index, "Error Codes"); the rest are this project's own and lie outside
/// the range that JSON-RPC reserves.
pub mod wire {
    /// The bytes are not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// JSON, but not a message, or a batch where none is allowed.
    pub const INVALID_REQUEST: i64 = -32600;
    /// A method that the server does not have.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// `_meta` or params of the wrong form; an unknown tool; refused state.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The handler panicked, or its result cannot be encoded.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// HTTP headers that contradict the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a capability that the client did not declare.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The server does not speak the revision that the request names; also the answer to `initialize`, which belongs
    /// to earlier ones.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// Too much is waiting already; `data.code` is "`SERVER_BUSY`", `data.retryAfterMs` says when to come back.
    pub const BUSY: i64 = 1001;
    /// A ninth round of input was asked for.
    pub const ROUNDS_EXCEEDED: i64 = 1002;
}

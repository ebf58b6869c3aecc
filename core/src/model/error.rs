//! The `error` of a response, and the data that two codes carry (basic/index, "Error Responses"; schema, "Errors").

use alloc::string::String;
use alloc::vec::Vec;

use super::capabilities::ClientCapabilities;
use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;

open_object! {
    /// Why a request failed.
    pub struct ErrorObject {
        /// The kind of error.
        required "code" => code: i64,
        /// One sentence about it.
        required "message" => message: String,
        /// More about it, of a shape that the code decides; any JSON value, `null` too.
        any "data" => data: Option<RawJson>,
    }
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, extra: RawMembers::new() }
    }
}

setters! { ErrorObject {
    /// Sets the data.
    with_data => data: RawJson,
}}

open_object! {
    /// The data of -32022: the request's protocol revision is not one the server speaks.
    pub struct UnsupportedProtocolVersion {
        /// The revisions the server speaks.
        required "supported" => supported: Vec<String>,
        /// The revision of the request.
        required "requested" => requested: String,
    }
}

impl UnsupportedProtocolVersion {
    /// The revisions spoken, and the one asked for.
    pub fn new(supported: Vec<String>, requested: impl Into<String>) -> Self {
        Self { supported, requested: requested.into(), extra: RawMembers::new() }
    }
}

open_object! {
    /// The data of 1001, this project's own: so much is waiting already that the request was refused.
    pub struct ServerBusy {
        /// [`ServerBusy::CODE`].
        required "code" => code: String,
        /// When another try is worth while, in milliseconds.
        optional "retryAfterMs" => retry_after_ms: Option<u64>,
    }
}

impl ServerBusy {
    /// The name of this refusal, the same for all who make it.
    pub const CODE: &str = "SERVER_BUSY";

    /// The refusal of a request that would have been behind so many. It may try again after a tenth of a second, and a
    /// millisecond for each of up to a thousand before it, so that a long queue is not asked as often as a short one.
    pub fn behind(waiting: usize) -> Self {
        let retry_after_ms = 100 + waiting.min(1000) as u64;
        Self { code: Self::CODE.into(), retry_after_ms: Some(retry_after_ms), extra: RawMembers::new() }
    }
}

open_object! {
    /// The data of -32021: the request needs capabilities that its client did not declare.
    pub struct MissingRequiredClientCapability {
        /// The capabilities it needs.
        required "requiredCapabilities" => required_capabilities: ClientCapabilities,
    }
}

impl MissingRequiredClientCapability {
    /// The capabilities needed.
    pub fn new(required_capabilities: ClientCapabilities) -> Self {
        Self { required_capabilities, extra: RawMembers::new() }
    }
}

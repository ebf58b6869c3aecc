//! `notifications/cancelled` (basic/patterns/cancellation).

use alloc::string::String;

use super::open::{open_object, setters};
use super::raw::RawJson;
use crate::id::RequestId;

open_object! {
    /// The params of `notifications/cancelled` (basic/patterns/cancellation).
    pub struct CancelledParams {
        /// The request whose result nobody waits for any more.
        required "requestId" => request_id: RequestId,
        /// Why, for a log or a person.
        optional "reason" => reason: Option<String>,
        /// The notification's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl CancelledParams {
    /// Cancels a request, without a reason.
    pub fn new(request_id: impl Into<RequestId>) -> Self {
        Self { request_id: request_id.into(), reason: None, meta: None, extra: super::RawMembers::new() }
    }
}

setters! { CancelledParams {
    /// Says why.
    with_reason => reason: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

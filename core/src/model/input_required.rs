//! A result that asks before it answers (basic/patterns/mrtr).

use alloc::string::String;
use alloc::vec::Vec;

use super::members::{Members, RawMembers};
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::write_json::result_body;

open_object! {
    /// The server needs input before it can complete the request (basic/patterns/mrtr). The client sends the
    /// request again with its answers and the state.
    #[derive(Default)]
    pub struct InputRequiredResult, tag "resultType" = "input_required", check has_questions_or_state {
        /// What it needs to know, by keys that the answers repeat.
        optional "inputRequests" => input_requests: Option<InputRequests>,
        /// State of the server that the client gives back byte for byte.
        optional "requestState" => request_state: Option<String>,
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

/// Whether a request of this method of the specification may be answered with a question (basic/patterns/mrtr, "Supported
/// Requests").
pub(crate) fn may_ask(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

/// Questions by key, in the server's order.
pub type InputRequests = Members<InputRequest>;

fn has_questions_or_state(result: &InputRequiredResult) -> Result<(), &'static str> {
    if result.input_requests.is_none() && result.request_state.is_none() {
        return Err("expected `inputRequests` or `requestState`");
    }
    Ok(())
}

setters! { InputRequiredResult {
    /// Sets the questions.
    with_input_requests => input_requests: InputRequests,
    /// Sets the state.
    with_request_state => request_state: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

result_body!(InputRequiredResult);

open_object! {
    /// One question: the method and params of a request that only travels inside a result.
    pub struct InputRequest {
        /// The method, such as `elicitation/create`.
        required "method" => method: String,
        /// Its params, an object.
        object "params" => params: Option<RawJson>,
    }
}

impl InputRequest {
    /// A question without params.
    pub fn new(method: impl Into<String>) -> Self {
        Self { method: method.into(), params: None, extra: RawMembers::new() }
    }
}

setters! { InputRequest {
    /// Sets the params; they must be an object.
    with_params => params: RawJson,
}}

//! `tools/call` (server/tools, "Calling Tools").

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::DeserializeOwned;
use serde::ser::Serialize;

use super::content_block::ContentBlock;
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::write_json::result_body;

open_object! {
    /// The params of `tools/call` (server/tools, "Calling Tools").
    pub struct CallToolParams {
        /// The tool.
        required "name" => name: String,
        /// Its arguments, an object.
        object "arguments" => arguments: Option<RawJson>,
        /// Answers to the questions of the last `input_required` result, an object with the questions' keys
        /// (basic/patterns/mrtr).
        object "inputResponses" => input_responses: Option<RawJson>,
        /// The state of the last `input_required` result, byte for byte.
        optional "requestState" => request_state: Option<String>,
        /// The request's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl CallToolParams {
    /// A call without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            input_responses: None,
            request_state: None,
            meta: None,
            extra: super::RawMembers::new(),
        }
    }
}

setters! { CallToolParams {
    /// Sets the arguments; they must be an object.
    with_arguments => arguments: RawJson,
    /// Sets the answers; they must be an object.
    with_input_responses => input_responses: RawJson,
    /// Sets the state of the last `input_required` result.
    with_request_state => request_state: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// The final result of `tools/call` (server/tools, "Tool Result").
    ///
    /// A result that asks for input first is an [`InputRequiredResult`](super::InputRequiredResult) and is not read
    /// as this one. A result without `resultType` is, since earlier revisions had none; it is written with one.
    #[derive(Default)]
    pub struct CallToolResult, maybe_tag "resultType" = "complete" {
        /// What the tool has to say, for the model.
        required "content" => content: Vec<ContentBlock>,
        /// What the tool has to say, for programs; any JSON value, `null` too.
        any "structuredContent" => structured_content: Option<RawJson>,
        /// Whether the tool failed; absent is no.
        optional "isError" => is_error: Option<bool>,
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl CallToolResult {
    /// A result of these pieces of content.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self { content, ..Self::default() }
    }

    /// One text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(alloc::vec![ContentBlock::text(text)])
    }

    /// The tool failed, for this reason. The model reads it and may try again with other arguments.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: Some(true), ..Self::text(text) }
    }

    /// A structured value, and its JSON as a text for clients that only read those (server/tools, "Structured
    /// Content").
    ///
    /// # Errors
    /// When the value cannot be serialised.
    pub fn structured(value: &(impl Serialize + ?Sized)) -> Result<Self, serde_json::Error> {
        let value = RawJson::from_value(value)?;
        Ok(Self { structured_content: Some(value.clone()), ..Self::text(value.get()) })
    }

    /// Whether the tool failed.
    pub fn is_error(&self) -> bool {
        self.is_error.unwrap_or(false)
    }

    /// The structured value as a type; `None` if there is none.
    ///
    /// # Errors
    /// It is not of that type.
    pub fn structured_as<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        self.structured_content.as_ref().map(RawJson::parse).transpose()
    }

    /// The first text, which is all there is for most tools.
    pub fn first_text(&self) -> Option<&str> {
        self.content.iter().find_map(ContentBlock::as_text)
    }
}

setters! { CallToolResult {
    /// Sets the structured value.
    with_structured_content => structured_content: RawJson,
    /// Says whether the tool failed.
    with_is_error => is_error: bool,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

result_body!(CallToolResult);

//! Prompts: texts that a server prepares for a person to start a conversation with (server/prompts).

use alloc::string::String;
use alloc::vec::Vec;

use super::annotations::Role;
use super::cache::{CacheScope, cacheable};
use super::content_block::ContentBlock;
use super::implementation::Icon;
use super::members::{Members, RawMembers};
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::write_json::result_body;

open_object! {
    /// A prompt as a server describes it (server/prompts, "Prompt").
    pub struct Prompt {
        /// Its name, by which it is got; unique within a server.
        required "name" => name: String,
        /// Its name for people.
        optional "title" => title: Option<String>,
        /// What it is for.
        optional "description" => description: Option<String>,
        /// What can be filled into it.
        optional "arguments" => arguments: Option<Vec<PromptArgument>>,
        /// Pictures for it.
        optional "icons" => icons: Option<Vec<Icon>>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl Prompt {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            arguments: None,
            icons: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }

    /// The name to show to people.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

setters! { Prompt {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what it is for.
    with_description => description: String,
    /// Says what can be filled into it.
    with_arguments => arguments: Vec<PromptArgument>,
    /// Sets the pictures.
    with_icons => icons: Vec<Icon>,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// Something to fill into a prompt.
    pub struct PromptArgument {
        /// Its name for programs.
        required "name" => name: String,
        /// Its name for people.
        optional "title" => title: Option<String>,
        /// What it is.
        optional "description" => description: Option<String>,
        /// Whether it must be filled in; absent is no.
        optional "required" => required: Option<bool>,
    }
}

impl PromptArgument {
    /// One that may be left out.
    pub fn optional(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: None, extra: RawMembers::new() }
    }

    /// One that must be filled in.
    pub fn required(name: impl Into<String>) -> Self {
        Self { required: Some(true), ..Self::optional(name) }
    }

    /// Whether it must be filled in.
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(false)
    }
}

setters! { PromptArgument {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what it is.
    with_description => description: String,
}}

open_object! {
    /// The result of `prompts/list` (server/prompts, "Listing Prompts").
    #[derive(Default)]
    pub struct ListPromptsResult, maybe_tag "resultType" = "complete" {
        /// The prompts of this page.
        required "prompts" => prompts: Vec<Prompt>,
        /// Where the next page starts; absent on the last.
        optional "nextCursor" => next_cursor: Option<String>,
        /// How long the result stays fresh, in milliseconds; 0 is not at all.
        millis "ttlMs" => ttl_ms: u64,
        /// Who may be served the result from a cache.
        defaulted "cacheScope" => cache_scope: CacheScope,
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ListPromptsResult {
    /// The only page, which may not be cached.
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self { prompts, ..Self::default() }
    }
}

setters! { ListPromptsResult {
    /// Says where the next page starts.
    with_next_cursor => next_cursor: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// The params of `prompts/get` (server/prompts, "Getting a Prompt").
    pub struct GetPromptParams {
        /// The prompt.
        required "name" => name: String,
        /// What to fill into it, by name.
        optional "arguments" => arguments: Option<Members<String>>,
        /// Answers to the questions of the last `input_required` result, an object with the questions' keys
        /// (basic/patterns/mrtr).
        object "inputResponses" => input_responses: Option<RawJson>,
        /// The state of the last `input_required` result, byte for byte.
        optional "requestState" => request_state: Option<String>,
        /// The request's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl GetPromptParams {
    /// A prompt, with nothing filled in.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            input_responses: None,
            request_state: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { GetPromptParams {
    /// Sets what to fill in.
    with_arguments => arguments: Members<String>,
    /// Sets the answers; they must be an object.
    with_input_responses => input_responses: RawJson,
    /// Sets the state of the last `input_required` result.
    with_request_state => request_state: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// The result of `prompts/get` (server/prompts, "Getting a Prompt").
    #[derive(Default)]
    pub struct GetPromptResult, maybe_tag "resultType" = "complete" {
        /// What the prompt is for.
        optional "description" => description: Option<String>,
        /// The messages to start the conversation with.
        required "messages" => messages: Vec<PromptMessage>,
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl GetPromptResult {
    /// These messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// One text, said by the person.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(alloc::vec![PromptMessage::user(ContentBlock::text(text))])
    }
}

setters! { GetPromptResult {
    /// Says what the prompt is for.
    with_description => description: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// A message of a prompt (server/prompts, "`PromptMessage`").
    pub struct PromptMessage {
        /// Who speaks.
        required "role" => role: Role,
        /// What is said.
        required "content" => content: ContentBlock,
    }
}

impl PromptMessage {
    /// A message.
    pub fn new(role: Role, content: impl Into<ContentBlock>) -> Self {
        Self { role, content: content.into(), extra: RawMembers::new() }
    }

    /// Something the person says.
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content)
    }

    /// Something the model says.
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

cacheable!(ListPromptsResult);
result_body!(ListPromptsResult);
result_body!(GetPromptResult);

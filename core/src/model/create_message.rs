//! `sampling/createMessage`: a server asks the client's language model (client/sampling). Deprecated by the
//! specification.

use alloc::string::String;
use alloc::vec::Vec;

use super::annotations::Role;
use super::members::RawMembers;
use super::names::names;
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::sampling::{SamplingBlock, SamplingContent, SamplingMessage};
use super::tool::Tool;

open_object! {
    /// The params of `sampling/createMessage` (client/sampling, "Creating Messages").
    pub struct CreateMessageParams {
        /// The conversation so far.
        required "messages" => messages: Vec<SamplingMessage>,
        /// Which model is wanted.
        optional "modelPreferences" => model_preferences: Option<ModelPreferences>,
        /// Instructions to the model; the client may change or drop them.
        optional "systemPrompt" => system_prompt: Option<String>,
        /// What of servers' contexts to add; absent is none.
        optional "includeContext" => include_context: Option<IncludeContext>,
        /// How random the answer may be; the range is the model's. Finite.
        maybe_number "temperature" => temperature: Option<f64>,
        /// Tokens at most.
        required "maxTokens" => max_tokens: u64,
        /// Texts that end the answer.
        optional "stopSequences" => stop_sequences: Option<Vec<String>>,
        /// Parameters of a provider's own, an object.
        object "metadata" => metadata: Option<RawJson>,
        /// Tools that the model may use; they need not be tools of the server.
        optional "tools" => tools: Option<Vec<Tool>>,
        /// How it may use them.
        optional "toolChoice" => tool_choice: Option<ToolChoice>,
    }
}

impl CreateMessageParams {
    /// Asks for an answer of at most so many tokens to these messages.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u32) -> Self {
        Self {
            messages,
            model_preferences: None,
            system_prompt: None,
            include_context: None,
            temperature: None,
            max_tokens: max_tokens.into(),
            stop_sequences: None,
            metadata: None,
            tools: None,
            tool_choice: None,
            extra: RawMembers::new(),
        }
    }

    /// Asks one thing.
    pub fn ask(text: impl Into<String>, max_tokens: u32) -> Self {
        Self::new(alloc::vec![SamplingMessage::user(text.into())], max_tokens)
    }

    /// Whether the client needs the capability `sampling.tools` (client/sampling, "Tools in Sampling").
    pub fn needs_tools(&self) -> bool {
        self.tools.is_some() || self.tool_choice.is_some()
    }

    /// Whether the client needs the capability `sampling.context` (client/sampling, "Capabilities").
    pub fn needs_context(&self) -> bool {
        self.include_context.is_some_and(|context| context != IncludeContext::None)
    }

    /// Checks what the page demands of a conversation (client/sampling, "Message Content Constraints"): results of
    /// tools stand alone in their message, and every use of a tool is answered in the next message.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check(&self) -> Result<(), MessagesError> {
        let mut open: Vec<&str> = Vec::new();
        for (at, message) in self.messages.iter().enumerate() {
            let blocks = message.content.blocks();
            let results = blocks.iter().filter(|block| matches!(block, SamplingBlock::ToolResult(_))).count();
            if results > 0 && (results < blocks.len() || message.role != Role::User) {
                return Err(MessagesError::MixedResults(at));
            }
            let mut answered: Vec<&str> = Vec::new();
            for block in blocks {
                if let SamplingBlock::ToolResult(result) = block {
                    answered.push(&result.tool_use_id);
                }
            }
            answered.sort_unstable();
            open.sort_unstable();
            if answered != open {
                return Err(MessagesError::Unbalanced(at));
            }
            open.clear();
            for block in blocks {
                if let SamplingBlock::ToolUse(tool) = block {
                    open.push(&tool.id);
                }
            }
        }
        if open.is_empty() { Ok(()) } else { Err(MessagesError::Unbalanced(self.messages.len())) }
    }
}

/// What is wrong with a conversation; each names the place of a message, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MessagesError {
    /// Results of tools stand beside something else, or the person does not say them.
    #[error("messages[{0}]: results of tools must stand alone in a message of the user")]
    MixedResults(usize),
    /// Not exactly the uses of tools of the message before are answered here.
    #[error("messages[{0}]: every use of a tool must be answered in the next message, and nothing else")]
    Unbalanced(usize),
}

setters! { CreateMessageParams {
    /// Says which model is wanted.
    with_model_preferences => model_preferences: ModelPreferences,
    /// Sets the instructions to the model.
    with_system_prompt => system_prompt: String,
    /// Says what of servers' contexts to add.
    with_include_context => include_context: IncludeContext,
    /// Says how random the answer may be.
    with_temperature => temperature: f64,
    /// Sets the texts that end the answer.
    with_stop_sequences => stop_sequences: Vec<String>,
    /// Sets parameters of a provider's own; an object.
    with_metadata => metadata: RawJson,
    /// Lets the model use tools.
    with_tools => tools: Vec<Tool>,
    /// Says how it may use them.
    with_tool_choice => tool_choice: ToolChoice,
}}

names! {
    /// What of servers' contexts to add to the conversation. All but none are deprecated by the specification.
    pub enum IncludeContext {
        /// Nothing.
        None = "none",
        /// That of the server that asks.
        ThisServer = "thisServer",
        /// That of all servers.
        AllServers = "allServers",
    }
}

open_object! {
    /// How the model may use tools (client/sampling, "Tool Choice Modes").
    #[derive(Default)]
    pub struct ToolChoice {
        /// Whether it must; absent is [`ToolChoiceMode::Auto`].
        optional "mode" => mode: Option<ToolChoiceMode>,
    }
}

impl From<ToolChoiceMode> for ToolChoice {
    fn from(mode: ToolChoiceMode) -> Self {
        Self { mode: Some(mode), extra: RawMembers::new() }
    }
}

names! {
    /// Whether the model must use tools.
    pub enum ToolChoiceMode {
        /// It decides.
        Auto = "auto",
        /// At least one.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

open_object! {
    /// Which model is wanted; advice that the client may ignore (client/sampling, "Model Preferences").
    #[derive(Default)]
    pub struct ModelPreferences {
        /// Names, the first that matches counts.
        optional "hints" => hints: Option<Vec<ModelHint>>,
        /// From 0, low costs do not matter, to 1, they matter most.
        maybe_number "costPriority" => cost_priority: Option<f64>,
        /// The same for a quick answer.
        maybe_number "speedPriority" => speed_priority: Option<f64>,
        /// The same for an able model.
        maybe_number "intelligencePriority" => intelligence_priority: Option<f64>,
    }
}

setters! { ModelPreferences {
    /// Sets the names.
    with_hints => hints: Vec<ModelHint>,
    /// Says how much low costs matter, from 0 to 1.
    with_cost_priority => cost_priority: f64,
    /// Says how much a quick answer matters, from 0 to 1.
    with_speed_priority => speed_priority: f64,
    /// Says how much an able model matters, from 0 to 1.
    with_intelligence_priority => intelligence_priority: f64,
}}

open_object! {
    /// The name of a model, or a part of it (client/sampling, "Model Hints").
    #[derive(Default)]
    pub struct ModelHint {
        /// Part of a name.
        optional "name" => name: Option<String>,
    }
}

impl ModelHint {
    /// Part of a name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), extra: RawMembers::new() }
    }
}

open_object! {
    /// The result of `sampling/createMessage` (client/sampling, "Result Fields").
    pub struct CreateMessageResult {
        /// Who speaks: the model.
        required "role" => role: Role,
        /// What it says.
        required "content" => content: SamplingContent,
        /// The model's name.
        required "model" => model: String,
        /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or a reason of the provider's.
        optional "stopReason" => stop_reason: Option<String>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl CreateMessageResult {
    /// What a model said.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }

    /// The message, to go on with the conversation.
    pub fn into_message(self) -> SamplingMessage {
        SamplingMessage { meta: self.meta, ..SamplingMessage::new(self.role, self.content) }
    }
}

setters! { CreateMessageResult {
    /// Says why the model stopped.
    with_stop_reason => stop_reason: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

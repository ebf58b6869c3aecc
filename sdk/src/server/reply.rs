//! What a request is answered with, as layers see it.

use sansio_mcp::code::wire;
use sansio_mcp::model::{
    CallToolResult, CompleteResult, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, RawJson, ReadResourceResult, ServerBusy, SubscriptionFilter,
};
use sansio_mcp::server::{EncodeError, ResultBody, Status};
use sansio_mcp::wire::JsonText;

use super::ask::InputRequired;
use super::exit::Exit;

/// The answer to a request, on its way to the client through the layers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reply {
    /// A result; a tool that failed answers with one too (`isError`).
    Answer(Answer),
    /// A JSON-RPC error.
    Error(Failure),
    /// The handler needs input. It is entered again with the answers, and every layer before it.
    InputRequired(InputRequired),
}

/// A result by its method.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// Of tools/call.
    Tool(CallToolResult),
    /// Of tools/list.
    Tools(ListToolsResult),
    /// Of prompts/get.
    Prompt(GetPromptResult),
    /// Of prompts/list.
    Prompts(ListPromptsResult),
    /// Of resources/read.
    Resource(ReadResourceResult),
    /// Of resources/list.
    Resources(ListResourcesResult),
    /// Of resources/templates/list.
    Templates(ListResourceTemplatesResult),
    /// Of completion/complete.
    Completion(CompleteResult),
    /// Of subscriptions/listen: what is granted of what was asked for. It is acknowledged, not answered; the answer
    /// comes when the subscription ends.
    Subscribed(SubscriptionFilter),
}

/// A JSON-RPC error to answer with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The code; see [`sansio_mcp::code::wire`].
    pub code: i64,
    /// A sentence that a person can act on.
    pub message: String,
    /// Machine-readable detail.
    pub data: Option<RawJson>,
    /// The class of HTTP status, where the answer has one.
    pub status: Status,
}

impl Failure {
    /// An error of the application's level.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, status: Status::Ok }
    }

    /// Adds machine-readable detail.
    #[must_use]
    pub fn data(mut self, data: RawJson) -> Self {
        self.data = Some(data);
        self
    }
}

impl Reply {
    /// An error of the application's level.
    pub fn error(code: i64, message: impl Into<String>) -> Self {
        Self::Error(Failure::new(code, message))
    }

    /// Whether the request failed, in either way.
    pub fn is_error(&self) -> bool {
        match self {
            Self::Answer(Answer::Tool(result)) => result.is_error(),
            Self::Answer(_) | Self::InputRequired(_) => false,
            Self::Error(_) => true,
        }
    }

    pub(crate) fn panicked() -> Self {
        Self::error(wire::INTERNAL_ERROR, "the handler failed unexpectedly; the server's log says more")
    }

    /// Of a request that is stopped: whoever stopped it expects no answer, so this is never sent.
    pub(crate) fn cancelled() -> Self {
        Self::error(wire::INTERNAL_ERROR, "cancelled")
    }

    /// A subscription on a channel that carries its answer alone.
    pub(crate) fn no_stream() -> Self {
        let mut failure =
            Failure::new(wire::METHOD_NOT_FOUND, "subscriptions need a stream, and this answer is none");
        failure.status = Status::NotFound;
        Self::Error(failure)
    }

    pub(crate) fn dropped() -> Self {
        Self::error(wire::INTERNAL_ERROR, "the server stopped before the request was done")
    }
}

impl From<Exit> for Reply {
    /// For layers that end a request in its handler's place.
    fn from(exit: Exit) -> Self {
        exit.into_reply()
    }
}

impl From<CallToolResult> for Reply {
    fn from(result: CallToolResult) -> Self {
        Self::Answer(Answer::Tool(result))
    }
}

/// The refusal of a request because too much is waiting (E1, E2).
pub(crate) fn busy(refusal: &ServerBusy) -> Reply {
    Reply::Error(Failure {
        code: wire::BUSY,
        message: format!(
            "the server is busy; try again in {} ms",
            refusal.retry_after_ms.unwrap_or_default()
        ),
        data: RawJson::from_value(refusal).ok(),
        status: Status::Unavailable,
    })
}

impl ResultBody for Answer {
    fn write_members(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Self::Tool(result) => ResultBody::write_members(result, out),
            Self::Tools(result) => ResultBody::write_members(result, out),
            Self::Prompt(result) => ResultBody::write_members(result, out),
            Self::Prompts(result) => ResultBody::write_members(result, out),
            Self::Resource(result) => ResultBody::write_members(result, out),
            Self::Resources(result) => ResultBody::write_members(result, out),
            Self::Templates(result) => ResultBody::write_members(result, out),
            Self::Completion(result) => ResultBody::write_members(result, out),
            Self::Subscribed(_) => Ok(()),
        }
    }

    fn meta(&self) -> Option<JsonText<'_>> {
        match self {
            Self::Tool(result) => ResultBody::meta(result),
            Self::Tools(result) => ResultBody::meta(result),
            Self::Prompt(result) => ResultBody::meta(result),
            Self::Prompts(result) => ResultBody::meta(result),
            Self::Resource(result) => ResultBody::meta(result),
            Self::Resources(result) => ResultBody::meta(result),
            Self::Templates(result) => ResultBody::meta(result),
            Self::Completion(result) => ResultBody::meta(result),
            Self::Subscribed(_) => None,
        }
    }
}

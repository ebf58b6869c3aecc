//! What the methods of revision 2026-07-28 carry, as typed values. No state.
//!
//! One file for each method or kind of object. [`InputRequest`] and [`Form`] ask a client for input; [`UriTemplate`]
//! reads the templates of resources.
//!
//! Objects are open: a member the specification does not name is kept in `extra` and written again verbatim. Names
//! match exactly, no name may occur twice, an absent member stays absent, and `null` for an optional one reads as
//! absent. An error names the members on the way to what is wrong. It does not say whether the text was JSON at
//! all: an error within a member is always reported as one about data.
//!
//! `_meta` is raw here; who needs one of its members parses it.

mod annotations;
mod cache;
mod call_tool;
mod cancelled;
mod capabilities;
mod complete;
mod content;
mod content_block;
mod create_message;
mod discover;
mod elicit;
mod error;
mod form;
mod implementation;
mod input;
mod input_required;
mod list_resources;
mod list_tools;
mod logging;
mod members;
pub(crate) mod missing;
mod names;
mod open;
mod page;
mod progress;
mod prompt;
mod raw;
mod read_json;
mod read_resource;
mod resource;
mod roots;
mod sampling;
mod schema;
mod source;
mod subscription;
mod tool;
mod union;
mod uri_template;
mod write_json;

pub use crate::base64::Base64Error;
pub use annotations::{Annotations, Role};
pub use cache::CacheScope;
pub use call_tool::{CallToolParams, CallToolResult};
pub use cancelled::CancelledParams;
pub use capabilities::{
    ClientCapabilities, ElicitationCapability, PromptsCapability, ResourcesCapability, SamplingCapability,
    ServerCapabilities, ToolsCapability,
};
pub use complete::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext, CompletionReference,
    MAX_COMPLETIONS, PromptReference, ResourceTemplateReference,
};
pub use content::{AudioContent, ImageContent, TextContent};
pub use content_block::ContentBlock;
pub use create_message::{
    CreateMessageParams, CreateMessageResult, IncludeContext, MessagesError, ModelHint, ModelPreferences,
    ToolChoice, ToolChoiceMode,
};
pub use discover::{DiscoverParams, DiscoverResult};
pub use elicit::{ElicitAction, ElicitFormParams, ElicitResult, ElicitUrlParams, UrlError};
pub use error::{ErrorObject, MissingRequiredClientCapability, ServerBusy, UnsupportedProtocolVersion};
pub use form::{
    BooleanSchema, EnumItems, EnumOption, EnumSchema, FieldError, FieldSchema, Form, FormError, FormErrors,
    FormSchema, MultiSelectSchema, Number, NumberKind, NumberSchema, StringFormat, StringSchema,
    TitledEnumSchema, TitledItems, TitledMultiSelectSchema, Unfit,
};
pub use implementation::{Icon, IconTheme, Implementation};
pub use input::{AnswerError, InputError, InputParams, InputResponse, InputResponses};
pub(crate) use input_required::may_ask;
pub use input_required::{InputRequest, InputRequests, InputRequiredResult};
pub use list_resources::{ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate};
pub use list_tools::ListToolsResult;
pub use logging::{LoggingLevel, LoggingMessageParams};
pub use members::{Members, RawMembers};
pub use page::PaginatedParams;
pub use progress::ProgressParams;
pub use prompt::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
pub use raw::RawJson;
pub use read_resource::{ReadResourceParams, ReadResourceResult};
pub use resource::{
    BlobResourceContents, EmbeddedResource, ResourceContents, ResourceLink, TextResourceContents,
};
pub use roots::{ListRootsParams, ListRootsResult, Root};
pub use sampling::{SamplingBlock, SamplingContent, SamplingMessage, ToolResultContent, ToolUseContent};
pub use schema::{InputSchema, OutputSchema, SchemaError};
pub use subscription::{
    ListChangedParams, ResourceUpdatedParams, SubscriptionFilter, SubscriptionsAcknowledgedParams,
    SubscriptionsListenParams, SubscriptionsListenResult,
};
pub use tool::{Tool, ToolAnnotations};
pub use uri_template::{TemplateError, UriTemplate};

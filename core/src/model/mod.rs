//! What the methods of revision 2026-07-28 carry, as typed values. No state.
//!
//! Here are `server/discover`, `tools/list`, `tools/call`, `notifications/progress`, `notifications/cancelled` and all
//! they embed; prompts, resources, completion, sampling, elicitation, roots and subscriptions have their place here
//! and are still to come.
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
mod content;
mod content_block;
mod discover;
mod error;
mod implementation;
mod input_required;
mod list_tools;
mod logging;
mod members;
mod names;
mod open;
mod page;
mod progress;
mod raw;
mod read_json;
mod resource;
mod schema;
mod source;
mod tool;
mod write_json;

pub use annotations::{Annotations, Role};
pub use cache::CacheScope;
pub use call_tool::{CallToolParams, CallToolResult};
pub use cancelled::CancelledParams;
pub use capabilities::{
    ClientCapabilities, ElicitationCapability, PromptsCapability, ResourcesCapability, SamplingCapability,
    ServerCapabilities, ToolsCapability,
};
pub use content::{AudioContent, ImageContent, TextContent};
pub use content_block::ContentBlock;
pub use discover::{DiscoverParams, DiscoverResult};
pub use error::{ErrorObject, MissingRequiredClientCapability, UnsupportedProtocolVersion};
pub use implementation::{Icon, IconTheme, Implementation};
pub use input_required::{InputRequest, InputRequests, InputRequiredResult};
pub use list_tools::ListToolsResult;
pub use logging::LoggingLevel;
pub use members::{Members, RawMembers};
pub use page::PaginatedParams;
pub use progress::ProgressParams;
pub use raw::RawJson;
pub use resource::{
    BlobResourceContents, EmbeddedResource, ResourceContents, ResourceLink, TextResourceContents,
};
pub use schema::{InputSchema, OutputSchema, SchemaError};
pub use tool::{Tool, ToolAnnotations};

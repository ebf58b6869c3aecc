//! What a request's headers repeat of its body, so that a proxy can route it without reading it
//! (basic/transports/streamable-http, "Request Metadata").
//!
//! | header | repeats | on |
//! | --- | --- | --- |
//! | `MCP-Protocol-Version` | `io.modelcontextprotocol/protocolVersion` in `_meta` | every request |
//! | `Mcp-Method` | `method` | every request |
//! | `Mcp-Name` | `params.name`, `params.uri` | `tools/call`, `prompts/get`; `resources/read` |
//! | `Mcp-Param-*` | the arguments that a tool's schema marks with `x-mcp-header` | `tools/call` |
//!
//! A client [`produce`]s them, a server [`validate`]s them; both take what a tool's schema says as [`ParamHeaders`], compiled
//! once.

mod arguments;
mod params;
mod produce;
mod validate;
mod value;

use http::HeaderName;
use sansio_mcp::wire::Params;

pub use params::{AnnotationError, AnnotationFault, MAX_HEADER_NAME, MAX_PARAM_HEADERS, ParamHeaders};
pub use produce::{ProduceError, produce};
#[cfg(feature = "client")]
pub(crate) use produce::{plain, set};
pub use validate::{Fault, Refusal, validate};
pub use value::{ValueError, decode, encode};

/// `MCP-Protocol-Version`.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Mcp-Method`.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// What `Mcp-Name` repeats: `None` for methods that have no such header, `Some(None)` where the params lack it.
#[allow(clippy::option_option)] // three things
fn name_of<'p>(method: &str, params: Option<&'p Params<'_>>) -> Option<Option<&'p str>> {
    match method {
        "tools/call" | "prompts/get" => Some(params.and_then(|params| params.name.as_deref())),
        "resources/read" => Some(params.and_then(|params| params.uri.as_deref())),
        _ => None,
    }
}

#[cfg(test)]
#[path = "mirror_test.rs"]
mod tests;

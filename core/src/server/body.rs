//! Writing responses and notifications.

use alloc::string::String;
use alloc::vec::Vec;

use crate::id::{ProgressToken, RequestId};
use crate::model::{
    CallToolResult, CompleteResult, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, MAX_COMPLETIONS, ReadResourceResult, SubscriptionsListenResult,
};
use crate::wire::{JsonText, write};

/// A result that cannot be written as JSON. Its request is answered with -32603.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the result cannot be encoded: {0}")]
pub struct EncodeError(pub String);

/// What a request is answered with.
pub trait ResultBody {
    /// Appends the members of the result object: `"content":[...]`, separated by commas, without the braces
    /// and without `resultType` and `_meta`, which the engine adds.
    ///
    /// # Errors
    /// The result cannot be written as JSON; what was appended is discarded.
    fn write_members(&self, out: &mut Vec<u8>) -> Result<(), EncodeError>;

    /// Members of `_meta` beside the engine's own: a JSON object.
    fn meta(&self) -> Option<JsonText<'_>> {
        None
    }
}

/// Members that were written beforehand, and the object for `_meta` if there is one.
#[derive(Clone, Copy, Debug)]
pub struct WrittenBody<'a> {
    /// See [`ResultBody::write_members`].
    pub members: &'a [u8],
    /// See [`ResultBody::meta`].
    pub meta: Option<JsonText<'a>>,
}

impl ResultBody for WrittenBody<'_> {
    fn write_members(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(self.members);
        Ok(())
    }

    fn meta(&self) -> Option<JsonText<'_>> {
        self.meta
    }
}

/// A JSON-RPC error to answer with.
#[derive(Clone, Copy, Debug)]
pub struct ErrorReply<'a> {
    /// The code; see [`crate::code::wire`].
    pub code: i64,
    /// A sentence that a person can act on.
    pub message: &'a str,
    /// Machine-readable detail.
    pub data: Option<JsonText<'a>>,
}

impl<'a> ErrorReply<'a> {
    /// An error without data.
    pub fn new(code: i64, message: &'a str) -> Self {
        Self { code, message, data: None }
    }

    /// Appends the error response; without `request` the id is left out.
    pub fn write(&self, out: &mut Vec<u8>, request: Option<&RequestId>) {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
        if let Some(request) = request {
            out.extend_from_slice(b"\"id\":");
            id(out, request);
            out.push(b',');
        }
        out.extend_from_slice(b"\"error\":{\"code\":");
        write::int(out, self.code);
        out.extend_from_slice(b",\"message\":");
        write::string(out, self.message);
        if let Some(data) = self.data {
            out.extend_from_slice(b",\"data\":");
            out.extend_from_slice(data.get().as_bytes());
        }
        out.extend_from_slice(b"}}");
    }
}

macro_rules! bodies {
    ($($result:ident),*) => {
        $(impl ResultBody for $result {
            fn write_members(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                Self::write_members(self, out);
                Ok(())
            }

            fn meta(&self) -> Option<JsonText<'_>> {
                Self::meta(self)
            }
        })*
    };
}

bodies!(
    CallToolResult,
    GetPromptResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListToolsResult,
    ReadResourceResult,
    SubscriptionsListenResult
);

impl ResultBody for CompleteResult {
    fn write_members(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.completion.values.len() > MAX_COMPLETIONS {
            return Err(EncodeError("completion.values has more than 100 items".into()));
        }
        Self::write_members(self, out);
        Ok(())
    }

    fn meta(&self) -> Option<JsonText<'_>> {
        Self::meta(self)
    }
}

pub(super) fn id(out: &mut Vec<u8>, id: &RequestId) {
    match id {
        RequestId::Int(id) => write::int(out, *id),
        RequestId::Str(id) => write::string(out, id),
    }
}

/// Appends the member of `_meta` that names this server.
pub(super) fn server_info(out: &mut Vec<u8>, info: &str) {
    out.extend_from_slice(b"\"io.modelcontextprotocol/serverInfo\":");
    out.extend_from_slice(info.as_bytes());
}

/// Appends a result response; `kind` is its `resultType`.
pub(super) fn result(
    out: &mut Vec<u8>,
    request: &RequestId,
    kind: &str,
    info: &str,
    body: &(impl ResultBody + ?Sized),
) -> Result<(), EncodeError> {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id(out, request);
    out.extend_from_slice(b",\"result\":{\"resultType\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",");
    let before = out.len();
    body.write_members(out)?;
    if out.len() > before {
        out.push(b',');
    }
    out.extend_from_slice(b"\"_meta\":{");
    server_info(out, info);
    // The object's own members follow the engine's; the braces are dropped.
    let own = body.meta().map_or("", JsonText::get);
    if let Some(own) = own.strip_prefix('{').and_then(|own| own.strip_suffix('}'))
        && !own.trim().is_empty()
    {
        out.push(b',');
        out.extend_from_slice(own.as_bytes());
    }
    out.extend_from_slice(b"}}}");
    Ok(())
}

/// Appends a result response whose result is `whole`.
pub(super) fn whole_result(out: &mut Vec<u8>, request: &RequestId, whole: &[u8]) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id(out, request);
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(whole);
    out.push(b'}');
}

/// Appends a notification; `params` are its members, without the braces.
pub(super) fn notification(out: &mut Vec<u8>, method: &str, params: &[u8]) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":");
    write::string(out, method);
    out.extend_from_slice(b",\"params\":{");
    out.extend_from_slice(params);
    out.extend_from_slice(b"}}");
}

/// Appends a notification of a subscription up to the end of its `_meta`; two closing braces are to follow.
pub(super) fn subscription(out: &mut Vec<u8>, method: &str, subscription: &RequestId) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"");
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(b"\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":");
    id(out, subscription);
    out.push(b'}');
}

/// Appends a progress notification. Both numbers were checked to be finite.
pub(super) fn progress(
    out: &mut Vec<u8>,
    token: &ProgressToken,
    progress: f64,
    total: Option<f64>,
    message: Option<&str>,
) {
    out.extend_from_slice(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":",
    );
    match token {
        ProgressToken::Int(token) => write::int(out, *token),
        ProgressToken::Str(token) => write::string(out, token),
    }
    out.extend_from_slice(b",\"progress\":");
    write::number(out, progress);
    if let Some(total) = total {
        out.extend_from_slice(b",\"total\":");
        write::number(out, total);
    }
    if let Some(message) = message {
        out.extend_from_slice(b",\"message\":");
        write::string(out, message);
    }
    out.extend_from_slice(b"}}");
}

//! Writing requests and cancellations.

use alloc::vec::Vec;

use super::config::Revision;
use super::spec::CallSpec;
use crate::wire::write;

/// The members that a retry adds to the params of its call.
#[derive(Clone, Debug, Default)]
pub(super) struct Retry {
    /// `inputResponses`: a whole object.
    pub(super) responses: Vec<u8>,
    /// `requestState`, unescaped; absent where the server sent none.
    pub(super) state: Option<alloc::boxed::Box<str>>,
}

/// Appends one attempt. Everything that could fail was written when the call was described.
pub(super) fn request(
    out: &mut Vec<u8>,
    id: i64,
    spec: &CallSpec,
    revision: &Revision,
    retry: Option<&Retry>,
) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    write::int(out, id);
    out.extend_from_slice(b",\"method\":");
    write::string(out, &spec.method);
    out.extend_from_slice(b",\"params\":{");
    if !spec.members.is_empty() {
        out.extend_from_slice(&spec.members);
        out.push(b',');
    }
    if let Some(retry) = retry {
        if !retry.responses.is_empty() {
            out.extend_from_slice(b"\"inputResponses\":");
            out.extend_from_slice(&retry.responses);
            out.push(b',');
        }
        if let Some(state) = &retry.state {
            out.extend_from_slice(b"\"requestState\":");
            write::string(out, state);
            out.push(b',');
        }
    }
    out.extend_from_slice(b"\"_meta\":{");
    out.extend_from_slice(&revision.meta);
    if spec.progress {
        // The id serves as token too: it is unique among all requests, so among active ones as well.
        out.extend_from_slice(b",\"progressToken\":");
        write::int(out, id);
    }
    if let Some(level) = spec.log_level {
        out.extend_from_slice(b",\"io.modelcontextprotocol/logLevel\":");
        write::string(out, level.as_str());
    }
    if !spec.meta.is_empty() {
        out.push(b',');
        out.extend_from_slice(&spec.meta);
    }
    out.extend_from_slice(b"}}}");
}

/// Appends `notifications/cancelled`.
pub(super) fn cancelled(out: &mut Vec<u8>, id: i64, reason: Option<&str>) {
    out.extend_from_slice(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":",
    );
    write::int(out, id);
    if let Some(reason) = reason {
        out.extend_from_slice(b",\"reason\":");
        write::string(out, reason);
    }
    out.extend_from_slice(b"}}");
}

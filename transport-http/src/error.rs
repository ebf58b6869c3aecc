//! JSON-RPC error responses that the binding writes itself, before an engine has seen the message.

use sansio_mcp::id::RequestId;
use sansio_mcp::wire::write;

/// Appends an error response. Without an id the key is left out (basic/transports/streamable-http, "Security &
/// Endpoint"). `data` is JSON.
pub(crate) fn response(
    out: &mut Vec<u8>,
    id: Option<&RequestId>,
    code: i64,
    message: &str,
    data: Option<&[u8]>,
) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        out.extend_from_slice(br#""id":"#);
        match id {
            RequestId::Int(id) => write::int(out, *id),
            RequestId::Str(id) => write::string(out, id),
        }
        out.push(b',');
    }
    out.extend_from_slice(br#""error":{"code":"#);
    write::int(out, code);
    out.extend_from_slice(br#","message":"#);
    write::string(out, message);
    if let Some(data) = data {
        out.extend_from_slice(br#","data":"#);
        out.extend_from_slice(data);
    }
    out.extend_from_slice(b"}}");
}

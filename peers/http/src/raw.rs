//! One HTTP request by hand, for what no client of this library would send.

use std::io;
use std::net::SocketAddr;

use serde_json::{Value, json};
use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::TcpStream;

/// A message of revision 2026-07-28 from a client that can fill in forms.
pub(crate) fn call(tool: &str, mut params: Value) -> Value {
    params["name"] = tool.into();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// Posts a call of a tool; its status and its answer, which has to be JSON.
pub(crate) async fn post(to: SocketAddr, tool: &str, params: Value) -> io::Result<(u16, Value)> {
    let body = call(tool, params).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let status = answer.get(9..12).and_then(|status| status.parse().ok());
    let body = answer.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
    status.zip(body).ok_or_else(|| io::Error::other(format!("an answer that is none: {answer:?}")))
}

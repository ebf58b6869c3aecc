//! Requests, head and body, as they are written.

use crate::load::{modern_request, progress_request};

/// A request whose body holds its id in one place or two.
pub(super) struct Request {
    head: String,
    pieces: Vec<String>,
}

impl Request {
    fn new(port: u16, method: &str, name: Option<&str>, pieces: Vec<String>) -> Self {
        let name = name.map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\n{name}Content-Length: "
        );
        Self { head, pieces }
    }

    /// A call of `echo`, or of `echo_progress`.
    pub(super) fn call(port: u16, text: &str, progress: bool) -> Self {
        if progress {
            return Self::new(
                port,
                "tools/call",
                Some("echo_progress"),
                progress_request(text).into(),
            );
        }
        let (head, tail) = modern_request(text);
        Self::new(port, "tools/call", Some("echo"), vec![head, tail])
    }

    /// A call of `hold`, which is never answered.
    pub(super) fn hold(port: u16) -> Self {
        let (head, tail) = modern_request("");
        let tail = tail.replacen(r#""name":"echo""#, r#""name":"hold""#, 1);
        Self::new(port, "tools/call", Some("hold"), vec![head, tail])
    }

    /// A subscription to changes of the list of tools.
    pub(super) fn listen(port: u16) -> Self {
        let (head, tail) = modern_request("");
        let (_, meta) = tail.split_once(r#""_meta""#).unwrap_or_default();
        let tail = format!(
            r#","method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},"_meta"{meta}"#
        );
        Self::new(port, "subscriptions/listen", None, vec![head, tail])
    }

    /// Appends the request with this id.
    pub(super) fn write(&self, id: u64, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        let id = digits.format(id);
        let length = self.pieces.iter().map(String::len).sum::<usize>() + (self.pieces.len() - 1) * id.len();
        out.extend_from_slice(self.head.as_bytes());
        out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        for (at, piece) in self.pieces.iter().enumerate() {
            if at > 0 {
                out.extend_from_slice(id.as_bytes());
            }
            out.extend_from_slice(piece.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_that_of_the_body() {
        for request in [
            Request::call(1, "x", false),
            Request::call(1, "x", true),
            Request::hold(1),
            Request::listen(1),
        ] {
            for id in [7, 1234] {
                let mut out = Vec::new();
                request.write(id, &mut out);
                let whole = String::from_utf8(out).unwrap();
                let (head, body) = whole.split_once("\r\n\r\n").unwrap();
                let (_, length) = head.rsplit_once(": ").unwrap();
                assert_eq!(length.parse::<usize>().unwrap(), body.len());
                let read: serde_json::Value = serde_json::from_str(body).unwrap();
                assert_eq!(read["id"], id);
                assert!(head.contains(&format!("Mcp-Method: {}\r\n", read["method"].as_str().unwrap())));
                assert!(read["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string());
            }
        }
    }
}

//! A client that is nothing but lines: writes them, and sees every line that comes back.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use sansio_mcp_memory::{Lab, StreamOpener};
use serde_json::{Value, json};

use crate::bench::{Reader, Writer};

/// A request as this revision writes it; `meta` is added to what every request carries.
pub fn request(id: impl Into<Value>, method: &str, mut params: Value, meta: &Value) -> Value {
    let mut all = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (key, value) in meta.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    params["_meta"] = all;
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A call of a tool.
pub fn tool(id: impl Into<Value>, name: &str, arguments: &Value) -> Value {
    request(id, "tools/call", json!({"name": name, "arguments": arguments}), &json!({}))
}

/// A call of a tool without arguments that asks for progress.
pub fn tool_with(id: impl Into<Value>, name: &str, token: impl Into<Value>) -> Value {
    let meta = json!({"progressToken": token.into()});
    request(id, "tools/call", json!({"name": name, "arguments": {}}), &meta)
}

/// The notification that cancels a request on a shared channel.
pub fn cancel(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id.into()}})
}

/// The values of progress under a token, in order.
pub fn progress_of(lines: &[Value], token: impl Into<Value>) -> Vec<f64> {
    let token = token.into();
    let of_token = |line: &&Value| {
        line["method"] == "notifications/progress" && line["params"]["progressToken"] == token
    };
    lines.iter().filter(of_token).map(|line| line["params"]["progress"].as_f64().expect("a number")).collect()
}

/// The responses to a request.
pub fn responses(lines: &[Value], id: impl Into<Value>) -> Vec<&Value> {
    let id = id.into();
    lines.iter().filter(|line| line.get("method").is_none() && line.get("id") == Some(&id)).collect()
}

/// The only response to a request.
pub fn response(lines: &[Value], id: impl Into<Value>) -> &Value {
    let id = id.into();
    let found = responses(lines, id.clone());
    assert_eq!(found.len(), 1, "one response to {id} in {lines:?}");
    found[0]
}

/// See the module.
pub struct Wire {
    lab: Lab,
    opener: Option<StreamOpener>,
    /// The channel (under the empty name), or the streams by the id of their request.
    streams: BTreeMap<String, Lines>,
}

struct Lines {
    reader: Reader,
    writer: Option<Writer>,
    held: Vec<u8>,
    ready: VecDeque<Value>,
    ended: bool,
}

impl Lines {
    fn new(reader: Reader, writer: Writer) -> Self {
        Self { reader, writer: Some(writer), held: Vec::new(), ready: VecDeque::new(), ended: false }
    }

    async fn write(&mut self, bytes: &[u8]) -> bool {
        let Some(writer) = &mut self.writer else { return false };
        let mut rest = bytes;
        while !rest.is_empty() {
            match poll_fn(|cx| writer.as_mut().poll_write(cx, rest)).await {
                Ok(n) => rest = &rest[n..],
                Err(_) => return false,
            }
        }
        true
    }

    /// Takes what is there; ready if there was something new, or at the end.
    fn poll_more(&mut self, cx: &mut std::task::Context<'_>) -> Poll<()> {
        let mut chunk = [0; 16 * 1024];
        let mut some = false;
        while !self.ended {
            match self.reader.as_mut().poll_read(cx, &mut chunk) {
                Poll::Pending => break,
                Poll::Ready(Ok(n)) if n > 0 => {
                    self.held.extend_from_slice(&chunk[..n]);
                    some = true;
                }
                Poll::Ready(_) => {
                    assert!(self.held.is_empty() || self.held.contains(&b'\n'), "the last line has no end");
                    self.ended = true;
                    some = true;
                }
            }
        }
        let mut rest = self.held.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = &rest[..end];
            assert!(!line.contains(&b'\r'), "a line with a carriage return");
            self.ready.push_back(serde_json::from_slice(line).expect("a line of JSON"));
            rest = &rest[end + 1..];
        }
        self.held = rest.to_vec();
        if some || self.ended { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// The name of a request's stream.
fn name(id: &Value) -> String {
    id.to_string()
}

impl Wire {
    pub(crate) fn channel(lab: &Lab, reader: Reader, writer: Writer) -> Self {
        let streams = BTreeMap::from([(String::new(), Lines::new(reader, writer))]);
        Self { lab: lab.clone(), opener: None, streams }
    }

    pub(crate) fn streams(lab: &Lab, opener: StreamOpener) -> Self {
        Self { lab: lab.clone(), opener: Some(opener), streams: BTreeMap::new() }
    }

    /// Writes a message: on the channel, or on a stream of its own.
    pub async fn send(&mut self, message: &Value) {
        let bytes = format!("{message}\n");
        let name = if let Some(opener) = &self.opener {
            let name = name(&message["id"]);
            let io = opener.open().expect("the server accepts streams");
            let (reader, writer) = io.split();
            self.streams.insert(name.clone(), Lines::new(Box::pin(reader), Box::pin(writer)));
            name
        } else {
            String::new()
        };
        let lines = self.streams.get_mut(&name).expect("the stream was opened");
        assert!(lines.write(bytes.as_bytes()).await, "the server reads");
    }

    /// Writes bytes as they are; for a shared channel.
    pub async fn bytes(&mut self, bytes: impl AsRef<[u8]>) {
        let lines = self.streams.get_mut("").expect("a shared channel");
        assert!(lines.write(bytes.as_ref()).await, "the server reads");
    }

    /// Cancels a request, as this transport does.
    pub async fn cancel(&mut self, id: impl Into<Value>) {
        let id = id.into();
        if self.opener.is_some() {
            self.streams.remove(&name(&id));
        } else {
            self.send(&cancel(id)).await;
        }
    }

    /// Waits for the response to a request; other lines stay for [`drain`](Self::drain).
    pub async fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        let stream = if self.opener.is_some() { name(&id) } else { String::new() };
        let lines = self.streams.get_mut(&stream).expect("the request was sent");
        let is_it = |line: &Value| line.get("method").is_none() && line.get("id") == Some(&id);
        loop {
            if let Some(at) = lines.ready.iter().position(is_it) {
                return lines.ready.remove(at).expect("it is there");
            }
            assert!(!lines.ended, "the server ended without an answer to {id}: {:?}", lines.ready);
            poll_fn(|cx| lines.poll_more(cx)).await;
        }
    }

    /// Waits for the next line of a request's stream; of any request's on a shared channel.
    pub async fn line(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        let stream = if self.opener.is_some() { name(&id) } else { String::new() };
        let lines = self.streams.get_mut(&stream).expect("the request was sent");
        loop {
            if let Some(line) = lines.ready.pop_front() {
                return line;
            }
            assert!(!lines.ended, "the server ended");
            poll_fn(|cx| lines.poll_more(cx)).await;
        }
    }

    /// Lets everything happen that can happen now, and takes every line that has come.
    pub async fn drain(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            self.lab.sleep(Duration::from_nanos(1)).await;
            let mut moved = false;
            for lines in self.streams.values_mut() {
                let known = lines.ended;
                let more = poll_fn(|cx| Poll::Ready(lines.poll_more(cx).is_ready())).await;
                moved |= more && !known;
                all.extend(lines.ready.drain(..));
            }
            if !moved {
                return all;
            }
        }
    }

    /// Sends nothing more: the end of input. Later answers can still be read.
    pub fn end_input(&mut self) {
        for lines in self.streams.values_mut() {
            lines.writer = None;
        }
    }

    /// Whether the server has closed its end of everything (as far as was read).
    pub fn has_ended(&self) -> bool {
        self.streams.values().all(|lines| lines.ended)
    }

    /// Stops reading for good: what the server writes from now on fails.
    pub fn break_reading(&mut self) {
        for lines in self.streams.values_mut() {
            let (reader, _) = sansio_mcp_memory::pipe(1);
            lines.reader = Box::pin(reader);
        }
    }
}

/// A call of a tool by a client that can answer everything; `more` are members of its params: answers and state.
pub fn asking(id: impl Into<Value>, name: &str, arguments: &Value, more: &Value) -> Value {
    let every = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}});
    let mut params = json!({"name": name, "arguments": arguments});
    for (key, value) in more.as_object().into_iter().flatten() {
        params[key] = value.clone();
    }
    request(id, "tools/call", params, &json!({"io.modelcontextprotocol/clientCapabilities": every}))
}

/// What a client sends with its next attempt: answers, and the state of the result that asked.
pub fn answering(asked: &Value, answers: &Value) -> Value {
    json!({"inputResponses": answers, "requestState": asked["result"]["requestState"]})
}

/// An accepted form.
pub fn accepted(content: &Value) -> Value {
    json!({"action": "accept", "content": content})
}

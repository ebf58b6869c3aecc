//! Short ways to talk to a server or a client in a test.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::client::{
    Abandon, CallSpec, Client, ClientConfig, ClientEvent, ClientKind, Outcome, Routing, StreamId,
};
use sansio_mcp::id::{CallId, ServingId};
use sansio_mcp::limits::{ClientLimits, ServerLimits};
use sansio_mcp::model::{ClientCapabilities, Implementation, ServerCapabilities, ToolsCapability};
use sansio_mcp::server::{
    Exchange, Kind, Request, Server, ServerConfig, ServerConfigBuilder, ServerEvent, Stopped, WrittenBody,
};
use sansio_mcp::time::{Mono, Now};
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};

pub(crate) fn at(millis: u64) -> Now {
    Now::at(Mono::from_nanos(millis * 1_000_000))
}

pub(crate) const START: Now = Now { mono: Mono::ZERO, unix_millis: 0 };

/// What a tool answers when it does not matter what.
pub(crate) const DONE: WrittenBody<'static> = WrittenBody { members: b"\"content\":[]", meta: None };

// The server.

pub(crate) fn builder() -> ServerConfigBuilder {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(ToolsCapability::default());
    ServerConfig::builder(Implementation::new("s", "1"), capabilities)
}

pub(crate) fn server() -> Server {
    Server::new(Arc::new(builder().build().unwrap()))
}

pub(crate) fn server_with(limits: impl FnOnce(&mut ServerLimits)) -> Server {
    let mut bounds = ServerLimits::default();
    limits(&mut bounds);
    Server::new(Arc::new(builder().limits(bounds).build().unwrap()))
}

pub(crate) fn exchange() -> Exchange {
    Exchange::new(Arc::new(builder().build().unwrap()))
}

pub(crate) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}"#;

/// A request with metadata; `id` and `members` are JSON.
pub(crate) fn request(id: &str, method: &str, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}{comma}{META}}}}}}}"#)
}

/// A tool call.
pub(crate) fn call(id: &str) -> String {
    request(id, "tools/call", r#""name":"t","arguments":{}"#)
}

/// A tool call that asks for progress.
pub(crate) fn call_with_token(id: &str, token: &str) -> String {
    let meta = META.replace("\"_meta\":{", &format!("\"_meta\":{{\"progressToken\":{token},"));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t",{meta}}}}}}}"#)
}

pub(crate) fn cancel(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

pub(crate) trait ServerExt {
    /// Reads a message.
    fn says(&mut self, line: impl AsRef<[u8]>);
    /// Everything that it sends.
    fn heard(&mut self) -> Vec<Value>;
    fn events(&mut self) -> Vec<ServerEvent>;
    /// The only request, which must be the only event.
    fn asked(&mut self, line: impl AsRef<[u8]>) -> (ServingId, Arc<Request>);
    /// The only answer to a message that reaches no application.
    fn answers(&mut self, line: impl AsRef<[u8]>) -> Value;
    fn violations(&mut self) -> Vec<PeerViolation>;
    fn stops(&mut self) -> Vec<Stopped>;
}

impl ServerExt for Server {
    fn says(&mut self, line: impl AsRef<[u8]>) {
        self.handle_message(START, line.as_ref());
    }

    fn heard(&mut self) -> Vec<Value> {
        let mut out = Vec::new();
        let mut all = Vec::new();
        while self.poll_transmit(&mut out).is_some() {
            all.push(serde_json::from_slice(&out).unwrap());
            out.clear();
        }
        all
    }

    fn events(&mut self) -> Vec<ServerEvent> {
        std::iter::from_fn(|| self.poll_event()).collect()
    }

    fn asked(&mut self, line: impl AsRef<[u8]>) -> (ServingId, Arc<Request>) {
        self.says(line);
        match self.events().as_slice() {
            [ServerEvent::Request { serving, request }] => (*serving, request.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn answers(&mut self, line: impl AsRef<[u8]>) -> Value {
        self.says(line);
        let events = self.events();
        assert!(events.iter().all(|event| matches!(event, ServerEvent::Violation(_))), "{events:?}");
        let mut heard = self.heard();
        assert_eq!(heard.len(), 1, "{heard:?}");
        heard.remove(0)
    }

    fn violations(&mut self) -> Vec<PeerViolation> {
        let only = |event| match event {
            ServerEvent::Violation(rule) => Some(rule),
            _ => None,
        };
        self.events().into_iter().filter_map(only).collect()
    }

    fn stops(&mut self) -> Vec<Stopped> {
        let only = |event| match event {
            ServerEvent::Stopped { why, .. } => Some(why),
            _ => None,
        };
        self.events().into_iter().filter_map(only).collect()
    }
}

/// The only message of an exchange, and what kind it is.
pub(crate) fn single(exchange: &mut Exchange) -> Option<(Kind, Value)> {
    let mut out = Vec::new();
    let transmit = exchange.poll_transmit(&mut out)?;
    assert!(transmit.last && exchange.poll_transmit(&mut Vec::new()).is_none());
    Some((transmit.kind, serde_json::from_slice(&out).unwrap()))
}

pub(crate) fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("not an error: {answer}"))
}

// The client.

pub(crate) fn client_of(routing: Routing, abandon: Abandon) -> Client {
    let config = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default());
    Client::new(Arc::new(config.binding(routing, abandon).build().unwrap()))
}

pub(crate) fn client() -> Client {
    client_of(Routing::Shared, Abandon::Notify)
}

pub(crate) fn client_with(limits: impl FnOnce(&mut ClientLimits)) -> Client {
    let mut bounds = ClientLimits::default();
    limits(&mut bounds);
    let config = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default());
    Client::new(Arc::new(config.limits(bounds).build().unwrap()))
}

pub(crate) fn tool() -> CallSpec {
    CallSpec::tool("t", &json!({"a": 1})).unwrap()
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) trait ClientExt {
    /// Makes a call at the start and sends it; its id on the wire, which counts from 1.
    fn calls(&mut self, spec: CallSpec) -> CallId;
    /// Everything that it sends on its one channel.
    fn sends(&mut self) -> Vec<Value>;
    /// Reads a message on its one channel.
    fn hears(&mut self, message: &Value);
    fn events(&mut self) -> Vec<ClientEvent>;
    /// How calls ended.
    fn ends(&mut self) -> Vec<(CallId, &'static str)>;
    /// Names a stream and takes what there is to say on it.
    fn next_stream(&mut self) -> Option<(StreamId, ClientKind, String)>;
}

impl ClientExt for Client {
    fn calls(&mut self, spec: CallSpec) -> CallId {
        let call = self.call(START, spec).unwrap();
        self.sends();
        call
    }

    fn sends(&mut self) -> Vec<Value> {
        let mut out = Vec::new();
        let mut all = Vec::new();
        while self.poll_transmit(StreamId::SHARED, &mut out).is_some() {
            all.push(serde_json::from_slice(&out).unwrap());
            out.clear();
        }
        all
    }

    fn hears(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        self.handle_message(START, StreamId::SHARED, message.to_string().as_bytes());
    }

    fn events(&mut self) -> Vec<ClientEvent> {
        std::iter::from_fn(|| self.poll_event()).collect()
    }

    fn ends(&mut self) -> Vec<(CallId, &'static str)> {
        let only = |event| match event {
            ClientEvent::Finished { call, outcome } => Some((call, outcome.code())),
            _ => None,
        };
        self.events().into_iter().filter_map(only).collect()
    }

    fn next_stream(&mut self) -> Option<(StreamId, ClientKind, String)> {
        let stream = self.poll_ready_stream()?;
        let mut out = Vec::new();
        let transmit = self.poll_transmit(stream, &mut out)?;
        Some((stream, transmit.kind, String::from_utf8(out).unwrap()))
    }
}

/// The outcome of the only call that ended.
pub(crate) fn outcome(client: &mut Client) -> Outcome {
    let ends = client.events().into_iter().filter_map(|event| match event {
        ClientEvent::Finished { outcome, .. } => Some(outcome),
        _ => None,
    });
    let mut ends: Vec<Outcome> = ends.collect();
    assert_eq!(ends.len(), 1, "{ends:?}");
    ends.remove(0)
}

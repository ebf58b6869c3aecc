//! Keys, rings and requests for tests of sealed state.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sansio_mcp::model::{Implementation, InputRequest, InputRequests, ServerCapabilities, ToolsCapability};
use sansio_mcp::server::continuation::{
    Bound, Continuation, Digest, Entropy, KeyRing, NoEntropy, Questions, Reason, SealKey, open_state,
    question_digest, questions, seal_state,
};
use sansio_mcp::server::{Request, Server, ServerConfig, ServerEvent};
use sansio_mcp::time::{Mono, Now};
use serde_json::{Value, json};

/// Bytes that never repeat and are the same on every run.
#[derive(Default)]
pub(crate) struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, out: &mut [u8]) -> Result<(), NoEntropy> {
        for chunk in out.chunks_mut(8) {
            let next = self.0.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            chunk.copy_from_slice(&next.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

pub(crate) type Ring = KeyRing<Counting>;

pub(crate) fn key(n: u8) -> SealKey {
    SealKey::new([n; 32])
}

pub(crate) fn ring(n: u8) -> Ring {
    KeyRing::new(key(n), Counting::default())
}

/// Some day in 2027, and seconds after it.
pub(crate) fn day(seconds: i64) -> Now {
    let millis = 1_800_000_000_000_u64.checked_add_signed(seconds * 1000).unwrap();
    Now { mono: Mono::ZERO, unix_millis: millis }
}

pub(crate) const LIFE: Duration = Duration::from_hours(1);

/// A request as a server reads it: these members in params, and its metadata.
pub(crate) fn request(method: &str, members: &str) -> Arc<Request> {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(ToolsCapability::default());
    let config = ServerConfig::builder(Implementation::new("s", "1"), capabilities);
    let mut server = Server::new(Arc::new(config.method("x/ask").build().unwrap()));
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{members},{meta}}}}}"#);
    server.handle_message(Now::default(), line.as_bytes());
    match server.poll_event() {
        Some(ServerEvent::Request { request, .. }) => request,
        other => panic!("{line}: {other:?}"),
    }
}

/// The bound of a tool call by alice.
pub(crate) fn call(members: &str) -> Bound {
    Bound::of(&request("tools/call", members), b"alice")
}

/// A question: `form("sure", 40)` and `form("sure", 41)` differ.
pub(crate) fn form(message: &str, amount: u32) -> InputRequest {
    let params = json!({"message": format!("{message} {amount}"), "requestedSchema": {"type": "object"}});
    InputRequest::new("elicitation/create")
        .with_params(sansio_mcp::model::RawJson::from_value(&params).unwrap())
}

pub(crate) fn digest(message: &str, amount: u32) -> Digest {
    question_digest(&form(message, amount))
}

pub(crate) fn asking(all: &[(&str, u32)]) -> Questions {
    let asked = all.iter().map(|(key, amount)| ((*key).to_owned(), form(key, *amount)));
    questions(&asked.collect::<InputRequests>())
}

pub(crate) fn accept(value: &str) -> Value {
    json!({"action": "accept", "content": {"value": value}})
}

pub(crate) fn seal(ring: &Ring, bound: &Bound, continuation: &Continuation, now: Now) -> String {
    seal_state(ring, bound, continuation, now, LIFE).unwrap()
}

/// Why it is refused. To the client it is the one answer to all.
#[track_caller]
pub(crate) fn refused(ring: &Ring, sealed: &str, bound: &Bound, now: Now) -> Reason {
    let refused = open_state(ring, sealed, bound, now).unwrap_err();
    let reply = refused.reply();
    assert_eq!((reply.code, reply.data.is_none()), (-32602, true));
    assert_eq!(reply.message, "the request state is not valid here; make the call anew without it");
    assert_eq!(refused.to_string(), reply.message);
    refused.reason()
}

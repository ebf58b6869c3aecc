//! Messages: both ways of reading one, and types that come out as they went in.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use sansio_mcp::client::{CallSpec, Client, ClientConfig, StreamId};
use sansio_mcp::model::{
    CallToolParams, CallToolResult, CancelledParams, ClientCapabilities, CompleteParams, CompleteResult,
    ContentBlock, CreateMessageParams, CreateMessageResult, DiscoverResult, ElicitFormParams, ElicitResult,
    ElicitUrlParams, ErrorObject, FieldSchema, GetPromptParams, GetPromptResult, Implementation,
    InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListRootsResult, ListToolsResult, LoggingMessageParams, ProgressParams, RawMembers, ReadResourceResult,
    ServerCapabilities, SubscriptionsListenParams, Tool,
};
use sansio_mcp::server::{ErrorReply, Server, ServerEvent, Status};
use sansio_mcp::time::Now;
use sansio_mcp::wire::Envelope;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::server_system;

/// One message, or the JSON of one type of the model.
///
/// * An envelope is read as it is with a member on top that nobody knows, which makes it go the long way.
/// * A server that knows its client, from another request or from this one, reads it as one that does not.
/// * A server and a client that get it neither panic nor keep anything of it beyond a request in flight.
/// * What a type reads, it writes so that it reads it again as the same, and then writes the same text.
pub fn decoder(bytes: &[u8]) {
    both_ways(bytes);
    known_or_not(bytes);
    handed_in(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for again in TYPES {
        again(text);
    }
    // The parts of a message are what types are read from.
    if let Ok(message) = serde_json::from_str::<RawMembers>(text) {
        for part in ["params", "result", "error"].into_iter().filter_map(|key| message.get(key)) {
            for again in TYPES {
                again(part.get());
            }
        }
    }
}

fn both_ways(bytes: &[u8]) {
    let Some(longer) = with_a_member(bytes) else { return };
    // An error may be said otherwise where the new member stands; that there is one may not.
    let read = |bytes| Envelope::parse(bytes).map(|envelope| format!("{:?}", envelope.message())).ok();
    assert_eq!(read(bytes), read(&longer), "{}", String::from_utf8_lossy(bytes));
}

/// The object with one more member at its front.
fn with_a_member(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let white = |from: usize| {
        let rest = bytes.get(from..)?;
        Some(from + rest.iter().position(|byte| !b" \t\r\n".contains(byte))?)
    };
    let open = white(0).filter(|at| bytes[*at] == b'{')?;
    white(open + 1).filter(|at| bytes[*at] == b'"')?;
    let member = br#""nobody\u0020knows":{"this":[1]},"#;
    Some([&bytes[..=open], member, &bytes[open + 1..]].concat().into())
}

fn known_or_not(bytes: &[u8]) {
    let fresh = || Server::new(server_system::config(1, 1));
    let mut server = fresh();
    let first = read(&mut server, bytes);
    assert_eq!(read(&mut server, bytes), first, "the second time: {}", String::from_utf8_lossy(bytes));
    let mut server = fresh();
    read(&mut server, KNOWN);
    assert_eq!(read(&mut server, bytes), first, "behind another: {}", String::from_utf8_lossy(bytes));
}

/// What most seeds say of their client.
const KNOWN: &[u8] = br#"{"jsonrpc":"2.0","id":"known","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}"#;

/// What becomes of a message: requests, violations, answers. Afterwards nothing is in flight.
fn read(server: &mut Server, bytes: &[u8]) -> Vec<String> {
    server.handle_message(Now::default(), bytes);
    let mut seen = Vec::new();
    while let Some(event) = server.poll_event() {
        match event {
            ServerEvent::Request { serving, request } => {
                seen.push(format!("{request:?}"));
                let refused = server.refuse(serving, Status::Ok, &ErrorReply::new(-32602, "no"));
                refused.expect("a request can be refused");
            }
            other => seen.push(format!("{other:?}")),
        }
    }
    let mut line = Vec::new();
    while server.poll_transmit(&mut line).is_some() {
        seen.push(String::from_utf8_lossy(&line).into_owned());
        line.clear();
    }
    assert_eq!(server.in_flight(), 0);
    seen
}

fn handed_in(bytes: &[u8]) {
    let now = Now::default();
    let mut server = Server::new(server_system::config(1, 1));
    server.handle_message(now, bytes);
    assert!(server.in_flight() <= 1);
    while server.poll_event().is_some() {}
    let mut line = Vec::new();
    while server.poll_transmit(&mut line).is_some() {
        let _: serde_json::Value = serde_json::from_slice(&line).expect("an answer is JSON");
        assert!(!line.contains(&b'\n'));
        line.clear();
    }
    server.handle_stream_end(now);
    assert_eq!((server.in_flight(), server.unsent_bytes()), (0, 0));

    let config = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default());
    let mut client = Client::new(Arc::new(config.build().expect("a configuration")));
    let call = CallSpec::tool("tool", &serde_json::json!({})).expect("arguments").progress();
    client.call(now, call).expect("room");
    client.poll_transmit(StreamId::SHARED, &mut line);
    client.handle_message(now, StreamId::SHARED, bytes);
    client.close(now);
    while client.poll_event().is_some() {}
    assert_eq!((client.open_calls(), client.poll_timeout()), (0, None));
}

/// Reads, writes, reads and writes.
const TYPES: &[fn(&str)] = &[
    again::<CallToolParams>,
    again::<CallToolResult>,
    again::<CancelledParams>,
    again::<ClientCapabilities>,
    again::<CompleteParams>,
    again::<CompleteResult>,
    again::<ContentBlock>,
    again::<CreateMessageParams>,
    again::<CreateMessageResult>,
    again::<DiscoverResult>,
    again::<ElicitFormParams>,
    again::<ElicitResult>,
    again::<ElicitUrlParams>,
    again::<ErrorObject>,
    again::<FieldSchema>,
    again::<GetPromptParams>,
    again::<GetPromptResult>,
    again::<InputRequiredResult>,
    again::<ListPromptsResult>,
    again::<ListResourceTemplatesResult>,
    again::<ListResourcesResult>,
    again::<ListRootsResult>,
    again::<ListToolsResult>,
    again::<LoggingMessageParams>,
    again::<ProgressParams>,
    again::<RawMembers>,
    again::<ReadResourceResult>,
    again::<ServerCapabilities>,
    again::<SubscriptionsListenParams>,
    again::<Tool>,
];

fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(text: &str) {
    let Ok(value) = serde_json::from_str::<T>(text) else { return };
    let written = serde_json::to_string(&value).expect("what was read can be written");
    match serde_json::from_str::<T>(&written) {
        Err(error) => panic!("{text} was written as {written}: {error}"),
        Ok(second) => {
            assert_eq!(second, value, "{text} was written as {written}");
            assert_eq!(serde_json::to_string(&second).ok(), Some(written));
        }
    }
}

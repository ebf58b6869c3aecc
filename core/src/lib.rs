//! The Model Context Protocol as values: no I/O, no clock, no randomness, no threads, no async.
//!
//! A transport hands in the bytes it read and the time it is; this crate says what they mean, what is to be sent, and when to
//! look again. Nothing else happens in it, so it runs wherever Rust does (`no_std` with `alloc`), under any executor or
//! none, and a test plays hours of a conversation in microseconds. It speaks revision 2026-07-28.
//!
//! | piece | what it is |
//! | --- | --- |
//! | [`client::Client`] | calls made on one connection, over all their attempts; its table is [`client::call`] |
//! | [`server::Server`] | requests served on a channel that all share (stdio, memory) |
//! | [`server::Exchange`] | one request with a stream of its own (an HTTP POST); both run the table [`server::exchange`] |
//! | [`admission::Admission`] | who may run when: slots, a queue, lanes; knows no protocol |
//! | [`wire`] | lines, envelopes, writing JSON |
//! | [`model`] | the specification's objects as types |
//!
//! # Four kinds of method
//!
//! *Facts* take `&self`, are nouns, and change nothing: [`open_calls`](client::Client::open_calls),
//! [`unsent_bytes`](server::Server::unsent_bytes).
//!
//! *World in*, `handle_*`: what was read, that a stream has gone, that time has passed. Any bytes in any order are fine; what
//! is wrong with them becomes a [`PeerViolation`](violation::PeerViolation) to log, or an answer of the engine's own.
//!
//! *Application in*, bare verbs: [`call`](client::Client::call), [`answer`](client::Client::answer),
//! [`cancel`](client::Client::cancel), [`respond`](server::Server::respond), [`progress`](server::Server::progress),
//! [`close`](server::Server::close). At the wrong time they return a [`Misuse`](misuse::Misuse) or
//! [`Refused`](client::Refused), and nothing has changed.
//!
//! *Out*, `poll_*`: the next event, the next message, the next deadline. They only pop. States move when something is handed
//! in, so how often and in which order one polls decides nothing; writer, application and timer may each do so when it suits
//! them.
//!
//! Time is an argument ([`time::Now`]). After `handle_timeout` at the time that `poll_timeout` names, the next deadline is later;
//! called early or twice it changes nothing. Every collection has a limit in [`limits`].
//!
//! # What may grow
//!
//! What the engine tells, takes and decides may gain variants and members in a later version and is `#[non_exhaustive]`: events,
//! errors, outcomes, limits, states, inputs and effects of the tables, objects of the model. Exhaustive is what the protocol's
//! grammar closes (ids, the kinds of message), and what each of which has to be acted upon, so that a compiler should name the
//! place that forgets one: [`Frame`](wire::Frame), [`Timeout`](client::Timeout), and the answers of admission
//! ([`Passed`](admission::Passed), [`Cancelled`](admission::Cancelled), [`Grant`](admission::Grant)).
//!
//! # One request through every state
//!
//! Client and server, and a `Vec<u8>` for a wire.
//!
//! ```
//! use std::{collections::BTreeMap, sync::Arc};
//! use sansio_mcp::client::{CallSpec, Client, ClientConfig, ClientEvent, InputAnswer, Outcome, StreamId, call::State};
//! use sansio_mcp::model::{ClientCapabilities, Implementation, RawJson, ServerCapabilities, ToolsCapability};
//! use sansio_mcp::server::{WrittenBody, Progress, Server, ServerConfig, ServerEvent};
//! use sansio_mcp::time::Now;
//!
//! let config = ClientConfig::builder(Implementation::new("client", "1"), ClientCapabilities::default()).build()?;
//! let mut client = Client::new(Arc::new(config));
//! let mut capabilities = ServerCapabilities::default();
//! capabilities.tools = Some(ToolsCapability::default());
//! let config = ServerConfig::builder(Implementation::new("server", "1"), capabilities).build()?;
//! let mut server = Server::new(Arc::new(config));
//! let mut now = Now::default();
//! let mut wire = Vec::new();
//!
//! // Queued: described, not written. A cancel would leave no trace on the wire.
//! let spec = CallSpec::tool("report", &BTreeMap::from([("year", 2026)]))?;
//! let call = client.call(now, spec.progress())?;
//! assert!(matches!(client.state(call), Some(State::Queued(_))));
//!
//! // In flight: the transport took it. On the server it runs.
//! client.poll_transmit(StreamId::SHARED, &mut wire).unwrap();
//! assert!(matches!(client.state(call), Some(State::InFlight(_))));
//! server.handle_message(now, &wire);
//! let Some(ServerEvent::Request { serving, request }) = server.poll_event() else { panic!() };
//! assert_eq!((request.name(), request.arguments()), (Some("report"), Some(r#"{"year":2026}"#)));
//!
//! // Progress rides on the request that asked for it.
//! server.progress(serving, &Progress::new(30.0).of(100.0).message("rows"))?;
//! wire.clear();
//! server.poll_transmit(&mut wire).unwrap();
//! client.handle_message(now, StreamId::SHARED, &wire);
//! assert!(matches!(client.poll_event(), Some(ClientEvent::Progress { progress: 30.0, .. })));
//!
//! // Awaiting input: this server has a question (its line is written by hand here).
//! let question = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s",
//!     "inputRequests":{"sure":{"method":"elicitation/create","params":{"message":"Really?"}}}}}"#;
//! client.handle_message(now, StreamId::SHARED, question);
//! assert!(matches!(client.poll_event(), Some(ClientEvent::InputRequired { round: 1, .. })));
//! assert!(matches!(client.state(call), Some(State::AwaitingInput(_))));
//!
//! // Answered: the next attempt, under a new id, carries the answer and the state.
//! let result = RawJson::from_text(r#"{"action":"accept","content":{}}"#)?;
//! client.answer(now, call, &[InputAnswer { key: "sure", result: result.as_raw() }])?;
//! client.poll_transmit(StreamId::SHARED, &mut Vec::new()).unwrap();
//!
//! // Backing off: state alone comes back, nobody is asked, the client waits a moment.
//! let again = br#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"t"}}"#;
//! client.handle_message(now, StreamId::SHARED, again);
//! assert!(matches!(client.state(call), Some(State::BackingOff(_))));
//! now = Now::at(client.poll_timeout().unwrap().at());
//! client.handle_timeout(now);
//! assert!(matches!(client.state(call), Some(State::Queued(_))));
//! wire.clear();
//! client.poll_transmit(StreamId::SHARED, &mut wire).unwrap();
//!
//! // Answered on the server: queued until it is taken, and withdrawn if a cancel is read before.
//! server.handle_message(now, &wire);
//! let Some(ServerEvent::Request { serving, request }) = server.poll_event() else { panic!() };
//! assert_eq!(request.request_state(), Some("t"));
//! server.respond(serving, &WrittenBody { members: br#""content":[]"#, meta: None })??;
//! assert!(!server.is_running(serving));
//! wire.clear();
//! server.poll_transmit(&mut wire).unwrap();
//!
//! // Done: it ends exactly once, and nothing of it is left.
//! client.handle_message(now, StreamId::SHARED, &wire);
//! let Some(ClientEvent::Finished { outcome: Outcome::Complete(answer), .. }) = client.poll_event() else { panic!() };
//! let result: sansio_mcp::model::CallToolResult = answer.result()?;
//! assert!(result.content.is_empty());
//! assert_eq!((client.open_calls(), client.poll_timeout()), (0, None));
//! assert_eq!((client.state(call), client.cancel(now, call, None).is_err()), (None, true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/by_hand.rs` does the same as a program and prints the lines.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod admission;
pub mod base64;
pub mod client;
pub mod code;
pub mod config;
pub mod id;
pub mod limits;
pub mod misuse;
pub mod model;
pub mod server;
mod slab;
pub mod subscription;
#[cfg(test)]
mod table_test;
pub mod time;
mod timers;
pub mod violation;
mod window;
pub mod wire;

/// The revision that this crate speaks.
pub const PROTOCOL_VERSION: &str = "2026-07-28";

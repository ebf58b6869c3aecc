//! The rules of the Model Context Protocol's Streamable HTTP binding (revision 2026-07-28,
//! basic/transports/streamable-http) as pure functions: no sockets, no HTTP implementation, no executor.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`mirror`] | which headers repeat what of the body, and whether they do |
//! | [`sse`] | how events are written and read |
//!
//! There is no server or client in it yet.
#![forbid(unsafe_code)]

mod error;
pub mod mirror;
pub mod sse;

//! Every flow of messages that the pages of 2026-07-28 draw, played between the sdk's client and the sdk's server, and
//! held line by line against the traces in `tests/golden`.
//!
//! A trace is what crossed the wire, byte for byte: ids, order, spelling and virtual time are part of it. Nothing is
//! normalised, since nothing is left to chance: the clock is virtual, the keys and nonces of sealed state are the test's.
//! Each flow is played several times: with ready tasks in other orders and the bytes cut up in other ways, and with a
//! stream for each request, where a cancellation closes the stream instead. All give the same trace. The drawings of HTTP are
//! played over its service, with heads and bodies, closed streams and keep-alive.
//!
//! Beside its trace each flow says in the source which messages are drawn, so that a trace that was written anew cannot
//! quietly become another flow. To write them anew, after a change that is meant:
//!
//! ```text
//! SANSIO_WRITE_GOLDEN=1 cargo test -p sansio-mcp-tests --test golden
//! ```
#![allow(missing_docs)]

mod asking;
mod basic;
mod changes;
mod drawings;
mod http;
mod lists;
mod sampling;
mod stage;

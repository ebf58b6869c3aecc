//! The client's half: calls made, and what becomes of them.
//!
//! A *call* is what the application asks for; it ends exactly once, with an [`Outcome`]. An *attempt* is one
//! request of it on the wire: there are several where the server asks for input. The life of a call is the
//! table in [`call`].

pub mod call;
mod calls;
mod config;
mod deadline;
mod event;
mod ids;
mod incoming;
pub mod listen;
mod listening;
mod logs;
mod outgoing;
mod render;
mod spec;
mod streams;

pub use calls::Client;
pub use config::{Abandon, ClientConfig, ClientConfigBuilder, Routing};
pub use deadline::ClientDeadline;
pub use event::{
    Answer, ClientEvent, ClientKind, ClientTransmit, InputAnswer, LogMessage, Outcome, PeerError, Question,
    StreamId, Timeout, TransportError,
};
pub use listening::ListenSpec;
pub use spec::{CallSpec, DEFAULT_TOTAL, Refused};

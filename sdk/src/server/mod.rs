//! What authors of servers write against.
//!
//! # Watching requests
//!
//! Every request tells where it is, as `tracing` events of the target `sansio_mcp_sdk::request`, none of them
//! while a lock is held. Their fields are `state`, `id` (the request's on the wire, as JSON), `method` and
//! `name` (the tool).
//!
//! | state | level | |
//! | --- | --- | --- |
//! | `queued` | trace | Every slot is taken. |
//! | `gate` | trace | It has a slot; layers and the check of its arguments run. |
//! | `in lane` | trace | Another call of its lane runs; it has given its slot back. |
//! | `running` | trace | Its handler begins. |
//! | `answered` | trace | Its answer was handed over; `error` says of which kind. |
//! | `asks` | trace | Its question was handed over; it comes again with the answers. |
//! | `refused` | info | Its state was not opened; `code` says why, to the operator alone. |
//! | `busy` | info | Refused; `code`. |
//! | `stopped` | debug | Cancelled, lost or closed down: `code`, `reason`, and whether its handler had `started`. |
//! | `draining` | trace | Stopped, and its blocking body has not returned. |
//! | `cleanup` | trace | A clean-up begins. |
//! | `over` | trace | Slot and lane are given back. Not told of one that was stopped or refused in the queue. |

mod adding;
pub mod ask;
mod body;
mod builder;
mod catalog;
mod check;
mod context;
mod exit;
mod handler;
mod kinds;
mod layer;
mod live;
mod log;
mod offer;
mod offers;
mod output;
mod registry;
mod reply;
mod shelf;
mod spec;
mod stale;
mod step;
mod yielding;

use std::sync::Arc;

use sansio_mcp::admission::Admission;
use sansio_mcp::model::Implementation;
use sansio_mcp::server::ServerConfig;

pub use ask::{Answered, Asked, InputRequired, Question, Typed};
pub(crate) use body::Body;
pub use builder::Builder;
pub use catalog::{Catalog, Update, UpdateError};
pub use context::{Context, OnExit, Report};
pub use exit::Exit;
pub(crate) use handler::RunTool;
pub use kinds::{CompletionOutput, PromptOutput, ResourceOutput};
pub use layer::Next;
pub(crate) use layer::run_request;
pub(crate) use layer::{ContextHook, Layer};
pub(crate) use live::Live;
pub use log::Logged;
pub use offer::{PromptSpec, ResourceSpec, TemplateSpec};
#[cfg(feature = "schemars")]
pub use output::Json;
pub use output::{NoArguments, Parsed, RawArguments, ToolInput, ToolOutput, Untyped};
pub(crate) use registry::Registry;
pub(crate) use reply::busy;
pub use reply::{Answer, Failure, Reply};
pub use sansio_mcp::config::ConfigError;
pub use sansio_mcp::misuse::Misuse;
pub use sansio_mcp::model::{
    Annotations, BooleanSchema, CacheScope, CallToolResult, CompleteParams, CompleteResult, ContentBlock,
    CreateMessageParams, ElicitUrlParams, EnumSchema, Form, GetPromptResult, Icon, ListRootsParams,
    LoggingLevel, MultiSelectSchema, NumberSchema, PromptArgument, PromptMessage, ReadResourceResult,
    StringFormat, StringSchema, TitledEnumSchema, TitledMultiSelectSchema, ToolAnnotations,
};
pub use sansio_mcp::server::continuation::{Entropy, KeyRing, NoEntropy, NotAKey, SealKey, Sealer};
pub use sansio_mcp::server::{Progress, Request};
pub use sansio_mcp::subscription::Change;
pub use spec::{ToolSpec, schema};
pub(crate) use stale::Watched;
pub use step::Step;
pub use yielding::{Generator, Yielder, generator};

pub use crate::engine::SystemEntropy;
use crate::engine::{Bounds, Sealing};
use crate::mode::{Local, Mode, Shared};

/// A server: what it is called, what it offers, what it may use. Served by an [`Engine`](crate::Engine).
pub struct Server<M: Mode = Shared> {
    pub(crate) live: Arc<Live<M>>,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) admission: Admission,
    pub(crate) bounds: Bounds,
    pub(crate) sealing: Sealing,
    pub(crate) logs: bool,
    pub(crate) spawn: Option<Box<M::Spawn>>,
}

impl Server<Shared> {
    /// Starts a server of this name and version whose handlers are `Send`.
    pub fn shared(name: impl Into<String>, version: impl Into<String>) -> Builder<Shared> {
        Builder::new(Implementation::new(name, version))
    }
}

impl Server<Local> {
    /// Starts a server of this name and version whose handlers need not be `Send`. The driver of its engine, and every
    /// future that serves it, is not `Send` either: block on it, or spawn it on a local executor.
    pub fn local(name: impl Into<String>, version: impl Into<String>) -> Builder<Local> {
        Builder::new(Implementation::new(name, version))
    }
}

impl<M: Mode> Server<M> {
    /// As [`shared`](Server::shared) and [`local`](Server::local), for code that leaves the mode open.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> Builder<M> {
        Builder::new(Implementation::new(name, version))
    }

    /// As [`builder`](Self::builder), with everything an implementation may tell about itself.
    pub fn describe(info: Implementation) -> Builder<M> {
        Builder::new(info)
    }
}

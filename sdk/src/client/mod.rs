//! Clients: calls that can be awaited.
//!
//! [`Client::connect`] makes two halves. The [`Client`] is for the application: cheap to clone, usable from any task or
//! thread. The [`ClientConnection`] is for a transport, which moves its messages, for example with
//! [`lines::pump`](crate::lines::pump).
//!
//! ```no_run
//! # use sansio_mcp_sdk::client::{CallError, Client, Progress};
//! # async fn f(client: Client) -> Result<(), CallError> {
//! let result = client
//!     .call_tool("import", &serde_json::json!({"path": "a.csv"}))
//!     .on_progress(|progress: Progress| println!("{:?}", progress.percent()))
//!     .await?;
//! # Ok(()) }
//! ```
//!
//! | to | there is |
//! | --- | --- |
//! | call tools, prompts, resources, and list them | [`Client`]'s methods, each a [`Call`] to set up and await |
//! | answer what a server asks in the middle of a call | handlers of a [`ClientBuilder`] |
//! | hear of changes | [`Client::listen`], and [`Relisten`] across connections |
//! | not ask again for what is still fresh | a [`Cache`] |
//! | hear a server's log messages | [`Call::on_log`], [`ClientBuilder::on_log`] |
//!
//! Dropping a call that was begun cancels it: the server is told, if it knows of the call. A call ends exactly once,
//! with its result or a [`CallError`], whose [`code`](CallError::code) is stable.

mod after;
mod cache;
mod call;
mod canceller;
mod connection;
mod error;
mod events;
mod extra;
mod input;
mod listen;
mod listing;
mod progress;
mod relisten;
mod setup;
mod shared;
mod slots;
mod typed;

use std::sync::Arc;

use sansio_mcp::model::Implementation;
use serde::Serialize;

pub use cache::{Cache, CacheLimits};
pub use call::{Call, ToolCall};
pub use canceller::Canceller;
pub use connection::{ClientConnection, Head, Queued};
pub use error::{CallError, ListError};
pub use events::{CallEvent, Events};
pub use input::{InputFailure, Question};
pub use listen::{Agreed, ListenEnd, ListenEvent, Subscription};
pub use progress::Progress;
pub use relisten::{Relisten, RelistenEvent, RelistenLimits};
pub use sansio_mcp::client::{Answer, CallSpec, ClientConfig, ListenSpec, LogMessage, TransportError};
pub use sansio_mcp::subscription::{Change, Changed};
pub use setup::{ClientBuilder, ClientSetup};

use crate::clock::Clock;
use shared::{Handle, Shared};

/// The application's half of a connection to a server.
///
/// When the last clone and the last call are dropped the connection is closed.
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

impl Client {
    /// Makes a client and the connection that a transport has to serve. Nothing is sent before the first call.
    ///
    /// A [`ClientConfig`] alone makes a client that answers no questions and keeps nothing; see
    /// [`builder`](Self::builder) for more.
    pub fn connect(setup: impl Into<ClientSetup>, clock: Arc<dyn Clock>) -> (Self, ClientConnection) {
        let shared = Arc::new(Shared::new(setup.into(), clock));
        let handle = Arc::new(Handle { shared: Arc::clone(&shared) });
        let connection = ClientConnection::new(shared, Arc::downgrade(&handle));
        (Self { handle }, connection)
    }

    /// Sets up a client of this name: handlers of questions, a cache, log messages.
    pub fn builder(info: Implementation) -> ClientBuilder {
        ClientBuilder::new(info)
    }

    /// Subscribes to changes (basic/patterns/subscriptions). Opens when first polled.
    pub fn listen(&self, spec: ListenSpec) -> Subscription {
        Subscription::new(Arc::clone(&self.handle), spec)
    }

    /// Subscribes to changes, and again whenever the subscription ends without anybody here having wished it, until this client
    /// is closed. For transports on which the client outlives the loss of a stream, as over HTTP; see [`Relisten`].
    pub fn relisten(&self, spec: ListenSpec, limits: RelistenLimits) -> Relisten {
        Relisten::on(self.clone(), spec, limits)
    }

    /// Forgets what the cache holds for this client alone. To be called when the client speaks for somebody else from
    /// now on, for example with another access token (server/utilities/caching, "Cache Scope Field").
    pub fn forget_private_results(&self) {
        if let Some(cache) = &self.handle.shared.cache {
            cache.forget_private();
        }
    }

    /// Forgets what a change makes stale; false if there is no cache.
    fn forget(&self, change: Change<'_>) -> bool {
        self.handle.shared.cache.as_ref().map(|cache| cache.invalidate(change)).is_some()
    }

    /// Calls a tool with arguments that serialise to an object. Begins when first polled.
    ///
    /// A tool that failed is a result whose [`is_error`](sansio_mcp::model::CallToolResult::is_error) says so, not a [`CallError`]
    /// (server/tools, "Error Handling").
    pub fn call_tool(&self, name: &str, arguments: &(impl Serialize + ?Sized)) -> ToolCall {
        Call::new(Arc::clone(&self.handle), CallSpec::tool(name, arguments), call::decode_tool)
    }

    /// Calls any method. Begins when first polled. See also [`Call::typed`].
    pub fn call(&self, spec: CallSpec) -> Call<Answer> {
        Call::new(Arc::clone(&self.handle), Ok(spec), Ok)
    }

    /// Ends every call with [`CallError::Closed`] and the connection with them. Nothing can be called any more.
    pub fn close(&self) {
        self.handle.shared.close();
    }

    /// Nothing can be called any more: closed, or the connection was lost.
    pub fn is_closed(&self) -> bool {
        self.handle.shared.is_closed()
    }

    /// Calls that have not ended, and ended ones whose outcome was not collected.
    pub fn open_calls(&self) -> usize {
        self.handle.shared.open_calls()
    }
}

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
//! Dropping a call that was begun cancels it: the server is told, if it knows of the call. A call ends exactly once,
//! with its result or a [`CallError`], whose [`code`](CallError::code) is stable.

mod after;
mod call;
mod connection;
mod error;
mod events;
mod listing;
mod progress;
mod shared;
mod slots;

use std::sync::Arc;

use sansio_mcp::model::{DiscoverResult, ListToolsResult, Tool};
use serde::Serialize;

pub use call::{Call, ToolCall};
pub use connection::ClientConnection;
pub use error::{CallError, ListError};
pub use events::{CallEvent, Events};
pub use progress::Progress;
pub use sansio_mcp::client::{Answer, CallSpec, ClientConfig};

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
    pub fn connect(config: impl Into<Arc<ClientConfig>>, clock: Arc<dyn Clock>) -> (Self, ClientConnection) {
        let shared = Arc::new(Shared::new(config.into(), clock));
        let connection = ClientConnection::new(Arc::clone(&shared));
        (Self { handle: Arc::new(Handle { shared }) }, connection)
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

    /// Asks what the server speaks and offers (server/discover).
    pub fn discover(&self) -> Call<DiscoverResult> {
        Call::new(Arc::clone(&self.handle), Ok(CallSpec::discover()), call::decode)
    }

    /// Lists one page of the tools, from the beginning or from the `next_cursor` of an earlier page.
    pub fn list_tools_page(&self, cursor: Option<&str>) -> Call<ListToolsResult> {
        Call::new(Arc::clone(&self.handle), Ok(CallSpec::list_tools(cursor)), call::decode)
    }

    /// Lists all tools, page by page.
    ///
    /// # Errors
    /// A page could not be had, a cursor was given twice, or there are more than 1,000 pages.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, CallError> {
        listing::tools(self).await
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

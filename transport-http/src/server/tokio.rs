//! A server on tokio. Handlers and sockets are polled by whoever polls [`Bound::serve`]; connections are tasks of the runtime, on any
//! of its threads.
//!
//! ```no_run
//! use sansio_mcp_http::server::{Endpoint, tokio};
//! use sansio_mcp_sdk::server::{Context, NoArguments, Server};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::shared("hello", "1").tool("hello", async |_: NoArguments, _: Context| Ok("hello")).build()?;
//! let bound = tokio::bind(Endpoint::new(server))?;
//! println!("{}", bound.url());
//! let runtime = ::tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! runtime.block_on(bound.serve())?;
//! # Ok(())
//! # }
//! ```

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use ::tokio::net::{TcpListener, TcpStream};
use hyper_util::rt::TokioIo;
use sansio_mcp_sdk::{Mode, Shared};

use super::net::{self, BindError, Endpoint, Listener, Spawn};

pub use crate::system::tokio::SystemClock;

/// Names the runtime of a server.
#[derive(Clone, Copy, Debug)]
pub enum Tokio {}

/// A server that listens.
pub type Bound<M = Shared> = net::Bound<Tokio, M>;

/// Binds the socket of an endpoint. It is served from then on that [`Bound::serve`] is polled; connections wait until then.
///
/// # Errors
/// Its configuration is not what it must be, or the address cannot be had.
pub fn bind<M: Mode>(endpoint: Endpoint<M>) -> Result<Bound<M>, BindError> {
    endpoint.bind(Arc::new(SystemClock::new()))
}

impl<M: Mode> Bound<M> {
    /// Serves until [`Handle::shutdown`](super::Handle::shutdown), and what comes of that, is over. Has to be polled within a runtime whose reactor and timer
    /// are enabled.
    ///
    /// # Errors
    /// The runtime does not take the socket.
    pub async fn serve(self) -> io::Result<()> {
        let Self { listener, running, .. } = self;
        let listener = TcpListener::from_std(listener)?;
        net::serve(listener, running, Tasks).await;
        Ok(())
    }
}

#[derive(Clone)]
struct Tasks;

impl Spawn for Tasks {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        drop(::tokio::spawn(task));
    }
}

impl Listener for TcpListener {
    type Io = TokioIo<TcpStream>;

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Io>> {
        let (stream, _) = ready!(self.poll_accept(cx))?;
        // Of a connection that has gone already it fails: that will be seen when it is read.
        let _ = stream.set_nodelay(true);
        Poll::Ready(Ok(TokioIo::new(stream)))
    }
}

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

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use ::tokio::net::{TcpListener, TcpStream};
use hyper_util::rt::TokioIo;
use sansio_mcp_sdk::{Mode, Shared};

use super::net::{self, BindError, Endpoint, Handle, Listener, Spawn};

pub use crate::system::tokio::SystemClock;

/// Binds the socket of an endpoint. It is served from then on that [`Bound::serve`] is polled; connections wait until then.
///
/// # Errors
/// Its configuration is not what it must be, or the address cannot be had.
pub fn bind<M: Mode>(endpoint: Endpoint<M>) -> Result<Bound<M>, BindError> {
    Ok(Bound(endpoint.bind(Arc::new(SystemClock::new()))?))
}

/// A server that listens.
#[must_use = "nobody is served before `serve` is polled"]
pub struct Bound<M: Mode = Shared>(net::Bound<M>);

impl<M: Mode> Bound<M> {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.0.address
    }

    /// What clients are given.
    pub fn url(&self) -> String {
        self.0.url()
    }

    /// The hand on it, to be kept.
    pub fn handle(&self) -> Handle {
        self.0.handle()
    }

    /// Serves until [`Handle::shutdown`], and what comes of that, is over. Has to be polled within a runtime whose reactor and timer
    /// are enabled.
    ///
    /// # Errors
    /// The runtime does not take the socket.
    pub async fn serve(self) -> io::Result<()> {
        let net::Bound { listener, running, .. } = self.0;
        let listener = TcpListener::from_std(listener)?;
        net::serve(listener, running, Tasks).await;
        Ok(())
    }
}

impl<M: Mode> fmt::Debug for Bound<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("address", &self.0.address).finish_non_exhaustive()
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

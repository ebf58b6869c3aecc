//! A server on smol's reactor, and on any executor: handlers, connections and sockets are polled by whoever polls
//! [`Bound::serve`], on one thread.
//!
//! ```no_run
//! use sansio_mcp_http::server::{Endpoint, smol};
//! use sansio_mcp_sdk::server::{Context, NoArguments, Server};
//!
//! let server = Server::shared("hello", "1").tool("hello", async |_: NoArguments, _: Context| Ok("hello")).build()?;
//! let bound = smol::bind(Endpoint::new(server))?;
//! println!("{}", bound.url());
//! ::smol::block_on(bound.serve());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

use ::smol::Executor;
use async_io::Async;
use sansio_mcp_sdk::{Mode, Shared};

use super::net::{self, BindError, Endpoint, Handle, Listener, Spawn};
use crate::system::stream::Io;

pub use crate::system::smol::SystemClock;

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

    /// Serves until [`Handle::shutdown`], and what comes of that, is over.
    ///
    /// # Errors
    /// The reactor does not take the socket.
    pub async fn serve(self) -> io::Result<()> {
        let net::Bound { listener, running, .. } = self.0;
        let listener = Async::new(listener)?;
        let executor = Arc::new(Executor::new());
        let tasks = Tasks(Arc::downgrade(&executor));
        executor.run(net::serve(listener, running, tasks)).await;
        Ok(())
    }
}

impl<M: Mode> fmt::Debug for Bound<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("address", &self.0.address).finish_non_exhaustive()
    }
}

/// The executor of a server, which its own tasks do not keep alive.
#[derive(Clone)]
struct Tasks(Weak<Executor<'static>>);

impl Spawn for Tasks {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(executor) = self.0.upgrade() {
            executor.spawn(task).detach();
        }
    }
}

impl Listener for Async<TcpListener> {
    type Io = Io<Async<TcpStream>>;

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Io>> {
        loop {
            match self.get_ref().accept() {
                Ok((stream, _)) => {
                    // Of a connection that has gone already it fails: that will be seen when it is read.
                    let _ = stream.set_nodelay(true);
                    return Poll::Ready(Ok(Io::new(Async::new(stream)?, true)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready!(self.poll_readable(cx))?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

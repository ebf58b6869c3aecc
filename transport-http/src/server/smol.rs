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

use std::future::Future;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

use ::smol::Executor;
use async_io::Async;
use sansio_mcp_sdk::{Mode, Shared};

use super::net::{self, BindError, Endpoint, Listener, Spawn};
use crate::system::stream::Io;

pub use crate::system::smol::SystemClock;

/// Names the runtime of a server.
#[derive(Clone, Copy, Debug)]
pub enum Smol {}

/// A server that listens.
pub type Bound<M = Shared> = net::Bound<Smol, M>;

/// Binds the socket of an endpoint. It is served from then on that [`Bound::serve`] is polled; connections wait until then.
///
/// # Errors
/// Its configuration is not what it must be, or the address cannot be had.
pub fn bind<M: Mode>(endpoint: Endpoint<M>) -> Result<Bound<M>, BindError> {
    endpoint.bind(Arc::new(SystemClock::new()))
}

impl<M: Mode> Bound<M> {
    /// Serves until [`Handle::shutdown`](super::Handle::shutdown), and what comes of that, is over.
    ///
    /// # Errors
    /// The reactor does not take the socket.
    pub async fn serve(self) -> io::Result<()> {
        let Self { listener, running, .. } = self;
        let listener = Async::new(listener)?;
        let executor = Arc::new(Executor::new());
        let tasks = Tasks(Arc::downgrade(&executor));
        executor.run(net::serve(listener, running, tasks)).await;
        Ok(())
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

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

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

use ::smol::Executor;
use ::smol::io::{AsyncRead, AsyncWrite};
use async_io::{Async, Timer};
use hyper::rt::{Read, ReadBufCursor, Write};
use sansio_mcp_sdk::clock::{Clock, Sleep};
use sansio_mcp_sdk::protocol::time::{Mono, Now};
use sansio_mcp_sdk::{Mode, Shared};

use super::net::{self, BindError, Endpoint, Handle, Listener, Spawn};
use super::time::Start;

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
    type Io = Socket;

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Socket>> {
        loop {
            match self.get_ref().accept() {
                Ok((stream, _)) => {
                    stream.set_nodelay(true)?;
                    return Poll::Ready(Ok(Socket(Async::new(stream)?)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready!(self.poll_readable(cx))?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

/// A connection.
pub(super) struct Socket(Async<TcpStream>);

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

thread_local! {
    /// Sockets are read into this and copied from it: hyper's own memory is not initialised, and writing zeros to it before each
    /// read costs more.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK].into());
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        SCRATCH.with_borrow_mut(|scratch| {
            let max = scratch.len().min(buf.remaining());
            let chunk = scratch.get_mut(..max).unwrap_or_default();
            let read = ready!(Pin::new(&mut self.0).poll_read(cx, chunk))?;
            buf.put_slice(chunk.get(..read).unwrap_or_default());
            Poll::Ready(Ok(()))
        })
    }
}

impl Write for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }
}

/// The system's monotonic clock, starting when this value is made, and its calendar; timers on smol's reactor.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Start,
}

impl SystemClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Start::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn mono(&self) -> Mono {
        self.start.mono()
    }

    fn now(&self) -> Now {
        self.start.read()
    }

    fn sleep_until(&self, at: Mono) -> Sleep {
        let at = self.start.instant(at);
        Box::pin(async move {
            Timer::at(at).await;
        })
    }
}

//! Unix sockets on smol.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use async_io::Async;
use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp_sdk::Mode;
use sansio_mcp_sdk::client::{Client, ClientConnection, ClientSetup};
use sansio_mcp_sdk::lines::Pump;
use sansio_mcp_sdk::server::Server;

use super::SystemClock;
use crate::connect_on;
use crate::system::unix::{self, Accept, Listener};

/// Serves whoever connects to a Unix socket, all by one engine, until `stop` completes; then everything running is
/// cancelled, and its clean-up runs within its bounds. `std::future::pending()` never stops.
///
/// # Errors
/// The socket cannot be used.
pub async fn serve_unix<M: Mode>(
    server: Server<M>,
    listener: Listener,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (socket, max, _file) = listener.into_parts();
    let socket = Async::new(socket)?;
    unix::serve(server, Acceptor(socket), max, stop, Arc::new(SystemClock::new())).await
}

/// A client of a server on a Unix socket, and the future that moves its bytes: poll or spawn it. Closing the client
/// ends the connection.
///
/// # Errors
/// Nobody listens there, or this user may not.
pub async fn connect_unix(
    path: impl AsRef<Path>,
    config: impl Into<ClientSetup>,
) -> io::Result<(Client, Pump<ClientConnection, Half, Half>)> {
    let stream = Async::<UnixStream>::connect(path.as_ref()).await?;
    let (reader, writer) = Half::pair(stream);
    Ok(connect_on(config, reader, writer, Arc::new(SystemClock::new())))
}

struct Acceptor(Async<UnixListener>);

impl Accept for Acceptor {
    type Reader = Half;
    type Writer = Half;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<UnixStream>> {
        loop {
            match self.0.get_ref().accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => ready!(self.0.poll_readable(cx))?,
                accepted => return Poll::Ready(accepted.map(|(stream, _)| stream)),
            }
        }
    }

    fn split(&self, stream: UnixStream) -> io::Result<(Half, Half)> {
        Ok(Half::pair(Async::new(stream)?))
    }
}

/// One direction of a Unix socket.
#[derive(Debug)]
pub struct Half(Arc<Async<UnixStream>>);

impl Half {
    fn pair(stream: Async<UnixStream>) -> (Self, Self) {
        let stream = Arc::new(stream);
        (Self(Arc::clone(&stream)), Self(stream))
    }
}

impl AsyncRead for Half {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Half {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self.0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_flush(cx)
    }

    /// The peer sees the end of its input; the other direction goes on.
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.get_ref().shutdown(Shutdown::Write))
    }
}

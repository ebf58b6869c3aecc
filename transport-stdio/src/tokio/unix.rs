//! Unix sockets on tokio.

use std::future::Future;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use sansio_mcp_sdk::Mode;
use sansio_mcp_sdk::client::{Client, ClientConnection, ClientSetup};
use sansio_mcp_sdk::lines::Pump;
use sansio_mcp_sdk::server::Server;

use super::{Compat, SystemClock};
use crate::connect_on;
use crate::system::unix::{self, Accept, Listener};

/// Serves whoever connects to a Unix socket, all by one engine, until `stop` completes; then everything running is
/// cancelled, and its clean-up runs within its bounds. `std::future::pending()` never stops.
///
/// # Errors
/// The socket cannot be used.
///
/// # Panics
/// Outside of a runtime.
pub async fn serve_unix<M: Mode>(
    server: Server<M>,
    listener: Listener,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (socket, max, _file) = listener.into_parts();
    socket.set_nonblocking(true)?;
    let socket = ::tokio::net::UnixListener::from_std(socket)?;
    unix::serve(server, Acceptor(socket), max, stop, Arc::new(SystemClock::new())).await
}

/// A client of a server on a Unix socket, and the future that moves its bytes: poll or spawn it. Closing the client
/// ends the connection.
///
/// # Errors
/// Nobody listens there, or this user may not.
///
/// # Panics
/// Outside of a runtime.
pub async fn connect_unix(
    path: impl AsRef<Path>,
    config: impl Into<ClientSetup>,
) -> io::Result<(Client, Pump<ClientConnection, Compat<OwnedReadHalf>, Compat<OwnedWriteHalf>>)> {
    let stream = ::tokio::net::UnixStream::connect(path).await?;
    let (reader, writer) = stream.into_split();
    Ok(connect_on(config, Compat(reader), Compat(writer), Arc::new(SystemClock::new())))
}

struct Acceptor(::tokio::net::UnixListener);

impl Accept for Acceptor {
    type Reader = Compat<OwnedReadHalf>;
    type Writer = Compat<OwnedWriteHalf>;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<UnixStream>> {
        self.0.poll_accept(cx).map(|accepted| accepted?.0.into_std())
    }

    fn split(&self, stream: UnixStream) -> io::Result<(Self::Reader, Self::Writer)> {
        let (reader, writer) = ::tokio::net::UnixStream::from_std(stream)?.into_split();
        Ok((Compat(reader), Compat(writer)))
    }
}

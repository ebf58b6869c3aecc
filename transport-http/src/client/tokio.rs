//! Clients on tokio's sockets and timers: their driver is polled within a runtime that has both enabled.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use ::tokio::net::TcpStream;
use hyper_util::rt::TokioIo;
use sansio_mcp_sdk::client::{Client, ClientSetup};

use super::endpoint::Endpoint;
use super::net::{ConnectError, Connecting, Connector, HttpDriver, Secure, connect_through};
use super::options::Options;

pub use crate::system::tokio::SystemClock;

/// Makes a client of the server at a URL, and the future that moves its messages: spawn it, or poll it beside the calls.
/// Connections are made when they are needed.
///
/// # Errors
/// The URL names no server, or `https` cannot be had.
pub fn connect(url: &str, setup: impl Into<ClientSetup>) -> Result<(Client, HttpDriver), ConnectError> {
    connect_with(url, setup, Options::new())
}

/// As [`connect`], with limits, credentials, further headers, TLS of one's own.
///
/// # Errors
/// As there.
pub fn connect_with(
    url: &str,
    setup: impl Into<ClientSetup>,
    options: Options,
) -> Result<(Client, HttpDriver), ConnectError> {
    let clock = Arc::new(SystemClock::new());
    connect_through(url, setup.into(), options, clock, connector)
}

fn connector(endpoint: &Endpoint, secure: Secure) -> Connector {
    let (host, port) = (endpoint.host().to_owned(), endpoint.port());
    Box::new(move || -> Connecting {
        let (host, secure) = (host.clone(), secure.clone());
        Box::pin(async move {
            let stream = TcpStream::connect((host.as_str(), port)).await?;
            stream.set_nodelay(true)?;
            match secure.shake(Compat(stream)).await {
                Ok(Compat(plain)) => Ok((Box::new(TokioIo::new(plain)) as _, false)),
                Err(done) => done,
            }
        })
    })
}

/// A socket of tokio as `futures_io` has them, for TLS.
struct Compat(TcpStream);

impl futures_io::AsyncRead for Compat {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut room = ReadBuf::new(buffer);
        ready!(AsyncRead::poll_read(Pin::new(&mut self.0), cx, &mut room))?;
        Poll::Ready(Ok(room.filled().len()))
    }
}

impl futures_io::AsyncWrite for Compat {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        AsyncWrite::poll_write(Pin::new(&mut self.0), cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_flush(Pin::new(&mut self.0), cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_shutdown(Pin::new(&mut self.0), cx)
    }
}

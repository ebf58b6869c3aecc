//! Clients on smol's sockets and timers, polled by any executor.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use async_io::Async;
use sansio_mcp_sdk::client::{Client, ClientSetup};

use super::endpoint::Endpoint;
use super::net::{ConnectError, Connecting, Connector, HttpDriver, Secure, connect_through};
use super::options::Options;
use crate::system::stream::Io;

pub use crate::system::smol::SystemClock;

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
            let stream = tcp(&host, port).await?;
            match secure.shake(stream).await {
                Ok(plain) => Ok((Box::new(Io::new(plain, true)) as _, false)),
                Err(done) => done,
            }
        })
    })
}

/// The addresses of a host, one after the other, until one answers.
async fn tcp(host: &str, port: u16) -> io::Result<Async<TcpStream>> {
    let mut failed = None;
    for address in ::smol::net::resolve((host, port)).await? {
        match Async::<TcpStream>::connect(address).await {
            Ok(stream) => {
                stream.get_ref().set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host has no address")))
}

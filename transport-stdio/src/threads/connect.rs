//! Clients on plain threads: one reads, one writes, one moves the messages between them and the client.

use std::future::Future;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use sansio_mcp_sdk::client::{Client, ClientSetup};

use super::SystemClock;
use crate::connect_on;
use crate::system::threaded::{Reader, Writer};

/// A client on a pair of blocking streams. Its calls are awaited by [`Wait::wait`](super::Wait::wait), on any thread.
///
/// The thread ends after the client was closed, or its last clone dropped, or the connection was lost; `write` is
/// dropped then. The one that reads goes on until the stream ends or says something more.
///
/// # Errors
/// There are no threads left.
pub fn connect(
    config: impl Into<ClientSetup>,
    read: impl Read + Send + 'static,
    write: impl Write + Send + 'static,
) -> io::Result<(Client, JoinHandle<()>)> {
    let clock = SystemClock::new();
    let (reader, writer) = (Reader::new(read)?, Writer::new(write)?);
    let (client, pump) = connect_on(config, reader, writer, Arc::new(clock.clone()));
    Ok((client, background(clock, pump)?))
}

/// Runs a connection on a thread of its own.
pub(super) fn background<F>(clock: SystemClock, connection: F) -> io::Result<JoinHandle<F::Output>>
where
    F: Future<Output: Send> + Send + 'static,
{
    thread::Builder::new().name("mcp-client".into()).spawn(move || clock.block_on(connection))
}

//! Servers as child processes on plain threads.

use std::io;
use std::thread::JoinHandle;

use sansio_mcp_sdk::client::{Client, ClientSetup};

use super::SystemClock;
use super::connect::background;
use crate::system::child::{Ended, Launch};
use crate::system::threaded::{Reader, Writer};

/// Launches a server (a [`Command`](std::process::Command), or a [`Launch`] with more to say) and connects a client to it, whose calls are
/// awaited by [`Wait::wait`](super::Wait::wait). Nothing is sent before the first call.
///
/// The thread ends with the server: when that exits, or after the client was closed or its last clone dropped.
///
/// # Errors
/// The command cannot be started, or there are no threads left.
pub fn launch(
    server: impl Into<Launch>,
    config: impl Into<ClientSetup>,
) -> io::Result<(Client, JoinHandle<Ended>)> {
    let clock = SystemClock::new();
    let (client, running) =
        server.into().start()?.connect(config.into(), clock.clone(), Reader::new, Writer::new)?;
    Ok((client, background(clock, running)?))
}

//! Servers as child processes on smol.

use std::io;

use sansio_mcp_sdk::client::{Client, ClientSetup};

use super::SystemClock;
use crate::system::child::{Launch, Running};

/// Launches a server (a [`Command`](std::process::Command), or a [`Launch`] with more to say) and connects a client to it. Nothing is sent
/// before the first call.
///
/// # Errors
/// The command cannot be started, or there are no threads or descriptors left.
pub fn launch(server: impl Into<Launch>, config: impl Into<ClientSetup>) -> io::Result<(Client, Running)> {
    let started = server.into().start()?;
    #[cfg(unix)]
    let done = started.connect(config.into(), SystemClock::new(), async_io::Async::new, async_io::Async::new);
    #[cfg(not(unix))]
    let done = {
        use crate::system::threaded::{Reader, Writer};
        started.connect(config.into(), SystemClock::new(), Reader::new, Writer::new)
    };
    done
}

//! Servers as child processes on tokio.

use std::io;

use sansio_mcp_sdk::client::{Client, ClientSetup};

use super::SystemClock;
use crate::system::child::{Launch, Running};

/// Launches a server (a [`Command`](std::process::Command), or a [`Launch`] with more to say) and connects a client to it. Nothing is sent
/// before the first call. Called and polled in a runtime with I/O and time enabled.
///
/// # Errors
/// The command cannot be started, or there are no threads or descriptors left.
///
/// # Panics
/// Outside of a runtime.
pub fn launch(server: impl Into<Launch>, config: impl Into<ClientSetup>) -> io::Result<(Client, Running)> {
    let started = server.into().start()?;
    #[cfg(unix)]
    let done = {
        use std::os::fd::OwnedFd;

        use ::tokio::net::unix::pipe::{Receiver, Sender};

        use super::Compat;

        started.connect(
            config.into(),
            SystemClock::new(),
            |stdout| Receiver::from_owned_fd(OwnedFd::from(stdout)).map(Compat),
            |stdin| Sender::from_owned_fd(OwnedFd::from(stdin)).map(Compat),
        )
    };
    #[cfg(not(unix))]
    let done = {
        use crate::system::threaded::{Reader, Writer};
        started.connect(config.into(), SystemClock::new(), Reader::new, Writer::new)
    };
    done
}

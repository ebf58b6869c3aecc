//! A bookshop over HTTP as a child process.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use smol::io::{AsyncBufReadExt, BufReader};
use smol::process::{Child, Command};

/// Killed when it is dropped.
pub(crate) struct Shop {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Shop {
    /// Starts one, and waits until it says where it listens.
    pub(crate) async fn open(
        program: &Path,
        address: SocketAddr,
        key: Option<&str>,
        more: &[&str],
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.arg("--http").arg(address.to_string()).args(more);
        if let Some(key) = key {
            command.env("BOOKSHOP_STATE_KEY", key);
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("there is no stdout"))?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        let address = line.strip_prefix("http://").and_then(|rest| rest.trim().strip_suffix("/mcp"));
        let address = address.and_then(|address| address.parse().ok());
        let address = address.ok_or_else(|| io::Error::other(format!("the bookshop said {line:?}")))?;
        Ok(Self { address, child })
    }
}

/// Its client, and what a machine or an operator does to it.
#[allow(dead_code)] // by one of the programs
impl Shop {
    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// As if its machine had lost power.
    pub(crate) async fn kill(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.status().await?;
        Ok(())
    }

    /// Asks it to leave, and waits until it has.
    pub(crate) async fn leave(&mut self) -> io::Result<ExitStatus> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(id.ok_or_else(|| io::Error::other("it has no id"))?, Signal::TERM)?;
        self.child.status().await
    }
}

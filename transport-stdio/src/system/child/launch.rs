//! How a server is launched.

use std::io;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp_sdk::client::{Client, ClientSetup};
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::lines::pump;

use super::port::{ChildPort, Input};
use super::process::Process;
use super::run::{Running, run};
use crate::LINE_LIMIT;

/// Where the server's stderr goes. None of the choices lets a server block because nobody reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// Each line becomes a `tracing` event of level `INFO`, target `sansio_mcp_stdio::child`. The end of it is kept, for the
    /// cause that calls are told when the server is lost.
    #[default]
    Events,
    /// It is this process's own stderr. Nothing is kept.
    Inherit,
}

/// A server to launch: a command, and how long the steps of its end may take.
///
/// The command's stdin, stdout and stderr are set by the launch; on Unix so is its process group, of which it becomes the
/// leader: an interrupt at the terminal does not reach it.
///
/// When the client is closed the server's stdin is closed; a server that then does not exit is terminated (SIGTERM),
/// then killed (SIGKILL), with its whole process group. A server that exits is never signalled; whatever it leaves in
/// its group is killed. Outside Unix there is only the killing, and only of the server itself.
#[derive(Debug)]
#[must_use = "nothing is launched yet"]
pub struct Launch {
    command: Command,
    stderr: Stderr,
    tail: usize,
    waits: Waits,
    clock: Option<ClockOf>,
}

/// How long each step may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    /// From the end of its output, or its exit, to the other one of the two and the end of its stderr.
    pub(super) settle: Duration,
    pub(super) exit: Duration,
    pub(super) terminate: Duration,
    pub(super) kill: Duration,
}

#[derive(Clone)]
struct ClockOf(Arc<dyn Clock>);

impl std::fmt::Debug for ClockOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

impl Launch {
    /// Launches `command`: 5 s to exit after the end of its input, 2 s after SIGTERM, 2 s after SIGKILL.
    pub fn new(command: Command) -> Self {
        let waits = Waits {
            settle: Duration::from_secs(1),
            exit: Duration::from_secs(5),
            terminate: Duration::from_secs(2),
            kill: Duration::from_secs(2),
        };
        Self { command, stderr: Stderr::default(), tail: 4096, waits, clock: None }
    }

    /// How long the server may take to exit once its stdin is closed, before it is terminated. A server made with
    /// this library takes up to 4.5 s, if its handlers and their clean-up do.
    pub fn exit_wait(mut self, wait: Duration) -> Self {
        self.waits.exit = wait;
        self
    }

    /// How long the server may take to exit once it is terminated, before it is killed.
    pub fn terminate_wait(mut self, wait: Duration) -> Self {
        self.waits.terminate = wait;
        self
    }

    /// How long a killed server is waited for. A thread goes on waiting for one that takes longer.
    pub fn kill_wait(mut self, wait: Duration) -> Self {
        self.waits.kill = wait;
        self
    }

    /// How long, once the server has closed its output or exited, calls wait for the rest of the news (its last
    /// answers, exit status, stderr) before they are lost. 1 s unless set.
    pub fn settle_wait(mut self, wait: Duration) -> Self {
        self.waits.settle = wait;
        self
    }

    /// Where its stderr goes.
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// How many bytes of the end of its stderr are kept. 4 KiB unless set.
    pub fn stderr_tail(mut self, bytes: usize) -> Self {
        self.tail = bytes;
        self
    }

    /// A clock in place of the runtime's.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(ClockOf(clock));
        self
    }

    /// Starts the child.
    pub(crate) fn start(mut self) -> io::Result<Started> {
        let piped = match self.stderr {
            Stderr::Events => Stdio::piped(),
            Stderr::Inherit => Stdio::inherit(),
        };
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(piped);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut self.command, 0);
        let mut child = self.command.spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let process = Process::watch(child, self.tail, self.waits)?;
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        Ok(Started { stdin, stdout, process, waits: self.waits, clock: self.clock })
    }
}

impl From<Command> for Launch {
    fn from(command: Command) -> Self {
        Self::new(command)
    }
}

/// A child that runs. Dropping it runs the ladder.
pub(crate) struct Started {
    stdin: ChildStdin,
    stdout: ChildStdout,
    process: Process,
    waits: Waits,
    clock: Option<ClockOf>,
}

impl Started {
    /// Connects a client to the child by a runtime's streams and clock.
    pub(crate) fn connect<R, W, C: Clock>(
        self,
        config: ClientSetup,
        clock: C,
        reader: impl FnOnce(ChildStdout) -> io::Result<R>,
        writer: impl FnOnce(ChildStdin) -> io::Result<W>,
    ) -> io::Result<(Client, Running)>
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let clock = self.clock.map_or_else(|| -> Arc<dyn Clock> { Arc::new(clock) }, |ClockOf(clock)| clock);
        let (reader, writer) = (reader(self.stdout)?, writer(self.stdin)?);
        let (client, connection) = Client::connect(config, Arc::clone(&clock));
        let port = Arc::new(ChildPort::new(connection));
        let input = Input::new(writer, Arc::clone(&port));
        let pump = pump(Arc::clone(&port), reader, input, Arc::clone(&clock), LINE_LIMIT);
        Ok((client, Running::new(run(self.process, port, pump, clock, self.waits))))
    }
}

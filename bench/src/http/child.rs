//! A server in a child process.

use std::io::{BufRead, BufReader};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::harness::Wrong;
use crate::stdio_load::beside_this_one;

/// A running server; it ends when this is dropped.
pub struct Child {
    process: std::process::Child,
    said: BufReader<ChildStdout>,
    port: u16,
}

impl Child {
    /// Starts a program of this package and waits until it listens.
    pub fn start(program: &str, arguments: &[&str]) -> Result<Self, Wrong> {
        let mut process = Command::new(beside_this_one(program)?)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Wrong::when(&format!(
                "starting {program} (`cargo build --release` makes it)"
            )))?;
        let said = process
            .stdout
            .take()
            .ok_or_else(|| Wrong("a child without pipes".into()))?;
        let mut child = Self {
            process,
            said: BufReader::new(said),
            port: 0,
        };
        child.port = child
            .line()?
            .parse()
            .map_err(Wrong::when("reading the server's port"))?;
        Ok(child)
    }

    /// Where it listens, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next line it says.
    pub fn line(&mut self) -> Result<String, Wrong> {
        let mut line = String::new();
        match self.said.read_line(&mut line) {
            Ok(0) => Err(Wrong("the server left".into())),
            Ok(_) => Ok(line.trim_end().into()),
            Err(error) => Err(Wrong(format!("reading what the server says: {error}"))),
        }
    }

    /// The next line it says, if it says one in time.
    pub fn line_within(&mut self, time: Duration) -> Result<Option<String>, Wrong> {
        let time = Timespec::try_from(time).map_err(Wrong::when("waiting for the server"))?;
        if self.said.buffer().is_empty() {
            let mut waited = [PollFd::new(self.said.get_ref(), PollFlags::IN)];
            if poll(&mut waited, Some(&time)).map_err(Wrong::when("waiting for the server"))? == 0 {
                return Ok(None);
            }
        }
        self.line().map(Some)
    }

    /// Bytes of memory that it has resident.
    pub fn resident(&self) -> Result<u64, Wrong> {
        let status = self.proc("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: Option<u64> = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        kib.map(|kib| kib * 1024)
            .ok_or_else(|| Wrong("no memory of the server".into()))
    }

    /// What it has computed so far, all of its threads, in nanoseconds.
    pub fn nanos(&self) -> Result<u64, Wrong> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process.id()))
            .map_err(Wrong::when("looking at the server's threads"))?;
        let mut sum = 0;
        for task in tasks.flatten() {
            let stat = self.proc(&format!("task/{}/schedstat", task.file_name().display()))?;
            let computed = stat
                .split_ascii_whitespace()
                .next()
                .and_then(|field| field.parse().ok());
            sum += computed.unwrap_or(0u64);
        }
        Ok(sum)
    }

    fn proc(&self, file: &str) -> Result<String, Wrong> {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.process.id()))
            .map_err(Wrong::when("looking at the server"))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // One that has left already is left to the wait.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

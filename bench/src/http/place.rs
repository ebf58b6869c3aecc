//! Which core a process lives on, and what it may open.

use std::io::{self, Write};

use rustix::process::{Resource, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// The core of what puts the load on.
pub const LOAD_CORE: usize = 0;
/// The core of servers.
pub const SERVER_CORE: usize = 1;

/// Keeps this thread, and those it starts from here on, on one core.
pub fn pin(core: usize) -> io::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores)?;
    Ok(())
}

/// Opens as many descriptors as the system lets one.
pub fn raise_descriptors() -> io::Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)?;
    Ok(())
}

/// The first thing a server does: it lives on [`SERVER_CORE`], and no longer than its parent.
pub fn begin_server() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    raise_descriptors()?;
    pin(SERVER_CORE)
}

/// Says where a server listens, now that it does.
pub fn announce(port: u16) -> io::Result<()> {
    say(&port.to_string())
}

/// Writes a line to whoever started this server.
pub fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

/// The clock that all processes share, in nanoseconds.
pub fn nanos() -> u64 {
    nanos_of(ClockId::Monotonic)
}

/// What this thread has computed so far, in nanoseconds.
pub fn thread_nanos() -> u64 {
    nanos_of(ClockId::ThreadCPUTime)
}

fn nanos_of(clock: ClockId) -> u64 {
    let at = clock_gettime(clock);
    at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
}

/// Held by a request that is never answered: says that it has begun, and when it was dropped.
#[derive(Debug)]
pub struct Held(());

impl Held {
    /// One has begun.
    pub fn begun() -> Self {
        // Whoever does not read it measures nothing.
        let _ = say("held");
        Self(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let at = nanos();
        let _ = say(&at.to_string());
    }
}

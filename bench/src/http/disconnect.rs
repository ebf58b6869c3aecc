//! How long it takes until what serves a request has gone, once its client has: from the client's `close` until the handler is
//! dropped, or has noticed and returned.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::child::Child;
use super::load::{Caller, Form};
use super::place::nanos;
use super::requests::Request;
use crate::harness::{Load, Plan, Wrong};
use crate::load::Text;

/// Connections that are busy beside, when there are any.
const BUSY: usize = 32;
/// Closes in a round.
const CLOSES: usize = 100;
/// What an idle server is left to, before a close: it waits for the next event then.
const PAUSE: Duration = Duration::from_millis(1);
/// A handler that is told nothing within this time is told nothing at all.
const PATIENCE: Duration = Duration::from_secs(1);
/// Calls between two looks whether the load is to end.
const BURST: usize = 256;

/// A server, and what was seen of it.
pub struct Disconnect {
    name: &'static str,
    program: &'static str,
    arguments: [&'static str; 2],
    child: Option<Child>,
    /// Nanoseconds of each close, with nothing beside and with [`BUSY`] connections.
    idle: Vec<u64>,
    busy: Vec<u64>,
}

/// The servers.
pub fn sides() -> Vec<Disconnect> {
    [
        ("bare hyper on tokio", "http_bare", ["tokio", "json"]),
        ("bare hyper on smol", "http_bare", ["smol", "json"]),
        ("sansio-mcp on smol", "http_ours", ["smol", "auto"]),
        ("sansio-mcp on tokio", "http_ours", ["tokio", "auto"]),
        ("rmcp", "http_rmcp", ["tokio", "json"]),
    ]
    .into_iter()
    .map(|(name, program, arguments)| Disconnect {
        name,
        program,
        arguments,
        child: None,
        idle: Vec::new(),
        busy: Vec::new(),
    })
    .collect()
}

/// Closes connections of each server in turn, with nothing beside and under load; a table.
pub fn measure(plan: Plan, sides: &mut [Disconnect]) -> Result<String, Wrong> {
    for _ in 0..plan.rounds {
        for side in &mut *sides {
            side.round()
                .map_err(|Wrong(what)| Wrong(format!("{}: {what}", side.name)))?;
        }
    }
    let mut out = format!(
        "### From close to handler, {} closes each\n\n",
        plan.rounds * CLOSES
    );
    let _ = writeln!(
        out,
        "| side | idle: median | 9 of 10 | {BUSY} connections busy: median | 9 of 10 |"
    );
    out.push_str("| --- | ---: | ---: | ---: | ---: |\n");
    for side in sides {
        let _ = write!(out, "| {} |", side.name);
        for seen in [&mut side.idle, &mut side.busy] {
            seen.sort_unstable();
            for at in [seen.len() / 2, seen.len() * 9 / 10] {
                let _ = match seen.get(at) {
                    Some(&u64::MAX) => write!(out, " not within {} s |", PATIENCE.as_secs()),
                    Some(nanos) => write!(out, " {:.0} us |", *nanos as f64 / 1e3),
                    None => write!(out, " - |"),
                };
            }
        }
        out.push('\n');
    }
    Ok(out)
}

impl Disconnect {
    fn round(&mut self) -> Result<(), Wrong> {
        let child = match &mut self.child {
            Some(child) => child,
            none => none.insert(Child::start(self.program, &self.arguments)?),
        };
        let noticed = closes(child, &mut self.idle)? && self.under_load()?;
        if !noticed {
            // What it says later would be taken for something else.
            self.child = None;
        }
        Ok(())
    }

    fn under_load(&mut self) -> Result<bool, Wrong> {
        let Some(child) = &mut self.child else {
            return Ok(false);
        };
        let texts = Text::Short.pool();
        let load = Load {
            calls: 0,
            in_flight: BUSY,
            progress: 0,
            text: Text::Short,
        };
        let mut caller = Caller::open(child.port(), Form::Json, &texts, load)?;
        caller.call(BURST)?;
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let loading = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    caller.call(BURST)?;
                }
                Ok::<_, Wrong>(())
            });
            let closed = closes(child, &mut self.busy);
            over.store(true, Ordering::Relaxed);
            let loaded = loading
                .join()
                .unwrap_or_else(|_| Err(Wrong("the load panicked".into())));
            loaded.and(closed)
        })
    }
}

/// Whether every one was noticed in time; it ends with the first that was not.
fn closes(child: &mut Child, seen: &mut Vec<u64>) -> Result<bool, Wrong> {
    let request = Request::hold(child.port());
    let mut out = Vec::new();
    request.write(1, &mut out);
    for _ in 0..CLOSES {
        let mut socket =
            TcpStream::connect(("127.0.0.1", child.port())).map_err(Wrong::when("connecting"))?;
        socket.write_all(&out).map_err(Wrong::when("sending"))?;
        if child.line_within(PATIENCE)?.as_deref() != Some("held") {
            return Err(Wrong("a call that did not begin".into()));
        }
        thread::sleep(PAUSE);
        let closed = nanos();
        drop(socket);
        let Some(dropped) = child.line_within(PATIENCE)? else {
            seen.push(u64::MAX);
            return Ok(false);
        };
        let dropped: u64 = dropped
            .parse()
            .map_err(Wrong::when("reading when the handler was dropped"))?;
        seen.push(dropped.saturating_sub(closed));
    }
    Ok(true)
}

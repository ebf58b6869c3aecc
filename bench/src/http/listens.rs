//! What an open subscription costs a server in memory.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;

use memchr::memmem;

use super::check::messages;
use super::child::Child;
use super::requests::Request;
use super::wire::Responses;
use crate::harness::{Plan, Wrong, thousands};

/// Subscriptions that are open at once, each on a connection of its own.
pub const ALL: usize = 10_000;
/// Before anything is measured, so that what a server makes once is there.
const FIRST: usize = 16;

/// A server, and what was seen of it.
pub struct Listens {
    name: &'static str,
    program: &'static str,
    arguments: [&'static str; 2],
    /// Bytes resident before and after, one pair a round.
    seen: Vec<(u64, u64)>,
}

/// The servers; the first is the measure for the others.
pub fn sides() -> Vec<Listens> {
    [
        ("bare hyper on tokio", "http_bare", ["tokio", "streamed"]),
        ("bare hyper on smol", "http_bare", ["smol", "streamed"]),
        ("sansio-mcp on smol", "http_ours", ["smol", "auto"]),
        ("sansio-mcp on tokio", "http_ours", ["tokio", "auto"]),
        ("rmcp", "http_rmcp", ["tokio", "json"]),
    ]
    .into_iter()
    .map(|(name, program, arguments)| Listens {
        name,
        program,
        arguments,
        seen: Vec::new(),
    })
    .collect()
}

/// Opens [`ALL`] subscriptions of each server in turn, each time of a new one; a table.
pub fn measure(plan: Plan, sides: &mut [Listens]) -> Result<String, Wrong> {
    // Memory is no matter of luck: a few rounds are enough.
    for _ in 0..plan.rounds.min(3) {
        for side in &mut *sides {
            side.round()
                .map_err(|Wrong(what)| Wrong(format!("{}: {what}", side.name)))?;
        }
    }
    let mut out = format!("### {ALL} open subscriptions, one a connection\n\n");
    out.push_str("| side | resident before | with them open | each | beyond the first row |\n");
    out.push_str("| --- | ---: | ---: | ---: | ---: |\n");
    let mut first = None;
    for side in sides {
        side.seen.sort_by_key(|(before, after)| after - before);
        let (before, after) = side.seen[side.seen.len() / 2];
        let each = (after.saturating_sub(before)) as f64 / ALL as f64;
        let first = *first.get_or_insert(each);
        let _ = writeln!(
            out,
            "| {} | {} KiB | {} KiB | {} B | {} B |",
            side.name,
            thousands(before as f64 / 1024.0),
            thousands(after as f64 / 1024.0),
            thousands(each),
            thousands(each - first),
        );
    }
    Ok(out)
}

impl Listens {
    fn round(&mut self) -> Result<(), Wrong> {
        let child = Child::start(self.program, &self.arguments)?;
        let request = Request::listen(child.port());
        let open = |from: usize, to: usize| -> Result<Vec<TcpStream>, Wrong> {
            (from..to).map(|at| listen(child.port(), &request, at)).collect()
        };
        let first = open(0, FIRST)?;
        let before = child.resident()?;
        let rest = open(FIRST, FIRST + ALL)?;
        let after = child.resident()?;
        drop((first, rest));
        self.seen.push((before, after));
        Ok(())
    }
}

/// Opens one and reads its acknowledgement.
fn listen(port: u16, request: &Request, at: usize) -> Result<TcpStream, Wrong> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))
        .map_err(Wrong::when(&format!("opening connection {at} of {ALL}")))?;
    let mut out = Vec::new();
    request.write(at as u64 + 1, &mut out);
    socket.write_all(&out).map_err(Wrong::when("sending"))?;
    let mut responses = Responses::new();
    loop {
        responses.read(&socket)?;
        if responses.advance()? {
            return Err(Wrong("a subscription ended".into()));
        }
        let Some(message) = messages(responses.so_far()).next() else {
            continue;
        };
        let acknowledged = memmem::find(message, br#""notifications/subscriptions/acknowledged""#);
        return match acknowledged {
            Some(_) => Ok(socket),
            None => Err(Wrong(format!("{at} got {}", String::from_utf8_lossy(message)))),
        };
    }
}

//! A load generator of HTTP/1.1 on plain sockets, on one thread: each connection has one request outstanding, and sends the
//! next as soon as the answer was read in whole.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::event::epoll;

use super::check::Check;
use super::child::Child;
use super::place::thread_nanos;
use super::requests::Request;
use super::wire::Responses;
use crate::harness::{Load, Side, Wrong};

/// Calls before the clock starts.
const WARM_UP: usize = 512;

/// The form of answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One message.
    Json,
    /// A stream of events.
    Events,
}

/// The servers that answer in this form; the first is the measure for the others.
pub fn sides(form: Form) -> Vec<Box<dyn Side>> {
    let server = |name: &str, program, arguments| -> Box<dyn Side> {
        Box::new(Server {
            name: name.into(),
            program,
            arguments,
            form,
            child: None,
            busy: Vec::new(),
        })
    };
    match form {
        Form::Json => vec![
            server("bare hyper on tokio", "http_bare", ["tokio", "json"]),
            server("bare hyper on smol", "http_bare", ["smol", "json"]),
            server("sansio-mcp on smol", "http_ours", ["smol", "auto"]),
            server("sansio-mcp on tokio", "http_ours", ["tokio", "auto"]),
            server("rmcp, JSON", "http_rmcp", ["tokio", "json"]),
        ],
        Form::Events => vec![
            server(
                "bare hyper on tokio, a frame an event",
                "http_bare",
                ["tokio", "streamed"],
            ),
            server(
                "bare hyper on tokio, events at once",
                "http_bare",
                ["tokio", "whole"],
            ),
            server(
                "bare hyper on smol, a frame an event",
                "http_bare",
                ["smol", "streamed"],
            ),
            server("sansio-mcp on smol", "http_ours", ["smol", "sse"]),
            server("sansio-mcp on tokio", "http_ours", ["tokio", "sse"]),
            server("rmcp, events", "http_rmcp", ["tokio", "sse"]),
        ],
    }
}

/// A server program of this package, and the load on it.
struct Server {
    name: String,
    program: &'static str,
    arguments: [&'static str; 2],
    form: Form,
    child: Option<Child>,
    /// One a run.
    busy: Vec<Busy>,
}

impl Side for Server {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn in_process(&self) -> bool {
        false
    }

    fn run(&mut self, load: Load) -> Result<Duration, Wrong> {
        let child = match &mut self.child {
            Some(child) => child,
            none => none.insert(Child::start(self.program, &self.arguments)?),
        };
        let texts = load.text.pool();
        let mut caller = Caller::open(child.port(), self.form, &texts, load)?;
        caller.call(WARM_UP.max(2 * texts.len()))?;
        let before = (thread_nanos(), child.nanos()?);
        let took = caller.call(load.calls)?;
        let after = (thread_nanos(), child.nanos()?);
        self.busy.push(Busy {
            took: took.as_nanos() as f64,
            load: (after.0 - before.0) as f64,
            server: (after.1 - before.1) as f64,
            calls: load.calls as f64,
        });
        Ok(took)
    }

    fn note(&mut self) -> Option<String> {
        let busy = std::mem::take(&mut self.busy);
        let middle = |share: fn(&Busy) -> f64| {
            let mut shares: Vec<_> = busy.iter().map(share).collect();
            shares.sort_by(f64::total_cmp);
            shares.get(shares.len() / 2).copied().unwrap_or(f64::NAN)
        };
        Some(format!(
            "{}: the server computes {:.1} us a call, {:.0} % of the time; the load {:.0} %",
            self.name,
            middle(|busy| busy.server / busy.calls / 1e3),
            middle(|busy| busy.server / busy.took * 100.0),
            middle(|busy| busy.load / busy.took * 100.0),
        ))
    }
}

/// What a run took, and what was computed meanwhile, in nanoseconds.
struct Busy {
    took: f64,
    load: f64,
    server: f64,
    calls: f64,
}

/// Connections, and what is outstanding on them.
pub(super) struct Caller<'a> {
    connections: Vec<Connection>,
    epoll: rustix::fd::OwnedFd,
    requests: Vec<Request>,
    check: Check<'a>,
    next_id: u64,
    out: Vec<u8>,
}

struct Connection {
    socket: TcpStream,
    responses: Responses,
    /// The id that is to be answered.
    outstanding: u64,
}

impl<'a> Caller<'a> {
    /// Opens as many connections as there are to be calls in flight.
    pub(super) fn open(port: u16, form: Form, texts: &'a [String], load: Load) -> Result<Self, Wrong> {
        fn opening<E: std::fmt::Display>() -> impl FnOnce(E) -> Wrong {
            Wrong::when("opening connections")
        }

        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(opening())?;
        let mut connections = Vec::with_capacity(load.in_flight);
        for at in 0..load.in_flight {
            let socket = TcpStream::connect(("127.0.0.1", port)).map_err(opening())?;
            socket.set_nodelay(true).map_err(opening())?;
            let data = epoll::EventData::new_u64(at as u64);
            epoll::add(&epoll, &socket, data, epoll::EventFlags::IN).map_err(opening())?;
            connections.push(Connection {
                socket,
                responses: Responses::new(),
                outstanding: 0,
            });
        }
        Ok(Self {
            connections,
            epoll,
            requests: texts
                .iter()
                .map(|text| Request::call(port, text, load.progress > 0))
                .collect(),
            check: Check::new(texts, form == Form::Events, load.progress),
            next_id: 1,
            out: Vec::new(),
        })
    }

    /// Makes this many calls, as fast as they are answered.
    pub(super) fn call(&mut self, calls: usize) -> Result<Duration, Wrong> {
        let (mut sent, mut done) = (0, 0);
        let mut events = Vec::with_capacity(self.connections.len());
        let started = Instant::now();
        for at in 0..self.connections.len().min(calls) {
            self.send(at)?;
            sent += 1;
        }
        while done < calls {
            // The only one is read at once, and waits in the read.
            if self.connections.len() > 1 {
                events.clear();
                epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None)
                    .map_err(Wrong::when("waiting"))?;
            } else {
                events = vec![epoll::Event {
                    flags: epoll::EventFlags::IN,
                    data: epoll::EventData::new_u64(0),
                }];
            }
            for event in &events {
                // The structure is packed.
                let data = event.data;
                let at = data.u64() as usize;
                if self.receive(at)? {
                    done += 1;
                    if sent < calls {
                        self.send(at)?;
                        sent += 1;
                    }
                }
            }
        }
        Ok(started.elapsed())
    }

    fn send(&mut self, at: usize) -> Result<(), Wrong> {
        let id = self.next_id;
        self.next_id += 1;
        self.out.clear();
        self.requests[id as usize % self.requests.len()].write(id, &mut self.out);
        let connection = &mut self.connections[at];
        connection.outstanding = id;
        connection
            .socket
            .write_all(&self.out)
            .map_err(Wrong::when("sending"))
    }

    /// Reads once; whether that was the rest of an answer, which was right.
    fn receive(&mut self, at: usize) -> Result<bool, Wrong> {
        let connection = &mut self.connections[at];
        connection.responses.read(&connection.socket)?;
        if !connection.responses.advance()? {
            return Ok(false);
        }
        let id = connection.outstanding;
        let check = &mut self.check;
        connection.responses.take(|whole| check.response(id, &whole))?;
        Ok(true)
    }
}

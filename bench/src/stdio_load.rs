//! Standard streams: a load generator that starts a server as a child and keeps requests in flight over its pipes.
//!
//! One thread. It reads whatever is there, checks all of it, and sends the next requests in one write, so that the server
//! and not the generator is measured.
//!
//! **Where an engine plugs in**: write a server as `src/bin/<name>.rs` and name it in [`sides`].

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memchr::memchr;
use memchr::memmem;

use crate::answers::Learned;
use crate::harness::{Load, Side, Wrong};
use crate::load::{handshake_request, modern_request};

/// All requests in flight have to fit the pipe, as have their answers; else both ends could wait for the other.
const PIPE: usize = 60 * 1024;

/// Calls before the clock starts.
const WARM_UP: usize = 2048;

/// A server that says nothing for this long (or a run that takes this long) is ended.
const PATIENCE: Duration = Duration::from_mins(1);

/// How requests look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 2026-07-28: no handshake, metadata on every request.
    Modern,
    /// 2025-11-25: `initialize` first, no metadata.
    Handshake,
}

/// The sides of this measurement; the first is the measure for the others.
pub fn sides() -> Vec<Box<dyn Side>> {
    let server = |name: &str, program: &str, arguments: &[&str], form| -> Box<dyn Side> {
        Box::new(Server {
            name: name.into(),
            program: program.into(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            form,
        })
    };
    vec![
        server(
            "plain blocking loop, one flush a batch",
            "stdio_blocking",
            &["batched"],
            Form::Modern,
        ),
        server(
            "plain blocking loop, one flush a line",
            "stdio_blocking",
            &["each-line"],
            Form::Modern,
        ),
        server("sansio-mcp on smol", "stdio_ours", &[], Form::Modern),
        server(
            "rmcp `stdio_pipes` (2025-11-25)",
            "stdio_rmcp",
            &["pipes", "current"],
            Form::Handshake,
        ),
        server(
            "rmcp `stdio_pipes` (2026-07-28)",
            "stdio_rmcp",
            &["pipes", "current"],
            Form::Modern,
        ),
        server(
            "rmcp `stdio_pipes`, two threads (2025-11-25)",
            "stdio_rmcp",
            &["pipes", "multi"],
            Form::Handshake,
        ),
        server(
            "rmcp `stdio` (2025-11-25)",
            "stdio_rmcp",
            &["default", "current"],
            Form::Handshake,
        ),
        server(
            "rmcp `stdio`, two threads (2025-11-25)",
            "stdio_rmcp",
            &["default", "multi"],
            Form::Handshake,
        ),
    ]
}

/// A server program of this package.
#[derive(Clone, Debug)]
pub struct Server {
    /// The row's name.
    pub name: String,
    /// The program's name, looked for beside this one.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it is sent.
    pub form: Form,
}

impl Side for Server {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn in_process(&self) -> bool {
        false
    }

    fn run(&mut self, load: Load) -> Result<Duration, Wrong> {
        let mut connection = Connection::open(self)?;
        if self.form == Form::Handshake {
            connection.handshake()?;
        }
        let texts = load.text.pool();
        let mut caller = Caller::new(self.form, &texts);
        caller.check_room(load.in_flight)?;
        caller.call(&mut connection, WARM_UP.max(texts.len()), load.in_flight)?;
        let took = caller.call(&mut connection, load.calls, load.in_flight)?;
        connection.close()?;
        Ok(took)
    }
}

/// A child and its pipes.
struct Connection {
    child: Arc<Mutex<Child>>,
    to: ChildStdin,
    from: ChildStdout,
    /// Dropped when the run is over; until then a thread waits for it and ends a child that takes too long.
    _watch: mpsc::Sender<()>,
}

impl Connection {
    fn open(server: &Server) -> Result<Self, Wrong> {
        let program = beside_this_one(&server.program)?;
        let mut child = Command::new(&program)
            .args(&server.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Wrong::when(&format!(
                "starting {} (`cargo build --release` makes it)",
                server.program
            )))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Wrong("a child without pipes".into()));
        };
        let child = Arc::new(Mutex::new(child));
        let (watch, over) = mpsc::channel();
        let watched = Arc::clone(&child);
        thread::spawn(move || {
            if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                // The pipe then ends early, which the reader reports.
                let _ = watched.lock().unwrap_or_else(PoisonError::into_inner).kill();
            }
        });
        Ok(Self {
            child,
            to,
            from,
            _watch: watch,
        })
    }

    fn handshake(&mut self) -> Result<(), Wrong> {
        let opening = concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}"#,
            "\n"
        );
        let opened = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        self.to
            .write_all(opening.as_bytes())
            .map_err(Wrong::when("opening"))?;
        let mut answer = Vec::new();
        let mut byte = [0];
        while answer.last() != Some(&b'\n') {
            self.from.read_exact(&mut byte).map_err(Wrong::when("opening"))?;
            answer.push(byte[0]);
        }
        if memmem::find(&answer, br#""protocolVersion":"2025-11-25""#).is_none() {
            return Err(Wrong(format!("opened with {}", String::from_utf8_lossy(&answer))));
        }
        self.to
            .write_all(opened.as_bytes())
            .map_err(Wrong::when("opening"))
    }

    /// Ends the input and waits for the server to leave; one that does not is ended by the watching thread.
    fn close(self) -> Result<(), Wrong> {
        let Self {
            child,
            to,
            mut from,
            _watch,
        } = self;
        drop(to);
        let mut rest = Vec::new();
        from.read_to_end(&mut rest).map_err(Wrong::when("closing"))?;
        if !rest.is_empty() {
            return Err(Wrong(format!("{} bytes that nobody asked for", rest.len())));
        }
        let status = child.lock().unwrap_or_else(PoisonError::into_inner).wait();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Wrong(format!("the server ended with {status}"))),
            Err(error) => Err(Wrong(format!("waiting for the server: {error}"))),
        }
    }
}

/// A program that was built together with this one.
pub(crate) fn beside_this_one(program: &str) -> Result<PathBuf, Wrong> {
    let mut path = std::env::current_exe().map_err(Wrong::when("looking for the programs"))?;
    path.set_file_name(format!("{program}{}", std::env::consts::EXE_SUFFIX));
    Ok(path)
}

/// Makes requests and checks answers.
struct Caller<'a> {
    texts: &'a [String],
    requests: Vec<(String, String)>,
    learned: Learned,
    next_id: u64,
    out: Vec<u8>,
    input: Input,
}

impl<'a> Caller<'a> {
    fn new(form: Form, texts: &'a [String]) -> Self {
        let request = |text: &String| {
            let (head, tail) = match form {
                Form::Modern => modern_request(text),
                Form::Handshake => handshake_request(text),
            };
            (head, tail + "\n")
        };
        Self {
            texts,
            requests: texts.iter().map(request).collect(),
            learned: Learned::of(texts.len()),
            next_id: 1,
            out: Vec::with_capacity(PIPE),
            input: Input {
                buffer: vec![0; 2 * PIPE],
                start: 0,
                end: 0,
            },
        }
    }

    fn check_room(&self, in_flight: usize) -> Result<(), Wrong> {
        const ID_DIGITS: usize = 20;
        let longest = self
            .requests
            .iter()
            .map(|(head, tail)| head.len() + ID_DIGITS + tail.len())
            .max();
        if longest.unwrap_or_default() * in_flight > PIPE {
            return Err(Wrong(format!("{in_flight} requests do not fit a pipe")));
        }
        Ok(())
    }

    fn call(&mut self, to: &mut Connection, calls: usize, in_flight: usize) -> Result<Duration, Wrong> {
        let first = self.next_id;
        let mut answered = vec![false; calls];
        let (mut sent, mut done) = (0, 0);
        let started = Instant::now();
        while done < calls {
            while sent < calls && sent - done < in_flight {
                self.push_request();
                sent += 1;
            }
            if !self.out.is_empty() {
                to.to.write_all(&self.out).map_err(Wrong::when("sending"))?;
                self.out.clear();
            }
            if self.input.fill(&mut to.from).map_err(Wrong::when("receiving"))? == 0 {
                return Err(Wrong("the server left early".into()));
            }
            while let Some(line) = self.input.line() {
                let id = self.learned.check(line, self.texts)?;
                let slot = id.checked_sub(first).and_then(|slot| usize::try_from(slot).ok());
                match slot
                    .filter(|slot| *slot < sent)
                    .and_then(|slot| answered.get_mut(slot))
                {
                    Some(answered @ false) => *answered = true,
                    _ => return Err(Wrong(format!("an answer to {id}, which nobody waits for"))),
                }
                done += 1;
            }
        }
        Ok(started.elapsed())
    }

    fn push_request(&mut self) {
        let (head, tail) = &self.requests[self.next_id as usize % self.requests.len()];
        self.out.extend_from_slice(head.as_bytes());
        self.out
            .extend_from_slice(itoa::Buffer::new().format(self.next_id).as_bytes());
        self.out.extend_from_slice(tail.as_bytes());
        self.next_id += 1;
    }
}

/// Bytes read and not yet taken.
struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    fn fill(&mut self, from: &mut impl Read) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = from.read(&mut self.buffer[self.end..])?;
        self.end += read;
        Ok(read)
    }

    /// The next whole line, without its end.
    fn line(&mut self) -> Option<&[u8]> {
        let waiting = &self.buffer[self.start..self.end];
        let line = &waiting[..memchr(b'\n', waiting)?];
        self.start += line.len() + 1;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_being_cut() {
        let mut input = Input {
            buffer: vec![0; 4],
            start: 0,
            end: 0,
        };
        let mut seen = Vec::new();
        let mut from = &b"ab\ncdefgh\n\nij"[..];
        while input.fill(&mut from).unwrap() > 0 {
            while let Some(line) = input.line() {
                seen.push(line.to_vec());
            }
        }
        assert_eq!(seen, [&b"ab"[..], b"cdefgh", b""]);
    }
}

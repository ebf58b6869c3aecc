//! Reading responses of HTTP/1.1 off a socket, with as little as that takes.

use std::io::Read;

use memchr::{memchr, memmem};

use crate::harness::Wrong;

/// Room for one read.
const CHUNK: usize = 128 * 1024;
/// The longest head that makes sense.
const LONGEST_HEAD: usize = 16 * 1024;

/// The responses of one connection, one after the other.
pub(super) struct Responses {
    input: Vec<u8>,
    start: usize,
    end: usize,
    body: Vec<u8>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Head,
    Whole { events: bool, length: usize },
    Chunked { events: bool },
}

/// What a response is, once it is there in whole.
pub(super) struct Whole<'a> {
    /// A stream of events, and not one message.
    pub(super) events: bool,
    pub(super) body: &'a [u8],
}

/// How far a chunked body is.
enum Chunk {
    More,
    Last,
}

impl Responses {
    pub(super) fn new() -> Self {
        Self {
            input: vec![0; CHUNK],
            start: 0,
            end: 0,
            body: Vec::new(),
            stage: Stage::Head,
        }
    }

    /// Reads once.
    pub(super) fn read(&mut self, mut from: impl Read) -> Result<(), Wrong> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.input.len() - self.end < CHUNK / 2 {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.input.len() - self.end < CHUNK / 2 {
                self.input.resize(self.input.len() * 2, 0);
            }
        }
        match from
            .read(&mut self.input[self.end..])
            .map_err(Wrong::when("receiving"))?
        {
            0 => Err(Wrong("the server closed a connection".into())),
            read => {
                self.end += read;
                Ok(())
            }
        }
    }

    /// Goes on with what was read; whether a whole response is there, to be [taken](Self::take).
    pub(super) fn advance(&mut self) -> Result<bool, Wrong> {
        if self.stage == Stage::Head {
            let waiting = &self.input[self.start..self.end];
            let Some(length) = memmem::find(waiting, b"\r\n\r\n") else {
                return if waiting.len() > LONGEST_HEAD {
                    Err(Wrong("a head without an end".into()))
                } else {
                    Ok(false)
                };
            };
            self.stage = head(&waiting[..length])
                .ok_or_else(|| Wrong(format!("answered {}", String::from_utf8_lossy(waiting))))?;
            self.start += length + 4;
        }
        match self.stage {
            Stage::Head => Ok(false),
            Stage::Whole { length, .. } => Ok(self.end - self.start >= length),
            Stage::Chunked { .. } => loop {
                match self.chunk()? {
                    None => return Ok(false),
                    Some(Chunk::More) => {}
                    Some(Chunk::Last) => return Ok(true),
                }
            },
        }
    }

    /// What has come so far of a chunked body that may never end.
    pub(super) fn so_far(&self) -> &[u8] {
        &self.body
    }

    /// The response that is there in whole, to `look` at; the next begins.
    pub(super) fn take<T>(&mut self, look: impl FnOnce(Whole<'_>) -> T) -> T {
        let stage = std::mem::replace(&mut self.stage, Stage::Head);
        match stage {
            Stage::Head => look(Whole {
                events: false,
                body: b"",
            }),
            Stage::Whole { events, length } => {
                let body = &self.input[self.start..self.start + length];
                self.start += length;
                look(Whole { events, body })
            }
            Stage::Chunked { events } => {
                let out = look(Whole {
                    events,
                    body: &self.body,
                });
                self.body.clear();
                out
            }
        }
    }

    /// Takes one whole chunk into the body.
    fn chunk(&mut self) -> Result<Option<Chunk>, Wrong> {
        let waiting = &self.input[self.start..self.end];
        let Some(line) = memchr(b'\n', waiting) else {
            return Ok(None);
        };
        let size = waiting[..line].trim_ascii();
        let size = std::str::from_utf8(size)
            .ok()
            .and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.ok_or_else(|| Wrong("a chunk without a size".into()))?;
        let all = line + 1 + size + 2;
        if waiting.len() < all {
            return Ok(None);
        }
        if &waiting[all - 2..all] != b"\r\n" {
            return Err(Wrong("a chunk without an end, or trailers".into()));
        }
        self.body.extend_from_slice(&waiting[line + 1..all - 2]);
        self.start += all;
        Ok(Some(if size == 0 { Chunk::Last } else { Chunk::More }))
    }
}

/// Reads a head: of a good answer alone.
fn head(head: &[u8]) -> Option<Stage> {
    let mut rest = head.strip_prefix(b"HTTP/1.1 200 ")?;
    let (mut length, mut chunked, mut events) = (None, false, None);
    while let Some(end) = memchr(b'\n', rest) {
        rest = &rest[end + 1..];
        let line = memchr(b'\r', rest).map_or(rest, |end| &rest[..end]);
        let Some(colon) = memchr(b':', line) else { continue };
        let value = line[colon + 1..].trim_ascii();
        // By the length first: names are looked at only where it fits.
        match colon {
            14 if line[..colon].eq_ignore_ascii_case(b"content-length") => {
                length = std::str::from_utf8(value)
                    .ok()
                    .and_then(|value| value.parse().ok());
            }
            12 if line[..colon].eq_ignore_ascii_case(b"content-type") => {
                events = Some(value.starts_with(b"text/event-stream"));
            }
            17 if line[..colon].eq_ignore_ascii_case(b"transfer-encoding") => chunked = value == b"chunked",
            _ => {}
        }
    }
    match (length, chunked, events?) {
        (Some(length), false, events) => Some(Stage::Whole { events, length }),
        (None, true, events) => Some(Stage::Chunked { events }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the responses out of what comes in pieces of `size`.
    fn responses(wire: &[u8], size: usize) -> Vec<(bool, String)> {
        let mut responses = Responses::new();
        let mut seen = Vec::new();
        for piece in wire.chunks(size) {
            responses.read(piece).unwrap();
            while responses.advance().unwrap() {
                seen.push(
                    responses.take(|whole| (whole.events, String::from_utf8(whole.body.to_vec()).unwrap())),
                );
            }
        }
        seen
    }

    #[test]
    fn responses_survive_being_cut() {
        let wire =
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nContent-Length: 2\r\ndate: x\r\n\r\n{}\
            HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
            5\r\ndata:\r\na\r\n 123456789\r\n0\r\n\r\n\
            HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-type: text/event-stream\r\n\r\n";
        for size in [1, 2, 3, 7, 50, 1000] {
            assert_eq!(
                responses(wire, size),
                [
                    (false, "{}".to_string()),
                    (true, "data: 123456789".into()),
                    (true, String::new())
                ]
            );
        }
    }

    #[test]
    fn what_is_no_good_answer_is_refused() {
        for wire in [
            "HTTP/1.1 503 Busy\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-type: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\ncontent-type: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc",
        ] {
            let mut responses = Responses::new();
            responses.read(wire.as_bytes()).unwrap();
            assert!(responses.advance().is_err(), "{wire}");
        }
    }
}

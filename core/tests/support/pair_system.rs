//! A client and a server of the core back to back: operations read from bytes, and what crosses them cut as one likes.

use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::client::{CallSpec, Client, ClientConfig, ClientEvent, InputAnswer, StreamId};
use sansio_mcp::code::wire;
use sansio_mcp::id::{CallId, ServingId};
use sansio_mcp::model::{ClientCapabilities, Implementation, RawJson, ServerCapabilities};
use sansio_mcp::server::{ErrorReply, Progress, Server, ServerConfig, ServerEvent, Status, WrittenBody};
use sansio_mcp::time::{Mono, Now};
use sansio_mcp::wire::{Frame, Framer};

use crate::bytes::Bytes;

/// How bytes cross.
#[derive(Clone, Debug)]
pub(crate) enum Split {
    Whole,
    Single,
    At(Vec<u8>),
}

impl Split {
    /// The length of the next piece.
    fn next(&mut self, len: usize) -> usize {
        match self {
            Self::Whole => len,
            Self::Single => 1,
            Self::At(lens) => {
                lens.rotate_left(1);
                lens.last().map_or(1, |len| usize::from(*len) + 1).min(len)
            }
        }
    }
}

/// One direction: what was written, cut into pieces and framed.
pub(crate) struct Pipe {
    framer: Framer,
    split: Split,
    pub(crate) bytes: Vec<u8>,
}

impl Pipe {
    fn new(split: Split) -> Self {
        Self { framer: Framer::new(100_000), split, bytes: Vec::new() }
    }

    fn deliver(&mut self, mut line: impl FnMut(Frame<'_>)) {
        let bytes = std::mem::take(&mut self.bytes);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at(self.split.next(rest.len()));
            let mut frames = self.framer.feed(piece);
            while let Some(frame) = frames.next() {
                line(frame);
            }
            rest = tail;
        }
    }
}

pub(crate) struct Pair {
    pub(crate) client: Client,
    server: Server,
    up: Pipe,
    pub(crate) down: Pipe,
    pub(crate) now: Now,
    pub(crate) calls: Vec<CallId>,
    pub(crate) servings: Vec<ServingId>,
    /// Everything either side was told.
    pub(crate) trace: Vec<String>,
    /// Every byte that crossed.
    pub(crate) wire: Vec<u8>,
}

impl Pair {
    pub(crate) fn new(split: &Split) -> Self {
        let config = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default());
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(sansio_mcp::model::ToolsCapability::default());
        let server = ServerConfig::builder(Implementation::new("s", "1"), capabilities);
        Self {
            client: Client::new(Arc::new(config.build().unwrap())),
            server: Server::new(Arc::new(server.build().unwrap())),
            up: Pipe::new(split.clone()),
            down: Pipe::new(split.clone()),
            now: Now::default(),
            calls: Vec::new(),
            servings: Vec::new(),
            trace: Vec::new(),
            wire: Vec::new(),
        }
    }

    /// The client writes, the server reads.
    pub(crate) fn upstream(&mut self) {
        let before = self.up.bytes.len();
        while self.client.poll_transmit(StreamId::SHARED, &mut self.up.bytes).is_some() {
            self.up.bytes.push(b'\n');
        }
        self.wire.extend_from_slice(&self.up.bytes[before..]);
        let (server, now) = (&mut self.server, self.now);
        self.up.deliver(|frame| match frame {
            Frame::Line(line) => server.handle_message(now, line),
            Frame::TooLong => server.handle_malformed(now, sansio_mcp::wire::Malformed::NotJson),
        });
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Request { serving, .. } = &event {
                self.servings.push(*serving);
            }
            self.trace.push(format!("{event:?}"));
        }
    }

    /// The server writes, the client reads.
    pub(crate) fn downstream(&mut self) {
        while self.server.poll_transmit(&mut self.down.bytes).is_some() {
            self.down.bytes.push(b'\n');
        }
        self.wire.extend_from_slice(&self.down.bytes);
        let (client, now) = (&mut self.client, self.now);
        self.down.deliver(|frame| match frame {
            Frame::Line(line) => client.handle_message(now, StreamId::SHARED, line),
            Frame::TooLong => client.handle_oversized(now),
        });
        while let Some(event) = self.client.poll_event() {
            self.trace.push(format!("{event:?}"));
            if let ClientEvent::InputRequired { call, questions, .. } = event {
                let result = RawJson::from_text(r#"{"action":"accept"}"#).unwrap();
                let answers: Vec<InputAnswer<'_>> = questions
                    .iter()
                    .map(|question| InputAnswer { key: &question.key, result: result.as_raw() })
                    .collect();
                self.client.answer(now, call, &answers).unwrap();
            }
        }
    }

    fn step(&mut self, op: u8, pick: u8) {
        let serving = self.servings.get(usize::from(pick) % self.servings.len().max(1)).copied();
        let call = self.calls.get(usize::from(pick) % self.calls.len().max(1)).copied();
        let done = match op % 16 {
            0..=3 => {
                let text = "gr\u{fc}\u{df}e \u{1f600} \n \u{2028} ".repeat(usize::from(pick) % 5);
                let args = serde_json::json!({"text": text, "n": pick});
                let mut spec = CallSpec::tool("t\u{e4}", &args).unwrap();
                if pick.is_multiple_of(2) {
                    spec = spec.idle_timeout(Duration::from_secs(1));
                }
                self.calls.extend(self.client.call(self.now, spec));
                return;
            }
            4 => call.map(|call| format!("{:?}", self.client.cancel(self.now, call, Some("enough\n")))),
            5..=7 => serving.map(|serving| {
                let report = Progress::new(f64::from(pick)).of(100.0).message("half\r\nway \u{2029}");
                format!("{:?}", self.server.progress(serving, &report))
            }),
            8 | 9 => serving.map(|serving| {
                let members = br#""content":[{"type":"text","text":"\u00e9\n"}]"#;
                let body = WrittenBody { members, meta: None };
                format!("{:?}", self.server.respond(serving, &body))
            }),
            10 => serving.map(|serving| {
                let refusal = ErrorReply::new(wire::INVALID_PARAMS, "no \"such\"\nthing");
                format!("{:?}", self.server.refuse(serving, Status::Ok, &refusal))
            }),
            11 => {
                // Bytes that no peer of ours would write.
                let junk: [&[u8]; 4] = [b"{\n", b"\xff\r\n", b"[]\n", b"  \r\n"];
                let junk = junk[usize::from(pick) % 4];
                if pick >= 128 { &mut self.up } else { &mut self.down }.bytes.extend_from_slice(junk);
                return;
            }
            12 => {
                let nanos = self.now.mono.as_nanos() + u64::from(pick) * 5_000_000;
                self.now = Now::at(Mono::from_nanos(nanos));
                self.client.handle_timeout(self.now);
                return;
            }
            13 => return self.upstream(),
            14 => return self.downstream(),
            _ => {
                self.upstream();
                return self.downstream();
            }
        };
        self.trace.extend(done);
    }
}

/// Runs the operations; then the server answers what it has, and every call has ended.
pub(crate) fn run(ops: &[u8], split: &Split) -> (Vec<String>, Vec<u8>) {
    let mut pair = Pair::new(split);
    let mut bytes = Bytes(ops);
    while let (Some(op), Some(pick)) = (bytes.next(), bytes.next()) {
        pair.step(op, pick);
    }
    pair.upstream();
    for serving in pair.servings.clone() {
        let body = WrittenBody { members: b"\"content\":[]", meta: None };
        drop(pair.server.respond(serving, &body));
    }
    pair.downstream();
    pair.upstream();
    pair.downstream();
    assert_eq!((pair.client.open_calls(), pair.server.in_flight()), (0, 0));
    assert_eq!(pair.client.poll_timeout(), None);
    let ends = pair.trace.iter().filter(|line| line.starts_with("Finished"));
    assert_eq!(ends.count(), pair.calls.len(), "each call ends once");
    (pair.trace, pair.wire)
}

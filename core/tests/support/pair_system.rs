//! A client and a server of the core back to back: operations read from bytes, and what crosses them cut as one likes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::client::{
    CallSpec, Client, ClientConfig, ClientEvent, InputAnswer, ListenSpec, Question, StreamId,
};
use sansio_mcp::code::wire;
use sansio_mcp::id::{CallId, ServingId};
use sansio_mcp::model::{
    ClientCapabilities, Implementation, InputRequests, InputRequiredResult, LoggingLevel, RawJson,
    ResourcesCapability, ServerCapabilities, SubscriptionFilter, ToolsCapability,
};
use sansio_mcp::server::{ErrorReply, Progress, Server, ServerConfig, ServerEvent, Status, WrittenBody};
use sansio_mcp::subscription::{Change, Changed};
use sansio_mcp::time::{Mono, Now};
use sansio_mcp::violation::PeerViolation;
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
    /// What each of them asks to hear of, if it is a subscription.
    filters: Vec<Option<SubscriptionFilter>>,
    /// Which of them ask for log messages.
    logged: Vec<ServingId>,
    /// Questions that nobody has answered yet.
    asked: Vec<(CallId, Vec<Question>)>,
    /// Subscriptions to the list of tools that were acknowledged, and how often they were told of it.
    told: BTreeMap<CallId, usize>,
    /// Everything either side was told.
    pub(crate) trace: Vec<String>,
    /// Every byte that crossed.
    pub(crate) wire: Vec<u8>,
}

impl Pair {
    pub(crate) fn new(split: &Split) -> Self {
        let config = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default());
        let capabilities = ServerCapabilities::default()
            .with_tools(ToolsCapability::default().with_list_changed(true))
            .with_resources(ResourcesCapability::default().with_subscribe(true));
        let server = ServerConfig::builder(Implementation::new("s", "1"), capabilities);
        Self {
            client: Client::new(Arc::new(config.build().unwrap())),
            server: Server::new(Arc::new(server.build().unwrap())),
            up: Pipe::new(split.clone()),
            down: Pipe::new(split.clone()),
            now: Now::default(),
            calls: Vec::new(),
            servings: Vec::new(),
            filters: Vec::new(),
            logged: Vec::new(),
            asked: Vec::new(),
            told: BTreeMap::new(),
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
            match &event {
                ServerEvent::Request { serving, request } => {
                    self.servings.push(*serving);
                    self.filters.push(request.subscription_filter());
                    self.logged.extend(request.log_level().map(|_| *serving));
                }
                // Only bytes that no client wrote break a rule.
                ServerEvent::Violation(rule) => assert_eq!(*rule, PeerViolation::NotAMessage),
                _ => {}
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
            match event {
                ClientEvent::InputRequired { call, round, questions } if round % 2 == 1 => {
                    self.answer(call, &questions, "accept");
                }
                ClientEvent::InputRequired { call, questions, .. } => self.asked.push((call, questions)),
                ClientEvent::Listening { call, acknowledged } if acknowledged.contains("tools") => {
                    self.told.insert(call, 0);
                }
                ClientEvent::Changed { call, change: Changed::Tools } => {
                    *self.told.get_mut(&call).unwrap() += 1;
                }
                // Only bytes that no server wrote break a rule, and answers to bytes that no client wrote.
                ClientEvent::Violation(PeerViolation::NotAMessage | PeerViolation::UnknownResponse) => {}
                ClientEvent::Violation(rule) => panic!("{rule:?}"),
                _ => {}
            }
        }
    }

    fn answer(&mut self, call: CallId, questions: &[Question], action: &str) {
        let result = RawJson::from_text(format!(r#"{{"action":"{action}"}}"#)).unwrap();
        let answers: Vec<InputAnswer<'_>> = questions
            .iter()
            .map(|question| InputAnswer { key: &question.key, result: result.as_raw() })
            .collect();
        let done = self.client.answer(self.now, call, &answers);
        self.trace.push(format!("{done:?}"));
    }

    fn step(&mut self, op: u8, pick: u8) {
        // One of the last few: most of those before them are over.
        let late = |len: usize| len.checked_sub(1 + usize::from(pick) % len.clamp(1, 8));
        let serving = late(self.servings.len()).map(|nth| self.servings[nth]);
        let call = late(self.calls.len()).map(|nth| self.calls[nth]);
        let done = match op % 24 {
            0..=3 => {
                let text = "gr\u{fc}\u{df}e \u{1f600} \n \u{2028} ".repeat(usize::from(pick) % 5);
                let args = serde_json::json!({"text": text, "n": pick});
                let mut spec = CallSpec::tool("t\u{e4}", &args).unwrap();
                if pick.is_multiple_of(2) {
                    spec = spec.idle_timeout(Duration::from_secs(1));
                }
                if pick.is_multiple_of(3) {
                    spec = spec.log_level(LoggingLevel::Info);
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
            15 => {
                self.upstream();
                return self.downstream();
            }
            16 => {
                let mut spec = ListenSpec::new().resource("a").resource("\u{e9}\n");
                if !pick.is_multiple_of(4) {
                    spec = spec.tools();
                }
                if pick >= 128 {
                    spec = spec.acknowledged_within(Some(Duration::from_secs(1)));
                }
                self.calls.extend(self.client.listen(self.now, &spec));
                return;
            }
            17 => serving.map(|serving| {
                let nth = self.servings.iter().position(|other| *other == serving).unwrap();
                let filter = self.filters[nth].clone().unwrap_or_default();
                format!("{:?}", self.server.acknowledge(serving, &filter))
            }),
            18 => {
                match pick % 4 {
                    0 => self.server.publish_resources(&|_| true),
                    1 => self.server.publish(Change::Resource("a")),
                    _ => self.server.publish(Change::Tools),
                }
                return;
            }
            19 => serving.map(|serving| format!("{:?}", self.server.end_subscription(serving))),
            20 | 21 => serving.map(|serving| format!("{:?}", self.server.ask(serving, &asks(pick)))),
            22 => {
                if let Some((call, questions)) = self.asked.pop() {
                    self.answer(call, &questions, ["accept", "decline", "cancel"][usize::from(pick % 3)]);
                }
                return;
            }
            _ => serving.filter(|serving| self.logged.contains(serving)).map(|serving| {
                let params = "\"level\":\"info\",\"data\":\"gr\u{fc}n\\n\"".as_bytes();
                format!("{:?}", self.server.notify(serving, "notifications/message", params))
            }),
        };
        self.trace.extend(done);
    }
}

/// A round: questions, a state, or both.
fn asks(pick: u8) -> InputRequiredResult {
    let mut asks = InputRequiredResult::default();
    if !pick.is_multiple_of(4) {
        let questions = r#"{"k\u00e4":{"method":"roots/list"},"2":{"method":"elicitation/create","params":{"message":"\u2028"}}}"#;
        let questions: InputRequests = serde_json::from_str(questions).unwrap();
        asks = asks.with_input_requests(questions);
    }
    if pick % 4 < 3 {
        asks = asks.with_request_state("\u{e9}\u{0}".repeat(usize::from(pick / 64)));
    }
    asks
}

/// Runs the operations; then whoever listens is told once more, the server answers what it has or closes, and every call
/// has ended.
pub(crate) fn run(ops: &[u8], split: &Split) -> (Vec<String>, Vec<u8>) {
    let mut pair = Pair::new(split);
    let mut bytes = Bytes(ops);
    while let (Some(op), Some(pick)) = (bytes.next(), bytes.next()) {
        pair.step(op, pick);
    }
    pair.tell_once_more();
    match ops.len() % 4 {
        0 | 1 => pair.close(),
        2 => pair.wind_up(false),
        _ => pair.wind_up(true),
    }
    assert_eq!((pair.client.open_calls(), pair.server.in_flight()), (0, 0));
    assert_eq!(pair.client.poll_timeout(), None);
    let ends = pair.trace.iter().filter(|line| line.starts_with("Finished"));
    assert_eq!(ends.count(), pair.calls.len(), "each call ends once");
    (pair.trace, pair.wire)
}

impl Pair {
    fn cross(&mut self) {
        self.upstream();
        self.downstream();
    }

    /// A change that comes when nothing is under way reaches all who listen for it.
    fn tell_once_more(&mut self) {
        for _ in 0..2 {
            self.cross();
        }
        let before = self.told.clone();
        self.server.publish(Change::Tools);
        self.downstream();
        for (call, told) in &before {
            let heard = self.told[call] - told;
            assert_eq!(heard, usize::from(self.client.is_listening(*call)), "told once, if it listens");
        }
    }

    /// The server closes: who listens hears of it. Then the pipe goes.
    fn close(&mut self) {
        let listening = self.calls.iter().filter(|call| self.client.is_listening(**call)).count();
        let complete = |pair: &Self| pair.trace.iter().filter(|line| line.contains("Complete(")).count();
        let before = complete(self);
        self.server.close(self.now);
        self.downstream();
        assert!(complete(self) >= before + listening, "who listens hears of the end");
        self.server.handle_stream_end(self.now);
        self.client.handle_stream_end(self.now, StreamId::SHARED, "closed");
        self.cross();
    }

    /// Everything is answered, or asked about for ever.
    fn wind_up(&mut self, asks_on: bool) {
        // Rounds that are under way come back, up to eight, each in two turns at most.
        for _ in 0..18 {
            for serving in self.servings.clone() {
                let body = WrittenBody { members: b"\"content\":[]", meta: None };
                let refusal = ErrorReply::new(wire::INVALID_PARAMS, "late");
                if asks_on && self.server.ask(serving, &asks(1)).is_ok() {
                    continue;
                }
                let done = (
                    self.server.respond(serving, &body),
                    self.server.refuse(serving, Status::Ok, &refusal),
                    self.server.end_subscription(serving),
                );
                self.trace.push(format!("{done:?}"));
            }
            for (call, questions) in std::mem::take(&mut self.asked) {
                self.answer(call, &questions, "accept");
            }
            self.now = Now::at(Mono::from_nanos(self.now.mono.as_nanos() + 250_000_000));
            self.client.handle_timeout(self.now);
            self.downstream();
            self.cross();
        }
    }
}

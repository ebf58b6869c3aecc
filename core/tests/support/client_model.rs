//! A naive model of a client. It keeps every call and every attempt it ever saw in two lists and looks through all of
//! them to answer anything; it knows times only as numbers to compare.

use std::collections::VecDeque;

use proptest::prelude::*;
use sansio_mcp::client::Refused;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};

use crate::client_listens::{Filter, Topic};
use crate::client_ops::{IGNORED, JUNK, Message, Op, Reply, WireId};
use crate::frame::Reference;

pub(crate) const MS: u64 = 1_000_000;

/// How the channel behaves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Binding {
    Shared,
    StreamsThatClose,
    StreamsThatNotify,
}

pub(crate) const BINDINGS: [Binding; 3] =
    [Binding::Shared, Binding::StreamsThatClose, Binding::StreamsThatNotify];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Setup {
    pub(crate) binding: Binding,
    pub(crate) calls: usize,
}

/// What is called, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spec {
    /// tools/call, else tools/list, which may not ask for input.
    pub(crate) tool: bool,
    pub(crate) progress: bool,
    pub(crate) idle: Option<u64>,
    pub(crate) total: Option<u64>,
}

impl Spec {
    fn of(flags: u8) -> Self {
        Self {
            tool: !flags.is_multiple_of(8),
            progress: flags & 0x10 > 0,
            idle: (flags & 0x60 == 0x60).then(|| 70 * MS + u64::from(flags)),
            total: (flags >= 0xc0).then(|| 150 * MS + u64::from(flags)),
        }
    }
}

/// An operation whose call, attempt or stream is resolved. Streams are numbered as they are first named; 0 is shared.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Command {
    Call(Spec),
    Listen(Filter, Option<u64>),
    Ready,
    Transmit(usize),
    Message { stream: usize, message: Message },
    Answer { call: usize, answers: Vec<(String, Value)> },
    Cancel { call: usize, reason: bool },
    StreamEnd(usize),
    Timeout,
    Poll,
    Close,
    Nothing,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Event {
    Progress(usize, f64),
    Asked {
        call: usize,
        round: u8,
        keys: Vec<String>,
    },
    /// With what the server said that it will tell of.
    Listening(usize, Value),
    Changed(usize, Topic),
    Finished(usize, &'static str),
    /// With the rule that the response broke.
    BadPeer(usize, PeerViolation),
    Violation(PeerViolation),
}

/// What a command answers, by both.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Seen {
    Nothing,
    Called(usize),
    Refused(Refused),
    Ok,
    Misuse(Misuse),
    Ready(usize),
    Sent { call: Option<usize>, last: bool, json: Value },
    CloseStream,
    Event(Event),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum At {
    Queued,
    InFlight,
    Asked,
    Pausing,
    Over,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its place among those open, the one given back last first. Decides who is first at the same moment.
    pub(crate) place: usize,
    pub(crate) at: At,
    pub(crate) spec: Spec,
    pub(crate) id: i64,
    pub(crate) round: u8,
    pub(crate) corrected: bool,
    pub(crate) older: bool,
    pub(crate) state: bool,
    pub(crate) answers: Option<Value>,
    pub(crate) last: Option<f64>,
    pub(crate) idle: Option<u64>,
    pub(crate) total: Option<u64>,
    pub(crate) total_left: Option<u64>,
    pub(crate) retry: Option<u64>,
    /// What it listens to, if it is a subscription, and whether that was acknowledged.
    pub(crate) listens: Option<(Filter, bool)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) call: usize,
    pub(crate) stream: Option<usize>,
    /// What `poll_ready_stream` has not named yet.
    pub(crate) unnamed: bool,
}

/// The reference.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) setup: Setup,
    pub(crate) calls: Vec<Call>,
    pub(crate) attempts: Vec<Attempt>,
    /// The attempt of each stream.
    pub(crate) streams: Vec<i64>,
    /// Abandoned in flight, and whether with a reason; not taken.
    pub(crate) farewells: Vec<(i64, Option<&'static str>)>,
    pub(crate) events: VecDeque<Event>,
    pub(crate) places: Vec<usize>,
    pub(crate) clock: u64,
    /// What the system is told the time is: sometimes an earlier one.
    pub(crate) told: u64,
    pub(crate) closed: bool,
    /// New calls are made under the older revision.
    pub(crate) older: bool,
}

impl Reference for Model {
    type Setup = Setup;
    type Op = Op;
    type Command = Command;
    type Seen = Seen;

    fn setups() -> BoxedStrategy<Setup> {
        let setup = |(binding, calls)| Setup { binding, calls };
        (prop::sample::select(BINDINGS.to_vec()), 1..6usize).prop_map(setup).boxed()
    }

    fn of(setup: Setup) -> Self {
        Self {
            setup,
            calls: Vec::new(),
            attempts: Vec::new(),
            streams: vec![0],
            farewells: Vec::new(),
            events: VecDeque::new(),
            places: (0..1000).rev().collect(),
            clock: 0,
            told: 0,
            closed: false,
            older: false,
        }
    }

    fn setup(&self) -> Setup {
        self.setup
    }

    fn told(&self) -> u64 {
        self.told
    }

    /// Picks mostly where the operation means something.
    fn resolve(&mut self, op: Op) -> Command {
        self.told = self.clock;
        let calls = |fits: &dyn Fn(At) -> bool, pick: u8| {
            let any = pick >= 232;
            let from: Vec<usize> =
                (0..self.calls.len()).filter(|nth| any || fits(self.calls[*nth].at)).collect();
            from.get(usize::from(pick) % from.len().max(1)).copied()
        };
        let in_flight = |pick: u8| calls(&|at| at == At::InFlight, pick).map(|call| &self.calls[call]);
        match op {
            Op::Call { flags } => Command::Call(Spec::of(flags)),
            Op::Listen { filter, within } => {
                Command::Listen(Filter::of(filter), (within >= 0xc0).then(|| 150 * MS + u64::from(within)))
            }
            Op::Told { pick, what, aside } => self.tells(pick, what, aside),
            Op::Ready => Command::Ready,
            Op::Transmit { pick } if self.shared() && pick < 250 => Command::Transmit(0),
            Op::Transmit { pick } => {
                let any = pick >= 224;
                let pending = |id: i64| {
                    self.farewells.iter().any(|(other, _)| *other == id)
                        || self.attempted(id).is_some_and(|call| self.calls[call].at == At::Queued)
                };
                let from: Vec<usize> =
                    (0..self.streams.len()).filter(|stream| any || pending(self.streams[*stream])).collect();
                let stream = from.get(usize::from(pick) % from.len().max(1)).copied();
                stream.map_or(Command::Ready, Command::Transmit)
            }
            Op::Respond { pick, reply, aside } => in_flight(pick).map_or(Command::Nothing, |call| {
                // Subscriptions last.
                if call.listens.is_some() && pick % 2 > 0 {
                    return Command::Nothing;
                }
                // The call at the first place is mostly asked for more, or no call would see eight rounds.
                let asks = call.place == 0 && reply >= 6;
                let message = Message::Response {
                    id: WireId::Int(call.id),
                    reply: Reply::of(if asks { 6 + reply % 7 } else { reply }),
                };
                self.message(call.id, aside, message)
            }),
            Op::Progress { pick, value, aside } => in_flight(pick).map_or(Command::Nothing, |call| {
                let value = match value % 8 {
                    0 => Some(call.last.unwrap_or(0.0)),
                    1 => Some(-f64::from(value)),
                    2 if value >= 128 => None,
                    _ => Some(call.last.unwrap_or(-1.0) + f64::from(value) / 4.0),
                };
                let token = WireId::Int(call.id);
                self.message(call.id, aside, Message::Progress { token, value })
            }),
            Op::Stray { id, progress } => {
                let token = match id {
                    0..=63 => WireId::Str,
                    64..=191 => WireId::Int(i64::from(id) - 64),
                    _ => WireId::Int([i64::MIN, i64::MAX, -1, 0][usize::from(id % 4)]),
                };
                let message = if progress {
                    Message::Progress { token, value: Some(1.0) }
                } else {
                    let reply = Reply::Complete { typed: true };
                    Message::Response { id: token, reply }
                };
                self.message(if let WireId::Int(id) = token { id } else { 0 }, false, message)
            }
            Op::Junk { which } => self.message(0, false, Message::Junk(usize::from(which) % JUNK.len())),
            Op::Answer { pick, how } => calls(&|at| at == At::Asked, pick).map_or(Command::Nothing, |call| {
                let answers = ["accept", "decline", "cancel"]
                    .iter()
                    .enumerate()
                    .take(usize::from(how % 3))
                    .map(|(n, action)| (format!("q{n}"), json!({"action": action})));
                let mut answers: Vec<(String, Value)> = answers.collect();
                if how >= 240 {
                    answers.push(("bad".into(), json!(5)));
                }
                Command::Answer { call, answers }
            }),
            Op::Cancel { pick, reason } => calls(&|at| at != At::Over, pick)
                .map_or(Command::Nothing, |call| Command::Cancel { call, reason }),
            Op::StreamEnd { pick } if self.shared() && pick < 230 => Command::Nothing,
            Op::StreamEnd { pick } => match usize::from(pick) % self.streams.len() {
                0 if !self.shared() && pick < 250 => Command::Nothing,
                stream => Command::StreamEnd(stream),
            },
            Op::Time { by, handle } => {
                let next = self.next_deadline().filter(|next| *next > self.clock);
                match by % 8 {
                    0 => self.told = self.clock / 2,
                    1 => {}
                    2 | 3 => self.clock = next.unwrap_or(self.clock),
                    4 => self.clock = next.map_or(self.clock, |next| next - 1),
                    _ => self.clock += u64::from(by) * MS,
                }
                if by % 8 > 0 {
                    self.told = self.clock;
                }
                // Not handled, but noticed: a message comes that means nothing.
                let ignored = self.message(0, false, Message::Junk(IGNORED));
                if handle { Command::Timeout } else { ignored }
            }
            Op::Poll => Command::Poll,
            Op::Close => Command::Close,
        }
    }

    fn run(&mut self, command: &Command) -> Seen {
        self.obey(command)
    }
}

impl Model {
    pub(crate) fn shared(&self) -> bool {
        self.setup.binding == Binding::Shared
    }

    pub(crate) fn open(&self) -> Vec<usize> {
        (0..self.calls.len()).filter(|nth| self.calls[*nth].at != At::Over).collect()
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.farewells.is_empty() || self.calls.iter().any(|call| call.at == At::Queued)
    }

    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.due().map(|due| due.0)
    }

    /// On the stream of its attempt, or on another.
    pub(crate) fn message(&self, id: i64, aside: bool, message: Message) -> Command {
        let own = usize::try_from(id.saturating_sub(1)).ok().and_then(|at| self.attempts.get(at)?.stream);
        let stream = match (self.shared(), aside) {
            (true, _) => 0,
            (false, false) => own.unwrap_or(0),
            (false, true) => (own.unwrap_or(0) + 1) % self.streams.len(),
        };
        Command::Message { stream, message }
    }
}

/// The params of the n-th call, beside `_meta`.
pub(crate) fn arguments(nth: usize) -> Value {
    json!({"name": "tool", "arguments": {"n": nth, "text": "a\n\"b\""}})
}

//! A naive model of a server: of a channel that many requests share, and of an exchange of one. It keeps every request it
//! ever saw in one list.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::server::{Kind, Reported};
use sansio_mcp::violation::PeerViolation;
use serde_json::Value;

use crate::frame::Reference;
use crate::server_listens::{Listens, Phase, TOPICS, Topic};
use crate::server_ops::{Ask, ODD, Op, wire_id};

pub(crate) const MS: u64 = 1_000_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Setup {
    /// An exchange of one request rather than a channel.
    pub(crate) single: bool,
    pub(crate) in_flight: usize,
    pub(crate) subscriptions: usize,
}

/// An operation whose request is resolved.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Command {
    Request {
        id: Value,
        token: Option<Value>,
        ask: Ask,
        client: u8,
    },
    Cancel {
        id: Value,
        reason: bool,
    },
    Odd(usize),
    Oversized,
    Progress {
        nth: usize,
        value: f64,
    },
    Respond {
        nth: usize,
        how: Answer,
    },
    Ask {
        nth: usize,
        how: Asks,
    },
    Notify {
        nth: usize,
    },
    /// For everything that is asked for, or for resources alone.
    Acknowledge {
        nth: usize,
        less: bool,
    },
    Publish(Topic),
    /// All resources whose URI begins with this.
    PublishResources(&'static str),
    EndSubscription {
        nth: usize,
    },
    Transmit,
    Timeout,
    InputEnd,
    StreamEnd,
    Close,
    Poll,
    Nothing,
}

impl Command {
    /// The request that it names.
    pub(crate) fn request(&self) -> Option<usize> {
        match self {
            Self::Progress { nth, .. }
            | Self::Respond { nth, .. }
            | Self::Ask { nth, .. }
            | Self::Notify { nth }
            | Self::Acknowledge { nth, .. }
            | Self::EndSubscription { nth } => Some(*nth),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Result,
    NotEncodable,
    Refusal,
}

/// What a round carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    Questions,
    State,
    Both,
    Neither,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Event {
    /// What reached the application was this, of this client.
    Request(usize, Ask, u8),
    Stopped(usize, &'static str),
    Violation(PeerViolation),
}

/// What a command answers, by both.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Seen {
    Nothing,
    Reported(Reported),
    Answered {
        encoded: bool,
    },
    /// It was queued, or dropped because too much waits.
    Notified(bool),
    Ok,
    Misuse(Misuse),
    Sent {
        kind: Kind,
        last: bool,
        json: Value,
    },
    Event(Event),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum At {
    Running,
    Answered,
    Over,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Its place among those in flight, the one given back last first; those stopped together are told in this order.
    pub(crate) place: usize,
    pub(crate) at: At,
    /// Nothing remembers it: stopped, or on a channel its answer was taken.
    pub(crate) gone: bool,
    pub(crate) ask: Ask,
    /// It is a subscription.
    pub(crate) listens: Option<Listens>,
    pub(crate) id: Value,
    pub(crate) token: Option<Value>,
    pub(crate) last: Option<f64>,
    pub(crate) queue: VecDeque<(Kind, Value)>,
}

/// A request that the engine answered itself and whose answer was not taken. The application never hears of it.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) place: usize,
    pub(crate) id: Value,
    pub(crate) answer: (Kind, Value),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reading {
    Open,
    Ended,
    Closed,
}

/// The reference.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) setup: Setup,
    pub(crate) requests: Vec<Request>,
    /// Answers that nothing can withdraw: without an id, or beyond what may be in flight.
    pub(crate) control: VecDeque<(Kind, Value)>,
    pub(crate) own: VecDeque<Own>,
    /// What the engine's own answers met.
    pub(crate) met: BTreeSet<&'static str>,
    /// Whose turn it is to send.
    pub(crate) turns: VecDeque<usize>,
    pub(crate) events: VecDeque<Event>,
    pub(crate) places: Vec<usize>,
    pub(crate) clock: u64,
    pub(crate) told: u64,
    pub(crate) grace: Option<u64>,
    pub(crate) reading: Reading,
    /// The message of an exchange was read.
    pub(crate) read: bool,
    /// Requests the application knows of.
    pub(crate) told_of: usize,
}

impl Reference for Model {
    type Setup = Setup;
    type Op = Op;
    type Command = Command;
    type Seen = Seen;

    fn setups() -> BoxedStrategy<Setup> {
        let setup = |(single, in_flight, subscriptions)| Setup { single, in_flight, subscriptions };
        (prop::bool::weighted(0.3), 1..6usize, 1..4usize).prop_map(setup).boxed()
    }

    fn of(setup: Setup) -> Self {
        Self {
            setup,
            requests: Vec::new(),
            control: VecDeque::new(),
            own: VecDeque::new(),
            met: BTreeSet::new(),
            turns: VecDeque::new(),
            events: VecDeque::new(),
            places: (0..1000).rev().collect(),
            clock: 0,
            told: 0,
            grace: None,
            reading: Reading::Open,
            read: false,
            told_of: 0,
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
        let pick = |pick: u8| {
            let any = pick >= 232;
            let from: Vec<usize> =
                (0..self.told_of).filter(|nth| any || self.requests[*nth].at == At::Running).collect();
            from.get(usize::from(pick) % from.len().max(1)).copied()
        };
        match op {
            Op::Request { id, how } => Command::Request {
                id: wire_id(id),
                token: (how >= 64).then(|| wire_id(how / 3)),
                ask: Ask::of(how),
                // Mostly the first.
                client: (id / 12).saturating_sub(16),
            },
            Op::Cancel { pick: p, how } => {
                let ids = self.ids_in_use();
                let one = ids.get(usize::from(p) % ids.len().max(1)).filter(|_| p < 192);
                Command::Cancel { id: one.cloned().unwrap_or_else(|| wire_id(p)), reason: how % 2 == 0 }
            }
            Op::Odd { which } => Command::Odd(usize::from(which) % ODD.len()),
            Op::Oversized => Command::Oversized,
            Op::Progress { pick: p, value } => pick(p).map_or(Command::Nothing, |nth| {
                let request = &self.requests[nth];
                let running = request.at == At::Running;
                let value = match value % 8 {
                    0 => request.last.unwrap_or(0.0),
                    1 if running => [f64::NAN, f64::INFINITY][usize::from(value / 128)],
                    2 => -f64::from(value),
                    _ => request.last.unwrap_or(0.0) + f64::from(value) / 4.0,
                };
                Command::Progress { nth, value }
            }),
            Op::Respond { pick: p, how } => match pick(p) {
                // The one at the first place is answered late, so that it makes much progress.
                Some(nth) if self.requests[nth].place > 0 || how >= 240 => Command::Respond {
                    nth,
                    how: match how % 8 {
                        0 => Answer::NotEncodable,
                        1 | 2 => Answer::Refusal,
                        _ => Answer::Result,
                    },
                },
                _ => Command::Nothing,
            },
            Op::Ask { pick: p, how } => pick(p).map_or(Command::Nothing, |nth| Command::Ask {
                nth,
                how: [Asks::Questions, Asks::State, Asks::Both, Asks::Neither][usize::from(how % 4)],
            }),
            Op::Notify { pick: p } => pick(p).map_or(Command::Nothing, |nth| Command::Notify { nth }),
            Op::Acknowledge { pick: p, how } => self
                .subscription(p, Phase::Opening)
                .map_or(Command::Nothing, |nth| Command::Acknowledge { nth, less: how % 4 == 0 }),
            Op::Publish { what } => match what % 8 {
                0 => Command::PublishResources(""),
                1 => Command::PublishResources(["a", "L", "a/", "\u{e9}"][usize::from(what / 64)]),
                _ => Command::Publish(TOPICS[usize::from(what / 8) % TOPICS.len()]),
            },
            Op::EndSubscription { pick: p } => self
                .subscription(p, if p % 4 == 0 { Phase::Opening } else { Phase::Listening })
                .map_or(Command::Nothing, |nth| Command::EndSubscription { nth }),
            // The reader is stuck at times, or nobody would have much to send.
            Op::Transmit if self.requests.len() % 8 == 7 => Command::Nothing,
            Op::Transmit => Command::Transmit,
            Op::Time { by, handle } => {
                let next = self.deadline().filter(|next| *next > self.clock);
                match by % 8 {
                    0 => {}
                    1 | 2 => self.clock = next.unwrap_or(self.clock),
                    3 => self.clock = next.map_or(self.clock, |next| next - 1),
                    _ => self.clock += u64::from(by) * 8 * MS,
                }
                self.told = if by % 8 == 0 { self.clock / 2 } else { self.clock };
                if handle { Command::Timeout } else { Command::Odd(IGNORED) }
            }
            Op::InputEnd => Command::InputEnd,
            Op::StreamEnd => Command::StreamEnd,
            Op::Close => Command::Close,
            Op::Poll => Command::Poll,
        }
    }

    fn run(&mut self, command: &Command) -> Seen {
        self.obey(command)
    }
}

impl Model {
    pub(crate) fn live(&self) -> Vec<usize> {
        (0..self.requests.len()).filter(|nth| self.requests[*nth].at != At::Over).collect()
    }

    /// Subscriptions that have not ended.
    pub(crate) fn subscriptions(&self) -> usize {
        self.live().into_iter().filter(|nth| self.requests[*nth].listens.is_some()).count()
    }

    /// Mostly one in this phase; now and then any request.
    fn subscription(&self, pick: u8, phase: Phase) -> Option<usize> {
        let fits = |nth: &usize| {
            let request = &self.requests[*nth];
            pick >= 240
                || request.at == At::Running && request.listens.as_ref().is_some_and(|l| l.phase == phase)
        };
        let from: Vec<usize> = (0..self.told_of).filter(fits).collect();
        from.get(usize::from(pick) % from.len().max(1)).copied()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.live().len() + self.own.len()
    }

    pub(crate) fn has_output(&self) -> bool {
        let queued = self.requests.iter().any(|request| !request.queue.is_empty());
        !self.control.is_empty() || !self.own.is_empty() || queued
    }

    pub(crate) fn deadline(&self) -> Option<u64> {
        self.grace.filter(|_| self.in_flight() > 0)
    }

    pub(crate) fn is_finished(&self) -> bool {
        let idle = self.in_flight() == 0 && self.control.is_empty();
        match (self.setup.single, self.reading) {
            (true, Reading::Open) => self.read && idle,
            (true, _) => idle,
            (false, Reading::Open) => false,
            (false, Reading::Ended) => idle && self.events.is_empty(),
            (false, Reading::Closed) => self.events.is_empty(),
        }
    }
}

/// A notification that means nothing, to tell of the time.
const IGNORED: usize = 10;

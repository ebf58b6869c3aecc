//! A naive model of admission. It keeps every ticket it ever saw in one list and looks through all of it to answer anything. It
//! says who is served by the rule itself ("first by entry among those who can use it"), with no queue kept anywhere.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sansio_mcp::admission::{AdmissionLimits, State};

use crate::admission_ops::{CHANNELS, Command, Op, Outcome};
use crate::frame::Reference;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wants {
    Gate,
    Start,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Waiting(Wants),
    Granted(Wants),
    Gate,
    Running { stopping: bool },
    Over,
}

#[derive(Clone, Debug)]
pub(crate) struct Seen {
    channel: u8,
    pub(crate) lane: Option<u8>,
    at: At,
    /// When it came to the lane.
    lane_turn: usize,
    /// Came back with answers.
    pub(crate) again: bool,
    /// Has queued for a slot.
    queued: bool,
}

/// The reference.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) limits: AdmissionLimits,
    /// Every ticket ever, in order of entry.
    pub(crate) seen: Vec<Seen>,
    pub(crate) held: BTreeSet<u8>,
    /// Granted and not collected, in order.
    due: Vec<usize>,
    lane_turns: usize,
}

impl Reference for Model {
    type Setup = AdmissionLimits;
    type Op = Op;
    type Command = Command;
    type Seen = Outcome;

    /// Small limits, so that they are met often.
    fn setups() -> BoxedStrategy<AdmissionLimits> {
        (1..5usize, 0..6usize).prop_map(|(slots, queue)| AdmissionLimits::new(slots, queue)).boxed()
    }

    fn of(limits: AdmissionLimits) -> Self {
        Self { limits, seen: Vec::new(), held: BTreeSet::new(), due: Vec::new(), lane_turns: 0 }
    }

    fn setup(&self) -> AdmissionLimits {
        self.limits
    }

    /// Picks mostly among tickets for which the operation means something, and sometimes any, over or not.
    fn resolve(&mut self, op: Op) -> Command {
        let pick = |pick: u8, fits: &dyn Fn(At) -> bool| {
            let any = pick >= 224;
            let from: Vec<usize> =
                (0..self.seen.len()).filter(|nth| any || fits(self.seen[*nth].at)).collect();
            from.get(usize::from(pick) % from.len().max(1)).copied()
        };
        let command = match op {
            Op::Enter { channel } => Some(Command::Enter { channel, again: false }),
            Op::EnterAgain { channel } => Some(Command::Enter { channel, again: true }),
            Op::Pass { pick: p, lane } => {
                pick(p, &|at| at == At::Gate).map(|nth| Command::Pass { nth, lane })
            }
            Op::Refuse { pick: p } => pick(p, &|at| at == At::Gate).map(|nth| Command::Refuse { nth }),
            Op::Cancel { pick: p } => pick(p, &|at| at != At::Over).map(|nth| Command::Cancel { nth }),
            Op::Finish { pick: p } => {
                pick(p, &|at| matches!(at, At::Running { .. })).map(|nth| Command::Finish { nth })
            }
            Op::Hold { channel } => Some(Command::Hold { channel }),
            Op::Release { channel } => Some(Command::Release { channel }),
            Op::Poll => Some(Command::Poll),
        };
        command.unwrap_or(Command::Nothing)
    }

    fn run(&mut self, command: &Command) -> Outcome {
        let outcome = match *command {
            Command::Enter { channel, again } => self.enter(channel, again),
            Command::Pass { nth, lane } => self.pass(nth, lane),
            Command::Refuse { nth } if self.seen[nth].at == At::Gate => self.over(nth, Outcome::Ok),
            Command::Finish { nth } if matches!(self.seen[nth].at, At::Running { .. }) => {
                self.over(nth, Outcome::Ok)
            }
            Command::Refuse { .. } | Command::Finish { .. } => Outcome::Misuse,
            Command::Cancel { nth } => match self.seen[nth].at {
                At::Running { stopping: false } => {
                    self.seen[nth].at = At::Running { stopping: true };
                    Outcome::Stop
                }
                At::Running { stopping: true } | At::Over => Outcome::Nothing,
                At::Waiting(_) | At::Granted(_) | At::Gate => {
                    self.due.retain(|due| *due != nth);
                    self.over(nth, Outcome::NeverStarted)
                }
            },
            Command::Hold { channel } => {
                self.held.insert(channel);
                Outcome::Ok
            }
            Command::Release { channel } => {
                self.held.remove(&channel);
                Outcome::Ok
            }
            Command::Poll if self.due.is_empty() => Outcome::Nothing,
            Command::Poll => {
                let nth = self.due.remove(0);
                if self.seen[nth].at == At::Granted(Wants::Gate) {
                    self.seen[nth].at = At::Gate;
                    Outcome::OpenGate(nth)
                } else {
                    self.seen[nth].at = At::Running { stopping: false };
                    Outcome::StartGrant(nth)
                }
            }
            Command::Nothing => Outcome::Nothing,
        };
        while let Some(nth) = self.next_served() {
            let At::Waiting(wants) = self.seen[nth].at else { unreachable!() };
            self.seen[nth].at = At::Granted(wants);
            self.due.push(nth);
        }
        outcome
    }
}

impl Model {
    /// What ends everything: releases, cancels, and finishes what was stopped.
    pub(crate) fn ending(&self) -> Vec<Command> {
        let all = 0..self.seen.len();
        let release = (0..CHANNELS).map(|channel| Command::Release { channel });
        release
            .chain(all.clone().rev().map(|nth| Command::Cancel { nth }))
            .chain(all.map(|nth| Command::Finish { nth }))
            .collect()
    }

    fn over(&mut self, nth: usize, outcome: Outcome) -> Outcome {
        self.seen[nth].at = At::Over;
        outcome
    }

    /// A newcomer is the last of those who wait. If it is served now, nobody else could be.
    fn enter(&mut self, channel: u8, again: bool) -> Outcome {
        let full = self.waiting().count() >= self.limits.queue;
        self.seen.push(Seen {
            channel,
            lane: None,
            at: At::Waiting(Wants::Gate),
            lane_turn: 0,
            again,
            queued: false,
        });
        let nth = self.seen.len() - 1;
        if self.next_served() == Some(nth) {
            self.seen[nth].at = At::Gate;
            Outcome::AtGate
        } else if full && !again {
            self.seen.pop();
            Outcome::Busy
        } else {
            self.seen[nth].queued = true;
            Outcome::Queued
        }
    }

    fn pass(&mut self, nth: usize, lane: Option<u8>) -> Outcome {
        if self.seen[nth].at != At::Gate {
            return Outcome::Misuse;
        }
        let stuck = self.held.contains(&self.seen[nth].channel);
        let full = self.waiting().count() >= self.limits.queue;
        let open = lane.is_none_or(|lane| {
            let mut waiters = self.waiting().filter(|other| self.seen[*other].lane == Some(lane));
            !self.is_taken(lane)
                && !waiters.any(|other| stuck || !self.held.contains(&self.seen[other].channel))
        });
        self.lane_turns += 1;
        let seen = &mut self.seen[nth];
        (seen.lane, seen.lane_turn) = (lane, self.lane_turns);
        if open {
            seen.at = At::Running { stopping: false };
            Outcome::Start
        } else if full && !seen.again && !seen.queued {
            self.over(nth, Outcome::Busy)
        } else {
            seen.at = At::Waiting(Wants::Start);
            Outcome::Waits
        }
    }

    /// The first by entry among those who can use a slot, if one is free.
    fn next_served(&self) -> Option<usize> {
        let free = self.slots_in_use() < self.limits.slots;
        let mut can = self.waiting().filter(|nth| {
            let seen = &self.seen[*nth];
            let first_in_lane = |lane: u8| {
                let before = |other: usize| {
                    let other = &self.seen[other];
                    other.lane == Some(lane)
                        && other.lane_turn < seen.lane_turn
                        && !self.held.contains(&other.channel)
                };
                !self.is_taken(lane) && !self.waiting().any(before)
            };
            !self.held.contains(&seen.channel) && seen.lane.is_none_or(first_in_lane)
        });
        can.next().filter(|_| free)
    }

    fn waiting(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.seen.len()).filter(|nth| matches!(self.seen[*nth].at, At::Waiting(_)))
    }

    fn is_taken(&self, lane: u8) -> bool {
        let has = |seen: &&Seen| {
            seen.lane == Some(lane) && matches!(seen.at, At::Running { .. } | At::Granted(Wants::Start))
        };
        self.seen.iter().any(|seen| has(&seen))
    }

    fn slots_in_use(&self) -> usize {
        self.seen.iter().filter(|seen| !matches!(seen.at, At::Waiting(_) | At::Over)).count()
    }

    /// What the facts of the system must be.
    pub(crate) fn facts(&self) -> [usize; 7] {
        let live = || self.seen.iter().filter(|seen| seen.at != At::Over);
        let lanes: BTreeSet<u8> = live().filter_map(|seen| seen.lane).collect();
        let channels: BTreeSet<u8> =
            self.waiting().map(|nth| self.seen[nth].channel).chain(self.held.iter().copied()).collect();
        [
            live().filter(|seen| matches!(seen.at, At::Running { .. })).count(),
            self.slots_in_use(),
            self.waiting().count(),
            self.due.len(),
            live().count(),
            lanes.len(),
            channels.len(),
        ]
    }

    pub(crate) fn state(&self, nth: usize) -> Option<State> {
        match self.seen[nth].at {
            At::Waiting(Wants::Gate) => Some(State::Queued),
            At::Waiting(Wants::Start) => Some(State::InLane),
            At::Granted(Wants::Gate) => Some(State::GateDue),
            At::Granted(Wants::Start) => Some(State::StartDue),
            At::Gate => Some(State::AtGate),
            At::Running { stopping: false } => Some(State::Running),
            At::Running { stopping: true } => Some(State::Draining),
            At::Over => None,
        }
    }
}

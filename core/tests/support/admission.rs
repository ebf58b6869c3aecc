//! A naive model of admission, operations read from bytes, and the system beside it. Shared by whatever brings
//! bytes: proptest, a fuzzer, a seeded soak.
//!
//! The model keeps every ticket it ever saw in one list and looks through all of it to answer anything. It says who is
//! served by the rule itself ("first by entry among those who can use it"), with no queue kept anywhere.

use std::collections::BTreeSet;

use sansio_mcp::admission::{
    Admission, AdmissionLimits, Busy, Cancelled, ChannelKey, Entered, Grant, LaneKey, Passed, State, TicketId,
};

/// A cursor over bytes that somebody else chose.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    pub(crate) fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
}

/// Small limits, so that they are met often.
pub(crate) fn limits(bytes: &mut Bytes<'_>) -> Option<AdmissionLimits> {
    Some(AdmissionLimits::new(1 + usize::from(bytes.next()? % 4), usize::from(bytes.next()? % 6)))
}

/// What to do. Tickets are picked by a number that the model's state resolves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Enter { channel: u8 },
    EnterAgain { channel: u8 },
    Pass { pick: u8, lane: Option<u8> },
    Refuse { pick: u8 },
    Cancel { pick: u8 },
    Finish { pick: u8 },
    Hold { channel: u8 },
    Release { channel: u8 },
    Poll,
}

const CHANNELS: u8 = 3;
const LANES: u8 = 3;

impl Op {
    /// How many bytes an operation takes.
    pub(crate) const BYTES: usize = 3;

    /// `None` when the bytes are used up.
    pub(crate) fn from_bytes(bytes: &mut Bytes<'_>) -> Option<Self> {
        let (kind, pick, more) = (bytes.next()?, bytes.next()?, bytes.next()?);
        let channel = more % CHANNELS;
        Some(match kind % 20 {
            0..4 => Self::Enter { channel },
            4 => Self::EnterAgain { channel },
            5..9 => Self::Pass { pick, lane: (more % (LANES + 1)).checked_sub(1) },
            9 => Self::Refuse { pick },
            10 | 11 => Self::Cancel { pick },
            12..15 => Self::Finish { pick },
            15 => Self::Hold { channel },
            16 => Self::Release { channel },
            _ => Self::Poll,
        })
    }
}

/// An operation whose ticket is resolved: the n-th that was ever given out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    Enter {
        channel: u8,
        again: bool,
    },
    Pass {
        nth: usize,
        lane: Option<u8>,
    },
    Refuse {
        nth: usize,
    },
    Cancel {
        nth: usize,
    },
    Finish {
        nth: usize,
    },
    Hold {
        channel: u8,
    },
    Release {
        channel: u8,
    },
    Poll,
    /// No ticket to pick.
    Nothing,
}

/// What a command answers, by both.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Outcome {
    AtGate,
    Queued,
    Start,
    Waits,
    Busy,
    Ok,
    Misuse,
    NeverStarted,
    Stop,
    Nothing,
    OpenGate(usize),
    StartGrant(usize),
}

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
struct Seen {
    channel: u8,
    lane: Option<u8>,
    at: At,
    /// When it came to the lane.
    lane_turn: usize,
    /// Came back with answers.
    again: bool,
    /// Has queued for a slot.
    queued: bool,
}

/// The reference.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) limits: AdmissionLimits,
    /// Every ticket ever, in order of entry.
    seen: Vec<Seen>,
    held: BTreeSet<u8>,
    /// Granted and not collected, in order.
    due: Vec<usize>,
    lane_turns: usize,
    pub(crate) last: (Command, Outcome),
}

impl Model {
    pub(crate) fn new(limits: AdmissionLimits) -> Self {
        let last = (Command::Nothing, Outcome::Nothing);
        Self { limits, seen: Vec::new(), held: BTreeSet::new(), due: Vec::new(), lane_turns: 0, last }
    }

    pub(crate) fn apply(&mut self, op: Op) {
        let command = self.resolve(op);
        self.last = (command, self.run(command));
    }

    /// What ends everything: releases, cancels, and finishes what was stopped.
    pub(crate) fn ending(&self) -> Vec<Command> {
        let all = 0..self.seen.len();
        let release = (0..CHANNELS).map(|channel| Command::Release { channel });
        release
            .chain(all.clone().rev().map(|nth| Command::Cancel { nth }))
            .chain(all.map(|nth| Command::Finish { nth }))
            .collect()
    }

    /// Picks mostly among tickets for which the operation means something, and sometimes any, over or not.
    fn resolve(&self, op: Op) -> Command {
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

    pub(crate) fn run(&mut self, command: Command) -> Outcome {
        let outcome = match command {
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
    fn facts(&self) -> [usize; 7] {
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

    fn state(&self, nth: usize) -> Option<State> {
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

/// The real thing, with the ids it gave out in order, and what one must never see of it.
pub(crate) struct System {
    admission: Admission,
    ids: Vec<TicketId>,
    cancelled: BTreeSet<TicketId>,
    started: BTreeSet<TicketId>,
    /// Grants collected, in order.
    pub(crate) grants: Vec<Outcome>,
}

impl System {
    pub(crate) fn new(limits: AdmissionLimits) -> Self {
        Self {
            admission: Admission::new(limits).unwrap(),
            ids: Vec::new(),
            cancelled: BTreeSet::new(),
            started: BTreeSet::new(),
            grants: Vec::new(),
        }
    }

    pub(crate) fn run(&mut self, command: Command) -> Outcome {
        let key = |channel: u8| ChannelKey(u64::from(channel));
        match command {
            Command::Enter { channel, again } => {
                let entered = if again {
                    self.admission.enter_again(key(channel))
                } else {
                    self.admission.enter(key(channel))
                };
                match entered {
                    Err(Busy) => Outcome::Busy,
                    Ok(Entered { ticket, at_gate, .. }) => {
                        assert!(!self.ids.contains(&ticket), "an id was reused");
                        self.ids.push(ticket);
                        if at_gate { Outcome::AtGate } else { Outcome::Queued }
                    }
                }
            }
            Command::Pass { nth, lane } => {
                let lane = lane.map(|lane| LaneKey::computed("tool", &lane.to_string()));
                match self.admission.pass(self.ids[nth], lane) {
                    Err(_) => Outcome::Misuse,
                    Ok(Passed::Busy) => Outcome::Busy,
                    Ok(Passed::Waits) => Outcome::Waits,
                    Ok(Passed::Start) => {
                        self.starts(self.ids[nth]);
                        Outcome::Start
                    }
                }
            }
            Command::Refuse { nth } => {
                self.admission.refuse(self.ids[nth]).map_or(Outcome::Misuse, |()| Outcome::Ok)
            }
            Command::Finish { nth } => {
                self.admission.finish(self.ids[nth]).map_or(Outcome::Misuse, |()| Outcome::Ok)
            }
            Command::Cancel { nth } => {
                self.cancelled.insert(self.ids[nth]);
                match self.admission.cancel(self.ids[nth]) {
                    Cancelled::NeverStarted => {
                        assert!(!self.started.contains(&self.ids[nth]));
                        Outcome::NeverStarted
                    }
                    Cancelled::Stop => Outcome::Stop,
                    Cancelled::Nothing => Outcome::Nothing,
                }
            }
            Command::Hold { channel } => {
                self.admission.hold(key(channel));
                Outcome::Ok
            }
            Command::Release { channel } => {
                self.admission.release(key(channel));
                Outcome::Ok
            }
            Command::Poll => self.poll(),
            Command::Nothing => Outcome::Nothing,
        }
    }

    pub(crate) fn poll(&mut self) -> Outcome {
        let nth = |ticket: TicketId| self.ids.iter().position(|id| *id == ticket).unwrap();
        let outcome = match self.admission.poll_grant() {
            None => return Outcome::Nothing,
            Some(Grant::OpenGate(ticket)) => Outcome::OpenGate(nth(ticket)),
            Some(Grant::Start(ticket)) => {
                let outcome = Outcome::StartGrant(nth(ticket));
                self.starts(ticket);
                outcome
            }
        };
        self.grants.push(outcome);
        outcome
    }

    pub(crate) fn state(&self, nth: usize) -> Option<State> {
        self.admission.state(self.ids[nth])
    }

    fn starts(&mut self, ticket: TicketId) {
        assert!(!self.cancelled.contains(&ticket), "a cancelled ticket started");
        assert!(self.started.insert(ticket), "a ticket started twice");
    }

    /// Running, slots in use, waiting, grants due, tickets, lanes, channels.
    pub(crate) fn facts(&self) -> [usize; 7] {
        let adm = &self.admission;
        [
            adm.running(),
            adm.slots_in_use(),
            adm.waiting(),
            adm.grants_due(),
            adm.tickets(),
            adm.lanes(),
            adm.channels(),
        ]
    }

    /// What holds at any moment, said of the system's own states and facts.
    pub(crate) fn check(&self, model: &Model) {
        assert_eq!(self.facts(), model.facts());
        assert_eq!(self.ids.len(), model.seen.len());
        let states: Vec<Option<State>> = (0..self.ids.len()).map(|nth| self.state(nth)).collect();
        for (nth, state) in states.iter().enumerate() {
            assert_eq!(*state, model.state(nth), "ticket {nth}");
        }
        for channel in 0..CHANNELS {
            assert_eq!(self.admission.is_held(ChannelKey(u64::from(channel))), model.held.contains(&channel));
        }

        let count = |fact: &dyn Fn(usize, State) -> bool| {
            states
                .iter()
                .enumerate()
                .filter(|(nth, state)| state.is_some_and(|state| fact(*nth, state)))
                .count()
        };
        let AdmissionLimits { slots, queue, .. } = model.limits;
        // 11: never more than the slots, never two in a lane. 8: the queue limit, with what may come on top.
        assert!(count(&|_, state| state.holds_slot()) <= slots);
        for lane in 0..LANES {
            assert!(count(&|nth, state| model.seen[nth].lane == Some(lane) && state.holds_lane()) <= 1);
        }
        assert!(count(&|nth, state| state.waits() && !model.seen[nth].again) <= queue + slots);
        // 7: no ticket, nothing else.
        assert_eq!(self.admission.is_idle(), states.iter().all(Option::is_none));
        if self.admission.is_idle() {
            assert_eq!(self.facts()[..6], [0; 6]);
        }
    }
}

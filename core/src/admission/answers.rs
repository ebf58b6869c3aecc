//! What [`Admission`](super::Admission) gives out: tickets, answers, grants and errors.

use core::fmt;

use super::State;
use crate::slab::Key;

/// One entry of a request into its handler. Never reused by the [`Admission`](super::Admission) that gave it out; means nothing to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TicketId {
    index: u32,
    generation: u32,
}

impl TicketId {
    pub(super) const fn of((index, generation): Key) -> Self {
        Self { index, generation }
    }

    pub(super) const fn key(self) -> Key {
        (self.index, self.generation)
    }

    /// A small number, unique among the tickets that live at the same time: a place in a table of the caller's.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

impl fmt::Debug for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ticket{}.{}", self.index, self.generation)
    }
}

/// A ticket was given out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Entered {
    /// The ticket.
    pub ticket: TicketId,
    /// Whether it is at the gate already: run the gate now, no grant will follow. Otherwise
    /// [`Grant::OpenGate`] comes when it is its turn.
    pub at_gate: bool,
}

/// What becomes of a ticket that passed the gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// Start its handler now.
    Start,
    /// Its lane is taken. It gave its slot back; [`Grant::Start`] comes when it is its turn.
    Waits,
    /// Its lane is taken and the queue has no room. It is over; answer that the server is busy.
    Busy,
}

/// What a cancel led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancelled {
    /// It had not started and never will. It is forgotten, and what it held is free.
    NeverStarted,
    /// It was running: stop its handler, and [`finish`](super::Admission::finish) it once that is really over.
    Stop,
    /// Nothing changed: it was cancelled before, or is over.
    Nothing,
}

/// It is the turn of a ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grant {
    /// Run the gate for it, then [`pass`](super::Admission::pass) or [`refuse`](super::Admission::refuse) it.
    OpenGate(TicketId),
    /// Start its handler; the gate is behind it.
    Start(TicketId),
}

/// Nothing was free and the queue has no room. Nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("every slot is taken and the queue is full")]
pub struct Busy;

/// A command that does not fit the state of its ticket. Nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TicketMisuse {
    /// The ticket is over, or was never given out.
    #[error("{0:?} is over or was never given out")]
    Unknown(TicketId),
    /// The ticket is in a state in which this command means nothing.
    #[error("{0:?} is {1:?}, where this command means nothing")]
    WrongState(TicketId, State),
}

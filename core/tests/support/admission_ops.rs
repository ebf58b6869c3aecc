//! Operations on admission read from bytes, the commands that they become, and what those answer.

use crate::bytes::Bytes;
use crate::frame::Operation;

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

pub(crate) const CHANNELS: u8 = 3;
pub(crate) const LANES: u8 = 3;

impl Operation for Op {
    fn from_bytes(bytes: &mut Bytes<'_>) -> Option<Self> {
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

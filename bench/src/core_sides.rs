//! Core alone: bytes of a request to bytes of a response, no transport, no handler future.
//!
//! **Where an engine plugs in**: implement [`CoreSide`] in a file of its own and name it in [`sides`].

use std::time::{Duration, Instant};

use crate::bare_chain::BareChain;
use crate::harness::{Load, Side, Wrong};
use crate::load::{Text, modern_request, modern_response};
use crate::ours_core::OursCore;

/// Something that answers one `tools/call` of `echo` in the form of 2026-07-28.
pub trait CoreSide {
    /// The row's name.
    fn name(&self) -> String;

    /// Appends the response to `request` to `out`, which comes empty and is reused: exactly the bytes of
    /// [`modern_response`].
    fn answer(&mut self, request: &[u8], out: &mut Vec<u8>) -> Result<(), Wrong>;
}

/// The sides of this measurement; the first is the measure for the others.
pub fn sides() -> Result<Vec<Box<dyn Side>>, Wrong> {
    Ok(vec![
        Box::new(CoreRun::new(BareChain)),
        Box::new(CoreRun::new(OursCore::new()?)),
    ])
}

/// Drives a [`CoreSide`]. Outside the clock, before and after each run, every byte of every kind of answer is
/// compared; inside it only the length, because comparing 64 KiB costs a tenth of answering it.
pub struct CoreRun<C> {
    side: C,
    work: Option<Work>,
    out: Vec<u8>,
}

/// Requests and what has to come back.
struct Work {
    text: Text,
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl<C: CoreSide> CoreRun<C> {
    /// Wraps `side`.
    pub fn new(side: C) -> Self {
        Self {
            side,
            work: None,
            out: Vec::new(),
        }
    }
}

impl Work {
    fn new(text: Text) -> Self {
        let pair = |(number, text): (usize, String)| {
            // Ids of several lengths, none of them twice in the pool.
            let id = (number as u64 + 1) * 7919;
            let (head, tail) = modern_request(&text);
            (
                format!("{head}{id}{tail}").into_bytes(),
                modern_response(id, &text).into_bytes(),
            )
        };
        Self {
            text,
            pairs: text.pool().into_iter().enumerate().map(pair).collect(),
        }
    }

    fn check(&self, side: &mut impl CoreSide, out: &mut Vec<u8>) -> Result<(), Wrong> {
        for (request, response) in &self.pairs {
            out.clear();
            side.answer(request, out)?;
            if out != response {
                return Err(Wrong(format!(
                    "answered {} in place of {}",
                    String::from_utf8_lossy(out),
                    String::from_utf8_lossy(response)
                )));
            }
        }
        Ok(())
    }
}

impl<C: CoreSide> Side for CoreRun<C> {
    fn name(&self) -> String {
        self.side.name()
    }

    fn run(&mut self, load: Load) -> Result<Duration, Wrong> {
        let Self { side, work, out } = self;
        let work = match work {
            Some(work) if work.text == load.text => work,
            _ => work.insert(Work::new(load.text)),
        };
        work.check(side, out)?;
        let started = Instant::now();
        for (request, response) in work.pairs.iter().cycle().take(load.calls) {
            out.clear();
            side.answer(request, out)?;
            if out.len() != response.len() {
                return Err(Wrong(format!(
                    "answered {} bytes, not {}",
                    out.len(),
                    response.len()
                )));
            }
        }
        let took = started.elapsed();
        work.check(side, out)?;
        Ok(took)
    }
}

//! What only some calls have beside their slot: questions to answer, changes heard, log messages, a place in the cache.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use sansio_mcp::client::{LogMessage, Question};
use sansio_mcp::model::LoggingLevel;
use sansio_mcp::subscription::Changed;

use super::cache::Fetch;

/// Log messages that wait for the owner of one call; past it the newest are dropped.
const MAX_LOGS: usize = 256;
/// Bytes of them; one message may always wait.
const MAX_LOG_BYTES: usize = 1024 * 1024;

/// Boxed, so that a plain call pays a pointer.
#[derive(Default)]
pub(super) struct Extra {
    pub(super) questions: Option<Asked>,
    pub(super) heard: Option<Heard>,
    pub(super) logs: Option<Logs>,
    pub(super) fetch: Option<Fetch>,
}

/// A round of questions that the owner has not begun to answer.
pub(super) struct Asked {
    pub(super) round: u8,
    pub(super) questions: Vec<Question>,
    pub(super) method: Box<str>,
    pub(super) target: Option<Box<str>>,
}

/// What a subscription has told and its owner has not collected. Bounded by what was asked for: the engine passes on
/// nothing else, and equal changes stand for each other.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) acknowledged: Option<Box<str>>,
    order: VecDeque<Changed>,
    waiting: BTreeSet<Changed>,
}

impl Heard {
    pub(super) fn push(&mut self, change: Changed) {
        if self.waiting.insert(change.clone()) {
            self.order.push_back(change);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Changed> {
        let change = self.order.pop_front()?;
        self.waiting.remove(&change);
        Some(change)
    }
}

/// Log messages that wait for the owner of a call.
pub(super) struct Logs {
    pub(super) level: LoggingLevel,
    waiting: VecDeque<Arc<LogMessage>>,
    bytes: usize,
    dropped: u64,
}

impl Logs {
    pub(super) fn new(level: LoggingLevel) -> Self {
        Self { level, waiting: VecDeque::new(), bytes: 0, dropped: 0 }
    }

    pub(super) fn push(&mut self, message: &Arc<LogMessage>) {
        let size = message.data.len() + message.logger.as_deref().map_or(0, str::len);
        let room = self.waiting.len() < MAX_LOGS && self.bytes + size <= MAX_LOG_BYTES;
        if room || self.waiting.is_empty() {
            self.bytes += size;
            self.waiting.push_back(Arc::clone(message));
        } else {
            self.dropped += 1;
        }
    }

    /// All of them, and how many were dropped since the last time.
    pub(super) fn take(&mut self) -> (VecDeque<Arc<LogMessage>>, u64) {
        self.bytes = 0;
        (std::mem::take(&mut self.waiting), std::mem::take(&mut self.dropped))
    }
}

//! Log messages of the server, and which call they are for (server/utilities/logging).
//!
//! Such a message names no request. With a stream for each request it is of the stream's; on a shared channel it can
//! only be of those calls that asked for its level, and which of several it is cannot be told.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call::State;
use super::calls::Client;
use super::event::{ClientEvent, LogMessage, StreamId};
use crate::id::CallId;
use crate::limits::{MAX_WAITING_LOG_BYTES, MAX_WAITING_LOGS};
use crate::model::LoggingLevel;
use crate::slab::Key;
use crate::violation::PeerViolation;

/// Who asked for messages, and those that wait for the application.
#[derive(Debug, Default)]
pub(super) struct Logs {
    asking: BTreeSet<(LoggingLevel, Key)>,
    /// The least severe level that a call asked for which was given up in flight: on a shared channel such messages may
    /// still be under way, and nothing in them says that they are late.
    late: Option<LoggingLevel>,
    waiting: usize,
    bytes: usize,
    dropped: u64,
}

impl Logs {
    pub(super) fn asked(&mut self, level: LoggingLevel, call: Key) {
        self.asking.insert((level, call));
    }

    pub(super) fn over(&mut self, level: LoggingLevel, call: Key) {
        self.asking.remove(&(level, call));
    }

    /// A call that asked for this is given up while its request is in flight.
    pub(super) fn abandoned(&mut self, level: LoggingLevel) {
        self.late = Some(self.late.map_or(level, |late| late.min(level)));
    }

    pub(super) fn taken(&mut self, message: &LogMessage) {
        self.waiting -= 1;
        self.bytes -= size(message);
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether one more may wait; if not, it counts as dropped.
    fn may_wait(&mut self, message: &LogMessage) -> bool {
        let size = size(message);
        let may = self.waiting == 0
            || (self.waiting < MAX_WAITING_LOGS && self.bytes + size <= MAX_WAITING_LOG_BYTES);
        if may {
            self.waiting += 1;
            self.bytes += size;
        } else {
            self.dropped += 1;
        }
        may
    }
}

fn size(message: &LogMessage) -> usize {
    message.data.len() + message.logger.as_deref().map_or(0, str::len)
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    level: LoggingLevel,
    #[serde(default)]
    logger: Option<Box<str>>,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl Client {
    /// A log message was read.
    pub(super) fn logged(&mut self, stream: StreamId, line: &str) {
        let Ok(Whole { params: Params { level, logger, data } }) = serde_json::from_str(line) else {
            return self.violation(PeerViolation::MalformedLog);
        };
        let call = if stream == StreamId::SHARED { self.asked_for(level) } else { self.of(stream, level) };
        let call = match call {
            Ok(call) => call.map(CallId::of),
            Err(violation) => {
                return violation.into_iter().for_each(|violation| self.violation(violation));
            }
        };
        let message = LogMessage { level, logger, data: data.get().into() };
        if self.logs.may_wait(&message) {
            self.events.push_back(ClientEvent::Log { call, message });
        }
    }

    /// The only call on the shared channel that asked for this level; `Ok(None)` if several did.
    fn asked_for(&self, level: LoggingLevel) -> Result<Option<Key>, Option<PeerViolation>> {
        let last = (level, (u32::MAX, u32::MAX));
        let mut asking = self.logs.asking.range(..=last).map(|(_, call)| *call);
        match (asking.next(), asking.next()) {
            (Some(_), Some(_)) => Ok(None),
            (Some(only), None) if self.in_flight(only) => Ok(Some(only)),
            _ if self.logs.late.is_some_and(|late| late <= level) => Err(None),
            _ => Err(Some(PeerViolation::LogNotAskedFor)),
        }
    }

    /// The call of a stream of its own. What comes late for one that is over is dropped silently.
    fn of(&self, stream: StreamId, level: LoggingLevel) -> Result<Option<Key>, Option<PeerViolation>> {
        let id = i64::try_from(stream.0).map_err(|_| Some(PeerViolation::WrongStream))?;
        let call = self.owner(stream, id)?;
        let asked =
            self.calls.get(call).and_then(|call| call.spec.log_level).is_some_and(|asked| asked <= level);
        if asked && self.in_flight(call) { Ok(Some(call)) } else { Err(Some(PeerViolation::LogNotAskedFor)) }
    }

    fn in_flight(&self, call: Key) -> bool {
        self.calls.get(call).is_some_and(|call| matches!(call.state, State::InFlight(_)))
    }
}

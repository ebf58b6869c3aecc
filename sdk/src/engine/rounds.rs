//! What one entry of a request knows of the rounds before it, and how it asks for another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sansio_mcp::code::wire;
use sansio_mcp::limits::MAX_ROUNDS;
use sansio_mcp::model::{InputRequiredResult, MissingRequiredClientCapability, RawJson};
use sansio_mcp::server::continuation::{Bound, Continuation, Digest, Questions};
use sansio_mcp::server::{Request, Status};

use super::channel::ChannelId;
use super::hub::Hub;
use crate::server::{Failure, InputRequired};

/// The rounds of a call as one entry remembers them. Costs nothing for a request that brings neither state nor answers and
/// asks nothing.
pub(crate) struct Recall {
    rounds: OnceLock<Arc<Rounds>>,
    /// Answers that no state speaks for are taken: known once the handler may run.
    adopts: AtomicBool,
}

/// Shared by an entry and its view on another thread.
pub(crate) struct Rounds(Mutex<Memory>);

pub(crate) struct Memory {
    continuation: Continuation,
    /// Kept in place of what the continuation has.
    pub(crate) kept: Option<RawJson>,
}

impl Rounds {
    fn new(continuation: Continuation) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Memory { continuation, kept: None })))
    }

    /// What is remembered of earlier rounds.
    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one entry of a request asks with.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(super) request: &'a Request,
    pub(super) recall: &'a Recall,
}

impl Recall {
    pub(super) fn new(continuation: Option<Box<Continuation>>) -> Self {
        let rounds = OnceLock::new();
        if let Some(continuation) = continuation {
            let _ = rounds.set(Rounds::new(*continuation));
        }
        Self { rounds, adopts: AtomicBool::new(false) }
    }

    /// The same, for another thread. What either has asked, answered and kept before is the other's too.
    #[cfg(feature = "blocking")]
    pub(super) fn twin(&self) -> Self {
        let adopts = AtomicBool::new(self.adopts.load(Ordering::Relaxed));
        Self { rounds: self.rounds.clone(), adopts }
    }

    /// The handler is no mutation: answers that come without state are taken.
    pub(crate) fn adopt(&self) {
        self.adopts.store(true, Ordering::Relaxed);
    }

    /// Whether anything is remembered.
    pub(super) fn is_set(&self) -> bool {
        self.rounds.get().is_some()
    }
}

impl<'a> Asker<'a> {
    pub(crate) fn rounds(self) -> &'a Rounds {
        self.recall.rounds.get_or_init(|| Rounds::new(Continuation::first()))
    }

    /// The answer under a key, if it was given to this question.
    pub(crate) fn answer(self, key: &str, question: &Digest) -> Option<RawJson> {
        let adopted = if self.recall.adopts.load(Ordering::Relaxed) && self.request.request_state().is_none()
        {
            self.request.input_responses()
        } else {
            None
        };
        if adopted.is_none() && !self.recall.is_set() {
            return None;
        }
        let mut memory = self.rounds().memory();
        let known = memory.continuation.answer(key, question).cloned();
        if known.is_some() {
            return known;
        }
        let asked = Questions::from([(key.to_owned(), *question)]);
        memory.continuation.adopt(&asked, adopted?);
        memory.continuation.answer(key, question).cloned()
    }

    pub(crate) fn kept(self) -> Option<RawJson> {
        let memory = self.recall.rounds.get()?.memory();
        memory.kept.as_ref().or(memory.continuation.own()).cloned()
    }

    pub(crate) fn round(self) -> u8 {
        self.recall.rounds.get().map_or(0, |rounds| rounds.memory().continuation.round())
    }

    /// What goes to the client, or why nobody is asked.
    pub(super) fn prepare(
        self,
        hub: &Hub,
        channel: ChannelId,
        asks: &InputRequired,
    ) -> Result<InputRequiredResult, Failure> {
        let request = self.request;
        if request.method().takes_input() == Some(false) {
            return Err(at_fault("a request of this method may not be answered with a question"));
        }
        let asked = asks.questions();
        let (continuation, own) = {
            let memory = self.rounds().memory();
            let own = asks.kept().or(memory.kept.as_ref()).or(memory.continuation.own()).cloned();
            (memory.continuation.clone(), own)
        };
        let Ok(continuation) = continuation.next_round(asks.digests().clone(), own) else {
            return Err(rounds_exceeded());
        };
        let declared = serde_json::from_str(request.client_capabilities()).map_err(|error| Failure {
            status: Status::BadRequest,
            ..Failure::new(wire::INVALID_PARAMS, format!("the declared capabilities are malformed: {error}"))
        })?;
        match asked.missing_capabilities(&declared) {
            Ok(None) => {}
            Ok(Some(missing)) => {
                let message = "the request needs input of a kind that the client did not declare";
                return Err(Failure {
                    data: RawJson::from_value(&MissingRequiredClientCapability::new(missing)).ok(),
                    status: Status::BadRequest,
                    ..Failure::new(wire::MISSING_CAPABILITY, message)
                });
            }
            Err((key, why)) => return Err(at_fault(&format!("the question {key:?} cannot be asked: {why}"))),
        }
        let caller = hub.lock().caller(channel);
        let bound = Bound::of(request, caller.as_deref().unwrap_or_default());
        let state = hub.sealing.seal(&bound, &continuation, hub.now());
        let state = state.map_err(|why| at_fault(&format!("the state cannot be sealed: {why}")))?;
        let mut result = InputRequiredResult::default().with_request_state(state);
        if !asked.is_empty() {
            result.input_requests = Some(asked.clone());
        }
        Ok(result)
    }
}

fn at_fault(why: &str) -> Failure {
    tracing::error!(code = "QUESTION", why, "a handler's question could not be asked");
    Failure::new(wire::INTERNAL_ERROR, why)
}

fn rounds_exceeded() -> Failure {
    let message = format!("input was asked for {MAX_ROUNDS} times already; the call ends here");
    let mut failure = Failure::new(wire::ROUNDS_EXCEEDED, message);
    failure.data = RawJson::from_text(r#"{"code":"ROUNDS_EXCEEDED"}"#).ok();
    failure
}

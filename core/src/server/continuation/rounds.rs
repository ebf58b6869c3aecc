//! What a call remembers from one attempt to the next.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::digest::Digest;
use super::responses;
use crate::limits::MAX_ROUNDS;
use crate::model::{InputRequest, InputRequests, RawJson};

/// A ninth round of input was asked for ([`ROUNDS_EXCEEDED`](crate::code::wire::ROUNDS_EXCEEDED)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("input was asked for in {MAX_ROUNDS} rounds already; there is no other")]
pub struct RoundsExceeded;

/// The digest of a question: of its method and params by their canonical form, so that another amount or another
/// wording is another question.
pub fn question_digest(question: &InputRequest) -> Digest {
    let mut json = Vec::with_capacity(512);
    question.write(&mut json);
    // What the model writes is text.
    Digest::of_json(core::str::from_utf8(&json).unwrap_or_default())
}

/// The questions of a round: their digests by key.
pub type Questions = BTreeMap<String, Digest>;

/// The questions of a round as a state knows them.
pub fn questions(asked: &InputRequests) -> Questions {
    asked.iter().map(|(key, question)| (key.to_owned(), question_digest(question))).collect()
}

/// An answer, and the question that it was given to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Answer {
    pub(super) question: Digest,
    pub(super) result: RawJson,
}

/// What a call remembers from one attempt to the next: its round, the answers so far, the questions just asked, and
/// what its handler wants back.
///
/// An attempt without state starts with [`first`](Self::first), one with state with
/// [`open_state`](super::open_state), and both [`absorb`](Self::absorb) the answers that came along. When a question has
/// no [`answer`](Self::answer) yet, [`next_round`](Self::next_round) is what to seal and send with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Continuation {
    /// How often input was asked for.
    pub(super) round: u8,
    pub(super) answers: BTreeMap<String, Answer>,
    /// The questions of this round.
    pub(super) pending: Questions,
    pub(super) own: Option<RawJson>,
}

impl Continuation {
    /// Nothing has been asked yet.
    pub const fn first() -> Self {
        Self { round: 0, answers: BTreeMap::new(), pending: BTreeMap::new(), own: None }
    }

    /// How often input was asked for: 0 to [`MAX_ROUNDS`].
    pub fn round(&self) -> u8 {
        self.round
    }

    /// What the handler gave to [`next_round`](Self::next_round) last.
    pub fn own(&self) -> Option<&RawJson> {
        self.own.as_ref()
    }

    /// The keys of the questions of this round that have no answer, in their order.
    pub fn unanswered(&self) -> impl Iterator<Item = &str> {
        self.pending.iter().filter(|(key, digest)| self.answer(key, digest).is_none()).map(|(key, _)| &**key)
    }

    /// Takes the answers to the questions of this round from `inputResponses`, a JSON text.
    ///
    /// Keys that were not asked are ignored, what is not an object is no answer, and of two answers under one key the
    /// later counts, also against one of an earlier round.
    pub fn absorb(&mut self, input_responses: &str) {
        let Self { pending, answers, .. } = self;
        record(answers, pending, input_responses);
    }

    /// Takes answers to `asked`, questions that no state tells of: those of a client that sent answers without the
    /// state, or without having been asked. Whether to do that is the caller's decision; the answers were not given in
    /// sight of these questions, as far as anybody knows.
    pub fn adopt(&mut self, asked: &Questions, input_responses: &str) {
        record(&mut self.answers, asked, input_responses);
    }

    /// The answer under `key`, if it was given to this question.
    pub fn answer(&self, key: &str, question: &Digest) -> Option<&RawJson> {
        self.answers.get(key).filter(|answer| answer.question == *question).map(|answer| &answer.result)
    }

    /// The next round: these questions, the answers so far but those under keys that are asked again, and what the
    /// handler wants back in place of what it wanted before. Without questions it is a round of state alone.
    ///
    /// # Errors
    /// There have been [`MAX_ROUNDS`] already. Nobody has been asked.
    pub fn next_round(self, pending: Questions, own: Option<RawJson>) -> Result<Self, RoundsExceeded> {
        if self.round >= MAX_ROUNDS {
            return Err(RoundsExceeded);
        }
        let mut answers = self.answers;
        answers.retain(|key, _| !pending.contains_key(key));
        Ok(Self { round: self.round + 1, answers, pending, own })
    }
}

fn record(answers: &mut BTreeMap<String, Answer>, asked: &Questions, input_responses: &str) {
    responses::each(input_responses, |key, result| {
        if let Some(question) = asked.get(key) {
            answers.insert(key.to_owned(), Answer { question: *question, result: result() });
        }
    });
}

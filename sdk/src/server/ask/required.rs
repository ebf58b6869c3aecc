//! That a handler needs input, as a value.

use sansio_mcp::code::wire;
use sansio_mcp::model::{InputRequest, InputRequests, RawJson};
use sansio_mcp::server::continuation::{Digest, Questions, question_digest};
use serde::Serialize;

use super::Question;
use crate::server::exit::Exit;
use crate::server::reply::Failure;

/// That a handler needs input: the questions of a round, and what it wants back with their answers. For handlers that say so
/// in one place, `Err(Exit::input_required(InputRequired::new().ask("sure", form)))`; and what layers see.
///
/// Without questions it is a round of state alone: the client comes back after a moment.
#[derive(Clone, Debug, Default)]
pub struct InputRequired {
    questions: InputRequests,
    /// Their digests.
    digests: Questions,
    kept: Option<RawJson>,
    fault: Option<String>,
}

impl InputRequired {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a question under a key, in place of one that was there.
    #[must_use]
    #[allow(clippy::needless_pass_by_value)] // reads as the question that it is, and leaves room to take it apart
    pub fn ask(mut self, key: &str, question: impl Question) -> Self {
        match question.request() {
            Ok(request) => {
                let digest = question_digest(&request);
                self.insert(key, request, digest);
            }
            Err(why) => {
                self.fault.get_or_insert_with(|| format!("the question {key:?} cannot be asked: {why}"));
            }
        }
        self
    }

    /// As [`Context::keep`](crate::server::Context::keep).
    #[must_use]
    pub fn keep(mut self, value: &(impl Serialize + ?Sized)) -> Self {
        match RawJson::from_value(value) {
            Ok(json) => self.kept = Some(json),
            Err(error) => {
                self.fault.get_or_insert_with(|| format!("what was to be kept cannot be encoded: {error}"));
            }
        }
        self
    }

    /// The digests of the questions.
    pub(crate) fn digests(&self) -> &Questions {
        &self.digests
    }

    /// The questions by key.
    pub fn questions(&self) -> &InputRequests {
        &self.questions
    }

    pub(crate) fn kept(&self) -> Option<&RawJson> {
        self.kept.as_ref()
    }

    /// Adds a question that was checked; false if the key has another already.
    pub(super) fn add(&mut self, key: &str, request: InputRequest, digest: Digest) -> bool {
        if let Some(before) = self.questions.get(key) {
            return *before == request;
        }
        self.insert(key, request, digest);
        true
    }

    fn insert(&mut self, key: &str, request: InputRequest, digest: Digest) {
        self.digests.insert(key.to_owned(), digest);
        self.questions.insert(key, request);
    }

    pub(super) fn at_fault(&mut self, why: String) {
        self.fault.get_or_insert(why);
    }

    pub(super) fn is_faultless(&self) -> bool {
        self.fault.is_none()
    }

    /// The way out of the handler: what it did wrong is told to the operator, and to the client as an internal error.
    pub(crate) fn checked(self) -> Result<Self, Failure> {
        match self.fault {
            None => Ok(self),
            Some(why) => {
                tracing::error!(code = "QUESTION", why, "a handler asked what cannot be asked");
                Err(Failure::new(wire::INTERNAL_ERROR, why))
            }
        }
    }
}

pub(super) fn not_encoded(error: &serde_json::Error) -> Exit {
    let why = format!("what was to be kept cannot be encoded: {error}");
    Exit::protocol(Failure::new(wire::INTERNAL_ERROR, why))
}

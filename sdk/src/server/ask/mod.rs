//! Asking in the middle of a request (basic/patterns/mrtr).
//!
//! A handler asks with [`Context::ask`] and `?`. Where there is no answer yet, that ends it; the client asks its user and
//! sends the request again, perhaps to another replica, and the handler is entered anew from its beginning. This time
//! the same line gives the answer. So what stands before a question runs again at each entry: ask first, act after that,
//! and guard what must happen once (an idempotency key, a row that is taken), since a client may also send the same
//! answers twice.
//!
//! Nor does the server hear of a person who never answers, or of a client that disappears while its question is open: no
//! request runs then, and nothing is held for it here. The [clean-up](Context::on_exit) of an entry runs when it asks. What
//! has to stay taken meanwhile is kept by its number ([`Context::keep`]), and has to expire by itself.
//!
//! ```
//! use sansio_mcp_sdk::server::{Asked, Context, Exit, Form, NoArguments, Server};
//!
//! let server = Server::shared("shop", "1").tool("refund", |_: NoArguments, cx: Context| async move {
//!     Ok(match cx.ask("sure", Form::new("Refund 40 euros?"))? {
//!         Asked::Accepted(_) => "refunded",
//!         Asked::Declined | Asked::Cancelled => "left as it was",
//!     })
//! });
//! ```

mod question;
mod required;
mod set;

use sansio_mcp::model::{InputRequest, RawJson};
use sansio_mcp::server::continuation::{Digest, question_digest};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use question::{FormOf, Question, Typed};
pub use required::InputRequired;
pub use set::QuestionSet;

use super::context::Context;
use super::exit::Exit;
use crate::engine::Asker;
use crate::mode::Mode;

/// What a person said to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked<T> {
    /// They filled it in, or agreed.
    Accepted(T),
    /// They said no.
    Declined,
    /// They went away without saying either.
    Cancelled,
}

impl<T> Asked<T> {
    /// What they filled in; `None` if they did not.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(value) => Some(value),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

/// What is known of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answered<T> {
    /// It was answered.
    Accepted(T),
    /// The person said no.
    Declined,
    /// The person went away without saying either.
    Cancelled,
    /// It was not asked yet, or the answer does not fit it.
    Missing,
}

impl<T> From<Asked<T>> for Answered<T> {
    fn from(asked: Asked<T>) -> Self {
        match asked {
            Asked::Accepted(value) => Self::Accepted(value),
            Asked::Declined => Self::Declined,
            Asked::Cancelled => Self::Cancelled,
        }
    }
}

impl<S, M: Mode> Context<S, M> {
    /// The answer to a question, under a key that is the question's own in this handler.
    ///
    /// A form and a visit give [`Asked`]; sampling and roots, which nobody can decline, their result. An answer
    /// counts only for the question it was given to: another wording or another amount is another question.
    ///
    /// # Errors
    /// There is no answer that fits: the way out of the handler, to be returned with `?`, which asks. Also if the
    /// question breaks a rule of its page: then an internal error.
    #[allow(clippy::needless_pass_by_value)] // reads as the question that it is, and leaves room to take it apart
    pub fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Outcome, Exit> {
        let mut asking = set::Asking::new(self.asker());
        let outcome = asking.take(key, &question);
        asking.end(outcome)
    }

    /// As [`ask`](Self::ask), for several questions in one round: a tuple of pairs of key and question. Only those
    /// without an answer are asked.
    ///
    /// # Errors
    /// One of them has no answer that fits.
    pub fn ask_all<Q: QuestionSet>(&self, questions: Q) -> Result<Q::Outcomes, Exit> {
        let mut asking = set::Asking::new(self.asker());
        let outcomes = questions.take(&mut asking);
        asking.end(outcomes)
    }

    /// What is known of a question, without asking it.
    pub fn answer<Q: Question>(&self, key: &str, question: &Q) -> Answered<Q::Value> {
        let Ok(request) = question.request() else { return Answered::Missing };
        let outcome = self.asker().read(key, question, &request, &question_digest(&request));
        outcome.map_or(Answered::Missing, Q::answered)
    }

    /// Keeps a value through the next round, in place of what was kept before: the client carries it, sealed, and
    /// [`kept`](Self::kept) reads it when the handler is entered again. It is kept until another is.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn keep(&self, value: &(impl Serialize + ?Sized)) -> Result<(), Exit> {
        let json = RawJson::from_value(value).map_err(|error| required::not_encoded(&error))?;
        self.asker().rounds().memory().kept = Some(json);
        Ok(())
    }

    /// What was kept, by this entry or an earlier one; `None` also if it is of another type.
    pub fn kept<T: DeserializeOwned>(&self) -> Option<T> {
        self.asker().kept()?.parse().ok()
    }

    /// How often input was asked for in this call: 0 to 8.
    pub fn round(&self) -> u8 {
        self.asker().round()
    }

    fn asker(&self) -> Asker<'_> {
        self.call.asker()
    }
}

impl Asker<'_> {
    /// The answer under a key, if it was given to this question and fits it.
    fn read<Q: Question>(
        self,
        key: &str,
        question: &Q,
        request: &InputRequest,
        digest: &Digest,
    ) -> Option<Q::Outcome> {
        let answer = self.answer(key, digest)?;
        let fits = request
            .accept(&answer)
            .map_err(|error| error.to_string())
            .and_then(|response| question.read(response));
        fits.inspect_err(|why| tracing::debug!(key, why, "an answer does not fit its question")).ok()
    }
}

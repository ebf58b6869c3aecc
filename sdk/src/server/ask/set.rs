//! Several questions of one round.

use sansio_mcp::server::continuation::question_digest;

use super::{InputRequired, Question};
use crate::engine::Asker;
use crate::server::exit::Exit;

/// Questions to ask in one round: a tuple of pairs of key and question, up to six; or a list of pairs, all of one kind.
pub trait QuestionSet {
    /// What they give, in the same order.
    type Outcomes;

    #[doc(hidden)]
    fn take(self, asking: &mut Asking<'_>) -> Option<Self::Outcomes>;
}

/// Collects answers, and the questions that have none.
pub struct Asking<'a> {
    asker: Asker<'a>,
    missing: InputRequired,
}

impl<'a> Asking<'a> {
    pub(super) fn new(asker: Asker<'a>) -> Self {
        Self { asker, missing: InputRequired::new() }
    }

    /// The answer to a question; it is noted if it has none.
    pub(super) fn take<Q: Question>(&mut self, key: &str, question: &Q) -> Option<Q::Outcome> {
        let request = match question.request() {
            Ok(request) => request,
            Err(why) => {
                self.missing.at_fault(format!("the question {key:?} cannot be asked: {why}"));
                return None;
            }
        };
        let digest = question_digest(&request);
        let outcome = self.asker.read(key, question, &request, &digest);
        if outcome.is_none() && !self.missing.add(key, request, digest) {
            self.missing.at_fault(format!("two questions of one round have the key {key:?}"));
        }
        outcome
    }

    pub(super) fn end<T>(self, outcomes: Option<T>) -> Result<T, Exit> {
        match outcomes {
            Some(outcomes) if self.missing.is_faultless() => Ok(outcomes),
            _ => Err(Exit::input_required(self.missing)),
        }
    }
}

impl<K: AsRef<str>, Q: Question> QuestionSet for Vec<(K, Q)> {
    type Outcomes = Vec<Q::Outcome>;

    fn take(self, asking: &mut Asking<'_>) -> Option<Self::Outcomes> {
        // All are looked at, whichever are missing: they are one round.
        let outcomes: Vec<_> =
            self.iter().map(|(key, question)| asking.take(key.as_ref(), question)).collect();
        outcomes.into_iter().collect()
    }
}

macro_rules! tuples {
    ($(($($key:ident $question:ident $n:tt),+);)*) => {
        $(impl<$($key: AsRef<str>, $question: Question),+> QuestionSet for ($(($key, $question),)+) {
            type Outcomes = ($($question::Outcome,)+);

            fn take(self, asking: &mut Asking<'_>) -> Option<Self::Outcomes> {
                let outcomes = ($(asking.take(self.$n.0.as_ref(), &self.$n.1),)+);
                Some(($(outcomes.$n?,)+))
            }
        })*
    };
}

tuples! {
    (K0 Q0 0);
    (K0 Q0 0, K1 Q1 1);
    (K0 Q0 0, K1 Q1 1, K2 Q2 2);
    (K0 Q0 0, K1 Q1 1, K2 Q2 2, K3 Q3 3);
    (K0 Q0 0, K1 Q1 1, K2 Q2 2, K3 Q3 3, K4 Q4 4);
    (K0 Q0 0, K1 Q1 1, K2 Q2 2, K3 Q3 3, K4 Q4 4, K5 Q5 5);
}

//! Who sits in front of the client and is asked.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sansio_mcp_memory::VirtualClock;
use sansio_mcp_sdk::Engine;
use sansio_mcp_sdk::client::{Client, ClientSetup, InputFailure, Question};
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::model::{ElicitAction, ElicitFormParams, ElicitResult, Implementation};
use serde_json::Value;

use crate::timeline::Timeline;

/// How long she thinks.
const THINKING: Duration = Duration::from_secs(3);

/// What she says to a question.
#[derive(Clone)]
pub(crate) enum Says {
    Accepts(Value),
    Declines,
}

/// Answers questions in the order in which she was told to; the last answer goes on for ever. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Person {
    timeline: Timeline,
    clock: VirtualClock,
    engine: Engine,
    mind: Arc<Mutex<Mind>>,
}

#[derive(Default)]
struct Mind {
    says: VecDeque<Says>,
    asked: Vec<String>,
    /// Requests that the server ran or kept waiting while she thought, the most of all times.
    held: usize,
    brief: bool,
    /// Questions that were taken back before she had answered.
    withdrawn: usize,
}

/// A question that she thinks about.
struct Open<'a> {
    person: &'a Person,
    answered: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.person.mind().withdrawn += 1;
            self.person.timeline.client("the question is taken back, and its window closes");
        }
    }
}

impl Person {
    pub(crate) fn new(timeline: &Timeline, clock: VirtualClock, engine: &Engine) -> Self {
        Self { timeline: timeline.clone(), clock, engine: engine.clone(), mind: Arc::default() }
    }

    fn mind(&self) -> MutexGuard<'_, Mind> {
        self.mind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what was, and will say this.
    pub(crate) fn will_say(&self, says: impl IntoIterator<Item = Says>) {
        *self.mind() = Mind { says: says.into_iter().collect(), ..Mind::default() };
    }

    /// Of the rounds in the middle nothing is shown until the last.
    pub(crate) fn is_brief(&self) {
        self.mind().brief = true;
    }

    /// What she was asked.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.mind().asked.clone()
    }

    /// Whether the server held no slot, no lane and no place in its queue while she thought.
    pub(crate) fn held_nothing(&self) -> bool {
        self.mind().held == 0
    }

    /// How many questions were taken back before she had answered.
    pub(crate) fn withdrawn(&self) -> usize {
        self.mind().withdrawn
    }

    async fn thinks(&self, round: u8, question: &str) -> Says {
        if self.mind().brief {
            if round == 3 {
                self.timeline.client("rounds 3 to 7 go the same way");
            }
            self.timeline.quiet((3..8).contains(&round));
        }
        self.timeline.client(format!("round {round} asks the person: {question}"));
        self.mind().asked.push(question.to_owned());
        let mut open = Open { person: self, answered: false };
        self.clock.sleep(THINKING).await;
        open.answered = true;
        let facts = self.engine.facts();
        let mut mind = self.mind();
        mind.held = mind.held.max(facts.running + facts.waiting);
        if mind.says.len() > 1 { mind.says.pop_front() } else { mind.says.front().cloned() }
            .unwrap_or(Says::Declines)
    }

    async fn fills_in(self, form: Question<ElicitFormParams>) -> Result<ElicitResult, InputFailure> {
        match self.thinks(form.round, &form.params.message).await {
            Says::Accepts(content) => {
                self.timeline.client(format!("the person fills in {content}"));
                form.accept(&content)
            }
            Says::Declines => {
                self.timeline.client("the person declines");
                Ok(ElicitResult::decline())
            }
        }
    }

    /// A client that asks her.
    pub(crate) fn setup(&self) -> Result<ClientSetup, Box<dyn Error>> {
        let (fills, visits) = (self.clone(), self.clone());
        let setup = Client::builder(Implementation::new("tour", "1"))
            .on_form(move |form| fills.clone().fills_in(form))
            .on_url(move |visit| {
                let person = visits.clone();
                async move {
                    person
                        .thinks(visit.round, &format!("{} {}", visit.params.message, visit.params.url))
                        .await;
                    person.timeline.client("the person agrees, and goes there with a browser");
                    Ok(ElicitAction::Accept)
                }
            });
        Ok(setup.build()?)
    }
}

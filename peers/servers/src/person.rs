//! Whoever answers the questions of a server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sansio_mcp_sdk::client::{Client, ClientBuilder, InputFailure, Question};
use sansio_mcp_sdk::model::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams, ElicitResult, Implementation,
    RawJson, Root, SamplingBlock, ToolUseContent,
};
use serde_json::json;
use smol::lock::Barrier;

/// What they do with the next questions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mood {
    /// Accepts, with what fits.
    Willing,
    /// Accepts, with what does not fit.
    Careless,
    /// Says no.
    Unwilling,
    /// Closes the window.
    Absent,
    /// Answers once two questions have been asked.
    Both,
    /// Never answers.
    Asleep,
}

#[derive(Clone)]
pub(crate) struct Person {
    inner: Arc<Inner>,
}

struct Inner {
    now: Mutex<(Mood, Vec<String>)>,
    both: Barrier,
}

impl Person {
    pub(crate) fn new() -> Self {
        Self {
            inner: Arc::new(Inner { now: Mutex::new((Mood::Willing, Vec::new())), both: Barrier::new(2) }),
        }
    }

    fn now(&self) -> MutexGuard<'_, (Mood, Vec<String>)> {
        self.inner.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the mood, and forgets what was asked.
    pub(crate) fn is(&self, mood: Mood) {
        *self.now() = (mood, Vec::new());
    }

    /// What was asked since: round, what is asked, by which call.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.now().1.clone()
    }

    async fn hears<P>(&self, question: &Question<P>, what: &str) -> Mood {
        let mood = {
            let mut now = self.now();
            let about = question.target.as_deref().unwrap_or_default();
            now.1.push(format!("{} {what} {about}", question.round));
            now.0
        };
        match mood {
            Mood::Both => {
                self.inner.both.wait().await;
            }
            Mood::Asleep => std::future::pending().await,
            _ => {}
        }
        mood
    }

    /// A client whose questions they answer.
    pub(crate) fn client(&self) -> ClientBuilder {
        let (form, url, model, roots) = (self.clone(), self.clone(), self.clone(), self.clone());
        Client::builder(Implementation::new("driver", "1.0.0"))
            .on_form(move |question| form.clone().fills_in(question))
            .on_url(move |question| {
                let this = url.clone();
                async move {
                    Ok(match this.hears(&question, &question.params.url).await {
                        Mood::Unwilling => ElicitAction::Decline,
                        Mood::Absent => ElicitAction::Cancel,
                        _ => ElicitAction::Accept,
                    })
                }
            })
            .on_sampling_with_tools(move |question| model.clone().thinks(question))
            .on_roots(move |question| {
                let this = roots.clone();
                async move {
                    this.hears(&question, "roots").await;
                    Ok(vec![Root::new("file:///home/bo"), Root::new("file:///srv/a%20b").with_name("shared")])
                }
            })
    }

    async fn fills_in(self, form: Question<ElicitFormParams>) -> Result<ElicitResult, InputFailure> {
        let mood = self.hears(&form, &form.params.message).await;
        let about_a_name = form.params.requested_schema.properties.get("name").is_some();
        match mood {
            Mood::Unwilling => Ok(ElicitResult::decline()),
            Mood::Absent => Ok(ElicitResult::cancel()),
            Mood::Careless => form.accept(&json!({"name": "B", "sure": "perhaps"})),
            _ if about_a_name => form.accept(&json!({"name": "Bo"})),
            _ => form.accept(&json!({"sure": true})),
        }
    }

    async fn thinks(self, asked: Question<CreateMessageParams>) -> Result<CreateMessageResult, InputFailure> {
        let first = asked.params.messages.first().and_then(|message| message.content.first_text());
        self.hears(&asked, first.unwrap_or_default()).await;
        if asked.params.needs_tools() {
            let harbour = RawJson::from_value("Sand")?;
            let wants = ToolUseContent::new("u1", "tide", [("harbour", harbour)].into_iter().collect());
            return Ok(CreateMessageResult::new("model", vec![SamplingBlock::from(wants)])
                .with_stop_reason("toolUse"));
        }
        Ok(CreateMessageResult::new("model", "word".to_owned()).with_stop_reason("endTurn"))
    }
}

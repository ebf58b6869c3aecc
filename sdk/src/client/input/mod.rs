//! Answering what a server asks in the middle of a call (basic/patterns/mrtr).

mod failure;
mod question;
mod round;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use sansio_mcp::config::ConfigError;
use sansio_mcp::model::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitResult, ElicitUrlParams, ElicitationCapability, InputParams, InputRequest, InputResponse,
    ListRootsParams, ListRootsResult, RawJson, RawMembers, Root, SamplingCapability,
};

pub use failure::InputFailure;
pub use question::Question;
pub(super) use round::{Round, contained};

type Answering<T> = Pin<Box<dyn Future<Output = Result<T, InputFailure>> + Send>>;
type Handler<P, T> = Arc<dyn Fn(Question<P>) -> Answering<T> + Send + Sync>;

/// The handlers of a client. `None` where it has none.
#[derive(Clone, Default)]
pub(super) struct Inputs {
    form: Option<Handler<ElicitFormParams, ElicitResult>>,
    url: Option<Handler<ElicitUrlParams, ElicitAction>>,
    sampling: Option<Handler<CreateMessageParams, CreateMessageResult>>,
    roots: Option<Handler<ListRootsParams, Vec<Root>>>,
    /// The model of the sampling handler can use tools.
    pub(super) tools: bool,
}

fn boxed<P, T, F>(handler: impl Fn(Question<P>) -> F + Send + Sync + 'static) -> Handler<P, T>
where
    F: Future<Output = Result<T, InputFailure>> + Send + 'static,
{
    Arc::new(move |question| Box::pin(handler(question)))
}

macro_rules! setter {
    ($field:ident, $set:ident, $params:ty => $result:ty) => {
        pub(super) fn $set<F>(&mut self, handler: impl Fn(Question<$params>) -> F + Send + Sync + 'static)
        where
            F: Future<Output = Result<$result, InputFailure>> + Send + 'static,
        {
            self.$field = Some(boxed(handler));
        }
    };
}

impl Inputs {
    setter!(form, set_form, ElicitFormParams => ElicitResult);
    setter!(url, set_url, ElicitUrlParams => ElicitAction);
    setter!(sampling, set_sampling, CreateMessageParams => CreateMessageResult);
    setter!(roots, set_roots, ListRootsParams => Vec<Root>);

    /// The capabilities set by hand, and those that the handlers are.
    ///
    /// # Errors
    /// Something was declared that no handler answers.
    pub(super) fn declared(
        &self,
        mut by_hand: ClientCapabilities,
    ) -> Result<ClientCapabilities, ConfigError> {
        let contradiction =
            |field| Err(ConfigError::new(field, "is declared, and there is no handler for it"));
        if let Some(elicitation) = &by_hand.elicitation {
            if elicitation.accepts_form() && self.form.is_none() {
                return contradiction("capabilities.elicitation.form");
            }
            if elicitation.url.is_some() && self.url.is_none() {
                return contradiction("capabilities.elicitation.url");
            }
        }
        if let Some(sampling) = &by_hand.sampling {
            if self.sampling.is_none() {
                return contradiction("capabilities.sampling");
            }
            if sampling.tools.is_some() && !self.tools {
                return contradiction("capabilities.sampling.tools");
            }
        }
        if by_hand.roots.is_some() && self.roots.is_none() {
            return contradiction("capabilities.roots");
        }
        if self.form.is_some() || self.url.is_some() {
            let declared = by_hand.elicitation.get_or_insert_with(ElicitationCapability::default);
            declare(&mut declared.form, self.form.is_some());
            declare(&mut declared.url, self.url.is_some());
        }
        if self.sampling.is_some() {
            let declared = by_hand.sampling.get_or_insert_with(SamplingCapability::default);
            declare(&mut declared.tools, self.tools);
        }
        declare(&mut by_hand.roots, self.roots.is_some());
        Ok(by_hand)
    }

    /// Whether there is any.
    pub(super) fn any(&self) -> bool {
        self.form.is_some() || self.url.is_some() || self.sampling.is_some() || self.roots.is_some()
    }

    /// What answers this; `None` if nothing does.
    fn answer(&self, asked: InputParams, about: &Question<()>) -> Option<Job> {
        Some(match asked {
            InputParams::Form(params) => {
                let handler = self.form.clone()?;
                let question = about.with(params);
                Box::new(move || {
                    let schema = question.params.requested_schema.clone();
                    let answering = handler(question);
                    Box::pin(async move {
                        let mut result = answering.await?;
                        let content = result.content.take();
                        if result.action == ElicitAction::Accept {
                            let content = schema.fill(&content.unwrap_or_default());
                            schema.check(&content)?;
                            result.content = Some(content);
                        }
                        Ok(RawJson::from_value(&result)?)
                    })
                })
            }
            InputParams::Url(params) => {
                let handler = self.url.clone()?;
                let question = about.with(params);
                Box::new(move || {
                    let answering = handler(question);
                    Box::pin(async move {
                        Ok(RawJson::from_value(&match answering.await? {
                            ElicitAction::Accept => ElicitResult::visit(),
                            ElicitAction::Decline => ElicitResult::decline(),
                            ElicitAction::Cancel => ElicitResult::cancel(),
                        })?)
                    })
                })
            }
            InputParams::CreateMessage(params) => {
                let handler = self.sampling.clone().filter(|_| self.tools || !params.needs_tools())?;
                let question = about.with(*params);
                Box::new(move || {
                    let answering = handler(question);
                    Box::pin(async move { Ok(RawJson::from_value(&answering.await?)?) })
                })
            }
            InputParams::ListRoots(params) => {
                let handler = self.roots.clone()?;
                let question = about.with(params);
                Box::new(move || {
                    let answering = handler(question);
                    Box::pin(async move {
                        let roots = ListRootsResult::new(answering.await?);
                        let answer = RawJson::from_value(&roots)?;
                        match InputRequest::list_roots().accept(&answer)? {
                            InputResponse::ListRoots(_) => Ok(answer),
                            _ => Err(InputFailure::new("roots were asked for")),
                        }
                    })
                })
            }
            // InputParams is open: what this version does not know nobody can answer.
            _ => return None,
        })
    }
}

/// Begins to answer one question; its result is an object.
type Job = Box<dyn FnOnce() -> Answering<RawJson> + Send>;

fn declare(capability: &mut Option<RawJson>, has: bool) {
    if has && capability.is_none() {
        *capability = RawJson::from_value(&RawMembers::new()).ok();
    }
}

//! Adding tools, prompts, resources, templates and completions: the same for a server that is being built and for one that
//! serves.

#[cfg(feature = "blocking")]
mod blocking;
mod polled;

use std::sync::Arc;

use sansio_mcp::model::RawJson;

use super::ConfigError;
use super::builder::Builder;
use super::catalog::Update;
use super::check::Checks;
use super::handler::{Common, Rules};
use super::kinds::{CompletionRules, PromptRules, ResourceRules};
use super::offer::{PromptSpec, ResourceSpec, TemplateSpec};
use super::offers::{Edit, Listed, Owner};
use super::output::{ToolInput, ToolOutput};
use super::spec::ToolSpec;
use crate::mode::Mode;

/// What offers can be added to.
trait Adds<M: Mode, S> {
    fn state(&self) -> &Arc<S>;
    fn add(&mut self, edit: Result<Edit<M>, ConfigError>);

    fn common<K>(&self, rules: K) -> Common<S, K> {
        Common { state: Arc::clone(self.state()), rules }
    }

    fn add_tool<A: ToolInput, T: ToolOutput>(
        &mut self,
        spec: ToolSpec,
        handler: impl FnOnce(Common<S, Rules>) -> Box<M::Tool>,
    ) {
        let edit = self.tool_edit(spec, A::schema(), T::schema(), handler);
        self.add(edit);
    }

    fn tool_edit(
        &self,
        mut spec: ToolSpec,
        input: Option<RawJson>,
        output: Option<RawJson>,
        handler: impl FnOnce(Common<S, Rules>) -> Box<M::Tool>,
    ) -> Result<Edit<M>, ConfigError> {
        let listed = spec.tool(input, output)?;
        let checks = Checks::new(&listed)?;
        let stale = spec.stale()?;
        let rules = Rules { lane: spec.lane, requires: spec.requires, checks };
        Ok(Edit::Tool(Box::new(Listed { listed: listed.into(), stale }), handler(self.common(rules)).into()))
    }

    fn add_prompt(&mut self, spec: PromptSpec, handler: impl FnOnce(Common<S, PromptRules>) -> Box<M::Tool>) {
        let edit = spec.checked().map(|prompt| {
            let rules = PromptRules { arguments: prompt.arguments.clone().unwrap_or_default() };
            Edit::Prompt(prompt, handler(self.common(rules)).into())
        });
        self.add(edit);
    }

    fn add_resource(
        &mut self,
        spec: ResourceSpec,
        handler: impl FnOnce(Common<S, ResourceRules>) -> Box<M::Tool>,
    ) {
        let rules =
            ResourceRules { template: None, mime_type: spec.said_mime_type(), cache: spec.cache.clone() };
        let edit =
            spec.checked().map(|resource| Edit::Resource(resource, handler(self.common(rules)).into()));
        self.add(edit);
    }

    fn add_template(
        &mut self,
        spec: TemplateSpec,
        handler: impl FnOnce(Common<S, ResourceRules>) -> Box<M::Tool>,
    ) {
        let (cache, mime_type) = (spec.cache.clone(), spec.said_mime_type());
        let edit = spec.checked().map(|template| {
            let rules = ResourceRules { template: Some(template.compiled.clone()), mime_type, cache };
            Edit::Template(Box::new(template), handler(self.common(rules)).into())
        });
        self.add(edit);
    }

    fn add_completion(
        &mut self,
        owner: Owner,
        argument: &str,
        handler: impl FnOnce(Common<S, CompletionRules>) -> Box<M::Tool>,
    ) {
        let handler = handler(self.common(CompletionRules)).into();
        self.add(Ok(Edit::Completion(owner, argument.to_owned(), handler)));
    }
}

impl<M: Mode, S> Adds<M, S> for Builder<M, S> {
    fn state(&self) -> &Arc<S> {
        &self.state
    }

    fn add(&mut self, edit: Result<Edit<M>, ConfigError>) {
        if let Err(fault) = edit.and_then(|edit| self.offers.apply(&edit)) {
            self.fault.get_or_insert(fault);
        }
    }
}

impl<M: Mode, S> Adds<M, S> for Update<S, M> {
    fn state(&self) -> &Arc<S> {
        &self.state
    }

    fn add(&mut self, edit: Result<Edit<M>, ConfigError>) {
        match edit {
            Ok(edit) => self.edits.push(edit),
            Err(fault) => {
                self.fault.get_or_insert(fault);
            }
        }
    }
}

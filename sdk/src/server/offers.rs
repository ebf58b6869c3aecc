//! Tools, prompts, resources, templates and completions: what there is, how it changes, and which of it serves a request.

use std::collections::BTreeMap;
use std::sync::Arc;

use sansio_mcp::code::wire;
use sansio_mcp::model::{
    CompleteResult, CompletionReference, Prompt, PromptsCapability, RawJson, Resource, ResourceTemplate,
    ResourcesCapability, ServerCapabilities, Tool, ToolsCapability, UriTemplate,
};
use sansio_mcp::server::Request;
use sansio_mcp::subscription::Change;

use super::ConfigError;
use super::kinds::unknown_resource;
use super::reply::{Answer, Reply};
use super::shelf::{Offered, Shelf};
use super::stale::Stale;
use crate::mode::Mode;

/// A tool, checked.
#[derive(Clone)]
pub(crate) struct Listed {
    pub(crate) listed: Arc<Tool>,
    /// What its success makes stale.
    pub(crate) stale: Option<Arc<Stale>>,
}

/// A template, compiled.
#[derive(Clone)]
pub(crate) struct Template {
    pub(crate) listed: ResourceTemplate,
    pub(crate) compiled: UriTemplate,
}

/// What is offered. A copy shares the handlers.
pub(crate) struct Offers<M: Mode> {
    pub(crate) tools: Shelf<Listed, M>,
    pub(crate) prompts: Shelf<Prompt, M>,
    pub(crate) resources: Shelf<Resource, M>,
    pub(crate) templates: Shelf<Template, M>,
    /// By what they belong to, and the argument or variable.
    completions: BTreeMap<(Owner, String), Arc<M::Tool>>,
}

/// What an argument to complete belongs to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    Prompt(String),
    Template(String),
}

/// One step from one state of what is offered to the next.
pub(crate) enum Edit<M: Mode> {
    Tool(Box<Listed>, Arc<M::Tool>),
    Prompt(Prompt, Arc<M::Tool>),
    Resource(Resource, Arc<M::Tool>),
    Template(Box<Template>, Arc<M::Tool>),
    Completion(Owner, String, Arc<M::Tool>),
    RemoveTool(String),
    RemovePrompt(String),
    RemoveResource(String),
    RemoveTemplate(String),
    RemoveCompletion(Owner, String),
}

impl<M: Mode> Clone for Offers<M> {
    fn clone(&self) -> Self {
        Self {
            tools: self.tools.clone(),
            prompts: self.prompts.clone(),
            resources: self.resources.clone(),
            templates: self.templates.clone(),
            completions: self.completions.clone(),
        }
    }
}

impl<M: Mode> Default for Offers<M> {
    fn default() -> Self {
        Self {
            tools: Shelf::default(),
            prompts: Shelf::default(),
            resources: Shelf::default(),
            templates: Shelf::default(),
            completions: BTreeMap::new(),
        }
    }
}

/// What serves a request, or the answer where nothing does.
pub(super) type Served<'a, M> = Result<&'a <M as Mode>::Tool, Reply>;

// How they change.

impl<M: Mode> Offers<M> {
    /// Takes one step. The edit keeps its handler and nobody else's is dropped for good as long as the state before
    /// lives, so this may happen under a lock.
    ///
    /// # Errors
    /// There is one of that name.
    pub(super) fn apply(&mut self, edit: &Edit<M>) -> Result<(), ConfigError> {
        match edit {
            Edit::Tool(tool, handler) => {
                let name = &tool.listed.name;
                let fresh = self.tools.push(name, (**tool).clone(), Arc::clone(handler));
                once(fresh, "tool.name", name, ": names tell tools apart")?;
            }
            Edit::Prompt(prompt, handler) => {
                let fresh = self.prompts.push(&prompt.name, prompt.clone(), Arc::clone(handler));
                once(fresh, "prompt.name", &prompt.name, ": names tell prompts apart")?;
            }
            Edit::Resource(resource, handler) => {
                let fresh = self.resources.push(&resource.uri, resource.clone(), Arc::clone(handler));
                once(fresh, "resource.uri", &resource.uri, "")?;
            }
            Edit::Template(template, handler) => {
                let text = &template.listed.uri_template;
                let fresh = self.templates.push(text, (**template).clone(), Arc::clone(handler));
                once(fresh, "template.uri_template", text, "")?;
            }
            Edit::Completion(owner, argument, handler) => {
                let key = (owner.clone(), argument.clone());
                let fresh = self.completions.insert(key, Arc::clone(handler)).is_none();
                once(fresh, "completion", argument, "")?;
            }
            Edit::RemoveTool(name) => self.tools.remove(name),
            Edit::RemovePrompt(name) => {
                self.prompts.remove(name);
                self.completions.retain(|(of, _), _| !matches!(of, Owner::Prompt(known) if known == name));
            }
            Edit::RemoveResource(uri) => self.resources.remove(uri),
            Edit::RemoveTemplate(text) => {
                self.templates.remove(text);
                self.completions.retain(|(of, _), _| !matches!(of, Owner::Template(known) if known == text));
            }
            Edit::RemoveCompletion(owner, argument) => {
                self.completions.remove(&(owner.clone(), argument.clone()));
            }
        }
        Ok(())
    }

    /// # Errors
    /// A completion belongs to nothing that is there, or a tool makes resources stale and nobody would be `told` of it.
    pub(super) fn check(&self, told: bool) -> Result<(), ConfigError> {
        for (owner, argument) in self.completions.keys() {
            if !self.has_argument(owner, argument) {
                let (Owner::Prompt(of) | Owner::Template(of)) = owner;
                return Err(ConfigError::new(
                    "completion",
                    format!(
                        "of {argument:?} of {of:?}: no prompt or template of this name has such an argument"
                    ),
                ));
            }
        }
        if !told && let Some(tool) = self.tools.iter().find(|tool| tool.thing.stale.is_some()) {
            let why = "needs Builder::resource_updates: without it nobody could subscribe to what goes stale";
            return Err(ConfigError::new(
                "tool.invalidates",
                format!("of {:?}: {why}", tool.thing.listed.name),
            ));
        }
        Ok(())
    }

    pub(super) fn listed_tools(&self) -> impl Iterator<Item = Arc<Tool>> {
        self.tools.iter().map(|tool| Arc::clone(&tool.thing.listed))
    }

    /// The lists that are others in a `later` state of these.
    pub(super) fn changes(&self, later: &Self) -> impl Iterator<Item = Change<'static>> {
        let resources = self.resources.differs(&later.resources) || self.templates.differs(&later.templates);
        [
            (self.tools.differs(&later.tools), Change::Tools),
            (self.prompts.differs(&later.prompts), Change::Prompts),
            (resources, Change::Resources),
        ]
        .into_iter()
        .filter_map(|(changed, change)| changed.then_some(change))
    }

    /// Declares what there is, or all that may come.
    pub(super) fn declare(&self, may_come: bool, capabilities: &mut ServerCapabilities) {
        if may_come || !self.tools.is_empty() {
            capabilities.tools.get_or_insert_with(ToolsCapability::default);
        }
        if may_come || !self.prompts.is_empty() {
            capabilities.prompts.get_or_insert_with(PromptsCapability::default);
        }
        if may_come || !self.resources.is_empty() || !self.templates.is_empty() {
            capabilities.resources.get_or_insert_with(ResourcesCapability::default);
        }
        if may_come || !self.completions.is_empty() {
            capabilities.completions = RawJson::from_text("{}").ok();
        }
    }
}

fn once(fresh: bool, field: &'static str, name: &str, why: &str) -> Result<(), ConfigError> {
    if fresh { Ok(()) } else { Err(ConfigError::new(field, format!("{name:?} is there twice{why}"))) }
}

// What serves a request.

impl<M: Mode> Offers<M> {
    fn has_argument(&self, owner: &Owner, argument: &str) -> bool {
        match owner {
            Owner::Prompt(name) => self.prompts.find(name).is_some_and(|prompt| {
                prompt.thing.arguments.iter().flatten().any(|known| known.name == argument)
            }),
            Owner::Template(text) => self
                .templates
                .find(text)
                .is_some_and(|template| template.thing.compiled.variables().any(|known| known == argument)),
        }
    }

    pub(super) fn tool(&self, request: &Request) -> Result<&Offered<Listed, M>, Reply> {
        let name = request.name().unwrap_or_default();
        self.tools.find(name).ok_or_else(|| unknown("Unknown tool", name))
    }

    pub(super) fn prompt(&self, request: &Request) -> Served<'_, M> {
        let name = request.name().unwrap_or_default();
        let prompt = self.prompts.find(name).ok_or_else(|| unknown("Unknown prompt", name))?;
        Ok(&*prompt.handler)
    }

    pub(super) fn resource(&self, request: &Request) -> Served<'_, M> {
        let uri = request.uri().unwrap_or_default();
        if let Some(resource) = self.resources.find(uri) {
            return Ok(&*resource.handler);
        }
        let mut templates = self.templates.iter();
        let template = templates.find(|template| template.thing.compiled.matches(uri).is_some());
        template.map(|template| &*template.handler).ok_or_else(|| unknown_resource(uri))
    }

    pub(super) fn completion(&self, request: &Request) -> Served<'_, M> {
        let params =
            request.completion().map_err(|error| Reply::error(wire::INVALID_PARAMS, error.to_string()))?;
        let owner = match params.reference {
            CompletionReference::Prompt(prompt) => Owner::Prompt(prompt.name),
            CompletionReference::Resource(template) => Owner::Template(template.uri),
            _ => return Err(unknown("Unknown kind of reference", "")),
        };
        let argument = params.argument.name;
        // A resource that is no template has nothing to complete (server/utilities/completion).
        let plain = matches!(&owner, Owner::Template(uri) if self.resources.find(uri).is_some());
        if !plain && !self.has_argument(&owner, &argument) {
            return Err(unknown("Unknown argument", &argument));
        }
        let handler = self.completions.get(&(owner, argument));
        handler
            .map(|handler| &**handler)
            .ok_or_else(|| Reply::Answer(Answer::Completion(CompleteResult::default())))
    }
}

fn unknown(what: &str, name: &str) -> Reply {
    let name: String = name.chars().take(128).collect();
    Reply::error(wire::INVALID_PARAMS, format!("{what}: {name}"))
}

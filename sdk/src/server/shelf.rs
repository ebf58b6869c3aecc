//! Prompts, resources, templates and completions: what is listed, and the handlers behind it.

use std::collections::BTreeMap;

use sansio_mcp::code::wire;
use sansio_mcp::model::{
    CompleteResult, CompletionReference, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    Prompt, PromptsCapability, RawJson, Resource, ResourceTemplate, ResourcesCapability, ServerCapabilities,
    UriTemplate,
};
use sansio_mcp::server::Request;

use super::ConfigError;
use super::kinds::unknown_resource;
use super::registry::Registry;
use super::reply::{Answer, Reply};
use crate::mode::Mode;

/// Things of one kind in the order of their registration, each with its handler.
pub(crate) struct Shelf<T, M: Mode> {
    listed: Vec<T>,
    handlers: Vec<Box<M::Tool>>,
    by_name: BTreeMap<String, usize>,
}

impl<T: Clone, M: Mode> Shelf<T, M> {
    fn new() -> Self {
        Self { listed: Vec::new(), handlers: Vec::new(), by_name: BTreeMap::new() }
    }

    /// Adds one; false if there is one of that name.
    pub(crate) fn push(&mut self, name: &str, thing: T, handler: Box<M::Tool>) -> bool {
        let fresh = self.by_name.insert(name.to_owned(), self.listed.len()).is_none();
        self.listed.push(thing);
        self.handlers.push(handler);
        fresh
    }

    fn find(&self, name: &str) -> Option<(&T, &M::Tool)> {
        let place = *self.by_name.get(name)?;
        Some((self.listed.get(place)?, self.handlers.get(place)?))
    }

    /// One page, and the cursor of the next: the name of the last thing of this one.
    fn page(
        &self,
        cursor: Option<&str>,
        size: usize,
        name: impl Fn(&T) -> &str,
    ) -> Result<(Vec<T>, Option<String>), Reply> {
        let start = match cursor.map(|cursor| self.by_name.get(cursor)) {
            None => 0,
            Some(Some(last)) => last + 1,
            Some(None) => {
                return Err(Reply::error(
                    wire::INVALID_PARAMS,
                    "unknown cursor; list again from the beginning",
                ));
            }
        };
        let rest = self.listed.get(start..).unwrap_or_default();
        let page = rest.get(..size).unwrap_or(rest);
        let next = page.last().filter(|_| page.len() < rest.len()).map(|last| name(last).to_owned());
        Ok((page.to_vec(), next))
    }
}

/// A template, compiled.
#[derive(Clone)]
pub(crate) struct Template {
    pub(crate) listed: ResourceTemplate,
    pub(crate) compiled: UriTemplate,
}

/// What is offered beside tools.
pub(crate) struct Offers<M: Mode> {
    pub(crate) prompts: Shelf<Prompt, M>,
    pub(crate) resources: Shelf<Resource, M>,
    pub(crate) templates: Shelf<Template, M>,
    /// By what they belong to (`prompt` and its name, `template` and its text), and the argument.
    pub(crate) completions: BTreeMap<(Owner, String), Box<M::Tool>>,
}

/// What an argument to complete belongs to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    Prompt(String),
    Template(String),
}

impl<M: Mode> Default for Offers<M> {
    fn default() -> Self {
        let (prompts, resources, templates) = (Shelf::new(), Shelf::new(), Shelf::new());
        Self { prompts, resources, templates, completions: BTreeMap::new() }
    }
}

/// What serves a request.
pub(super) enum Served<'a, M: Mode> {
    By(&'a M::Tool),
    Reply(Reply),
}

impl<M: Mode> Offers<M> {
    /// Declares what there is.
    pub(crate) fn declare(&self, capabilities: &mut ServerCapabilities) {
        if !self.prompts.listed.is_empty() {
            capabilities.prompts.get_or_insert_with(PromptsCapability::default);
        }
        if !self.resources.listed.is_empty() || !self.templates.listed.is_empty() {
            capabilities.resources.get_or_insert_with(ResourcesCapability::default);
        }
        if !self.completions.is_empty() {
            capabilities.completions = RawJson::from_text("{}").ok();
        }
    }

    /// # Errors
    /// A completion belongs to nothing that is there.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for (owner, argument) in self.completions.keys() {
            if !self.has_argument(owner, argument) {
                let (Owner::Prompt(of) | Owner::Template(of)) = owner;
                return Err(ConfigError::new(
                    "completion",
                    format!("of {argument:?} of {of:?}: there is no such argument"),
                ));
            }
        }
        Ok(())
    }

    fn has_argument(&self, owner: &Owner, argument: &str) -> bool {
        match owner {
            Owner::Prompt(name) => self.prompts.find(name).is_some_and(|(prompt, _)| {
                prompt.arguments.iter().flatten().any(|known| known.name == argument)
            }),
            Owner::Template(text) => self
                .templates
                .find(text)
                .is_some_and(|(template, _)| template.compiled.variables().any(|known| known == argument)),
        }
    }

    pub(super) fn prompt(&self, request: &Request) -> Served<'_, M> {
        let name = request.name().unwrap_or_default();
        match self.prompts.find(name) {
            Some((_, handler)) => Served::By(handler),
            None => unknown("Unknown prompt", name),
        }
    }

    pub(super) fn resource(&self, request: &Request) -> Served<'_, M> {
        let uri = request.uri().unwrap_or_default();
        if let Some((_, handler)) = self.resources.find(uri) {
            return Served::By(handler);
        }
        let mut templates = self.templates.listed.iter().zip(&self.templates.handlers);
        match templates.find(|(template, _)| template.compiled.matches(uri).is_some()) {
            Some((_, handler)) => Served::By(&**handler),
            None => Served::Reply(unknown_resource(uri)),
        }
    }

    pub(super) fn completion(&self, request: &Request) -> Served<'_, M> {
        let params = match request.completion() {
            Ok(params) => params,
            Err(error) => return Served::Reply(Reply::error(wire::INVALID_PARAMS, error.to_string())),
        };
        let owner = match params.reference {
            CompletionReference::Prompt(prompt) => Owner::Prompt(prompt.name),
            CompletionReference::Resource(template) => Owner::Template(template.uri),
            _ => return unknown("Unknown kind of reference", ""),
        };
        let argument = params.argument.name;
        // A resource that is no template has nothing to complete (server/utilities/completion).
        let plain = matches!(&owner, Owner::Template(uri) if self.resources.find(uri).is_some());
        if plain || self.has_argument(&owner, &argument) {
            let key = (owner, argument);
            return match self.completions.get(&key) {
                Some(handler) => Served::By(&**handler),
                None => Served::Reply(Reply::Answer(Answer::Completion(CompleteResult::default()))),
            };
        }
        unknown("Unknown argument", &argument)
    }
}

fn unknown<'a, M: Mode>(what: &str, name: &str) -> Served<'a, M> {
    let name: String = name.chars().take(128).collect();
    Served::Reply(Reply::error(wire::INVALID_PARAMS, format!("{what}: {name}")))
}

impl<M: Mode> Registry<M> {
    pub(super) fn list_prompts(&self, cursor: Option<&str>) -> Reply {
        let page = self.offers.prompts.page(cursor, self.page, |prompt| &prompt.name);
        page.map_or_else(
            |refusal| refusal,
            |(page, next)| {
                let mut list = ListPromptsResult::new(page).with_cache(self.ttl_ms, self.scope.clone());
                list.next_cursor = next;
                Reply::Answer(Answer::Prompts(list))
            },
        )
    }

    pub(super) fn list_resources(&self, cursor: Option<&str>) -> Reply {
        let page = self.offers.resources.page(cursor, self.page, |resource| &resource.uri);
        page.map_or_else(
            |refusal| refusal,
            |(page, next)| {
                let mut list = ListResourcesResult::new(page).with_cache(self.ttl_ms, self.scope.clone());
                list.next_cursor = next;
                Reply::Answer(Answer::Resources(list))
            },
        )
    }

    pub(super) fn list_templates(&self, cursor: Option<&str>) -> Reply {
        let page = self.offers.templates.page(cursor, self.page, |template| &template.listed.uri_template);
        page.map_or_else(
            |refusal| refusal,
            |(page, next)| {
                let page = page.into_iter().map(|template| template.listed).collect();
                let mut list =
                    ListResourceTemplatesResult::new(page).with_cache(self.ttl_ms, self.scope.clone());
                list.next_cursor = next;
                Reply::Answer(Answer::Templates(list))
            },
        )
    }
}

//! Tools, prompts and resources that come and go while a server serves.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::ConfigError;
use super::live::Live;
use super::offers::{Edit, Owner};
use crate::mode::{Mode, Shared};

/// The hand on a server's tools, prompts, resources, templates and completions, by which they come and go while it serves. Give
/// it to the [builder](super::Builder::catalog), keep it, clone it; with [`Shared`] it may be used on any thread, and in either mode
/// inside handlers, the server's own among them.
///
/// ```
/// use sansio_mcp_sdk::Shared;
/// use sansio_mcp_sdk::server::{Catalog, Context, NoArguments, Server};
///
/// let catalog = Catalog::new();
/// let server = Server::shared("shop", "1")
///     .catalog(&catalog)
///     .tool("order", async |_: NoArguments, _: Context| Ok("ordered"))
///     .build()?;
/// // ... later, on any thread:
/// catalog.update(|shop| {
///     shop.remove_tool("order").tool("wish", async |_: NoArguments, _: Context| Ok("noted"))
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What a change does
///
/// * A request finds what was offered when its gate opened, at every layer and in its handler. What was removed while a
///   request runs on it, or waits for its turn in a lane, runs to its end; a request that comes later is one of an unknown tool, prompt or resource.
/// * A handler's answers to questions are given to whatever has its name when the request comes again.
/// * Clients that subscribed are told of the lists that are others than before, once an
///   [update](Self::update), and each subscription once for however many updates it has not read of yet. Resources and templates are one to them.
/// * A list being read page by page goes on: what is there all the time is on one page exactly, what comes meanwhile is at the end.
///   Whoever is told of the change may begin again.
///
/// # What it is not for
///
/// The lists must not differ from connection to connection, nor change as a side effect of other requests on one (server/tools,
/// server/prompts, server/resources, each "Capabilities"). Change a catalog because the world has changed, and for everybody: not
/// because a client has logged in, or opened a file. What one caller alone may see is chosen by a
/// [layer](super::Builder::layer), from the authorization of the request.
///
/// # What a catalog holds
///
/// Nothing: it ends with its server, so that handlers and the application's state may keep it.
pub struct Catalog<S = (), M: Mode = Shared> {
    slot: Arc<Slot<M>>,
    /// What it is used with, and not what it holds.
    state: PhantomData<fn(S) -> S>,
}

/// Why a change was not made. Nothing has changed then, and nobody is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// No server was built with the catalog, or the server and its engine are gone.
    #[error("the catalog has no server: none was built with it (Builder::catalog), or it is gone")]
    NoServer,
    /// Something that was to be added cannot be: it names the field.
    #[error(transparent)]
    Refused(#[from] ConfigError),
}

/// A change in the making: everything that a [`Builder`](super::Builder) can add, and its removal. The steps are taken
/// in their order, all of them or none.
#[must_use = "a change is made when it is returned"]
pub struct Update<S = (), M: Mode = Shared> {
    pub(super) state: Arc<S>,
    pub(super) edits: Vec<Edit<M>>,
    pub(super) fault: Option<ConfigError>,
}

impl<S: 'static, M: Mode> Catalog<S, M> {
    /// A catalog that is to be given to a [builder](super::Builder::catalog).
    pub fn new() -> Self {
        Self { slot: Arc::default(), state: PhantomData }
    }

    /// Changes what is offered, at once and altogether. What `change` adds has the application's state that the builder
    /// had when it was given the catalog.
    ///
    /// To replace something remove it and add it again: it moves to the end of its list.
    ///
    /// # Errors
    /// Something cannot be added, since it is there already or is not what it must be, or there is no server. Then nothing has changed.
    pub fn update(&self, change: impl FnOnce(Update<S, M>) -> Update<S, M>) -> Result<(), UpdateError> {
        let live = self.slot.server().upgrade().ok_or(UpdateError::NoServer)?;
        let state = live.state().ok_or(UpdateError::NoServer)?;
        let Update { edits, fault, .. } = change(Update { state, edits: Vec::new(), fault: None });
        if let Some(fault) = fault {
            return Err(fault.into());
        }
        Ok(live.update(edits)?)
    }

    pub(super) fn attachment(&self, state: Arc<M::Value>) -> Attachment<M> {
        Attachment { slot: Arc::clone(&self.slot), state }
    }
}

/// A catalog as a builder keeps it.
pub(super) struct Attachment<M: Mode> {
    pub(super) slot: Arc<Slot<M>>,
    /// In an `Arc` of its type.
    pub(super) state: Arc<M::Value>,
}

/// Where a catalog finds its server.
pub(super) struct Slot<M: Mode>(Mutex<Weak<Live<M>>>);

impl<M: Mode> Slot<M> {
    fn server(&self) -> MutexGuard<'_, Weak<Live<M>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// The catalog is another server's.
    pub(super) fn attach(&self, live: &Arc<Live<M>>) -> Result<(), ConfigError> {
        let mut server = self.server();
        if server.strong_count() > 0 {
            return Err(ConfigError::new("catalog", "belongs to another server"));
        }
        *server = Arc::downgrade(live);
        Ok(())
    }
}

impl<M: Mode> Default for Slot<M> {
    fn default() -> Self {
        Self(Mutex::new(Weak::new()))
    }
}

impl<S, M: Mode> Update<S, M> {
    fn edit(mut self, edit: Edit<M>) -> Self {
        self.edits.push(edit);
        self
    }

    /// Removes a tool, if it is there. Calls that run on it run to their end.
    pub fn remove_tool(self, name: impl Into<String>) -> Self {
        self.edit(Edit::RemoveTool(name.into()))
    }

    /// Removes a prompt, if it is there, and the completions of its arguments.
    pub fn remove_prompt(self, name: impl Into<String>) -> Self {
        self.edit(Edit::RemovePrompt(name.into()))
    }

    /// Removes the resource of this URI, if it is there. One that a template makes is not removed by its URI.
    pub fn remove_resource(self, uri: impl Into<String>) -> Self {
        self.edit(Edit::RemoveResource(uri.into()))
    }

    /// Removes a resource template by its text, if it is there, and the completions of its variables.
    pub fn remove_resource_template(self, uri_template: impl Into<String>) -> Self {
        self.edit(Edit::RemoveTemplate(uri_template.into()))
    }

    /// Removes the completion of a prompt's argument, if it is there.
    pub fn remove_prompt_completion(self, prompt: &str, argument: &str) -> Self {
        self.edit(Edit::RemoveCompletion(Owner::Prompt(prompt.to_owned()), argument.to_owned()))
    }

    /// Removes the completion of a resource template's variable, if it is there.
    pub fn remove_template_completion(self, template: &str, variable: &str) -> Self {
        self.edit(Edit::RemoveCompletion(Owner::Template(template.to_owned()), variable.to_owned()))
    }
}

impl<S, M: Mode> Clone for Catalog<S, M> {
    fn clone(&self) -> Self {
        Self { slot: Arc::clone(&self.slot), state: PhantomData }
    }
}

impl<S: 'static, M: Mode> Default for Catalog<S, M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S, M: Mode> fmt::Debug for Catalog<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = self.slot.server().strong_count() > 0;
        f.debug_struct("Catalog").field("has_server", &server).finish_non_exhaustive()
    }
}

impl<S, M: Mode> fmt::Debug for Update<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Update").field("steps", &self.edits.len()).finish_non_exhaustive()
    }
}

//! Putting a server together.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::admission::{Admission, AdmissionLimits};
use sansio_mcp::limits::ServerLimits;
use sansio_mcp::model::{CacheScope, Implementation, RawJson, ServerCapabilities};
use sansio_mcp::server::ServerConfig;
use sansio_mcp::server::continuation::Sealer;

use super::catalog::{Attachment, Catalog};
use super::context::Context;
use super::exit::Exit;
use super::layer::{Function, Next};
use super::live::Live;
use super::offers::Offers;
use super::registry::Registry;
use super::reply::Reply;
use super::{ConfigError, Server};
use crate::engine::{Bounds, Sealing};
use crate::mode::{Local, Mode, Shared};

/// Builds a [`Server`]. What is wrong with any part is told by [`build`](Self::build), naming the field.
///
/// # When it does not compile
///
/// | the compiler says | what it means |
/// | --- | --- |
/// | `Result<..>` is not a future | a plain `fn` was given to `tool`: make it `async fn`, or use `blocking_tool` |
/// | expected `Context<Shop>`, found `Context<()>` | a handler names the state in its context: `cx: Context<Shop>` |
/// | expected `Context<_, Local>`, found `Context<_, Shared>` | on [`Server::local`](super::Server::local) it is `cx: Context<Shop, Local>` |
/// | `dyn Error`: the size cannot be known, at a `?` | a boxed error is no error type: `.map_err(Exit::error)?` |
/// | `Rc<..>` cannot be sent between threads | handlers of a shared server move between threads: use [`Server::local`](super::Server::local) |
#[must_use = "a builder does nothing until it is built"]
pub struct Builder<M: Mode, S = ()> {
    info: Implementation,
    instructions: Option<String>,
    pub(super) state: Arc<S>,
    layers: Vec<Box<M::Layer>>,
    hook: Option<Arc<M::Hook>>,
    spawn: Option<Box<M::Spawn>>,
    admission: AdmissionLimits,
    limits: ServerLimits,
    bounds: Bounds,
    sealing: Sealing,
    pub(super) offers: Offers<M>,
    catalog: Option<Attachment<M>>,
    logs: bool,
    changes: Changes,
    page: usize,
    ttl_ms: u64,
    scope: CacheScope,
    pub(super) fault: Option<ConfigError>,
}

/// What clients may subscribe to.
#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    lists: bool,
    resources: bool,
}

impl Changes {
    fn declare(self, capabilities: &mut ServerCapabilities) -> Result<(), ConfigError> {
        let ServerCapabilities { tools, prompts, resources, .. } = capabilities;
        if self.lists {
            if tools.is_none() && prompts.is_none() && resources.is_none() {
                return Err(ConfigError::new(
                    "list_changes",
                    "is set, and there is no list that could change",
                ));
            }
            if let Some(tools) = tools {
                tools.list_changed = Some(true);
            }
            if let Some(prompts) = prompts {
                prompts.list_changed = Some(true);
            }
            if let Some(resources) = resources {
                resources.list_changed = Some(true);
            }
        }
        if self.resources {
            let Some(resources) = resources else {
                return Err(ConfigError::new("resource_updates", "is set, and there are no resources"));
            };
            resources.subscribe = Some(true);
        }
        Ok(())
    }
}

impl<M: Mode> Builder<M> {
    pub(super) fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            state: Arc::new(()),
            layers: Vec::new(),
            hook: None,
            spawn: None,
            admission: AdmissionLimits::default(),
            limits: ServerLimits::default(),
            bounds: Bounds::default(),
            sealing: Sealing::default(),
            offers: Offers::default(),
            catalog: None,
            logs: false,
            changes: Changes::default(),
            page: 1000,
            ttl_ms: 0,
            scope: CacheScope::Public,
            fault: None,
        }
    }

    /// The application's state, which every handler, layer and context hook added after this reaches through
    /// [`Context::state`].
    pub fn state<S>(self, state: S) -> Builder<M, S> {
        #[allow(clippy::arc_with_non_send_sync)] // Send in the mode that needs it
        let state = Arc::new(state);
        Builder {
            info: self.info,
            instructions: self.instructions,
            state,
            layers: self.layers,
            hook: self.hook,
            spawn: self.spawn,
            admission: self.admission,
            limits: self.limits,
            bounds: self.bounds,
            sealing: self.sealing,
            offers: self.offers,
            catalog: self.catalog,
            logs: self.logs,
            changes: self.changes,
            page: self.page,
            ttl_ms: self.ttl_ms,
            scope: self.scope,
            fault: self.fault,
        }
    }
}

impl<M: Mode, S> Builder<M, S> {
    /// Text for a model about how to use this server.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Handlers at one time; more wait. Default 64.
    pub fn slots(mut self, slots: usize) -> Self {
        self.admission.slots = slots;
        self
    }

    /// Requests that may wait, for a slot or in a lane; more are refused as busy. Zero: none waits. Default 1,024.
    pub fn queue(mut self, queue: usize) -> Self {
        self.admission.queue = queue;
        self
    }

    /// Requests that go on with answers to questions and may wait beyond the [`queue`](Self::queue): a person has spent time
    /// on each, so they are refused as busy only past this. Default 16,384.
    pub fn answered_queue(mut self, again: usize) -> Self {
        self.admission.again = again;
        self
    }

    /// Subscriptions on all channels together; one more is refused as busy. One with a short filter costs some 600 bytes.
    /// Each channel has a bound of its own besides, [`ServerLimits::subscriptions`]. Default 16,384. Zero: there are none.
    pub fn subscriptions(mut self, subscriptions: usize) -> Self {
        self.bounds.subscriptions = subscriptions;
        self
    }

    /// Bounds of each channel.
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// How long a clean-up may take: in general (default 5 s), and while shutting down (default 1.5 s). Neither may be
    /// zero: clean-up would be registered and never run.
    pub fn cleanup_bounds(mut self, general: Duration, closing: Duration) -> Self {
        self.bounds.cleanup = general;
        self.bounds.closing = closing;
        self
    }

    /// How long everything may take that is not over when the server shuts down: handlers are cancelled then, this
    /// is for their clean-up and for blocking handlers that have to return. What is left after that is dropped, and
    /// the driver completes; blocking handlers run on, on their threads, and nothing is sent for them. Default 3 s.
    pub fn closing_bound(mut self, total: Duration) -> Self {
        self.bounds.total = total;
        self
    }

    /// What seals the state that travels through clients while they answer questions: usually a [`KeyRing`](super::KeyRing),
    /// the same on every replica. Without this a key is made when it is first needed, which is noted in the log: a
    /// question can then be answered to this process alone, until it ends.
    ///
    /// ```
    /// use sansio_mcp_sdk::server::{KeyRing, SealKey, Server, SystemEntropy};
    ///
    /// // 32 random bytes, the same for every replica: a secret, read from where secrets are kept.
    /// # let from_environment = "07".repeat(32);
    /// let key = SealKey::from_hex(&from_environment)?;
    /// let server = Server::shared("shop", "1").state_keys(KeyRing::new(key, SystemEntropy));
    /// # Ok::<(), sansio_mcp_sdk::server::NotAKey>(())
    /// ```
    pub fn state_keys(mut self, sealer: impl Sealer + Send + Sync + 'static) -> Self {
        self.sealing.set(Box::new(sealer));
        self
    }

    /// How long a question may be answered. Default one hour. Not zero.
    pub fn state_life(mut self, life: Duration) -> Self {
        self.sealing.life = life;
        self
    }

    /// Declares that handlers log to their clients with [`Context::log`].
    pub fn logging(mut self) -> Self {
        self.logs = true;
        self
    }

    /// Declares that clients are told when the list of tools, of prompts or of resources changes, of those that the
    /// server has: [`Engine::publish`](crate::Engine::publish) tells those that subscribed to it.
    pub fn list_changes(mut self) -> Self {
        self.changes.lists = true;
        self
    }

    /// Declares that clients are told when a resource they subscribed to is updated, by
    /// [`Engine::publish`](crate::Engine::publish) with its URI.
    pub fn resource_updates(mut self) -> Self {
        self.changes.resources = true;
        self
    }

    /// Tools, prompts, resources or templates on one page of their list. Default 1,000: some clients read the first page alone.
    pub fn page_size(mut self, tools: usize) -> Self {
        self.page = tools;
        self
    }

    /// How long, in milliseconds, clients may keep the lists, and for whom. Default 0, public.
    pub fn list_cache(mut self, ttl_ms: u64, scope: CacheScope) -> Self {
        self.ttl_ms = ttl_ms;
        self.scope = scope;
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Names the field that is empty, zero, there twice, or not what it must be.
    pub fn build(mut self) -> Result<Server<M>, ConfigError> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let admission = Admission::new(self.admission)?;
        self.bounds.check()?;
        if self.sealing.life.is_zero() {
            return Err(ConfigError::new("state_life", "is zero: no question could ever be answered"));
        }
        if self.page == 0 {
            return Err(ConfigError::new("page_size", "is zero: the list would never end"));
        }
        let mut capabilities = ServerCapabilities::default();
        let told = self.changes.resources;
        self.offers.check(told)?;
        self.offers.declare(self.catalog.is_some(), &mut capabilities);
        if self.logs {
            capabilities.logging = RawJson::from_text("{}").ok();
        }
        self.changes.lists |= self.catalog.is_some();
        self.changes.declare(&mut capabilities)?;
        let mut config = ServerConfig::builder(self.info, capabilities).limits(self.limits);
        if let Some(text) = self.instructions {
            config = config.instructions(text);
        }
        let registry = Registry {
            layers: self.layers.into(),
            hook: self.hook,
            offers: self.offers,
            page: self.page,
            ttl_ms: self.ttl_ms,
            scope: self.scope,
        };
        let config = Arc::new(config.build()?);
        let (slot, state) = self.catalog.map(|Attachment { slot, state }| (slot, state)).unzip();
        #[allow(clippy::arc_with_non_send_sync)] // Send in the mode that needs it
        let live = Arc::new(Live::new(registry, told, state));
        if let Some(slot) = slot {
            slot.attach(&live)?;
        }
        Ok(Server {
            live,
            config,
            admission,
            bounds: self.bounds,
            sealing: self.sealing,
            logs: self.logs,
            spawn: self.spawn,
        })
    }
}

macro_rules! in_mode {
    ($mode:ty, [$($send:tt)*], [$($sync:tt)*]) => {
        impl<S: 'static $($sync)*> Builder<$mode, S> {
            /// Lets what is offered come and go while the server serves, by the catalog's hand. Since anything may come, this
            /// declares tools, prompts, resources and completions, there or not, and that clients are told when a list
            /// changes, as [`list_changes`](Self::list_changes) does. What the catalog adds gets the state that the builder has here.
            pub fn catalog(mut self, catalog: &Catalog<S, $mode>) -> Self {
                let state: Arc<<$mode as Mode>::Value> = Arc::new(Arc::clone(&self.state));
                self.catalog = Some(catalog.attachment(state));
                self
            }

            /// Adds a layer inside those added before. Layers run around every request that the application serves, of an
            /// unknown tool too: calls, prompts, resources, completions, lists and the opening of subscriptions. What the
            /// engine answers by itself does not come here: `server/discover`, and what it refuses.
            ///
            /// A layer sees the answer, the error or the question, and may give another; it runs again at each entry, and is
            /// dropped where it stands when the request is cancelled.
            pub fn layer<F, Fut>(mut self, layer: F) -> Self
            where
                F: Fn(Context<S, $mode>, Next<$mode>) -> Fut $($sync)* + 'static,
                Fut: Future<Output = Reply> $($send)* + 'static,
            {
                self.layers.push(Box::new(Function { code: layer, state: Arc::clone(&self.state) }));
                self
            }

            /// Makes a request's own context, with [`Context::set`], once it may start and before its handler
            /// does. Never runs for a cancelled request.
            pub fn context<F, Fut>(mut self, hook: F) -> Self
            where
                F: Fn(Context<S, $mode>) -> Fut $($sync)* + 'static,
                Fut: Future<Output = Result<(), Exit>> $($send)* + 'static,
            {
                self.hook = Some(Arc::new(Function { code: hook, state: Arc::clone(&self.state) }));
                self
            }

            /// Hands each request's work to an executor, in place of running it inside the driver.
            pub fn spawn_with(mut self, spawn: impl Fn(<$mode as Mode>::Future<()>) $($sync)* + 'static) -> Self {
                self.spawn = Some(Box::new(spawn));
                self
            }
        }
    };
}

in_mode!(Local, [], []);
in_mode!(Shared, [+ Send], [+ Send + Sync]);

//! What a client is set up with before it is connected.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::client::{Abandon, ClientConfig, ClientConfigBuilder, LogMessage, Routing};
use sansio_mcp::config::ConfigError;
use sansio_mcp::limits::ClientLimits;
use sansio_mcp::model::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitResult, ElicitUrlParams, Implementation, ListRootsParams, Root,
};

use super::cache::Cache;
use super::input::{InputFailure, Inputs, Question};

pub(super) type OnLog = Arc<dyn Fn(&LogMessage) + Send + Sync>;

/// A configuration, and what the application does for the client: answers, a cache, a place for log messages. Made by
/// [`Client::builder`](super::Client::builder), or from a [`ClientConfig`] alone. Cheap to clone, for every connection
/// anew.
#[derive(Clone)]
pub struct ClientSetup {
    pub(super) config: Arc<ClientConfig>,
    pub(super) inputs: Option<Arc<Inputs>>,
    pub(super) answer_within: Option<Duration>,
    pub(super) on_log: Option<OnLog>,
    pub(super) cache: Option<Cache>,
}

impl From<Arc<ClientConfig>> for ClientSetup {
    fn from(config: Arc<ClientConfig>) -> Self {
        Self { config, inputs: None, answer_within: None, on_log: None, cache: None }
    }
}

impl ClientSetup {
    /// The same on a transport with a stream for each request, which is closed to abandon it: such a transport says so itself.
    #[must_use]
    pub fn over_streams(mut self) -> Self {
        self.config = Arc::new(self.config.over_streams());
        self
    }
}

impl From<ClientConfig> for ClientSetup {
    fn from(config: ClientConfig) -> Self {
        Arc::new(config).into()
    }
}

/// Builds a [`ClientSetup`].
///
/// A handler of questions runs within the call that they are about, in the task that awaits it; nothing is spawned. All
/// questions of a round are answered at the same time. The first that fails, panics or takes too long ends the call
/// and drops what the others were doing, as does dropping the call; the server hears nothing more. What a client can do
/// is declared by which handlers it has.
///
/// Handlers are `Send`, since calls are. One that has to stay on its thread, that of a window for example, is reached
/// through a channel.
///
/// ```
/// use sansio_mcp_sdk::client::{Client, InputFailure, Question};
/// use sansio_mcp_sdk::model::{ElicitAction, ElicitFormParams, ElicitResult, Implementation};
///
/// let setup = Client::builder(Implementation::new("host", "1"))
///     .on_form(async |form: Question<ElicitFormParams>| {
///         // Show `form.params.message` and the fields of `form.params.requested_schema`; the person fills them in.
///         form.accept(&serde_json::json!({"sure": true}))
///     })
///     .on_url(async |visit| {
///         println!("{} wants you to visit {}", visit.method, visit.params.url);
///         Ok(ElicitAction::Decline)
///     })
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "builders do nothing until they are built"]
pub struct ClientBuilder {
    config: ClientConfigBuilder,
    capabilities: ClientCapabilities,
    inputs: Inputs,
    answer_within: Option<Duration>,
    on_log: Option<OnLog>,
    cache: Option<Cache>,
}

impl ClientBuilder {
    pub(super) fn new(info: Implementation) -> Self {
        Self {
            config: ClientConfig::builder(info, ClientCapabilities::default()),
            capabilities: ClientCapabilities::default(),
            inputs: Inputs::default(),
            answer_within: None,
            on_log: None,
            cache: None,
        }
    }

    /// Answers forms (client/elicitation). The answer is [`Question::accept`], or that the person
    /// [declined](ElicitResult::decline) or [went away](ElicitResult::cancel). Declares `elicitation.form`.
    pub fn on_form<F>(
        mut self,
        handler: impl Fn(Question<ElicitFormParams>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ElicitResult, InputFailure>> + Send + 'static,
    {
        self.inputs.set_form(handler);
        self
    }

    /// Sends the person to a URL (client/elicitation). `Accept` says that they agreed, not that they are done there.
    ///
    /// The URL must be shown in full before the person agrees, must not be fetched here, and is to be opened where
    /// neither this program nor a model sees what goes on (client/elicitation, "Safe URL Handling"). Declares
    /// `elicitation.url`.
    pub fn on_url<F>(
        mut self,
        handler: impl Fn(Question<ElicitUrlParams>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ElicitAction, InputFailure>> + Send + 'static,
    {
        self.inputs.set_url(handler);
        self
    }

    /// Asks a language model for the server (client/sampling; deprecated by the specification). Declares `sampling`.
    pub fn on_sampling<F>(
        mut self,
        handler: impl Fn(Question<CreateMessageParams>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, InputFailure>> + Send + 'static,
    {
        self.inputs.set_sampling(handler);
        self.inputs.tools = false;
        self
    }

    /// The same, with a model that can use the tools of the question. Declares `sampling.tools` too.
    pub fn on_sampling_with_tools<F>(
        self,
        handler: impl Fn(Question<CreateMessageParams>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, InputFailure>> + Send + 'static,
    {
        let mut this = self.on_sampling(handler);
        this.inputs.tools = true;
        this
    }

    /// Says which folders and files the server may work on; their URIs are `file://` ones (client/roots; deprecated by
    /// the specification). Declares `roots`.
    pub fn on_roots<F>(
        mut self,
        handler: impl Fn(Question<ListRootsParams>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<Root>, InputFailure>> + Send + 'static,
    {
        self.inputs.set_roots(handler);
        self
    }

    /// Ends a call with [`InputTimedOut`](super::CallError::InputTimedOut) when a question is not answered within this
    /// time, unless the [call](super::Call::answer_within) says otherwise. By default a question may wait for ever: the
    /// deadlines of a call stand still meanwhile. Servers wait less long: those made with this library refuse an answer
    /// after an hour, unless they say [otherwise](crate::server::Builder::state_life).
    pub fn answer_within(mut self, within: Duration) -> Self {
        self.answer_within = Some(within);
        self
    }

    /// Is told of every log message of the server, once, within the transport's task: it must not block. Calls ask for
    /// messages by [`Call::log_level`](super::Call::log_level).
    pub fn on_log(mut self, callback: impl Fn(&LogMessage) + Send + Sync + 'static) -> Self {
        self.on_log = Some(Arc::new(callback));
        self
    }

    /// Keeps results in this cache, and takes them from there.
    pub fn cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Capabilities beside those that handlers are: extensions, experimental ones, `sampling.context`.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// How messages are routed and requests abandoned. The default is one shared channel and notifications.
    pub fn binding(mut self, routing: Routing, abandon: Abandon) -> Self {
        self.config = self.config.binding(routing, abandon);
        self
    }

    /// Bounds other than the defaults.
    pub fn limits(mut self, limits: ClientLimits) -> Self {
        self.config = self.config.limits(limits);
        self
    }

    /// Leaves the client's name out of every request.
    pub fn anonymous(mut self) -> Self {
        self.config = self.config.anonymous();
        self
    }

    /// The revisions to speak; see [`ClientConfigBuilder::versions`].
    pub fn versions<'a>(mut self, versions: impl IntoIterator<Item = &'a str>) -> Self {
        self.config = self.config.versions(versions);
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Names the field that is empty, zero or contradicts another: a capability that was declared by hand and that no
    /// handler stands for.
    pub fn build(self) -> Result<ClientSetup, ConfigError> {
        let capabilities = self.inputs.declared(self.capabilities)?;
        let config = self.config.capabilities(capabilities).build()?;
        Ok(ClientSetup {
            config: Arc::new(config),
            inputs: self.inputs.any().then(|| Arc::new(self.inputs)),
            answer_within: self.answer_within,
            on_log: self.on_log,
            cache: self.cache,
        })
    }
}

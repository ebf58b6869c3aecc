//! What a server is: identity, capabilities, limits. Checked once, when it is built.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::PROTOCOL_VERSION;
use crate::config::ConfigError;
use crate::limits::ServerLimits;
use crate::model::{CacheScope, DiscoverResult, Implementation, RawJson, ServerCapabilities};
use crate::subscription::Change;

/// The unchanging description of a server, shared by all its channels.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// `{"name":..,"version":..}`.
    pub(super) server_info: Box<str>,
    /// The whole result of `server/discover`.
    pub(super) discover: Box<[u8]>,
    /// Methods that reach the application, sorted.
    methods: Vec<Box<str>>,
    pub(super) limits: ServerLimits,
    pub(super) capabilities: ServerCapabilities,
}

/// Builds a [`ServerConfig`].
#[derive(Clone, Debug)]
pub struct ServerConfigBuilder {
    info: Implementation,
    capabilities: ServerCapabilities,
    instructions: Option<String>,
    methods: Vec<Box<str>>,
    limits: ServerLimits,
    ttl_ms: u64,
    scope: CacheScope,
}

impl ServerConfig {
    /// Starts with identity and capabilities. A capability makes its methods reach the application: `tools`
    /// stands for tools/list and tools/call, any capability to tell of changes for subscriptions/listen.
    pub fn builder(info: Implementation, capabilities: ServerCapabilities) -> ServerConfigBuilder {
        ServerConfigBuilder {
            info,
            capabilities,
            instructions: None,
            methods: Vec::new(),
            limits: ServerLimits::default(),
            ttl_ms: 0,
            scope: CacheScope::Public,
        }
    }

    /// Whether subscriptions can be told of this: its capability says so.
    pub fn tells_of(&self, change: Change<'_>) -> bool {
        tells_of(&self.capabilities, change)
    }

    /// Whether requests of this method reach the application.
    pub fn serves(&self, method: &str) -> bool {
        self.methods.binary_search_by(|known| (**known).cmp(method)).is_ok()
    }
}

impl ServerConfigBuilder {
    /// Text for a model about how to use this server (server/discover, `instructions`).
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// A method of an extension, which reaches the application like the protocol's own.
    #[must_use]
    pub fn method(mut self, name: impl Into<Box<str>>) -> Self {
        self.methods.push(name.into());
        self
    }

    /// Bounds other than the defaults.
    #[must_use]
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// How long clients may keep the answer to `server/discover`, and for whom (server/utilities/caching).
    #[must_use]
    pub fn discover_cache(mut self, ttl_ms: u64, scope: CacheScope) -> Self {
        self.ttl_ms = ttl_ms;
        self.scope = scope;
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Names the field that is empty, zero or contradicts another.
    pub fn build(self) -> Result<ServerConfig, ConfigError> {
        if self.info.name.is_empty() {
            return Err(ConfigError::new("info.name", "is empty"));
        }
        if self.info.version.is_empty() {
            return Err(ConfigError::new("info.version", "is empty"));
        }
        let limits = self.limits;
        if limits.in_flight == 0 {
            return Err(ConfigError::new("limits.in_flight", "is zero: no request could be accepted"));
        }
        if limits.congested_bytes == 0 {
            return Err(ConfigError::new("limits.congested_bytes", "is zero: no work could start"));
        }
        if limits.outgoing_bytes < limits.congested_bytes {
            return Err(ConfigError::new("limits.outgoing_bytes", "is less than limits.congested_bytes"));
        }
        let mut methods = self.methods;
        for method in &methods {
            if method.is_empty() {
                return Err(ConfigError::new("method", "is empty"));
            }
            if matches!(&**method, "server/discover" | "initialize") || method.starts_with("notifications/") {
                return Err(ConfigError::new("method", alloc::format!("{method} is the engine's own")));
            }
        }
        methods.extend(super::method::offered(&self.capabilities).map(Into::into));
        methods.sort_unstable();
        if let Some(pair) = methods.windows(2).find(|pair| pair.first() == pair.last()) {
            let name = pair.first().map(ToString::to_string).unwrap_or_default();
            return Err(ConfigError::new("method", alloc::format!("{name} is there twice")));
        }
        let unwritable = |error: serde_json::Error| ConfigError::new("info", error.to_string());
        let server_info = serde_json::to_string(&self.info).map_err(unwritable)?;
        let meta = BTreeMap::from([("io.modelcontextprotocol/serverInfo", &self.info)]);
        let mut result = DiscoverResult::new(Vec::from([PROTOCOL_VERSION.into()]), self.capabilities.clone())
            .with_cache(self.ttl_ms, self.scope);
        result.instructions = self.instructions;
        result.meta = Some(RawJson::from_value(&meta).map_err(unwritable)?);
        let mut discover = Vec::new();
        result.write(&mut discover);
        Ok(ServerConfig {
            server_info: server_info.into(),
            discover: discover.into(),
            methods,
            limits,
            capabilities: self.capabilities,
        })
    }
}

/// Whether a server with these capabilities tells of this.
pub(super) fn tells_of(capabilities: &ServerCapabilities, change: Change<'_>) -> bool {
    let resources = capabilities.resources.as_ref();
    let told = match change {
        Change::Tools => capabilities.tools.as_ref().and_then(|tools| tools.list_changed),
        Change::Prompts => capabilities.prompts.as_ref().and_then(|prompts| prompts.list_changed),
        Change::Resources => resources.and_then(|resources| resources.list_changed),
        Change::Resource(_) => resources.and_then(|resources| resources.subscribe),
    };
    told == Some(true)
}

//! What a server is: identity, capabilities, limits. Checked once, when it is built.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::PROTOCOL_VERSION;
use crate::limits::ServerLimits;
use crate::model::{CacheScope, Implementation, ServerCapabilities};
use crate::subscription::Change;
use crate::wire::write;

/// A configuration that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The field at fault.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: String,
}

impl ConfigError {
    /// A refusal that names `field`.
    pub fn new(field: &'static str, why: impl Into<String>) -> Self {
        Self { field, why: why.into() }
    }
}

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
    pub(super) offered: Offered,
}

/// What subscriptions can be told of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "four capabilities, independent of each other")]
pub(super) struct Offered {
    pub(super) tools_changes: bool,
    pub(super) prompts_changes: bool,
    pub(super) resources_changes: bool,
    pub(super) resource_updates: bool,
}

impl Offered {
    fn by(capabilities: &ServerCapabilities) -> Self {
        let yes = |flag: Option<bool>| flag == Some(true);
        let resources = capabilities.resources.as_ref();
        Self {
            tools_changes: capabilities.tools.as_ref().is_some_and(|tools| yes(tools.list_changed)),
            prompts_changes: capabilities.prompts.as_ref().is_some_and(|prompts| yes(prompts.list_changed)),
            resources_changes: resources.is_some_and(|resources| yes(resources.list_changed)),
            resource_updates: resources.is_some_and(|resources| yes(resources.subscribe)),
        }
    }

    fn any(self) -> bool {
        self.tools_changes || self.prompts_changes || self.resources_changes || self.resource_updates
    }
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
        match change {
            Change::Tools => self.offered.tools_changes,
            Change::Prompts => self.offered.prompts_changes,
            Change::Resources => self.offered.resources_changes,
            Change::Resource(_) => self.offered.resource_updates,
        }
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
        if self.capabilities.tools.is_some() {
            methods.extend(["tools/call".into(), "tools/list".into()]);
        }
        let offered = Offered::by(&self.capabilities);
        if offered.any() {
            methods.push("subscriptions/listen".into());
        }
        methods.sort_unstable();
        if let Some(pair) = methods.windows(2).find(|pair| pair.first() == pair.last()) {
            let name = pair.first().map(ToString::to_string).unwrap_or_default();
            return Err(ConfigError::new("method", alloc::format!("{name} is there twice")));
        }
        let encode = |field, value: Result<String, serde_json::Error>| {
            value.map_err(|error| ConfigError::new(field, error.to_string()))
        };
        let server_info = encode("info", serde_json::to_string(&self.info))?;
        let capabilities = encode("capabilities", serde_json::to_string(&self.capabilities))?;

        let mut discover = Vec::new();
        discover.extend_from_slice(b"{\"resultType\":\"complete\",\"supportedVersions\":[");
        write::string(&mut discover, PROTOCOL_VERSION);
        discover.extend_from_slice(b"],\"capabilities\":");
        discover.extend_from_slice(capabilities.as_bytes());
        if let Some(text) = &self.instructions {
            discover.extend_from_slice(b",\"instructions\":");
            write::string(&mut discover, text);
        }
        discover.extend_from_slice(b",\"ttlMs\":");
        write::int(&mut discover, i64::try_from(self.ttl_ms).unwrap_or(i64::MAX));
        discover.extend_from_slice(match self.scope {
            CacheScope::Public => b",\"cacheScope\":\"public\",\"_meta\":{".as_slice(),
            CacheScope::Private => b",\"cacheScope\":\"private\",\"_meta\":{".as_slice(),
        });
        super::body::server_info(&mut discover, &server_info);
        discover.extend_from_slice(b"}}");
        Ok(ServerConfig {
            server_info: server_info.into(),
            discover: discover.into(),
            methods,
            limits,
            offered,
        })
    }
}

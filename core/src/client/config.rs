//! What a client is: identity, capabilities, how its channel behaves, limits.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::PROTOCOL_VERSION;
use crate::config::ConfigError;
use crate::limits::ClientLimits;
use crate::model::{ClientCapabilities, Implementation};
use crate::wire::write;

/// Which streams messages travel on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Routing {
    /// One channel for everything (stdio, memory).
    Shared,
    /// A stream for each attempt, which carries its request and everything sent for it (HTTP).
    PerRequest,
}

/// How a request in flight is abandoned (basic/patterns/cancellation, "Transport-Specific Cancellation").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Abandon {
    /// By `notifications/cancelled` on the channel or stream of the request.
    Notify,
    /// By closing the stream of the request.
    CloseStream,
}

/// The unchanging description of a client.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    pub(super) routing: Routing,
    pub(super) abandon: Abandon,
    pub(super) limits: ClientLimits,
    pub(super) revisions: Vec<Revision>,
}

/// One revision that the client speaks.
#[derive(Clone, Debug)]
pub(super) struct Revision {
    pub(super) version: Box<str>,
    /// The members of `_meta` that every request carries under it.
    pub(super) meta: Box<[u8]>,
}

/// Builds a [`ClientConfig`].
#[derive(Clone, Debug)]
pub struct ClientConfigBuilder {
    info: Implementation,
    capabilities: ClientCapabilities,
    anonymous: bool,
    routing: Routing,
    abandon: Abandon,
    limits: ClientLimits,
    versions: Vec<Box<str>>,
}

impl ClientConfig {
    /// Starts with identity and capabilities, for one shared channel on which requests are abandoned by
    /// notification.
    pub fn builder(info: Implementation, capabilities: ClientCapabilities) -> ClientConfigBuilder {
        ClientConfigBuilder {
            info,
            capabilities,
            anonymous: false,
            routing: Routing::Shared,
            abandon: Abandon::Notify,
            limits: ClientLimits::default(),
            versions: Vec::from([PROTOCOL_VERSION.into()]),
        }
    }
}

impl ClientConfig {
    /// The same on a transport with a stream for each request, which is closed to abandon it.
    #[must_use]
    pub fn over_streams(&self) -> Self {
        Self { routing: Routing::PerRequest, abandon: Abandon::CloseStream, ..self.clone() }
    }
}

impl ClientConfigBuilder {
    /// Sets the capabilities anew.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// How messages are routed and requests abandoned.
    #[must_use]
    pub fn binding(mut self, routing: Routing, abandon: Abandon) -> Self {
        self.routing = routing;
        self.abandon = abandon;
        self
    }

    /// Leaves `clientInfo` out of every request.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.anonymous = true;
        self
    }

    /// Bounds other than the defaults.
    #[must_use]
    pub fn limits(mut self, limits: ClientLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The revisions to speak, preferred first. The engine treats all of them as 2026-07-28, which is the
    /// default; a server that refuses one with -32022 is asked again under another that it supports, or under the same if that is all
    /// it lists, once a call. If it takes that, later calls are made under it at once.
    #[must_use]
    pub fn versions<'a>(mut self, versions: impl IntoIterator<Item = &'a str>) -> Self {
        self.versions = versions.into_iter().map(Into::into).collect();
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Names the field that is empty, zero or contradicts another.
    pub fn build(self) -> Result<ClientConfig, ConfigError> {
        if self.info.name.is_empty() {
            return Err(ConfigError::new("info.name", "is empty"));
        }
        if self.info.version.is_empty() {
            return Err(ConfigError::new("info.version", "is empty"));
        }
        if self.limits.calls == 0 {
            return Err(ConfigError::new("limits.calls", "is zero: no call could be made"));
        }
        if self.limits.outgoing_bytes == 0 {
            return Err(ConfigError::new("limits.outgoing_bytes", "is zero: no call could be made"));
        }
        if self.versions.is_empty() || u8::try_from(self.versions.len()).is_err() {
            return Err(ConfigError::new("versions", "names none, or more than 255"));
        }
        if self.routing == Routing::Shared && self.abandon == Abandon::CloseStream {
            return Err(ConfigError::new(
                "abandon",
                "closing a shared channel would end every other request",
            ));
        }
        let encode = |field, value: Result<alloc::string::String, serde_json::Error>| {
            value.map_err(|error| ConfigError::new(field, error.to_string()))
        };
        let info = encode("info", serde_json::to_string(&self.info))?;
        let capabilities = encode("capabilities", serde_json::to_string(&self.capabilities))?;
        let revisions = self.versions.into_iter().map(|version| {
            let mut meta = Vec::new();
            meta.extend_from_slice(b"\"io.modelcontextprotocol/protocolVersion\":");
            write::string(&mut meta, &version);
            if !self.anonymous {
                meta.extend_from_slice(b",\"io.modelcontextprotocol/clientInfo\":");
                meta.extend_from_slice(info.as_bytes());
            }
            meta.extend_from_slice(b",\"io.modelcontextprotocol/clientCapabilities\":");
            meta.extend_from_slice(capabilities.as_bytes());
            Revision { version, meta: meta.into() }
        });
        Ok(ClientConfig {
            routing: self.routing,
            abandon: self.abandon,
            limits: self.limits,
            revisions: revisions.collect(),
        })
    }
}

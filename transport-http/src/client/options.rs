//! How a client behaves on the wire.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use sansio_mcp::limits::MAX_MESSAGE;

use super::credentials::Credentials;
use crate::mirror;
use crate::sse::SseLimits;

/// Bounds of one client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Requests under way at a time; those beyond wait, in order. Subscriptions and cancellations do not count. Over HTTP/1.1
    /// each needs a connection of its own. Default 64.
    pub posts: usize,
    /// Bytes of an answer that is one JSON object; a longer one fails its call. Default 4 MiB.
    pub body: usize,
    /// Bytes of a line and of an event in a stream; a longer one fails its call. Default 4 MiB.
    pub events: SseLimits,
    /// How long it may take until a connection is there: resolution of the name, TCP, TLS. Default 10 s.
    pub connect: Duration,
    /// How long a connection of HTTP/1.1 is kept that nothing is under way on. Default 60 s. The one of HTTP/2 is kept until the
    /// server closes it, or the driver is dropped.
    pub idle: Duration,
    /// How long a stream is read on after its answer came, so that its connection can be used again. Default 1 s.
    pub drain: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            posts: 64,
            body: MAX_MESSAGE,
            events: SseLimits::default(),
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(1),
            drain: Duration::from_secs(1),
        }
    }
}

impl HttpLimits {
    /// Sets how many requests may be under way at a time, at least one.
    #[must_use]
    pub fn with_posts(mut self, posts: usize) -> Self {
        self.posts = posts.max(1);
        self
    }

    /// Sets the bytes that an answer may have, alone and as an event.
    #[must_use]
    pub fn with_answer(mut self, bytes: usize) -> Self {
        self.body = bytes;
        self.events = SseLimits { line: bytes.saturating_add(64), event: bytes };
        self
    }

    /// Sets how long it may take until a connection is there.
    #[must_use]
    pub fn with_connect(mut self, connect: Duration) -> Self {
        self.connect = connect;
        self
    }

    /// Sets how long a connection of HTTP/1.1 is kept that nothing is under way on.
    #[must_use]
    pub fn with_idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }
}

/// How a client behaves on the wire: limits, credentials, further headers, TLS. The default needs nothing.
#[derive(Clone, Default)]
pub struct Options {
    pub(super) limits: HttpLimits,
    pub(super) headers: HeaderMap,
    pub(super) credentials: Option<Arc<dyn Credentials>>,
    pub(super) http2: bool,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<Arc<futures_rustls::rustls::ClientConfig>>,
}

impl Options {
    /// Nothing special.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets bounds other than the defaults.
    #[must_use]
    pub fn limits(mut self, limits: HttpLimits) -> Self {
        // With none, every call would wait for ever.
        self.limits = limits.with_posts(limits.posts);
        self
    }

    /// Sends these headers with every request. Those that the protocol defines are not to be had this way: what it
    /// says stands in their place.
    #[must_use]
    pub fn headers(mut self, mut headers: HeaderMap) -> Self {
        // Not every request has each of them, and one that has none must not get this one.
        let mirrored = headers.keys().filter(|name| {
            [mirror::PROTOCOL_VERSION, mirror::METHOD, mirror::NAME].contains(name)
                || name.as_str().starts_with("mcp-param-")
        });
        for name in mirrored.cloned().collect::<Vec<_>>() {
            headers.remove(name);
        }
        self.headers = headers;
        self
    }

    /// Attaches credentials to every request.
    #[must_use]
    pub fn credentials(mut self, credentials: impl Credentials) -> Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// Speaks HTTP/2 without asking the server first. With `https` there is no need: the handshake settles it.
    #[must_use]
    pub fn http2_prior_knowledge(mut self) -> Self {
        self.http2 = true;
        self
    }

    /// Uses this configuration for `https` in place of the default, which trusts the system's certificates. The
    /// protocols to offer (ALPN) are filled in where it names none.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, config: Arc<futures_rustls::rustls::ClientConfig>) -> Self {
        self.tls = Some(config);
        self
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let credentials = self.credentials.is_some();
        f.debug_struct("Options")
            .field("limits", &self.limits)
            .field("credentials", &credentials)
            .finish_non_exhaustive()
    }
}

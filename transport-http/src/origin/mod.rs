//! Who may send requests: `Origin` and `Host`, and what browsers are told (basic/transports/streamable-http, "Security &
//! Endpoint"; Fetch, "CORS protocol").
//!
//! Against DNS rebinding, where a page makes its own name point at this machine, `Host` is looked at as well: there the
//! browser takes the page and the server for one site and may send no `Origin` at all.

mod authority;
mod cors;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::headers::single;
use crate::status::Rejection;
use authority::{Host, Source};

pub use cors::{MAX_ASKED_HEADERS, PREFLIGHT_AGE, PREFLIGHT_STATUS, is_preflight};

/// Which hosts and origins are served. By default those of this machine: the name `localhost`, 127.0.0.0/8 and `::1`, on any
/// port; an origin of these is `http` or `https`. A request without `Origin` is served: it comes from no page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    loopback: bool,
    hosts: Hosts,
    origins: Vec<Source>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Hosts {
    Any,
    /// A port that is not named is any.
    Listed(Vec<(Host, Option<u16>)>),
}

/// An entry of a list that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// Not `host` or `host:port`.
    #[error("{0:?} is not a host with or without a port")]
    Host(String),
    /// Not `scheme://host`, `scheme://host:port` or `null`; a path is not part of an origin.
    #[error("{0:?} is not an origin")]
    Origin(String),
}

/// A request that may be served.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Admitted {
    /// The origin, if it is a listed one: its pages may read the answer.
    listed: Option<HeaderValue>,
}

impl Default for Policy {
    fn default() -> Self {
        Self { loopback: true, hosts: Hosts::Listed(Vec::new()), origins: Vec::new() }
    }
}

impl Policy {
    /// Serves this host, too: a name or address as it stands in `Host`, with a port or for any. Case does not matter.
    ///
    /// # Errors
    /// When it is none.
    pub fn allow_host(mut self, host: &str) -> Result<Self, EntryError> {
        let entry = authority::parse(host).ok_or_else(|| EntryError::Host(host.to_owned()))?;
        if let Hosts::Listed(hosts) = &mut self.hosts {
            hosts.push(entry);
        }
        Ok(self)
    }

    /// Serves every host. Right only behind something that looks at `Host` itself.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.hosts = Hosts::Any;
        self
    }

    /// Serves pages of this origin, too, and lets them read the answers: `https://app.example.com`, with a port where it is not
    /// the scheme's, or `null` for pages that have none (sandboxed frames, files). There is no wildcard.
    ///
    /// # Errors
    /// When it is none.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, EntryError> {
        let source = Source::parse(origin).ok_or_else(|| EntryError::Origin(origin.to_owned()))?;
        self.origins.push(source);
        Ok(self)
    }

    /// Serves only what is listed, and this machine's names and addresses no longer without being so.
    #[must_use]
    pub fn without_loopback(mut self) -> Self {
        self.loopback = false;
        self
    }

    /// Checks a request: every one, whatever its method. `authority` is that of its target, where HTTP/2 and proxies have the
    /// host; both it and `Host` have to be allowed, one of them to be there.
    ///
    /// # Errors
    /// [`Rejection::Host`] or [`Rejection::Origin`]; also where a header stands twice or cannot be read.
    pub fn admit(&self, headers: &HeaderMap, authority: Option<&Authority>) -> Result<Admitted, Rejection> {
        let host = text(headers, &HOST).map_err(|()| Rejection::Host)?;
        let named = [authority.map(Authority::as_str), host];
        if named.iter().flatten().any(|host| !self.serves(host))
            || named == [None, None] && self.hosts != Hosts::Any
        {
            return Err(Rejection::Host);
        }
        let Some(origin) = text(headers, &ORIGIN).map_err(|()| Rejection::Origin)? else {
            return Ok(Admitted { listed: None });
        };
        let source = Source::parse(origin).ok_or(Rejection::Origin)?;
        if self.origins.contains(&source) {
            return Ok(Admitted { listed: headers.get(ORIGIN).cloned() });
        }
        if self.loopback && source.is_loopback() {
            return Ok(Admitted { listed: None });
        }
        Err(Rejection::Origin)
    }

    fn serves(&self, host: &str) -> bool {
        let Hosts::Listed(hosts) = &self.hosts else { return true };
        let Some((host, port)) = authority::parse(host) else { return false };
        self.loopback && host.is_loopback()
            || hosts.iter().any(|(own, on)| *own == host && on.is_none_or(|on| Some(on) == port))
    }
}

/// The text of a header that stands once or not at all.
fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    let value = single(headers, name).map_err(drop)?;
    value.map(HeaderValue::to_str).transpose().map_err(drop)
}

#[cfg(test)]
#[path = "origin_test.rs"]
mod tests;

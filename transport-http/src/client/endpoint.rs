//! The URL of a server, checked.

use std::str::FromStr;

use http::Uri;
use http::uri::Scheme;

/// A URL that names no server a client can talk to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It is no URL.
    #[error("this is not a URL")]
    Malformed,
    /// It is neither `http` nor `https`.
    #[error("the scheme has to be http or https")]
    Scheme,
    /// It names no host.
    #[error("there is no host in the URL")]
    Host,
    /// It holds a user's name or password. Credentials go into headers: see [`Credentials`](super::Credentials).
    #[error("the URL holds a user's name or password")]
    UserInfo,
    /// It has a fragment, which is never sent.
    #[error("the URL has a fragment")]
    Fragment,
}

/// The MCP endpoint of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Endpoint {
    uri: Uri,
}

impl Endpoint {
    /// What to POST to.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// It is reached by TLS.
    pub fn is_https(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// The host to connect to; of an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        let host = self.uri.host().unwrap_or_default();
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.uri.port_u16().unwrap_or(if self.is_https() { 443 } else { 80 })
    }
}

impl FromStr for Endpoint {
    type Err = UrlError;

    fn from_str(url: &str) -> Result<Self, UrlError> {
        if url.contains('#') {
            return Err(UrlError::Fragment);
        }
        // Without a scheme, "localhost:3000" would be an authority and "/mcp" a path.
        let (scheme, rest) = url.split_once("://").ok_or(UrlError::Scheme)?;
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return Err(UrlError::Scheme);
        }
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(UrlError::UserInfo);
        }
        if authority.is_empty() || authority.starts_with(':') {
            return Err(UrlError::Host);
        }
        let uri: Uri = url.parse().map_err(|_| UrlError::Malformed)?;
        let port = uri.authority().map_or("", http::uri::Authority::as_str).rsplit_once(':');
        // What stands behind the last colon is a port, unless that colon belongs to an IPv6 address.
        if port.is_some_and(|(_, port)| !port.ends_with(']') && port.parse::<u16>().is_err()) {
            return Err(UrlError::Malformed);
        }
        Ok(Self { uri })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_server() {
        for (url, host, port, https) in [
            ("http://localhost:3000/mcp", "localhost", 3000, false),
            ("http://localhost:3000", "localhost", 3000, false),
            ("HTTPS://Example.com/mcp?x=1", "Example.com", 443, true),
            ("http://[::1]:8080/", "::1", 8080, false),
            ("http://[::1]/", "::1", 80, false),
            ("http://127.0.0.1", "127.0.0.1", 80, false),
        ] {
            let endpoint: Endpoint = url.parse().unwrap();
            assert_eq!((endpoint.host(), endpoint.port(), endpoint.is_https()), (host, port, https), "{url}");
        }
    }

    #[test]
    fn what_does_not() {
        for (url, error) in [
            ("", UrlError::Scheme),
            ("localhost:3000/mcp", UrlError::Scheme),
            ("/mcp", UrlError::Scheme),
            ("ftp://example.com/", UrlError::Scheme),
            ("ws://example.com/", UrlError::Scheme),
            ("http://", UrlError::Host),
            ("http:///mcp", UrlError::Host),
            ("http://:80/", UrlError::Host),
            ("http://user:secret@example.com/", UrlError::UserInfo),
            ("http://example.com/mcp#here", UrlError::Fragment),
            ("http://exam ple.com/", UrlError::Malformed),
            ("http://example.com:99999/", UrlError::Malformed),
            ("http://example.com:port/", UrlError::Malformed),
        ] {
            assert_eq!(url.parse::<Endpoint>(), Err(error), "{url}");
        }
    }
}

//! Hosts and origins as they stand in headers, in a form in which equal ones are equal.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A name in lower case, without a dot at its end, or an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Host {
    Name(String),
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

impl Host {
    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::V4(address) => address.is_loopback(),
            Self::V6(address) => address.is_loopback(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if let Some(address) = text.strip_prefix('[') {
            return address.strip_suffix(']')?.parse().ok().map(Self::V6);
        }
        if let Ok(address) = text.parse() {
            return Some(Self::V4(address));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        (!name.is_empty() && name.bytes().all(plain)).then(|| Self::Name(name.to_ascii_lowercase()))
    }
}

/// `host` or `host:port`; no user before it.
pub(super) fn parse(text: &str) -> Option<(Host, Option<u16>)> {
    // The colons of an address are inside its brackets.
    let after = text.rfind(']').unwrap_or(0);
    let (host, port) = match text[after..].find(':') {
        None => (text, None),
        Some(at) => (&text[..after + at], Some(number(&text[after + at + 1..])?)),
    };
    Some((Host::parse(host)?, port))
}

fn number(port: &str) -> Option<u16> {
    port.bytes().all(|digit| digit.is_ascii_digit()).then(|| port.parse().ok())?
}

/// An origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// `null`: a page that has none of its own.
    Opaque,
    Page {
        scheme: String,
        host: Host,
        /// The scheme's own where none is named.
        port: Option<u16>,
    },
}

impl Source {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text == "null" {
            return Some(Self::Opaque);
        }
        let (scheme, rest) = text.split_once("://")?;
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.bytes().all(letters) {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let (host, port) = parse(rest)?;
        let port = port.or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Self::Page { scheme, host, port })
    }

    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Self::Opaque => false,
            Self::Page { scheme, host, .. } => {
                matches!(scheme.as_str(), "http" | "https") && host.is_loopback()
            }
        }
    }
}

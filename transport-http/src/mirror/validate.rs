//! Servers: do the headers say what the body says? (basic/transports/streamable-http, "Server Validation")

use std::borrow::Cow;
use std::ops::Deref;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sansio_mcp::code::wire;
use sansio_mcp::id::RequestId;
use sansio_mcp::model::{RawJson, UnsupportedProtocolVersion};
use sansio_mcp::server::ErrorReply;
use sansio_mcp::wire::{Envelope, JsonText, Message, Params, ParamsError};

use super::arguments::{Found, read};
use super::params::ParamHeaders;
use super::value::{ValueError, decode, plain};
use crate::headers::{Twice, single};

use super::{METHOD, NAME, PROTOCOL_VERSION, name_of};

/// Bytes of a value that an error repeats.
const QUOTED: usize = 100;

/// A request that must not reach the engine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{fault}")]
#[non_exhaustive]
pub struct Refusal {
    /// The id to answer; a notification has none.
    pub id: Option<RequestId>,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a request's headers.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A header that has to be there is not (-32020).
    #[error("Header mismatch: {header} is missing; this server speaks {}", sansio_mcp::PROTOCOL_VERSION)]
    Missing {
        /// The header.
        header: String,
    },
    /// A header stands twice, so that two readers may take it for different values (-32020).
    #[error("Header mismatch: {header} stands twice")]
    Twice {
        /// The header.
        header: String,
    },
    /// A value that is none (-32020).
    #[error("Header mismatch: {header} {why}")]
    Invalid {
        /// The header.
        header: String,
        /// How.
        why: ValueError,
    },
    /// Header and body differ (-32020). Long values are cut.
    #[error("Header mismatch: {header} header value '{value}' does not match body value '{body}'")]
    Differs {
        /// The header.
        header: String,
        /// What it says.
        value: String,
        /// What the body says.
        body: String,
    },
    /// A header repeats what the body does not have (-32020).
    #[error("Header mismatch: {header} repeats what the body does not have")]
    NotInBody {
        /// The header.
        header: String,
    },
    /// The body has a value there that no header can carry, such as an object or an integer beyond 2^53-1 (-32020).
    #[error("Header mismatch: the body value of {header} is none that a header can repeat")]
    Unfit {
        /// The header.
        header: String,
    },
    /// A key of the arguments that a header repeats stands twice (-32020).
    #[error("Header mismatch: an argument that a header repeats stands twice")]
    Ambiguous,
    /// Header and body do not differ, and name another revision (-32022).
    #[error("unsupported protocol version; this server speaks {}", sansio_mcp::PROTOCOL_VERSION)]
    Version {
        /// The revision that is named.
        requested: String,
    },
}

impl Refusal {
    /// Always 400.
    pub fn status(&self) -> StatusCode {
        StatusCode::BAD_REQUEST
    }

    /// -32020, or -32022 for [`Fault::Version`].
    pub fn code(&self) -> i64 {
        match self.fault {
            Fault::Version { .. } => wire::UNSUPPORTED_VERSION,
            _ => wire::HEADER_MISMATCH,
        }
    }

    /// Appends the error response that is the body.
    pub fn write(&self, out: &mut Vec<u8>) {
        let data = match &self.fault {
            Fault::Version { requested } => {
                let supported = vec![sansio_mcp::PROTOCOL_VERSION.to_owned()];
                let data = UnsupportedProtocolVersion::new(supported, requested.as_str());
                RawJson::from_value(&data).ok()
            }
            _ => None,
        };
        let (message, data) = (self.to_string(), data.as_ref().map(RawJson::as_raw));
        ErrorReply { data, ..ErrorReply::new(self.code(), &message) }.write(out, self.id.as_ref());
    }
}

/// Compares the headers of a POST with its message. `rules` finds what the tool of this name wants of the headers; it is asked
/// for `tools/call` alone.
///
/// * A request needs `MCP-Protocol-Version`, `Mcp-Method`, and where the method has one `Mcp-Name`. The revision does not say
///   what a notification needs: nothing, but what is there must be right.
/// * Each of these, and each `Mcp-Param-*` that the tool knows, may stand once. Other `Mcp-Param-*` are ignored.
/// * Another revision, named by both or by the header alone, is refused before anything else is compared: its rules are not
///   known here.
/// * Where there is nothing to compare with, because the body lacks `_meta` or its params cannot be read, there is no mismatch: the
///   engine refuses it, and says why.
/// * A response is let through; the engine refuses it.
///
/// # Errors
/// The first rule that is broken.
pub fn validate<R: Deref<Target = ParamHeaders>>(
    headers: &HeaderMap,
    envelope: &Envelope<'_>,
    rules: impl FnOnce(&str) -> Option<R>,
) -> Result<(), Refusal> {
    let (id, checked) = match envelope.message() {
        Message::Request { id, method, params } => (Some(id), check(headers, true, method, params, rules)),
        Message::Notification { method, params } => (None, check(headers, false, method, params, rules)),
        Message::Response(_) => return Ok(()),
    };
    checked.map_err(|fault| Refusal { id: id.cloned(), fault })
}

fn check<R: Deref<Target = ParamHeaders>>(
    headers: &HeaderMap,
    required: bool,
    method: &str,
    params: &Result<Option<Params<'_>>, ParamsError>,
    rules: impl FnOnce(&str) -> Option<R>,
) -> Result<(), Fault> {
    let readable = params.is_ok();
    let params = params.as_ref().ok().and_then(Option::as_ref);
    let body = params.and_then(|params| params.meta.as_ref()?.protocol_version.as_deref());
    version(headers, required, body)?;
    match value(headers, &METHOD, "Mcp-Method", |value| plain(value).map(Cow::Borrowed))? {
        None if required => return Err(missing("Mcp-Method")),
        Some(value) if value != *method => return Err(differs("Mcp-Method", &value, method)),
        _ => {}
    }
    let Some(body) = name_of(method, params).filter(|_| readable) else { return Ok(()) };
    match (value(headers, &NAME, "Mcp-Name", decode)?, body) {
        (None, _) if required => return Err(missing("Mcp-Name")),
        (Some(_), None) => return Err(Fault::NotInBody { header: "Mcp-Name".to_owned() }),
        (Some(value), Some(body)) if value != *body => return Err(differs("Mcp-Name", &value, body)),
        _ => {}
    }
    if method == "tools/call"
        && let Some(rules) = body.and_then(rules)
    {
        arguments(headers, &rules, params)?;
    }
    Ok(())
}

fn version(headers: &HeaderMap, required: bool, body: Option<&str>) -> Result<(), Fault> {
    const LABEL: &str = "MCP-Protocol-Version";
    match (value(headers, &PROTOCOL_VERSION, LABEL, |value| plain(value).map(Cow::Borrowed))?, body) {
        (None, _) if required => Err(missing(LABEL)),
        (Some(value), Some(body)) if value != body => Err(differs(LABEL, &value, body)),
        (Some(value), _) if value != sansio_mcp::PROTOCOL_VERSION => {
            Err(Fault::Version { requested: short(&value) })
        }
        _ => Ok(()),
    }
}

fn arguments(headers: &HeaderMap, rules: &ParamHeaders, params: Option<&Params<'_>>) -> Result<(), Fault> {
    let arguments = params.and_then(|params| params.arguments).map(JsonText::get);
    let found = read(rules, arguments).map_err(|_| Fault::Ambiguous)?;
    for (header, found) in rules.headers.iter().zip(found) {
        let label = header.label.as_str();
        let value = value(headers, &header.name, label, decode)?;
        let body: Cow<'_, str> = match (&found, &value) {
            (Found::Absent, None) => continue,
            (Found::Absent, Some(_)) => return Err(Fault::NotInBody { header: label.to_owned() }),
            (Found::Unfit, _) => return Err(Fault::Unfit { header: label.to_owned() }),
            (Found::Int(body), Some(value)) if integer(value) == Some(*body) => continue,
            (Found::Int(body), _) => Cow::Owned(body.to_string()),
            (Found::Bool(body), _) => Cow::Borrowed(if *body { "true" } else { "false" }),
            (Found::Text(body), _) => Cow::Borrowed(body.as_str()),
        };
        match value {
            None => return Err(missing(label)),
            Some(value) if value != body => return Err(differs(label, &value, &body)),
            Some(_) => {}
        }
    }
    Ok(())
}

/// Decimal digits, with a fraction that is zero: `42.0` is 42.
fn integer(text: &str) -> Option<i64> {
    let whole = text.split_once('.').map_or(Some(text), |(whole, fraction)| {
        (!fraction.is_empty() && fraction.bytes().all(|digit| digit == b'0')).then_some(whole)
    })?;
    whole.parse().ok().filter(|_| !whole.starts_with('+'))
}

/// The one value of a header.
fn value<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
    label: &str,
    read: impl FnOnce(&'h HeaderValue) -> Result<Cow<'h, str>, ValueError>,
) -> Result<Option<Cow<'h, str>>, Fault> {
    let value = single(headers, name).map_err(|Twice| Fault::Twice { header: label.to_owned() })?;
    value.map(read).transpose().map_err(|why| Fault::Invalid { header: label.to_owned(), why })
}

fn missing(header: &str) -> Fault {
    Fault::Missing { header: header.to_owned() }
}

fn differs(header: &str, value: &str, body: &str) -> Fault {
    Fault::Differs { header: header.to_owned(), value: short(value), body: short(body) }
}

fn short(text: &str) -> String {
    if text.len() <= QUOTED {
        return text.to_owned();
    }
    format!("{}..", &text[..text.floor_char_boundary(QUOTED)])
}

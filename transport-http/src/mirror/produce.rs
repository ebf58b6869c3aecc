//! Clients: the headers that a message needs (basic/transports/streamable-http, "Client Behavior").

use http::{HeaderMap, HeaderName, HeaderValue};
use sansio_mcp::wire::{Envelope, JsonText, Message};

use super::arguments::{Found, read};
use super::params::ParamHeaders;
use super::value::encode;
use super::{METHOD, NAME, PROTOCOL_VERSION, name_of};

/// A message that cannot be sent over HTTP.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProduceError {
    /// A client sends no responses.
    #[error("a client posts requests and notifications, no responses")]
    Response,
    /// Its params are not of the form that the method has.
    #[error("the params are not of the form that the method has")]
    Params,
    /// The header allows no base64, and the method or revision is not plain visible ASCII.
    #[error("{0} cannot be written as it is")]
    NotPlain(&'static str),
    /// A call without a name, or a reading without a URI.
    #[error("there is nothing for Mcp-Name to repeat")]
    NoName,
    /// An argument that the header repeats is an object, an array, a fraction, or an integer beyond 2^53-1.
    #[error("the argument of {0} is none that a header can repeat")]
    Unfit(String),
    /// A key of the arguments that a header repeats stands twice.
    #[error("an argument that a header repeats stands twice")]
    Ambiguous,
    /// The map takes no further header.
    #[error("too many headers")]
    TooMany,
}

/// Sets the headers that mirror a message. `rules` are those of the tool that is called; without them, or for other methods,
/// no `Mcp-Param-*` is set.
///
/// # Errors
/// The message cannot be sent so; some headers may have been set.
pub fn produce(
    envelope: &Envelope<'_>,
    rules: Option<&ParamHeaders>,
    headers: &mut HeaderMap,
) -> Result<(), ProduceError> {
    let (Message::Request { method, params, .. } | Message::Notification { method, params }) =
        envelope.message()
    else {
        return Err(ProduceError::Response);
    };
    let params = params.as_ref().map_err(|_| ProduceError::Params)?.as_ref();
    let version = params.and_then(|params| params.meta.as_ref()?.protocol_version.as_deref());
    let version = version.unwrap_or(sansio_mcp::PROTOCOL_VERSION);
    set(headers, &PROTOCOL_VERSION, plain(version, "MCP-Protocol-Version")?)?;
    set(headers, &METHOD, plain(method, "Mcp-Method")?)?;
    if let Some(name) = name_of(method, params) {
        set(headers, &NAME, encode(name.ok_or(ProduceError::NoName)?))?;
    }
    let Some(rules) = rules.filter(|_| &**method == "tools/call") else { return Ok(()) };
    let arguments = params.and_then(|params| params.arguments).map(JsonText::get);
    let found = read(rules, arguments).map_err(|_| ProduceError::Ambiguous)?;
    for (header, found) in rules.headers.iter().zip(found) {
        let value = match found {
            Found::Absent => continue,
            Found::Text(text) => encode(&text),
            Found::Int(int) => HeaderValue::from(int),
            Found::Bool(true) => HeaderValue::from_static("true"),
            Found::Bool(false) => HeaderValue::from_static("false"),
            Found::Unfit => return Err(ProduceError::Unfit(header.label.clone())),
        };
        set(headers, &header.name, value)?;
    }
    Ok(())
}

pub(crate) fn set(
    headers: &mut HeaderMap,
    name: &HeaderName,
    value: HeaderValue,
) -> Result<(), ProduceError> {
    headers.try_insert(name.clone(), value).map(drop).map_err(|_| ProduceError::TooMany)
}

/// The text as it is, if [`encode`] would leave it so or only its base64 marks speak against it.
pub(crate) fn plain(text: &str, header: &'static str) -> Result<HeaderValue, ProduceError> {
    let clean = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'!'..=b'~'));
    HeaderValue::from_str(text).ok().filter(|_| clean).ok_or(ProduceError::NotPlain(header))
}

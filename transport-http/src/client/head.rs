//! The head of a POST.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use sansio_mcp::PROTOCOL_VERSION;
use sansio_mcp::wire::Envelope;
use sansio_mcp_sdk::client::Head;

use super::tools::Tools;
use crate::accept::{CLIENT_ACCEPTS, JSON};
use crate::mirror::{self, ParamHeaders, ProduceError};

/// What a request is, as far as its answer is treated differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Plain,
    Listen,
    ListTools,
    Discover,
}

/// What was seen of a request when it was taken.
pub(super) struct Seen {
    pub(super) kind: Kind,
    /// Its headers; `None` if they take more than the facts.
    headers: Option<Result<HeaderMap, ProduceError>>,
    rules: Option<ParamHeaders>,
}

impl Seen {
    /// Looks at the facts, which are enough for most requests: its text need not be read again.
    pub(super) fn new(head: &Head<'_>, tools: &Tools, further: &HeaderMap) -> Self {
        let kind = match head.method {
            "subscriptions/listen" => Kind::Listen,
            "tools/list" => Kind::ListTools,
            "server/discover" => Kind::Discover,
            _ => Kind::Plain,
        };
        let rules =
            head.target.filter(|_| head.method == "tools/call").and_then(|tool| tools.rules(tool)).cloned();
        let named = matches!(head.method, "tools/call" | "prompts/get" | "resources/read");
        // A call that was described with its params in one piece has its name there.
        let by_text = rules.is_some() || (named && head.target.is_none());
        let headers = (!by_text).then(|| of_facts(head, head.target.filter(|_| named), further));
        Self { kind, headers, rules }
    }

    /// The headers of the request with this text.
    pub(super) fn headers(
        self,
        message: &Bytes,
        tools: &Tools,
        further: &HeaderMap,
    ) -> Result<HeaderMap, ProduceError> {
        if let Some(headers) = self.headers {
            return headers;
        }
        let envelope = Envelope::parse(message).map_err(|_| ProduceError::Params)?;
        let mut headers = begin(further);
        let rules = self.rules.as_ref().or_else(|| tools.rules(called(&envelope)?));
        mirror::produce(&envelope, rules, &mut headers)?;
        Ok(headers)
    }
}

/// The tool that is called.
fn called<'e>(envelope: &'e Envelope<'_>) -> Option<&'e str> {
    match envelope.message() {
        sansio_mcp::wire::Message::Request { params: Ok(Some(params)), .. } => params.name.as_deref(),
        _ => None,
    }
}

fn begin(further: &HeaderMap) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(8 + further.len());
    headers.extend(further.iter().map(|(name, value)| (name.clone(), value.clone())));
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(ACCEPT, CLIENT_ACCEPTS);
    headers
}

fn of_facts(head: &Head<'_>, name: Option<&str>, further: &HeaderMap) -> Result<HeaderMap, ProduceError> {
    let mut headers = begin(further);
    let version = if head.version == PROTOCOL_VERSION {
        HeaderValue::from_static(PROTOCOL_VERSION)
    } else {
        mirror::plain(head.version, "MCP-Protocol-Version")?
    };
    let method = match head.method {
        "tools/call" => HeaderValue::from_static("tools/call"),
        method => mirror::plain(method, "Mcp-Method")?,
    };
    mirror::set(&mut headers, &mirror::PROTOCOL_VERSION, version)?;
    mirror::set(&mut headers, &mirror::METHOD, method)?;
    if let Some(name) = name {
        mirror::set(&mut headers, &mirror::NAME, mirror::encode(name))?;
    }
    Ok(headers)
}

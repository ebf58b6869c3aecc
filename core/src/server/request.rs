//! A request as the application receives it: owned, with everything but the envelope left raw.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use serde::Deserialize;

use super::method::Method;
use crate::id::{ProgressToken, RequestId};
use crate::model::{
    ClientCapabilities, CompleteParams, LoggingLevel, Members, MissingRequiredClientCapability,
    SubscriptionFilter, SubscriptionsListenParams,
};
use crate::wire::params::key;
use crate::wire::text::Piece;
use crate::wire::{JsonText, Params, Text};

/// A request whose metadata the engine has checked.
///
/// Holds one copy of the message; what the accessors return are pieces of it.
pub struct Request {
    line: String,
    id: RequestId,
    method: Method,
    token: Option<ProgressToken>,
    name: Option<Piece>,
    arguments: Option<Piece>,
    uri: Option<Piece>,
    cursor: Option<Piece>,
    input_responses: Option<Piece>,
    request_state: Option<Piece>,
    protocol_version: Piece,
    client_info: Option<Piece>,
    client_capabilities: Piece,
    meta: Vec<(Piece, Piece)>,
}

impl Request {
    /// Copies what the checked params borrow, into the memory of one of `spare` if there is any. `None` if the
    /// metadata is not complete.
    pub(super) fn copy(
        line: &str,
        id: RequestId,
        method: Method,
        params: &mut Params<'_>,
        spare: &mut Vec<Arc<Self>>,
    ) -> Option<Arc<Self>> {
        let meta = params.meta.as_mut()?;
        let raw = |raw: &JsonText<'_>| Piece::of(line, raw.get());
        let text = |text: &Text<'_>| Piece::text(line, text);
        let mut shared = spare.pop();
        let mut kept = shared.as_mut().and_then(Arc::get_mut);
        let mut whole = kept.as_mut().map(|kept| core::mem::take(&mut kept.line)).unwrap_or_default();
        whole.clear();
        whole.push_str(line);
        let request = Self {
            line: whole,
            id,
            method,
            token: meta.progress_token.take(),
            name: params.name.as_ref().map(text),
            arguments: params.arguments.as_ref().map(raw),
            uri: params.uri.as_ref().map(text),
            cursor: params.cursor.as_ref().map(text),
            input_responses: params.input_responses.as_ref().map(raw),
            request_state: params.request_state.as_ref().map(text),
            protocol_version: text(meta.protocol_version.as_ref()?),
            client_info: meta.client_info.as_ref().map(raw),
            client_capabilities: raw(meta.client_capabilities.as_ref()?),
            meta: meta.other.iter().map(|(key, value)| (text(key), raw(value))).collect(),
        };
        match kept {
            Some(kept) => *kept = request,
            None => return Some(Arc::new(request)),
        }
        shared
    }

    /// Bytes that it holds on to, used or not. What was unescaped is no longer than the line.
    pub(super) fn held(&self) -> usize {
        self.line.capacity() + self.meta.capacity() * size_of::<(Piece, Piece)>()
    }

    fn piece<'a>(&'a self, piece: Option<&'a Piece>) -> Option<&'a str> {
        piece.map(|piece| piece.get(&self.line))
    }

    /// The id on the wire. To answer, use the [`ServingId`](crate::id::ServingId) instead.
    pub fn wire_id(&self) -> &RequestId {
        &self.id
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The token to report progress under, if the client asked for progress (basic/patterns/progress).
    pub fn progress_token(&self) -> Option<&ProgressToken> {
        self.token.as_ref()
    }

    /// `params.name`: the tool or prompt. Always there for tools/call and prompts/get.
    pub fn name(&self) -> Option<&str> {
        self.piece(self.name.as_ref())
    }

    /// `params.arguments`: the text of a JSON object.
    pub fn arguments(&self) -> Option<&str> {
        self.piece(self.arguments.as_ref())
    }

    /// `params.arguments` of prompts/get, which the engine has checked: texts by name.
    pub fn prompt_arguments(&self) -> Members<String> {
        self.arguments().and_then(|arguments| serde_json::from_str(arguments).ok()).unwrap_or_default()
    }

    /// `params.uri`: the resource. Always there for resources/read.
    pub fn uri(&self) -> Option<&str> {
        self.piece(self.uri.as_ref())
    }

    /// What is to be completed, of completion/complete. The engine has checked it, so there is no error then.
    ///
    /// # Errors
    /// The request is of another method, and has not these params.
    pub fn completion(&self) -> Result<CompleteParams, serde_json::Error> {
        self.params()
    }

    /// The mildest log message that the client wants of this request; `None` if it wants none at all
    /// (server/utilities/logging, "Per-request log level").
    pub fn log_level(&self) -> Option<LoggingLevel> {
        serde_json::from_str(self.meta(key::LOG_LEVEL)?).ok()
    }

    /// What a `subscriptions/listen` asks to be told of; `None` for any other method.
    pub fn subscription_filter(&self) -> Option<SubscriptionFilter> {
        // Its form was checked before the request was handed on.
        (self.method == Method::SubscriptionsListen).then(|| filter_of(&self.line)).flatten()
    }

    /// `params.cursor`, of the list methods (server/utilities/pagination).
    pub fn cursor(&self) -> Option<&str> {
        self.piece(self.cursor.as_ref())
    }

    /// `params.inputResponses`: the text of a JSON value (basic/patterns/mrtr).
    pub fn input_responses(&self) -> Option<&str> {
        self.piece(self.input_responses.as_ref())
    }

    /// `params.requestState`, as the client sent it back. It is the peer's word until it is unsealed.
    pub fn request_state(&self) -> Option<&str> {
        self.piece(self.request_state.as_ref())
    }

    /// The revision that the request was made under.
    pub fn protocol_version(&self) -> &str {
        self.protocol_version.get(&self.line)
    }

    /// The client's own name for itself: the text of a JSON object. Not verified, for display only.
    pub fn client_info(&self) -> Option<&str> {
        self.piece(self.client_info.as_ref())
    }

    /// What the client declared for this request: the text of a JSON object.
    pub fn client_capabilities(&self) -> &str {
        self.client_capabilities.get(&self.line)
    }

    /// What of `required` the client did not declare for this request, for the error -32021.
    ///
    /// # Errors
    /// What the client declared is not of the specified form (-32602).
    pub fn missing_capabilities(
        &self,
        required: &ClientCapabilities,
    ) -> Result<Option<MissingRequiredClientCapability>, serde_json::Error> {
        let declared = serde_json::from_str(self.client_capabilities())?;
        Ok(super::missing_capabilities(&declared, required))
    }

    /// The raw text of another key of `_meta`, such as `io.modelcontextprotocol/logLevel`.
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.meta.iter().find(|(name, _)| name.get(&self.line) == key).map(|(_, value)| value.get(&self.line))
    }

    /// The W3C trace context of the caller, if `_meta.traceparent` is a plain string (basic/index,
    /// "OpenTelemetry trace context").
    pub fn traceparent(&self) -> Option<&str> {
        self.meta("traceparent")?.strip_prefix('"')?.strip_suffix('"')
    }

    /// Reads the whole params as a type of the application's; for methods of extensions.
    ///
    /// # Errors
    /// The params are not of that type.
    pub fn params<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        #[derive(Deserialize)]
        struct Whole<T> {
            params: T,
        }
        serde_json::from_str::<Whole<T>>(&self.line).map(|whole| whole.params)
    }

    /// The whole message.
    pub(super) fn message(&self) -> &str {
        &self.line
    }

    /// Bytes held.
    pub fn size(&self) -> usize {
        self.line.len() + size_of::<Self>()
    }
}

impl fmt::Debug for Request {
    /// The message itself: what a log wants to show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Request").field(&self.line).finish()
    }
}

/// The filter in the params of a message.
pub(super) fn filter_of(line: &str) -> Option<SubscriptionFilter> {
    #[derive(Deserialize)]
    struct Whole {
        params: SubscriptionsListenParams,
    }
    serde_json::from_str::<Whole>(line).ok().map(|whole| whole.params.notifications)
}

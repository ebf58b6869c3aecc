//! The service.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::request::Parts;
use http::{Request, Response};
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::protocol::code::wire;
use sansio_mcp_sdk::protocol::id::RequestId;
use sansio_mcp_sdk::protocol::server::ErrorReply;
use sansio_mcp_sdk::protocol::wire::{Envelope, Message};
use sansio_mcp_sdk::server::ConfigError;
use sansio_mcp_sdk::{Engine, Exchange, ExchangeOptions};

use super::body::Body;
use super::caller::Caller;
use super::config::{Config, Mode};
use super::future::ResponseFuture;
use super::open::{Counts, Facts, Idle, Open};
use super::refusal::{empty, json, mismatched, rejected};
use super::rules::Rules;
use super::turn::Turn;
use crate::accept::{Accepted, Form, accepted, require_json};
use crate::mirror::validate;
use crate::origin::{Admitted, PREFLIGHT_STATUS, is_preflight};
use crate::status::{Rejection, require_post};

/// Serves the MCP endpoint of an engine: a [`tower_service::Service`] over `http` types, for a body of any kind. Cheap to clone.
///
/// It does not look at the path: mount it where the endpoint is to be.
#[derive(Clone)]
pub struct Service {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) engine: Engine,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) config: Config,
    rules: Rules,
    counts: Arc<Counts>,
    pub(super) turn: Turn,
}

/// A request that may be read.
pub(super) struct Asked {
    pub(super) head: Parts,
    pub(super) admitted: Admitted,
    /// The only form that its answer may have, if there is only one.
    pub(super) form: Option<Form>,
    pub(super) open: Open,
}

/// A request that is being served.
pub(super) struct Served {
    pub(super) exchange: Exchange,
    pub(super) admitted: Admitted,
    pub(super) form: Option<Form>,
    pub(super) open: Open,
    /// It has no answer.
    pub(super) notification: bool,
}

impl Service {
    /// A service of this engine, whose driver runs elsewhere.
    ///
    /// # Errors
    /// A limit is zero, or a tool's `x-mcp-header` breaks a rule, so that no client would call it; names it. Of tools that come
    /// later this is logged.
    pub fn new(engine: Engine, config: Config) -> Result<Self, ConfigError> {
        config.limits.check()?;
        let rules = Rules::new(&engine)?;
        let clock = Arc::clone(engine.clock());
        Ok(Self {
            inner: Arc::new(Inner {
                engine,
                clock,
                config,
                rules,
                counts: Arc::default(),
                turn: Turn::default(),
            }),
        })
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// What it is doing.
    pub fn facts(&self) -> Facts {
        self.inner.counts.facts()
    }

    /// Begins a shutdown that lets calls finish: subscriptions end with their response, requests that come from here on are
    /// refused with 503. [`idle`](Self::idle) tells when nothing is left; whoever has waited long enough
    /// [shuts the engine down](Engine::shutdown).
    pub fn close(&self) {
        self.inner.counts.close();
        self.inner.engine.end_subscriptions();
        // There may be nothing to wait for.
        drop(self.inner.counts.open(&self.inner.config.limits));
    }

    /// Completes once it is [closing](Self::close) and serves nothing any more.
    pub fn idle(&self) -> Idle {
        Idle { counts: Arc::clone(&self.inner.counts) }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("config", &self.inner.config).field("facts", &self.facts()).finish()
    }
}

impl<B: http_body::Body> tower_service::Service<Request<B>> for Service {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<B> {
        self.call_shared(request)
    }
}

impl Service {
    /// As its `call`, which needs nothing of its own.
    pub fn call_shared<B: http_body::Body>(&self, request: Request<B>) -> ResponseFuture<B> {
        let (head, body) = request.into_parts();
        match self.inner.ask(head, body.size_hint().lower()) {
            Ok(asked) => ResponseFuture::read(Arc::clone(&self.inner), asked, body),
            Err(response) => ResponseFuture::done(*response),
        }
    }
}

impl Inner {
    /// Looks at the head of a request.
    fn ask(&self, head: Parts, length: u64) -> Result<Asked, Box<Response<Body>>> {
        let Config { policy, limits, .. } = &self.config;
        let admitted = policy
            .admit(&head.headers, head.uri.authority())
            .map_err(|rejection| Box::new(rejected(rejection, policy, None)))?;
        let reject = |rejection| Box::new(rejected(rejection, policy, Some(&admitted)));
        if is_preflight(&head.method, &head.headers) {
            let allowed = admitted
                .preflight(&head.headers)
                .map_err(|rejection| Box::new(rejected(rejection, policy, None)))?;
            let mut response = empty(PREFLIGHT_STATUS);
            *response.headers_mut() = allowed;
            return Err(Box::new(response));
        }
        require_post(&head.method).map_err(reject)?;
        let form = accepted(&head.headers).and_then(|accepted| self.form(accepted)).map_err(reject)?;
        require_json(&head.headers).map_err(reject)?;
        let open = self.counts.open(limits).map_err(reject)?;
        if length > limits.body_bytes as u64 {
            return Err(reject(Rejection::TooLarge));
        }
        Ok(Asked { head, admitted, form, open })
    }

    /// The only form that an answer may have, if there is only one.
    fn form(&self, accepted: Accepted) -> Result<Option<Form>, Rejection> {
        match (self.config.mode, accepted.json, accepted.events) {
            (Mode::JsonOnly, false, _) => Err(Rejection::NotAcceptable),
            (Mode::JsonOnly, ..) | (_, true, false) => Ok(Some(Form::Json)),
            (Mode::SseOnly, ..) | (_, false, _) => Ok(Some(Form::Events)),
            (Mode::Auto, true, true) => Ok(None),
        }
    }

    pub(super) fn reject(&self, rejection: Rejection, admitted: &Admitted) -> Response<Body> {
        rejected(rejection, &self.config.policy, Some(admitted))
    }

    /// Looks at the whole body of a request, and hands it to the engine.
    pub(super) fn serve(&self, asked: Asked, body: &[u8]) -> Result<Served, Box<Response<Body>>> {
        let Asked { head, admitted, form, open } = asked;
        let caller = head.extensions.get::<Caller>().cloned();
        let envelope = Envelope::parse(body);
        let mut notification = false;
        if let Ok(envelope) = &envelope {
            let checked = validate(&head.headers, envelope, |tool| self.rules.of(&self.engine, tool));
            let marked = |mut response: Response<Body>| {
                self.config.policy.mark(Some(&admitted), response.headers_mut());
                Box::new(response)
            };
            checked.map_err(|refusal| marked(mismatched(&refusal)))?;
            match envelope.message() {
                // Its headers say that this is no client of an earlier revision, whatever the method's name says.
                Message::Request { id, method, .. } if &**method == "initialize" => {
                    return Err(marked(unknown(id, method)));
                }
                Message::Notification { .. } => notification = true,
                _ => {}
            }
        }
        let mut options = ExchangeOptions::default().attach(head);
        if let Some(Caller(caller)) = caller {
            options = options.caller(caller);
        }
        if form == Some(Form::Json) {
            options = options.answer_only();
        }
        let exchange = self.engine.open_exchange(options);
        match envelope {
            Ok(envelope) => exchange.handle_envelope(envelope),
            // The engine has the words for what is wrong with it.
            Err(_) => exchange.handle_message(body),
        }
        Ok(Served { exchange, admitted, form, open, notification })
    }
}

fn unknown(id: &RequestId, method: &str) -> Response<Body> {
    let mut body = Vec::new();
    ErrorReply::new(wire::METHOD_NOT_FOUND, &format!("unknown method: {method}")).write(&mut body, Some(id));
    json(http::StatusCode::NOT_FOUND, body)
}

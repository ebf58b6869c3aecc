//! The connections to one server: HTTP/1.1, one for each request under way, or one of HTTP/2 for all.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Parts, PathAndQuery};
use http::{HeaderValue, Request, Response, Uri, header};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use sansio_mcp::time::Mono;
use sansio_mcp_sdk::clock::Clock;
use tower_service::Service;

use super::io::Connector;
use crate::client::BoxError;
use crate::client::body::RequestBody;
use crate::client::endpoint::Endpoint;
use crate::client::failure::chain;
use crate::client::options::{HttpLimits, Options};
use crate::client::spawn::Spawned;

/// A response that is awaited. Dropping it closes its stream.
pub type Exchange = Pin<Box<dyn Future<Output = Result<Response<PooledBody>, BoxError>> + Send>>;

/// The connections to one server, over which a client's driver sends its requests.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    connector: Connector,
    /// What stands in the head of HTTP/1.1: the path alone, and the host beside it.
    path: Uri,
    host: HeaderValue,
    /// What stands in the head of HTTP/2.
    uri: Uri,
    /// HTTP/2 is spoken without asking.
    prior: bool,
    limits: HttpLimits,
    clock: Arc<dyn Clock>,
    spawned: Spawned,
    state: Mutex<State>,
}

struct State {
    protocol: Protocol,
    idle: Vec<Idle>,
    /// Somebody closes what is idle for too long.
    reaped: bool,
    http2: Option<http2::SendRequest<RequestBody>>,
    /// Somebody makes a connection that the others wait for: its number.
    connecting: Option<u64>,
    attempts: u64,
    /// The last of these that came to nothing, and why.
    failed: Option<(u64, String)>,
    waiting: Vec<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    /// The first handshake tells.
    Unknown,
    Http1,
    Http2,
}

struct Idle {
    sender: http1::SendRequest<RequestBody>,
    since: Mono,
}

/// A way to send one request.
enum Lease {
    /// And whether it was used before.
    Http1(http1::SendRequest<RequestBody>, bool),
    Http2(http2::SendRequest<RequestBody>, bool),
}

impl Pool {
    pub(super) fn new(
        connector: Connector,
        endpoint: &Endpoint,
        options: &Options,
        clock: Arc<dyn Clock>,
        spawned: Spawned,
    ) -> Self {
        let uri = endpoint.uri();
        let (limits, http2) = (options.limits, options.http2);
        let mut parts = Parts::default();
        parts.path_and_query =
            Some(uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/")));
        let path = Uri::from_parts(parts).unwrap_or_default();
        // An authority is made of what a header may hold.
        let host = uri.authority().map_or("", http::uri::Authority::as_str);
        let host = HeaderValue::from_str(host).unwrap_or(HeaderValue::from_static(""));
        let protocol = match (http2, endpoint.is_https()) {
            (true, false) => Protocol::Http2,
            (false, false) => Protocol::Http1,
            (_, true) => Protocol::Unknown,
        };
        let state = State {
            protocol,
            idle: Vec::new(),
            reaped: false,
            http2: None,
            connecting: None,
            attempts: 0,
            failed: None,
            waiting: Vec::new(),
        };
        let state = Mutex::new(state);
        Self {
            inner: Arc::new(Inner {
                connector,
                path,
                host,
                uri: uri.clone(),
                prior: http2,
                limits,
                clock,
                spawned,
                state,
            }),
        }
    }
}

impl Service<Request<RequestBody>> for Pool {
    type Response = Response<PooledBody>;
    type Error = BoxError;
    type Future = Exchange;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Exchange {
        Box::pin(exchange(Arc::clone(&self.inner), request))
    }
}

async fn exchange(
    pool: Arc<Inner>,
    mut request: Request<RequestBody>,
) -> Result<Response<PooledBody>, BoxError> {
    loop {
        let (mut error, reused) = match pool.lease().await? {
            Lease::Http1(mut sender, reused) => {
                request.headers_mut().insert(header::HOST, pool.host.clone());
                *request.uri_mut() = pool.path.clone();
                match sender.try_send_request(request).await {
                    Ok(response) => {
                        let lease = Some((sender, Arc::downgrade(&pool)));
                        return Ok(response.map(|body| PooledBody { body, ended: false, lease }));
                    }
                    Err(error) => (error, reused),
                }
            }
            Lease::Http2(mut sender, reused) => {
                request.headers_mut().remove(header::HOST);
                *request.uri_mut() = pool.uri.clone();
                match sender.try_send_request(request).await {
                    Ok(response) => {
                        return Ok(response.map(|body| PooledBody { body, ended: false, lease: None }));
                    }
                    Err(error) => (error, reused),
                }
            }
        };
        // A connection that the server had closed meanwhile took nothing: another one will.
        match error.take_message() {
            Some(unsent) if reused => request = unsent,
            _ => return Err(error.into_error().into()),
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A way to send one request; a new connection if there is no other.
    async fn lease(&self) -> Result<Lease, BoxError> {
        let mut waited = None;
        let attempt = match poll_fn(|cx| self.poll_find(cx, &mut waited)).await? {
            Found::Lease(lease) => return Ok(lease),
            Found::Connect(attempt) => attempt,
        };
        let mut making = Making { pool: self, attempt, failure: None };
        let made = self.connect().await;
        making.failure = made.as_ref().err().map(|error| chain(&**error));
        made
    }

    fn poll_find(&self, cx: &mut Context<'_>, waited: &mut Option<u64>) -> Poll<Result<Found, BoxError>> {
        let mut state = self.lock();
        if let Some((attempt, why)) = &state.failed
            && *waited == Some(*attempt)
        {
            return Poll::Ready(Err(why.as_str().into()));
        }
        if state.protocol == Protocol::Http1 {
            let lease = state.take_idle(self.clock.mono(), &self.limits);
            return Poll::Ready(Ok(lease.map_or(Found::Connect(None), Found::Lease)));
        }
        if let Some(sender) = state.http2.as_ref().filter(|sender| !sender.is_closed()) {
            return Poll::Ready(Ok(Found::Lease(Lease::Http2(sender.clone(), true))));
        }
        if state.connecting.is_some() {
            *waited = state.connecting;
            if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                state.waiting.push(cx.waker().clone());
            }
            return Poll::Pending;
        }
        state.attempts += 1;
        state.connecting = Some(state.attempts);
        Poll::Ready(Ok(Found::Connect(state.connecting)))
    }

    async fn connect(&self) -> Result<Lease, BoxError> {
        let mut connecting = (self.connector)();
        let mut sleep = self.clock.sleep(self.limits.connect);
        let connected = poll_fn(|cx| {
            let connected = connecting.as_mut().poll(cx);
            if connected.is_pending() && sleep.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            connected
        });
        let (io, h2) = connected.await.map_err(|error| format!("there is no connection: {error}"))?;
        if h2 || self.prior {
            let (sender, connection) = http2::handshake(self.spawned.clone(), io).await?;
            self.spawned.spawn(run(connection));
            let mut state = self.lock();
            state.protocol = Protocol::Http2;
            state.http2 = Some(sender.clone());
            return Ok(Lease::Http2(sender, false));
        }
        let (sender, connection) = http1::handshake(io).await?;
        self.spawned.spawn(run(connection));
        self.lock().protocol = Protocol::Http1;
        Ok(Lease::Http1(sender, false))
    }

    /// Takes a connection back whose response was read to its end.
    fn give_back(self: &Arc<Self>, sender: http1::SendRequest<RequestBody>) {
        let mut state = self.lock();
        if sender.is_closed() || state.idle.len() >= self.limits.posts {
            return;
        }
        state.idle.push(Idle { sender, since: self.clock.mono() });
        if !std::mem::replace(&mut state.reaped, true) {
            drop(state);
            self.spawned.spawn(reap(Arc::downgrade(self), Arc::clone(&self.clock), self.limits.idle));
        }
    }
}

/// What there is for a request.
enum Found {
    Lease(Lease),
    /// A connection has to be made; others wait for one with a number.
    Connect(Option<u64>),
}

impl State {
    fn take_idle(&mut self, now: Mono, limits: &HttpLimits) -> Option<Lease> {
        // The one used last is the one that the server is least about to close.
        let mut at = self.idle.len();
        while let Some(before) = at.checked_sub(1) {
            at = before;
            let idle = self.idle.get(at)?;
            if idle.sender.is_closed() || now.since(idle.since) >= limits.idle {
                self.idle.remove(at);
            } else if idle.sender.is_ready() {
                return Some(Lease::Http1(self.idle.remove(at).sender, true));
            }
        }
        None
    }
}

/// A connection that is being made.
struct Making<'a> {
    pool: &'a Inner,
    attempt: Option<u64>,
    failure: Option<String>,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let Some(attempt) = self.attempt else { return };
        let mut state = self.pool.lock();
        state.connecting = None;
        // If it was merely given up, somebody else tries.
        if let Some(why) = self.failure.take() {
            state.failed = Some((attempt, why));
        }
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Whoever has a request on it hears how it ended.
async fn run<E>(connection: impl Future<Output = Result<(), E>>) {
    let _ = connection.await;
}

/// Closes connections that are idle for too long, until none is idle.
async fn reap(pool: Weak<Inner>, clock: Arc<dyn Clock>, time: Duration) {
    loop {
        clock.sleep(time).await;
        let Some(pool) = pool.upgrade() else { return };
        let now = clock.mono();
        let mut state = pool.lock();
        state.idle.retain(|idle| !idle.sender.is_closed() && now.since(idle.since) < time);
        if state.idle.is_empty() {
            state.reaped = false;
            return;
        }
    }
}

/// The body of a response. Its connection serves again once it was read to its end.
pub struct PooledBody {
    body: Incoming,
    ended: bool,
    lease: Option<(http1::SendRequest<RequestBody>, Weak<Inner>)>,
}

impl Body for PooledBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.ended = frame.is_none();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for PooledBody {
    fn drop(&mut self) {
        if self.is_end_stream()
            && let Some((sender, pool)) = self.lease.take()
            && let Some(pool) = pool.upgrade()
        {
            pool.give_back(sender);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "pool_test.rs"]
mod tests;

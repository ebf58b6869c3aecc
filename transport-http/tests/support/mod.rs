//! An HTTP client whose server is the test: no sockets, no time.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body, Frame};
use sansio_mcp_http::client::{BoxError, Driver, Endpoint, Options, RequestBody, connect_on};
use sansio_mcp_memory::{Lab, Task};
use sansio_mcp_sdk::client::{CallError, Client, ClientSetup};
use sansio_mcp_sdk::model::Implementation;
use serde_json::{Value, json};
use tower_service::Service;

/// The requests that have come.
#[derive(Clone, Default)]
pub struct Fake {
    arrived: Arc<Mutex<Arrived>>,
}

#[derive(Default)]
struct Arrived {
    posts: VecDeque<Post>,
    waker: Option<Waker>,
    /// It takes no further request yet.
    full: bool,
    blocked: Vec<Waker>,
}

impl Fake {
    pub fn set_full(&self, full: bool) {
        let mut arrived = self.arrived.lock().unwrap();
        arrived.full = full;
        arrived.blocked.drain(..).for_each(Waker::wake);
    }

    pub fn blocked(&self) -> usize {
        self.arrived.lock().unwrap().blocked.len()
    }

    pub async fn next(&self) -> Post {
        poll_fn(|cx| {
            let next = self.try_next();
            if next.is_none() {
                self.arrived.lock().unwrap().waker = Some(cx.waker().clone());
            }
            next.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    pub fn try_next(&self) -> Option<Post> {
        self.arrived.lock().unwrap().posts.pop_front()
    }
}

impl Service<Request<RequestBody>> for Fake {
    type Response = Response<FakeBody>;
    type Error = BoxError;
    type Future = Head;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let mut arrived = self.arrived.lock().unwrap();
        if arrived.full {
            arrived.blocked.push(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Head {
        let (parts, body) = request.into_parts();
        let message = serde_json::from_slice(body.message()).unwrap();
        assert_eq!((parts.method.as_str(), parts.uri.to_string().as_str()), ("POST", "http://fake/mcp"));
        let wire = Arc::new(Mutex::new(Wire::default()));
        let mut arrived = self.arrived.lock().unwrap();
        arrived.posts.push_back(Post { headers: parts.headers, message, wire: Arc::clone(&wire) });
        let waker = arrived.waker.take();
        drop(arrived);
        waker.into_iter().for_each(Waker::wake);
        Head { wire, handed_on: false }
    }
}

#[derive(Default)]
struct Wire {
    head: Option<Result<Response<()>, String>>,
    frames: VecDeque<Result<Bytes, String>>,
    ended: bool,
    gone: bool,
    client: Option<Waker>,
    server: Option<Waker>,
}

/// One request, at the server.
pub struct Post {
    pub headers: HeaderMap,
    pub message: Value,
    wire: Arc<Mutex<Wire>>,
}

impl Post {
    fn change(&self, change: impl FnOnce(&mut Wire)) {
        let mut wire = self.wire.lock().unwrap();
        change(&mut wire);
        let waker = wire.client.take();
        drop(wire);
        waker.into_iter().for_each(Waker::wake);
    }

    pub fn id(&self) -> i64 {
        self.message["id"].as_i64().unwrap()
    }

    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn head(&self, status: u16, headers: &[(&str, &str)]) {
        let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        self.change(|wire| wire.head = Some(Ok(response.body(()).unwrap())));
    }

    pub fn fail(&self, cause: &str) {
        self.change(|wire| wire.head = Some(Err(cause.into())));
    }

    pub fn data(&self, bytes: impl AsRef<[u8]>) {
        let bytes = Bytes::copy_from_slice(bytes.as_ref());
        self.change(|wire| wire.frames.push_back(Ok(bytes)));
    }

    pub fn cut(&self, cause: &str) {
        self.change(|wire| wire.frames.push_back(Err(cause.into())));
    }

    pub fn end(&self) {
        self.change(|wire| wire.ended = true);
    }

    /// A whole response.
    pub fn respond(&self, status: u16, kind: &str, body: impl AsRef<[u8]>) {
        self.head(status, &[("content-type", kind)]);
        self.data(body);
        self.end();
    }

    pub fn result(&self, result: &Value) {
        let message = json!({"jsonrpc": "2.0", "id": self.id(), "result": result});
        self.respond(200, "application/json", message.to_string());
    }

    pub fn text(&self, text: &str) {
        self.result(&tool_result(text));
    }

    pub fn error(&self, status: u16, code: i64) {
        let error = json!({"code": code, "message": "refused"});
        let message = json!({"jsonrpc": "2.0", "id": self.id(), "error": error});
        self.respond(status, "application/json", message.to_string());
    }

    pub fn stream(&self) {
        self.head(200, &[("content-type", "text/event-stream")]);
    }

    pub fn event(&self, message: &Value) {
        self.data(format!("data: {message}\n\n"));
    }

    pub fn progress(&self, progress: i64) {
        let token = &self.message["params"]["_meta"]["progressToken"];
        let params = json!({"progressToken": token, "progress": progress});
        self.event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
    }

    pub fn event_result(&self, result: &Value) {
        self.event(&json!({"jsonrpc": "2.0", "id": self.id(), "result": result}));
    }

    pub fn is_gone(&self) -> bool {
        self.wire.lock().unwrap().gone
    }

    /// Completes once the client has closed the stream.
    pub async fn gone(&self) {
        poll_fn(|cx| {
            let mut wire = self.wire.lock().unwrap();
            if wire.gone {
                return Poll::Ready(());
            }
            wire.server = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

pub fn tool_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn gone(mut wire: MutexGuard<'_, Wire>) {
    wire.gone = true;
    let waker = wire.server.take();
    drop(wire);
    waker.into_iter().for_each(Waker::wake);
}

/// A response that is awaited.
pub struct Head {
    wire: Arc<Mutex<Wire>>,
    handed_on: bool,
}

impl Future for Head {
    type Output = Result<Response<FakeBody>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut wire = self.wire.lock().unwrap();
        let Some(head) = wire.head.take() else {
            wire.client = Some(cx.waker().clone());
            return Poll::Pending;
        };
        drop(wire);
        self.handed_on = head.is_ok();
        let wire = Arc::clone(&self.wire);
        Poll::Ready(match head {
            Ok(head) => Ok(head.map(|()| FakeBody { wire })),
            Err(cause) => Err(cause.into()),
        })
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        if !self.handed_on {
            gone(self.wire.lock().unwrap());
        }
    }
}

pub struct FakeBody {
    wire: Arc<Mutex<Wire>>,
}

impl Body for FakeBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut wire = self.wire.lock().unwrap();
        match wire.frames.pop_front() {
            Some(Ok(bytes)) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Some(Err(cause)) => Poll::Ready(Some(Err(cause.into()))),
            None if wire.ended => Poll::Ready(None),
            None => {
                wire.client = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for FakeBody {
    fn drop(&mut self) {
        gone(self.wire.lock().unwrap());
    }
}

/// A client of a [`Fake`], which a lab moves on.
pub struct World {
    pub lab: Lab,
    pub client: Client,
    pub fake: Fake,
    pub driver: Task<()>,
}

pub fn world() -> World {
    world_with(setup(), Options::new())
}

pub fn setup() -> ClientSetup {
    Client::builder(Implementation::new("test", "1")).build().unwrap()
}

pub fn world_with(setup: ClientSetup, options: Options) -> World {
    let lab = Lab::new();
    let fake = Fake::default();
    let endpoint: Endpoint = "http://fake/mcp".parse().unwrap();
    let (client, driver): (_, Driver<_, _, _>) =
        connect_on(fake.clone(), endpoint, setup, options, Arc::new(lab.clock()));
    let driver = lab.spawn(driver);
    World { lab, client, fake, driver }
}

/// Polls once, which begins a call.
pub async fn begin<F: Future + Unpin>(future: &mut F) {
    assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx).is_pending())).await);
}

/// Lets everybody else have their turns.
pub async fn settle() {
    for _ in 0..20 {
        let mut yielded = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

pub fn codes<T: std::fmt::Debug>(result: Result<T, CallError>) -> &'static str {
    result.unwrap_err().code()
}

//! A service on virtual time, without sockets: requests go in, and what comes out is looked at part by part.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body::{Body as _, Frame};
use sansio_mcp_http::server::{Body, BodyError, Config, Service};
use sansio_mcp_memory::{Lab, Task};
use sansio_mcp_sdk::server::Builder;
use sansio_mcp_sdk::{Engine, Local};
use serde_json::{Value, json};

pub struct Rig {
    pub lab: Lab,
    pub engine: Engine,
    pub service: Service,
    pub driver: Task<()>,
}

impl Rig {
    pub fn new<S>(server: Builder<Local, S>, config: Config) -> Self {
        let lab = Lab::new();
        let (engine, driver) = Engine::new(server.build().unwrap(), Arc::new(lab.clock()));
        let driver = lab.spawn(driver);
        let service = Service::new(engine.clone(), config).unwrap();
        Self { lab, engine, service, driver }
    }

    /// Sends a request and reads all of its answer, as far as it comes.
    pub fn send<B: http_body::Body + 'static>(&self, request: Request<B>) -> Sent {
        self.send_as(request, true)
    }

    /// As [`send`](Self::send); the client may not read the body until it is told to.
    pub fn send_as<B: http_body::Body + 'static>(&self, request: Request<B>, reads: bool) -> Sent {
        let seen = Rc::new(RefCell::new(Seen::default()));
        let gate = Rc::new(Gate { open: Cell::new(reads), task: RefCell::new(None) });
        let future = self.service.call_shared(request);
        let (theirs, their_gate) = (Rc::clone(&seen), Rc::clone(&gate));
        let task = self.lab.spawn(async move {
            let (head, body) = future.await.unwrap().into_parts();
            {
                let mut seen = theirs.borrow_mut();
                seen.status = head.status.as_u16();
                seen.headers = head.headers;
            }
            read(body, &theirs, &their_gate).await;
        });
        self.lab.run_until_idle();
        Sent { seen, gate, task: Some(task), lab: self.lab.clone() }
    }

    /// What a request with this body is answered with.
    pub fn post(&self, body: &Value) -> Sent {
        self.send(post(body))
    }

    /// Nothing is being served, read or kept.
    pub fn assert_free(&self) {
        self.lab.run_until_idle();
        let facts = self.service.facts();
        assert_eq!((facts.streams, facts.held_bytes), (0, 0));
        let facts = self.engine.facts();
        assert_eq!((facts.running, facts.waiting, facts.channels, facts.subscriptions), (0, 0, 0, 0));
        assert_eq!(self.lab.clock().next_alarm(), None, "no alarm is left");
    }
}

async fn read(mut body: Body, seen: &RefCell<Seen>, gate: &Gate) {
    loop {
        std::future::poll_fn(|cx| gate.poll(cx)).await;
        if body.is_end_stream() {
            break;
        }
        match std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            None => break,
            Some(Ok(frame)) => seen.borrow_mut().parts.push(frame.into_data().unwrap()),
            Some(Err(error)) => {
                seen.borrow_mut().error = Some(error);
                break;
            }
        }
    }
    seen.borrow_mut().ended = true;
}

struct Gate {
    open: Cell<bool>,
    task: RefCell<Option<Waker>>,
}

impl Gate {
    fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        if self.open.get() {
            return Poll::Ready(());
        }
        *self.task.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// A request that was sent. Dropping it lets it go on.
pub struct Sent {
    seen: Rc<RefCell<Seen>>,
    gate: Rc<Gate>,
    task: Option<Task<()>>,
    lab: Lab,
}

#[derive(Default)]
struct Seen {
    /// 0: there is none yet.
    status: u16,
    headers: HeaderMap,
    parts: Vec<Bytes>,
    ended: bool,
    error: Option<BodyError>,
}

impl Sent {
    pub fn status(&self) -> u16 {
        self.seen.borrow().status
    }

    pub fn header(&self, name: &str) -> String {
        let seen = self.seen.borrow();
        seen.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    pub fn parts(&self) -> Vec<Bytes> {
        self.seen.borrow().parts.clone()
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.parts().concat()).unwrap()
    }

    pub fn ended(&self) -> bool {
        self.seen.borrow().ended
    }

    pub fn error(&self) -> Option<BodyError> {
        self.seen.borrow().error
    }

    /// The one message of an answer that is JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), "application/json", "{}", self.text());
        assert!(self.ended());
        serde_json::from_str(&self.text()).unwrap()
    }

    /// The messages of a stream so far.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), "text/event-stream", "{}", self.text());
        assert_eq!(self.header("x-accel-buffering"), "no");
        assert_eq!(self.header("cache-control"), "no-store");
        events(&self.text())
    }

    /// The code of the error that it was answered with.
    #[track_caller]
    pub fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap()
    }

    /// The client goes away.
    pub fn disconnect(mut self) {
        self.task.take().unwrap().abort();
        self.lab.run_until_idle();
    }

    /// The client reads from here on.
    pub fn read(&self) {
        self.gate.open.set(true);
        let task = self.gate.task.borrow_mut().take();
        task.into_iter().for_each(Waker::wake);
        self.lab.run_until_idle();
    }
}

pub fn events(text: &str) -> Vec<Value> {
    let data = text.split_terminator("\n\n").filter_map(|event| event.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// A body that comes in parts.
#[derive(Clone, Default)]
pub struct Parts {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Default)]
struct Inner {
    parts: VecDeque<Result<Bytes, &'static str>>,
    ended: bool,
    reader: Option<Waker>,
    polls: usize,
}

impl Parts {
    pub fn push(&self, part: impl Into<Bytes>) {
        self.change(|inner| inner.parts.push_back(Ok(part.into())));
    }

    pub fn fail(&self) {
        self.change(|inner| inner.parts.push_back(Err("cut")));
    }

    pub fn end(&self) {
        self.change(|inner| inner.ended = true);
    }

    /// How often it was asked for more.
    pub fn polls(&self) -> usize {
        self.inner.borrow().polls
    }

    fn change(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.inner.borrow_mut());
        let reader = self.inner.borrow_mut().reader.take();
        reader.into_iter().for_each(Waker::wake);
    }
}

impl http_body::Body for Parts {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        let mut inner = self.inner.borrow_mut();
        inner.polls += 1;
        match inner.parts.pop_front() {
            Some(part) => Poll::Ready(Some(part.map(Frame::data))),
            None if inner.ended => Poll::Ready(None),
            None => {
                inner.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// A body that is there at once.
pub fn whole(body: impl Into<Bytes>) -> Parts {
    let parts = Parts::default();
    parts.push(body);
    parts.end();
    parts
}

/// A message of this revision; `meta` is added to what every request carries.
pub fn message(method: &str, mut params: Value, meta: &Value) -> Value {
    let mut all = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (key, value) in meta.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    params["_meta"] = all;
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A call of a tool that asks for progress.
pub fn tool(name: &str) -> Value {
    let meta = json!({"progressToken": "p"});
    message("tools/call", json!({"name": name, "arguments": {}}), &meta)
}

/// A listen for the list of tools.
pub fn listen() -> Value {
    message("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}), &json!({}))
}

/// The POST of a message, with the headers that belong to it.
pub fn post(body: &Value) -> Request<Parts> {
    let mut request = Request::post("/mcp")
        .header("host", "localhost:3000")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28");
    if let Some(method) = body["method"].as_str() {
        request = request.header("mcp-method", method);
    }
    if let Some(name) = body["params"]["name"].as_str() {
        request = request.header("mcp-name", name);
    }
    request.body(whole(body.to_string())).unwrap()
}

/// The same with another value of one header, or without it.
pub fn with(mut request: Request<Parts>, name: &'static str, value: Option<&str>) -> Request<Parts> {
    request.headers_mut().remove(name);
    if let Some(value) = value {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    request
}

/// So many seconds.
pub fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

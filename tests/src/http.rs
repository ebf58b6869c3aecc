//! HTTP without sockets: what comes on a stream as a line is the body of a POST to the server's service, and the messages
//! of its response go back as lines. On the way everything about the response is looked at that HTTP knows: status,
//! headers, and which of the two forms it has.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body as _;
use sansio_mcp_http::mirror;
use sansio_mcp_http::server::{Mode, Service};
use sansio_mcp_memory::{Duplex, Lab, PipeWriter, StreamAcceptor};
use serde_json::Value;

use crate::bench::Rig;

/// How long a server may take before it begins a stream all the same.
const COMMIT: Duration = Duration::from_secs(15);

/// Serves every stream that a client opens, each in a task of the lab; completes when no more will come.
pub(crate) async fn serve_posts<S, B>(lab: Lab, service: S, mode: Mode, mut acceptor: StreamAcceptor)
where
    S: tower_service::Service<Request<String>, Response = Response<B>> + Clone + 'static,
    B: http_body::Body<Data = Bytes> + Unpin,
{
    while let Some(io) = acceptor.accept().await {
        let (inner, service) = (lab.clone(), service.clone());
        lab.spawn(async move {
            // Whoever has gone is served no more: everything of its request is dropped where it stands.
            let _gone = post(inner, service, mode, io).await;
        });
    }
}

/// The client has closed its stream.
struct Gone;

async fn post<S, B>(lab: Lab, mut service: S, mode: Mode, io: Duplex) -> Result<(), Gone>
where
    S: tower_service::Service<Request<String>, Response = Response<B>>,
    B: http_body::Body<Data = Bytes> + Unpin,
{
    let Duplex { mut reader, mut writer } = io;
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut chunk = [0; 4096];
        let read = poll_fn(|cx| Pin::new(&mut reader).poll_read(cx, &mut chunk));
        match unless_gone(&mut writer, read).await? {
            Ok(n) if n > 0 => line.extend_from_slice(&chunk[..n]),
            _ => return Ok(()),
        }
    }
    let text = String::from_utf8(line).expect("a line of text");
    let message: Value = serde_json::from_str(&text).expect("a line of JSON");
    let began = lab.clock().elapsed();
    let response = service.call(request(&message).body(text).expect("a request"));
    // A connection that breaks off is what a client sees of a server that has gone.
    let response = unless_gone(&mut writer, response).await?.map_err(|_| Gone)?;
    let (head, mut body) = response.into_parts();
    let mut reading =
        Reading { mode, is_events: is_events(&head.headers), status: head.status, held: Vec::new(), seen: 0 };
    reading.check_head(&head.headers);
    while let Some(part) = next(&mut writer, &mut body).await? {
        for line in reading.read(&part) {
            write(&mut writer, format!("{line}\n").as_bytes()).await?;
        }
    }
    let late = lab.clock().elapsed().saturating_sub(began) >= COMMIT;
    if let Some(line) = reading.end(&message, late) {
        write(&mut writer, format!("{line}\n").as_bytes()).await?;
    }
    Ok(())
}

async fn unless_gone<T>(writer: &mut PipeWriter, future: impl Future<Output = T>) -> Result<T, Gone> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if writer.poll_closed(cx).is_ready() {
            return Poll::Ready(Err(Gone));
        }
        future.as_mut().poll(cx).map(Ok)
    })
    .await
}

async fn next<B>(writer: &mut PipeWriter, body: &mut B) -> Result<Option<Vec<u8>>, Gone>
where
    B: http_body::Body<Data = Bytes> + Unpin,
{
    if body.is_end_stream() {
        return Ok(None);
    }
    let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx));
    match unless_gone(writer, frame).await? {
        None => Ok(None),
        Some(Ok(frame)) => Ok(Some(frame.into_data().expect("no trailers").to_vec())),
        // The stream ends in the middle.
        Some(Err(_)) => Err(Gone),
    }
}

async fn write(writer: &mut PipeWriter, mut bytes: &[u8]) -> Result<(), Gone> {
    while !bytes.is_empty() {
        match poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, bytes)).await {
            Ok(n) => bytes = &bytes[n..],
            Err(_) => return Err(Gone),
        }
    }
    Ok(())
}

/// A client that is nothing but HTTP requests.
pub struct Http {
    lab: Lab,
    service: Service,
}

/// A response that takes longer never ends.
const ENDLESS: Duration = Duration::from_mins(10);

/// A response, read to its end.
#[derive(Debug)]
pub struct Sent {
    pub status: u16,
    pub headers: HeaderMap,
    /// Of a stream those of its events, or the one that the body was.
    pub messages: Vec<Value>,
}

impl Http {
    /// A client of a server that is served over HTTP.
    pub fn new(rig: &Rig) -> Self {
        let service = rig.service().expect("HTTP has a service").clone();
        Self { lab: rig.lab().clone(), service }
    }

    /// The head that belongs to a message.
    pub fn head(&self, message: &Value) -> http::request::Builder {
        request(message)
    }

    /// Posts a message with the headers that belong to it, and these in their place or beside them.
    pub async fn send(&self, message: &Value, headers: &[(&'static str, &str)]) -> Sent {
        let mut request = request(message).body(message.to_string()).expect("a request");
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().expect("a value"));
        }
        self.raw(request).await
    }

    /// Posts a message with one of the headers that belong to it twice.
    pub async fn send_twice(&self, message: &Value, name: &'static str) -> Sent {
        let mut request = request(message).body(message.to_string()).expect("a request");
        let value = request.headers().get(name).expect("a header that belongs to it").clone();
        request.headers_mut().append(name, value);
        self.raw(request).await
    }

    /// Posts any body with the head that belongs to a message.
    pub async fn post(&self, message: &Value, body: String) -> Sent {
        self.raw(request(message).body(body).expect("a request")).await
    }

    /// Sends any request.
    pub async fn raw(&self, request: Request<impl http_body::Body>) -> Sent {
        let end = self.lab.clock().elapsed() + ENDLESS;
        let Ok(response) = self.service.call_shared(request).await;
        let (head, mut body) = response.into_parts();
        let mut bytes = Vec::new();
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            bytes.extend_from_slice(&frame.expect("a whole stream").into_data().expect("no trailers"));
            assert!(self.lab.clock().elapsed() < end, "it never ends");
        }
        let text = String::from_utf8(bytes).expect("text");
        let messages = if is_events(&head.headers) {
            let data = text.split_terminator("\n\n").filter_map(|event| event.strip_prefix("data: "));
            data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
        } else if text.is_empty() {
            Vec::new()
        } else {
            vec![serde_json::from_str(&text).expect("a body of JSON")]
        };
        Sent { status: head.status.as_u16(), headers: head.headers, messages }
    }
}

impl Sent {
    /// A header's value; empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("plain text"))
    }
}

/// The head of a POST of this message, by hand.
fn request(message: &Value) -> http::request::Builder {
    let mut request = Request::post("/mcp")
        .header("host", "127.0.0.1:3000")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    let version = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    request = request.header("mcp-protocol-version", version.as_str().unwrap_or("2026-07-28"));
    if let Some(method) = message["method"].as_str() {
        request = request.header("mcp-method", method);
        let name = match method {
            "tools/call" | "prompts/get" => message["params"]["name"].as_str(),
            "resources/read" => message["params"]["uri"].as_str(),
            _ => None,
        };
        if let Some(name) = name {
            request = request.header("mcp-name", mirror::encode(name));
        }
    }
    request
}

fn is_events(headers: &HeaderMap) -> bool {
    headers.get("content-type").is_some_and(|kind| kind == "text/event-stream")
}

/// One response as it comes.
struct Reading {
    mode: Mode,
    is_events: bool,
    status: StatusCode,
    held: Vec<u8>,
    /// Messages that came.
    seen: usize,
}

impl Reading {
    fn check_head(&self, headers: &HeaderMap) {
        let is = |name: &str, value: &str| headers.get(name).is_some_and(|known| known == value);
        if self.is_events {
            assert_ne!(self.mode, Mode::JsonOnly, "a stream where none may be");
            assert_eq!(self.status, StatusCode::OK, "readers of events look at no other status");
            assert!(is("x-accel-buffering", "no") && is("cache-control", "no-store"), "{headers:?}");
        } else if self.status == StatusCode::ACCEPTED {
            assert!(!headers.contains_key("content-type"), "{headers:?}");
        } else {
            assert!(is("content-type", "application/json"), "{headers:?}");
            assert!(
                self.mode != Mode::SseOnly || self.status != StatusCode::OK,
                "JSON where only events may be"
            );
        }
    }

    /// The messages that are complete with this part.
    fn read(&mut self, part: &[u8]) -> Vec<Value> {
        self.held.extend_from_slice(part);
        let mut messages = Vec::new();
        while self.is_events
            && let Some(end) = self.held.windows(2).position(|two| two == b"\n\n")
        {
            let event = String::from_utf8(self.held.drain(..end + 2).collect()).expect("text");
            if !event.starts_with(':') {
                let data = event.strip_prefix("data: ").expect("data alone, no id, no retry").trim_end();
                messages.push(serde_json::from_str(data).expect("an event of JSON in one line"));
            }
        }
        self.seen += messages.len();
        messages
    }

    /// The message that the whole body was. `late` says that the server had time enough to begin a stream.
    fn end(self, request: &Value, late: bool) -> Option<Value> {
        if self.is_events {
            assert!(self.held.is_empty(), "the stream ends within an event");
            let committed = late || self.seen > 1 || request["method"] == "subscriptions/listen";
            assert!(self.mode != Mode::Auto || committed, "a stream for one answer that came at once");
            return None;
        }
        if self.status == StatusCode::ACCEPTED {
            assert!(request.get("id").is_none() && self.held.is_empty(), "202 answers a notification");
            return None;
        }
        let answer: Value = serde_json::from_slice(&self.held).expect("a body of JSON");
        assert!(statuses_of(&answer).contains(&self.status.as_u16()), "{} of {answer}", self.status);
        Some(answer)
    }
}

/// The statuses that an answer may have that is JSON (basic/transports/streamable-http): what is wrong with params is found where
/// the request is taken in, or by its handler.
fn statuses_of(answer: &Value) -> &'static [u16] {
    match answer["error"]["code"].as_i64() {
        Some(-32601) => &[404],
        Some(1001) => &[503],
        Some(-32602) => &[200, 400],
        Some(-32700 | -32600 | -32022..=-32020) => &[400],
        _ => &[200],
    }
}

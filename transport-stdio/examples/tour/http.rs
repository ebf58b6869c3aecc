//! HTTP without a socket: what a client asks is shown and handed to a service, and so is what it answers.

use std::convert::Infallible;
use std::future::{Future, Ready, pending, poll_fn, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready as or_wait};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use sansio_mcp_http::client::{BoxError, RequestBody};
use sansio_mcp_http::http::{HeaderMap, Request, Response, header};
use serde_json::Value;
use tower_service::Service;

use crate::tap::shortened;
use crate::timeline::Timeline;
use crate::way::answer;

const THERE: &str = "     -->";
const BACK: &str = "     <--";
const CUT: &str = "the connection was cut";

/// The headers that are shown, of requests and of responses.
const ASKS: [&str; 2] = ["Mcp-Method", "Mcp-Name"];
const ANSWERS: [&str; 2] = ["Content-Type", "Retry-After"];

/// All connections between a client and its server; cut or not.
#[derive(Clone, Default)]
pub(crate) struct Line(Arc<Mutex<Cut>>);

#[derive(Default)]
struct Cut {
    cut: bool,
    waiting: Vec<Waker>,
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, Cut> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds it. Whoever drops this cuts it.
    pub(crate) async fn held(self) {
        struct Held(Line);
        impl Drop for Held {
            fn drop(&mut self) {
                let mut line = self.0.lock();
                line.cut = true;
                let waiting = std::mem::take(&mut line.waiting);
                drop(line);
                waiting.into_iter().for_each(Waker::wake);
            }
        }
        let _held = Held(self);
        pending::<()>().await;
    }

    fn poll_cut(&self, cx: &Context<'_>) -> Poll<BoxError> {
        let mut line = self.lock();
        if line.cut {
            return Poll::Ready(CUT.into());
        }
        if !line.waiting.iter().any(|known| known.will_wake(cx.waker())) {
            line.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

/// A service whose requests and responses are shown.
#[derive(Clone)]
pub(crate) struct Door<S> {
    service: S,
    timeline: Timeline,
    line: Line,
}

impl<S> Door<S> {
    pub(crate) fn new(service: S, timeline: &Timeline, line: &Line) -> Self {
        Self { service, timeline: timeline.clone(), line: line.clone() }
    }
}

/// A body that tells what is in it.
pub(crate) trait Told: Body {
    fn told(&self) -> &[u8];
}

impl Told for RequestBody {
    fn told(&self) -> &[u8] {
        self.message()
    }
}

impl<S, R, B> Service<Request<R>> for Door<S>
where
    S: Service<Request<R>, Response = Response<B>, Error = Infallible>,
    S::Future: 'static,
    R: Told,
{
    type Response = Response<Passing<B>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Passing<B>>, BoxError>>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.service.poll_ready(cx).map_err(|error| match error {})
    }

    fn call(&mut self, request: Request<R>) -> Self::Future {
        let timeline = self.timeline.clone();
        timeline.wire(THERE, &format!("POST {}{}", request.uri().path(), shown(request.headers(), &ASKS)));
        timeline.wire(THERE, &format!("     {}", shortened(&String::from_utf8_lossy(request.body().told()))));
        let response = Box::pin(self.service.call(request));
        let open = Open { timeline, line: self.line.clone(), over: false };
        Box::pin(async move {
            // Dropped in the opposite order: the stream is closed before its request hears of it.
            let mut response = response;
            let mut open = open;
            let response = poll_fn(|cx| match response.as_mut().poll(cx) {
                Poll::Ready(response) => Poll::Ready(response.map_err(|error| match error {})),
                Poll::Pending => open.poll_cut(cx).map(Err),
            });
            let (head, body) = response.await?.into_parts();
            open.timeline.wire(BACK, &format!("{}{}", head.status, shown(&head.headers, &ANSWERS)));
            let events =
                head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
            Ok(Response::from_parts(head, Passing { open, body, events, rest: Vec::new() }))
        })
    }
}

fn shown(headers: &HeaderMap, names: &[&str]) -> String {
    let value = |name| headers.get(name).and_then(|value| value.to_str().ok());
    names.iter().filter_map(|name| Some(format!("  {name}: {}", value(*name)?))).collect::<Vec<_>>().concat()
}

/// A request that is under way.
struct Open {
    timeline: Timeline,
    line: Line,
    over: bool,
}

impl Open {
    fn poll_cut(&mut self, cx: &Context<'_>) -> Poll<BoxError> {
        let cut = self.line.poll_cut(cx);
        if cut.is_ready() {
            self.over = true;
            self.timeline.wire("     -x-", CUT);
        }
        cut
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.over {
            self.timeline.wire(THERE, "closes the stream");
        }
    }
}

/// The body of a response, shown as it passes.
pub(crate) struct Passing<B> {
    /// Dropped first: the stream is closed before its request hears of it.
    open: Open,
    body: B,
    events: bool,
    /// What came of a line that has no end yet.
    rest: Vec<u8>,
}

impl<B> Passing<B> {
    fn show(&mut self, data: &[u8]) {
        self.rest.extend_from_slice(data);
        if !self.events {
            return;
        }
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if let Some(data) = line.strip_prefix("data:") {
                self.open.timeline.wire(BACK, &format!("     data: {}", shortened(data.trim_start())));
            } else if !line.is_empty() {
                self.open.timeline.wire(BACK, &format!("     {line}"));
            }
        }
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.open.over, true) && !self.rest.is_empty() {
            self.open
                .timeline
                .wire(BACK, &format!("     {}", shortened(&String::from_utf8_lossy(&self.rest))));
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Passing<B>
where
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) else {
            return Poll::Ready(Some(Err(or_wait!(this.open.poll_cut(cx)))));
        };
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            this.show(data);
        }
        if frame.is_none() || this.body.is_end_stream() {
            this.end();
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// One text as a body.
pub(crate) struct Text(Bytes);

impl Told for Text {
    fn told(&self) -> &[u8] {
        &self.0
    }
}

impl Body for Text {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let text = std::mem::take(&mut self.0);
        Poll::Ready((!text.is_empty()).then(|| Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }
}

/// Posts a call of a tool by hand; its answer.
pub(crate) async fn post<S, B>(door: &mut Door<S>, message: &str) -> Result<Value, BoxError>
where
    S: Service<Request<Text>, Response = Response<B>, Error = Infallible>,
    S::Future: 'static,
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let sent: Value = serde_json::from_str(message)?;
    let request = Request::post("http://127.0.0.1:3000/mcp")
        .header("Accept", "application/json, text/event-stream")
        .header("Content-Type", "application/json")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", sent["method"].as_str().unwrap_or_default())
        .header("Mcp-Name", sent["params"]["name"].as_str().unwrap_or_default())
        .body(Text(Bytes::copy_from_slice(message.as_bytes())))?;
    let mut body = door.call(request).await?.into_body();
    let mut answer = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        answer.extend_from_slice(frame?.data_ref().map_or(&[][..], |data| data));
    }
    Ok(serde_json::from_slice(&answer)?)
}

/// A server that answers every request with the same result.
#[derive(Clone)]
pub(crate) struct Script(Value);

impl Script {
    pub(crate) fn new(result: Value) -> Self {
        Self(result)
    }
}

impl Service<Request<RequestBody>> for Script {
    type Response = Response<Text>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Text>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let request: Value = serde_json::from_slice(request.body().message()).unwrap_or_default();
        let mut response = Response::new(Text(answer(&request, &self.0).into()));
        let json = header::HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        ready(Ok(response))
    }
}

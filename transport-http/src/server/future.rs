//! The response to one request, in the making.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use pin_project_lite::pin_project;
use sansio_mcp_sdk::clock::Alarm;
use sansio_mcp_sdk::protocol::server::{Kind, Transmit};

use super::body::Body;
use super::refusal::{empty, json};
use super::service::{Asked, Inner, Served};
use super::stream::{EVENT, Stream};
use crate::accept::{EVENTS, Form};
use crate::sse::{self, NO_BUFFERING};
use crate::status::{NOTED, Rejection, of_answer};

pin_project! {
    /// The response to one request. Dropping it cancels the request.
    #[must_use = "dropping a response cancels its request"]
    pub struct ResponseFuture<B: http_body::Body> {
        #[pin]
        stage: Stage<B>,
    }
}

pin_project! {
    #[project = StageProj]
    enum Stage<B: http_body::Body> {
        Done { response: Option<Response<Body>> },
        Reading { #[pin] body: B, reading: Option<Reading<B::Data>> },
        Serving { inner: Arc<Inner>, serving: Option<Serving> },
    }
}

/// A request whose body is being read.
struct Reading<D> {
    inner: Arc<Inner>,
    asked: Asked,
    read: Read<D>,
    alarm: Option<Alarm>,
}

/// What was read of a body. Nearly always it comes in one piece, which is not copied.
enum Read<D> {
    Nothing,
    One(D),
    Copied(Vec<u8>),
}

/// A request that is being served and whose answer has no form yet.
struct Serving {
    served: Served,
    /// It was polled, and had nothing to say.
    waited: bool,
    /// When a stream begins at the latest.
    commit: Option<Alarm>,
}

impl<B: http_body::Body> ResponseFuture<B> {
    pub(super) fn done(response: Response<Body>) -> Self {
        Self { stage: Stage::Done { response: Some(response) } }
    }

    pub(super) fn read(inner: Arc<Inner>, asked: Asked, body: B) -> Self {
        let reading = Reading { inner, asked, read: Read::Nothing, alarm: None };
        Self { stage: Stage::Reading { body, reading: Some(reading) } }
    }
}

impl<B: http_body::Body> Future for ResponseFuture<B> {
    type Output = Result<Response<Body>, Infallible>;

    /// # Panics
    /// When it is polled after it was ready.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut stage = self.project().stage;
        loop {
            let next = match stage.as_mut().project() {
                StageProj::Done { response } => {
                    #[allow(clippy::expect_used)] // a future's contract
                    let response = response.take().expect("polled after it was ready");
                    return Poll::Ready(Ok(response));
                }
                StageProj::Reading { body, reading } => {
                    let Some(read) = reading else { return Poll::Pending };
                    let whole = ready!(read.poll(body, cx));
                    let Some(Reading { inner, asked, read, .. }) = reading.take() else {
                        return Poll::Pending;
                    };
                    let served = match whole {
                        Ok(()) => read.with(|bytes| inner.serve(asked, bytes)),
                        Err(rejection) => Err(Box::new(inner.reject(rejection, &asked.admitted))),
                    };
                    match served {
                        Ok(served) => {
                            let serving = Serving { served, waited: false, commit: None };
                            Stage::Serving { inner, serving: Some(serving) }
                        }
                        Err(response) => Stage::Done { response: Some(*response) },
                    }
                }
                StageProj::Serving { inner, serving } => {
                    let Some(waiting) = serving else { return Poll::Pending };
                    let ready = ready!(waiting.poll(inner, cx));
                    let Some(Serving { served, .. }) = serving.take() else { return Poll::Pending };
                    return Poll::Ready(Ok(ready.respond(inner, served)));
                }
            };
            stage.set(next);
        }
    }
}

impl<D: Buf> Reading<D> {
    /// Reads on to the end.
    fn poll<B: http_body::Body<Data = D>>(
        &mut self,
        mut body: Pin<&mut B>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Rejection>> {
        let limits = &self.inner.config.limits;
        while !body.is_end_stream() {
            let Poll::Ready(frame) = body.as_mut().poll_frame(cx) else {
                let clock = &*self.inner.clock;
                let time = limits.body_time;
                let alarm = self.alarm.get_or_insert_with(|| Alarm::new(clock, clock.mono() + time));
                return alarm.poll(clock, cx).map(|()| Err(Rejection::Timeout));
            };
            let frame = match frame {
                None => break,
                Some(Ok(frame)) => frame,
                Some(Err(_)) => return Poll::Ready(Err(Rejection::Broken)),
            };
            let Ok(data) = frame.into_data() else { continue };
            let more = data.remaining();
            if self.read.len() + more > limits.body_bytes {
                return Poll::Ready(Err(Rejection::TooLarge));
            }
            if let Err(rejection) = self.asked.open.hold(more, limits) {
                return Poll::Ready(Err(rejection));
            }
            self.read.push(data);
        }
        Poll::Ready(Ok(()))
    }
}

impl<D: Buf> Read<D> {
    fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::One(data) => data.remaining(),
            Self::Copied(bytes) => bytes.len(),
        }
    }

    fn push(&mut self, data: D) {
        *self = match std::mem::replace(self, Self::Nothing) {
            Self::Nothing if data.chunk().len() == data.remaining() => Self::One(data),
            Self::Nothing => Self::Copied(copy(Vec::with_capacity(data.remaining()), data)),
            Self::One(first) => {
                let bytes = Vec::with_capacity((first.remaining() + data.remaining()) * 2);
                Self::Copied(copy(copy(bytes, first), data))
            }
            Self::Copied(bytes) => Self::Copied(copy(bytes, data)),
        }
    }

    fn with<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T {
        match self {
            Self::Nothing => look(b""),
            Self::One(data) => look(data.chunk()),
            Self::Copied(bytes) => look(bytes),
        }
    }
}

fn copy(mut bytes: Vec<u8>, mut data: impl Buf) -> Vec<u8> {
    while data.has_remaining() {
        let chunk = data.chunk();
        bytes.extend_from_slice(chunk);
        let read = chunk.len();
        data.advance(read);
    }
    bytes
}

/// What a response begins with.
enum Ready {
    /// The answer, as JSON.
    Answer(StatusCode, Vec<u8>),
    /// A stream of events, beginning with these. The last may be among them.
    Events { first: Vec<u8>, last: bool },
    /// There is no answer, and there will be none.
    Nothing,
}

impl Serving {
    fn poll(&mut self, inner: &Inner, cx: &mut Context<'_>) -> Poll<Ready> {
        let mut message = Vec::new();
        let taken = self.served.exchange.poll_transmit(cx, &mut message);
        let Poll::Ready(taken) = taken else {
            return self.poll_commit(inner, cx).map(|()| Ready::Events { first: message, last: false });
        };
        Poll::Ready(match taken {
            None => Ready::Nothing,
            Some(Transmit { kind: Kind::Response(status), .. }) => match of_answer(status) {
                StatusCode::OK if self.served.form == Some(Form::Events) => {
                    Ready::Events { first: event(&message), last: true }
                }
                status => Ready::Answer(status, message),
            },
            Some(_) => {
                // What is ready with it goes out with it.
                let mut first = event(&message);
                let max = inner.config.limits.frame_bytes;
                let more = self.served.exchange.poll_fill(cx, &mut first, max, EVENT);
                Ready::Events { first, last: matches!(more, Poll::Ready(more) if more.is_last()) }
            }
        })
    }

    /// Nothing is there yet: whether a stream begins all the same.
    fn poll_commit(&mut self, inner: &Inner, cx: &mut Context<'_>) -> Poll<()> {
        if self.served.form == Some(Form::Json) {
            return Poll::Pending;
        }
        let clock = &*inner.clock;
        if !std::mem::replace(&mut self.waited, true) {
            // Most answers are there when the driver has had its turn: an alarm is for those that are not.
            inner.turn.wait(cx.waker());
            return Poll::Pending;
        }
        let time = inner.config.limits.commit_time;
        let commit = self.commit.get_or_insert_with(|| Alarm::new(clock, clock.mono() + time));
        commit.poll(clock, cx)
    }
}

impl Ready {
    fn respond(self, inner: &Inner, served: Served) -> Response<Body> {
        let Served { exchange, admitted, open, notification, .. } = served;
        let mut response = match self {
            Self::Nothing if notification => empty(NOTED),
            Self::Nothing => return inner.reject(Rejection::Closing, &admitted),
            Self::Answer(status, message) => json(status, message),
            Self::Events { first, last: true } => events(Body::full(first.into())),
            Self::Events { first, last: false } => {
                let clock = Arc::clone(&inner.clock);
                events(Body::stream(Stream::new(exchange, open, first, &inner.config.limits, clock)))
            }
        };
        inner.config.policy.mark(Some(&admitted), response.headers_mut());
        response
    }
}

/// A message as an event.
fn event(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + EVENT.before.len() + EVENT.after.len());
    sse::message(&mut out, message);
    out
}

fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let (name, value) = NO_BUFFERING;
    headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    response
}

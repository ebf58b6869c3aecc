//! Bare hyper: the body is collected, read and checked by serde, and answered with the same bytes; nothing else.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};

use super::place::Held;
use crate::bare_chain::{Call, Refused, read};
use crate::load::PROGRESS_STEPS;

/// Room for an event of progress.
const EVENT: usize = 160;

/// How bare hyper answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answering {
    /// One message of JSON.
    Json,
    /// Events, each a frame of its own, in a body whose length is not known beforehand.
    Streamed,
    /// All events in one frame.
    AtOnce,
}

impl Answering {
    /// Answers a request. One of `hold` never ends; one of a subscription gets the acknowledgement alone.
    pub async fn answer(self, request: Request<Incoming>) -> Result<Response<BareBody>, hyper::Error> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let answered = match read(&body, "echo") {
            Ok(call) => self.call(&call, 0),
            Err(Refused::UnknownTool) => match read(&body, "echo_progress") {
                Ok(call) => self.call(&call, PROGRESS_STEPS),
                Err(refused) => Err(refused),
            },
            Err(refused) => Err(refused),
        };
        match answered {
            Ok(response) => Ok(response),
            Err(refused) => Ok(other(&head.headers, &refused).await),
        }
    }

    fn call(self, call: &Call<'_>, progress: u32) -> Result<Response<BareBody>, Refused> {
        if self == Self::Json {
            let mut out = Vec::with_capacity(call.room());
            call.answer(&mut out)?;
            let mut response = Response::new(BareBody::Whole(Some(out.into())));
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            return Ok(response);
        }
        let mut events = Vec::with_capacity(progress as usize + 1);
        let mut out = Vec::with_capacity(call.room() + EVENT * progress as usize);
        for step in 1..=progress + 1 {
            out.extend_from_slice(b"data: ");
            if step > progress {
                call.answer(&mut out)?;
            } else {
                call.progress(step, &mut out)?;
            }
            out.extend_from_slice(b"\n\n");
            if self == Self::Streamed {
                events.push(std::mem::replace(&mut out, Vec::with_capacity(call.room())).into());
            }
        }
        if self == Self::AtOnce {
            return Ok(stream(BareBody::Whole(Some(out.into()))));
        }
        Ok(stream(BareBody::Frames {
            events: events.into_iter(),
            open: false,
        }))
    }
}

/// What is no call of `echo`.
async fn other(head: &HeaderMap, refused: &Refused) -> Response<BareBody> {
    let named = |name| head.get(name).map_or(&b""[..], HeaderValue::as_bytes);
    if named("mcp-name") == b"hold" {
        let _held = Held::begun();
        return std::future::pending().await;
    }
    if named("mcp-method") == b"subscriptions/listen" && named(ACCEPT.as_str()).ends_with(b"event-stream") {
        let acknowledged = Bytes::from_static(
            b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{}}\n\n",
        );
        return stream(BareBody::Frames {
            events: vec![acknowledged].into_iter(),
            open: true,
        });
    }
    let mut response = Response::new(BareBody::Whole(Some(refused.to_string().into())));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

fn stream(body: BareBody) -> Response<BareBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// What bare hyper answers with.
pub enum BareBody {
    /// One frame.
    Whole(Option<Bytes>),
    /// One frame after the other.
    Frames {
        /// Those that are left.
        events: std::vec::IntoIter<Bytes>,
        /// It does not end with them.
        open: bool,
    },
}

impl Body for BareBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut *self {
            Self::Whole(bytes) => bytes.take(),
            Self::Frames { events, open } => match events.next() {
                // Nobody wakes it: it is open until its client goes.
                None if *open => return Poll::Pending,
                next => next,
            },
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Frames { events, open } => !open && events.as_slice().is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Frames { .. } => SizeHint::default(),
        }
    }
}

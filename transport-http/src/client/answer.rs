//! The body of a response, as it comes: one message, or events.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::{HeaderMap, StatusCode};
use http_body::Body;
use sansio_mcp::client::{StreamId, TransportError};
use sansio_mcp::code::wire;
use sansio_mcp::wire::{Envelope, Message};
use sansio_mcp_sdk::client::ClientConnection;

use super::failure::{chain, code, of_status};
use super::head::Kind;
use super::options::HttpLimits;
use super::tools::Tools;
use super::{BoxError, failure};
use crate::sse::{Read, Reader};
use crate::status::{Arrived, arrived, speaks_modern};

/// Frames of one body in one turn.
const FRAMES: usize = 32;
/// The most that is set aside because a length was announced.
const RESERVE: u64 = 64 * 1024;

/// The head of a response, and what was read of its body.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    form: Form,
}

enum Form {
    Json(Vec<u8>),
    Events(Reader),
    /// A status of failure: what comes at once of its body is shown to people.
    Failed,
}

/// What became of the request.
pub(super) enum Ended {
    /// It was answered; `true` if the body is over too.
    Answered(bool),
    /// The stream was lost.
    Lost(String),
    /// It came to something else than an answer.
    Failed(TransportError),
}

/// Where messages go.
pub(super) struct Target<'a> {
    pub(super) connection: &'a ClientConnection,
    pub(super) stream: StreamId,
    pub(super) kind: Kind,
    pub(super) tools: &'a mut Tools,
    pub(super) limits: &'a HttpLimits,
}

impl Answer {
    /// Judges a head. Some end the request without their body.
    pub(super) fn new(
        status: StatusCode,
        headers: HeaderMap,
        limits: &HttpLimits,
        kind: Kind,
    ) -> Result<Self, TransportError> {
        let form = match arrived(status, &headers) {
            Arrived::Json => Form::Json(Vec::new()),
            Arrived::Events => Form::Events(Reader::new(limits.events)),
            Arrived::Failed => Form::Failed,
            Arrived::NoAnswer => {
                let kind = headers.get(http::header::CONTENT_TYPE);
                let kind = kind.map_or("nothing".into(), |kind| String::from_utf8_lossy(kind.as_bytes()));
                let cause = format!("status {status} with {kind}");
                return Err(TransportError::new(code::NO_ANSWER, cause).with_status(status.as_u16()));
            }
            Arrived::Redirected => {
                return Err(of_status(status, &headers, &[], kind == Kind::Discover));
            }
        };
        Ok(Self { status, headers, form })
    }

    /// Reads what is there.
    pub(super) fn poll<B>(
        &mut self,
        mut body: Pin<&mut B>,
        cx: &mut Context<'_>,
        target: &mut Target<'_>,
    ) -> Poll<Ended>
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        for _ in 0..FRAMES {
            let frame = match body.as_mut().poll_frame(cx) {
                Poll::Pending if matches!(self.form, Form::Failed) => None,
                polled => ready!(polled),
            };
            let mut data = match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => data,
                    Err(_trailers) => continue,
                },
                Some(Err(error)) => {
                    let error: BoxError = error.into();
                    return Poll::Ready(Ended::Lost(format!("the response was cut: {}", chain(&*error))));
                }
                None => return Poll::Ready(self.end(target)),
            };
            let over = body.is_end_stream();
            if let Some(ended) = self.data(&mut data, over, body.size_hint().lower(), target) {
                return Poll::Ready(ended);
            }
        }
        // Others have their turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn data(
        &mut self,
        data: &mut impl Buf,
        over: bool,
        to_come: u64,
        target: &mut Target<'_>,
    ) -> Option<Ended> {
        match &mut self.form {
            Form::Failed => {
                let error =
                    of_status(self.status, &self.headers, data.chunk(), target.kind == Kind::Discover);
                Some(Ended::Failed(error))
            }
            Form::Json(message) => {
                if data.remaining() > target.limits.body.saturating_sub(message.len()) {
                    return Some(too_large(self.status));
                }
                if over && message.is_empty() && data.chunk().len() == data.remaining() {
                    return Some(self.whole(data.chunk(), target));
                }
                if message.is_empty() {
                    let room = to_come.min(RESERVE) as usize;
                    message.reserve(data.remaining() + room);
                }
                while data.has_remaining() {
                    let chunk = data.chunk();
                    message.extend_from_slice(chunk);
                    let read = chunk.len();
                    data.advance(read);
                }
                if over { Some(self.end(target)) } else { None }
            }
            Form::Events(reader) => {
                while data.has_remaining() {
                    let mut chunk = data.chunk();
                    let read = chunk.len();
                    while let Some(read) = reader.read(&mut chunk) {
                        let event = match read {
                            Read::Event(event) => event,
                            Read::TooLong => return Some(too_large(self.status)),
                        };
                        // An event without data is no message.
                        if !event.is_message() || event.data.is_empty() {
                            continue;
                        }
                        match deliver(target, self.status, event.data.as_bytes()) {
                            Ok(true) => {}
                            Ok(false) => return Some(Ended::Answered(over)),
                            Err(error) => return Some(Ended::Failed(error)),
                        }
                    }
                    data.advance(read);
                }
                if over { Some(self.end(target)) } else { None }
            }
        }
    }

    /// The body is over.
    fn end(&mut self, target: &mut Target<'_>) -> Ended {
        match &mut self.form {
            Form::Failed => {
                Ended::Failed(of_status(self.status, &self.headers, &[], target.kind == Kind::Discover))
            }
            Form::Json(message) => {
                let message = std::mem::take(message);
                self.whole(&message, target)
            }
            Form::Events(reader) if reader.is_within_event() => {
                Ended::Lost("the stream ended within an event, before the answer".into())
            }
            Form::Events(_) => Ended::Lost("the stream ended before the answer".into()),
        }
    }

    /// The message that the body was.
    fn whole(&self, message: &[u8], target: &mut Target<'_>) -> Ended {
        let awaited = if message.is_empty() { Ok(true) } else { deliver(target, self.status, message) };
        match awaited {
            Ok(false) => return Ended::Answered(true),
            Ok(true) => {}
            Err(error) => return Ended::Failed(error),
        }
        if !self.status.is_success() {
            let discover = target.kind == Kind::Discover;
            return Ended::Failed(of_status(self.status, &self.headers, message, discover));
        }
        let error = if message.is_empty() {
            TransportError::new(code::NO_ANSWER, format!("status {} with an empty body", self.status))
        } else {
            TransportError::new(code::BAD_ANSWER, "the body is not the answer to the request")
        };
        Ended::Failed(error.with_status(self.status.as_u16()))
    }
}

/// Hands a message in; whether the request still waits for its answer.
fn deliver(target: &mut Target<'_>, status: StatusCode, message: &[u8]) -> Result<bool, TransportError> {
    let Target { connection, stream, kind, .. } = *target;
    match kind {
        Kind::Plain | Kind::Listen => Ok(connection.handle_message(stream, message)),
        Kind::ListTools => Ok(connection.handle_message(stream, &target.tools.screen(message))),
        Kind::Discover => match legacy(status, message) {
            Some(error) => Err(error),
            None => Ok(connection.handle_message(stream, message)),
        },
    }
}

/// An error in answer to `server/discover` that a server of this revision does not give (basic/versioning, "Backward
/// Compatibility with Initialization-Based Versions").
fn legacy(status: StatusCode, message: &[u8]) -> Option<TransportError> {
    if !matches!(status.as_u16(), 200 | 400 | 404 | 405) || speaks_modern(status, message) {
        return None;
    }
    let envelope = Envelope::parse(message).ok()?;
    let Message::Response(response) = envelope.message() else { return None };
    let error = response.outcome.as_ref().err().filter(|error| error.code != wire::BUSY)?;
    let cause = format!("server/discover was refused: {} ({})", &*error.message, error.code);
    Some(TransportError::new(failure::code::LEGACY_SERVER, cause).with_status(status.as_u16()))
}

fn too_large(status: StatusCode) -> Ended {
    let error = TransportError::new(code::TOO_LARGE, "the answer is longer than the limits allow");
    Ended::Failed(error.with_status(status.as_u16()))
}

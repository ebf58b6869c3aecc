//! The body of a response.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::stream::Stream;

/// The body of a response: nothing, one message, or a stream of events. Dropping a stream cancels its request.
#[must_use = "dropping the body of a stream cancels its request"]
pub struct Body(Kind);

enum Kind {
    Empty,
    Full(Bytes),
    Stream(Stream),
}

/// A stream that ends in the middle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// Its client read nothing for [`Limits::write_time`](super::Limits::write_time); the request was cancelled.
    #[error("the client does not read")]
    Stalled,
}

impl Body {
    pub(super) fn empty() -> Self {
        Self(Kind::Empty)
    }

    pub(super) fn full(bytes: Bytes) -> Self {
        Self(if bytes.is_empty() { Kind::Empty } else { Kind::Full(bytes) })
    }

    pub(super) fn stream(stream: Stream) -> Self {
        Self(Kind::Stream(stream))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        match &mut this.0 {
            Kind::Empty => Poll::Ready(None),
            Kind::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                this.0 = Kind::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Kind::Stream(stream) => stream.poll_data(cx).map(|part| part.map(|part| part.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Empty => true,
            Kind::Full(_) => false,
            Kind::Stream(stream) => stream.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Stream(_) => SizeHint::default(),
        }
    }
}

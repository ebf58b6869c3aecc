//! The body of a POST: one message.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// The body of a POST: one message, known in whole.
#[derive(Clone, Debug, Default)]
pub struct RequestBody {
    message: Bytes,
}

impl RequestBody {
    pub(super) fn new(message: Bytes) -> Self {
        Self { message }
    }

    /// The message, as far as it was not taken yet.
    pub fn message(&self) -> &[u8] {
        &self.message
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let message = std::mem::take(&mut self.get_mut().message);
        Poll::Ready((!message.is_empty()).then(|| Ok(Frame::data(message))))
    }

    fn is_end_stream(&self) -> bool {
        self.message.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.message.len() as u64)
    }
}

//! A call as a stream: progress, then the result.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::stream::FusedStream;

use super::call::Call;
use super::error::CallError;
use super::progress::Progress;

/// One item of [`Events`].
#[derive(Clone, PartialEq, Debug)]
pub enum CallEvent<T> {
    /// The call goes on.
    Progress(Progress),
    /// The call has ended; the last item.
    Result(Result<T, CallError>),
}

/// A call as a stream. Made when it is first polled; dropping it before its last item cancels the call.
#[must_use = "a call is not made before it is polled"]
pub struct Events<T> {
    call: Call<T>,
    result: Option<Result<T, CallError>>,
    ended: bool,
}

impl<T> Events<T> {
    pub(super) fn new(call: Call<T>) -> Self {
        Self { call, result: None, ended: false }
    }

    /// The next item; `None` after the result.
    pub async fn next(&mut self) -> Option<CallEvent<T>>
    where
        T: Unpin,
    {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Gives the call up; see [`Call::cancel`].
    pub fn cancel(&mut self, reason: &str) {
        self.call.cancel(reason);
    }
}

impl<T: Unpin> Stream for Events<T> {
    type Item = CallEvent<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Some(progress) = this.call.next_in_batch() {
            return Poll::Ready(Some(CallEvent::Progress(progress)));
        }
        if this.ended {
            return Poll::Ready(None);
        }
        if this.result.is_none() {
            let (outcome, batch) = this.call.poll_batch(cx, true);
            if let Poll::Ready(result) = outcome {
                this.result = Some(result);
            }
            if let Some(progress) = batch.pop_front() {
                return Poll::Ready(Some(CallEvent::Progress(progress)));
            }
        }
        match this.result.take() {
            Some(result) => {
                this.ended = true;
                Poll::Ready(Some(CallEvent::Result(result)))
            }
            None => Poll::Pending,
        }
    }
}

impl<T: Unpin> FusedStream for Events<T> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

//! Subscriptions (basic/patterns/subscriptions).

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::stream::FusedStream;
use sansio_mcp::client::ListenSpec;
use sansio_mcp::subscription::{Change, Changed};
use serde::Deserialize;

use super::error::CallError;
use super::shared::{Handle, Told};

/// One item of a [`Subscription`].
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ListenEvent {
    /// The server has acknowledged the subscription; the first item, unless the end is.
    Acknowledged(Agreed),
    /// Something changed. Equal changes that nobody has looked at yet are one item.
    Changed(Changed),
    /// The subscription has ended; the last item.
    Ended(ListenEnd),
}

/// What the server agreed to tell of, of what was asked for (basic/patterns/subscriptions, "Acknowledgment").
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Agreed {
    /// What it tells of.
    pub granted: Vec<Changed>,
    /// What it does not; where it matters it has to be looked at from time to time.
    pub declined: Vec<Changed>,
}

/// How a subscription ended.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ListenEnd {
    /// The server ended it properly, for example because it shuts down.
    Graceful,
    /// It was cancelled, or the client closed, here.
    Cancelled,
    /// The connection was lost, with the transport's cause.
    Lost(Arc<str>),
    /// It could not be opened, was not acknowledged in time, or was ended by an error.
    Refused(CallError),
}

impl ListenEnd {
    /// The stable name of this end.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Graceful => "GRACEFUL",
            Self::Cancelled => "CANCELLED",
            Self::Lost(_) => "LOST",
            Self::Refused(error) => error.code(),
        }
    }
}

/// A subscription as a stream: the acknowledgement, changes, and one end. Opened when it is first polled; dropping it
/// before its end cancels it.
///
/// What changed between two subscriptions is not told by the second: look at everything again once it is
/// acknowledged.
#[must_use = "a subscription is not opened before it is polled"]
pub struct Subscription {
    handle: Arc<Handle>,
    spec: ListenSpec,
    stage: Stage,
    /// What was acknowledged, once it was.
    agreed: Option<Agreed>,
}

enum Stage {
    Described,
    Made(u32),
    Over,
}

impl Subscription {
    pub(super) fn new(handle: Arc<Handle>, spec: ListenSpec) -> Self {
        Self { handle, spec, stage: Stage::Described, agreed: None }
    }

    /// The next item; `None` after the end.
    pub async fn next(&mut self) -> Option<ListenEvent> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Opens it and waits for the acknowledgement, which is then no item of the stream any more. Later it gives the same
    /// again, at once, and takes nothing from the stream.
    ///
    /// # Errors
    /// It ended before it was acknowledged. Asked once more it has no other end to tell than that it is
    /// [closed](CallError::Closed).
    pub async fn acknowledged(&mut self) -> Result<Agreed, ListenEnd> {
        if let Some(agreed) = &self.agreed {
            return Ok(agreed.clone());
        }
        match self.next().await {
            Some(ListenEvent::Acknowledged(agreed)) => Ok(agreed),
            Some(ListenEvent::Ended(end)) => Err(end),
            // Nothing is told before the acknowledgement, which was none.
            Some(ListenEvent::Changed(_)) | None => Err(ListenEnd::Refused(CallError::Closed)),
        }
    }

    /// Ends it: its end is [`ListenEnd::Cancelled`], unless it had ended before. A server that knows of it is told the
    /// reason.
    pub fn cancel(&mut self, reason: &str) {
        match self.stage {
            Stage::Described => self.stage = Stage::Over,
            Stage::Made(slot) => self.handle.shared.cancel(slot, Some(reason)),
            Stage::Over => {}
        }
    }

    fn over(&mut self, end: ListenEnd) -> Poll<Option<ListenEvent>> {
        self.stage = Stage::Over;
        tracing::debug!(code = end.code(), "a subscription ended");
        Poll::Ready(Some(ListenEvent::Ended(end)))
    }
}

impl Stream for Subscription {
    type Item = ListenEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ListenEvent>> {
        let this = self.get_mut();
        let slot = match this.stage {
            Stage::Over => return Poll::Ready(None),
            Stage::Made(slot) => slot,
            Stage::Described => {
                return match this.handle.shared.listen(&this.spec, cx.waker()) {
                    Ok(slot) => {
                        this.stage = Stage::Made(slot);
                        Poll::Pending
                    }
                    Err(CallError::Lost(cause)) => this.over(ListenEnd::Lost(cause)),
                    Err(error) => this.over(ListenEnd::Refused(error)),
                };
            }
        };
        match this.handle.shared.hear(slot, cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Told::Changed(change)) => Poll::Ready(Some(ListenEvent::Changed(change))),
            Poll::Ready(Told::Ended(end)) => this.over(match end {
                Ok(_) => ListenEnd::Graceful,
                Err(CallError::Cancelled | CallError::Closed) => ListenEnd::Cancelled,
                Err(CallError::Lost(cause)) => ListenEnd::Lost(cause),
                Err(error) => ListenEnd::Refused(error),
            }),
            Poll::Ready(Told::Acknowledged(filter)) => match agreed(&this.spec, &filter) {
                Ok(agreed) => {
                    this.agreed = Some(agreed.clone());
                    Poll::Ready(Some(ListenEvent::Acknowledged(agreed)))
                }
                Err(error) => {
                    this.handle.shared.abandon(slot);
                    this.over(ListenEnd::Refused(CallError::Decode(error.to_string().into())))
                }
            },
        }
    }
}

impl FusedStream for Subscription {
    fn is_terminated(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Stage::Made(slot) = self.stage {
            self.handle.shared.abandon(slot);
        }
    }
}

/// Holds the acknowledged filter against what was asked for. What is granted beyond that never comes through.
fn agreed(spec: &ListenSpec, filter: &str) -> Result<Agreed, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Filter {
        tools_list_changed: Option<bool>,
        prompts_list_changed: Option<bool>,
        resources_list_changed: Option<bool>,
        resource_subscriptions: Option<std::collections::BTreeSet<Box<str>>>,
    }
    let filter: Filter = serde_json::from_str(filter)?;
    let grants = |change: &Change<'_>| match change {
        Change::Tools => filter.tools_list_changed == Some(true),
        Change::Prompts => filter.prompts_list_changed == Some(true),
        Change::Resources => filter.resources_list_changed == Some(true),
        Change::Resource(uri) => filter.resource_subscriptions.as_ref().is_some_and(|all| all.contains(*uri)),
        // Change is open: what this version does not know it cannot have asked for.
        _ => false,
    };
    let (granted, declined): (Vec<_>, Vec<_>) = spec.changes().partition(grants);
    let owned = |changes: Vec<Change<'_>>| changes.into_iter().map(Changed::from).collect();
    Ok(Agreed { granted: owned(granted), declined: owned(declined) })
}

//! A subscription that is opened again when it ends without anybody here having wished it.

use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_core::stream::FusedStream;
use sansio_mcp::client::{ListenSpec, Timeout};
use sansio_mcp::subscription::Changed;
use sansio_mcp::time::Mono;

use super::Client;
use super::error::CallError;
use super::listen::{Agreed, ListenEnd, ListenEvent, Subscription};
use crate::clock::{Clock, Sleep};

type Connecting = Pin<Box<dyn Future<Output = Result<Client, String>> + Send>>;

/// One item of a [`Relisten`].
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum RelistenEvent {
    /// A subscription is open. If it is not the first, what changed in between was not told: look at everything again.
    Opened(Agreed),
    /// Something changed.
    Changed(Changed),
    /// It has ended and will be opened again after a pause.
    Interrupted(ListenEnd),
    /// It has ended for good; the last item.
    Ended(ListenEnd),
}

/// How often and how soon a [`Relisten`] tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RelistenLimits {
    /// Attempts in a row that come to nothing, before it ends for good. Default 8.
    pub attempts: u32,
    /// The pause before the first of them; each after it is twice as long. Default 100 ms.
    pub first_pause: Duration,
    /// The longest pause. A subscription that lasted as long as this starts the count anew. Default 30 s.
    pub longest_pause: Duration,
}

impl Default for RelistenLimits {
    fn default() -> Self {
        Self { attempts: 8, first_pause: Duration::from_millis(100), longest_pause: Duration::from_secs(30) }
    }
}

impl RelistenLimits {
    /// Sets the attempts in a row that may come to nothing.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the first and the longest pause.
    #[must_use]
    pub fn with_pauses(mut self, first: Duration, longest: Duration) -> Self {
        self.first_pause = first;
        self.longest_pause = longest;
        self
    }
}

/// A subscription that outlives its connection (basic/patterns/subscriptions, "Graceful Closure": a server holds no
/// subscription across connections). It is opened again after a loss, a graceful end, a busy or failing server, when it was
/// not acknowledged in time, or when the client that `connect` gave was closed already; every other end is final.
///
/// Where a client outlives the loss of a stream, as over HTTP, [`Client::relisten`] makes one.
///
/// Each attempt asks `connect` for a client: a new one, or the same where the connection is still there. Dropping this
/// cancels the subscription.
///
/// ```
/// use std::{io, sync::Arc};
///
/// use sansio_mcp_sdk::client::{Client, ListenSpec, Relisten, RelistenEvent, RelistenLimits};
/// use sansio_mcp_sdk::clock::Clock;
///
/// // `connect` launches a server, or gives the client that is there as long as it is not `is_closed()`.
/// async fn watch(clock: Arc<dyn Clock>, connect: impl Fn() -> io::Result<Client> + Send + 'static) {
///     let spec = ListenSpec::new().tools().resource("prices://all");
///     let mut changes = Relisten::new(spec, clock, RelistenLimits::default(), move || {
///         let client = connect();
///         async move { client }
///     });
///     while let Some(event) = changes.next().await {
///         match event {
///             RelistenEvent::Opened(agreed) => println!("look at everything; not told of: {:?}", agreed.declined),
///             RelistenEvent::Changed(changed) => println!("look again at {changed:?}"),
///             RelistenEvent::Interrupted(end) | RelistenEvent::Ended(end) => println!("{}", end.code()),
///             _ => {}
///         }
///     }
/// }
/// ```
#[must_use = "nothing is opened before it is polled"]
pub struct Relisten {
    spec: ListenSpec,
    clock: Arc<dyn Clock>,
    limits: RelistenLimits,
    connect: Box<dyn FnMut() -> Connecting + Send>,
    /// `connect` always gives the same client: once that is closed, all is over.
    same: bool,
    failed: u32,
    stage: Stage,
}

enum Stage {
    Begin,
    Pausing(Sleep),
    Connecting(Connecting),
    Listening {
        subscription: Box<Subscription>,
        /// When it was acknowledged.
        since: Option<Mono>,
    },
    Over,
}

impl Relisten {
    /// Listens on the clients that `connect` gives.
    pub fn new<F, E: Display>(
        spec: ListenSpec,
        clock: Arc<dyn Clock>,
        limits: RelistenLimits,
        mut connect: impl FnMut() -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Client, E>> + Send + 'static,
    {
        let connect = Box::new(move || -> Connecting {
            let connecting = connect();
            Box::pin(async move { connecting.await.map_err(|error| error.to_string()) })
        });
        Self { spec, clock, limits, connect, same: false, failed: 0, stage: Stage::Begin }
    }

    /// Listens on one client, until that is closed.
    pub(super) fn on(client: Client, spec: ListenSpec, limits: RelistenLimits) -> Self {
        let clock = Arc::clone(&client.handle.shared.clock);
        let connect = move || std::future::ready(Ok::<_, String>(client.clone()));
        Self { same: true, ..Self::new(spec, clock, limits, connect) }
    }

    /// The next item; `None` after the end.
    pub async fn next(&mut self) -> Option<RelistenEvent> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// An attempt, or a subscription, has ended.
    fn interrupted(&mut self, end: ListenEnd, since: Option<Mono>) -> RelistenEvent {
        let lasted = since.map(|since| self.clock.now().mono.since(since));
        if lasted.is_some_and(|lasted| lasted >= self.limits.longest_pause) {
            self.failed = 0;
        }
        self.failed += 1;
        let again = match &end {
            ListenEnd::Lost(_) | ListenEnd::Graceful => true,
            ListenEnd::Refused(error) => {
                let transient = match error {
                    CallError::Transport(error) => error.is_transient(),
                    CallError::TimedOut(Timeout::Total) => true,
                    CallError::Closed => !self.same,
                    _ => false,
                };
                transient || error.is_busy()
            }
            ListenEnd::Cancelled => false,
        };
        if !again || self.failed > self.limits.attempts {
            self.stage = Stage::Over;
            return RelistenEvent::Ended(end);
        }
        let doubled = self.limits.first_pause.saturating_mul(1 << (self.failed - 1).min(20));
        let asked = match &end {
            ListenEnd::Refused(error) => error.retry_after_ms().map(Duration::from_millis),
            _ => None,
        };
        let pause = doubled.max(asked.unwrap_or_default()).min(self.limits.longest_pause);
        self.stage = Stage::Pausing(self.clock.sleep(pause));
        RelistenEvent::Interrupted(end)
    }
}

impl Stream for Relisten {
    type Item = RelistenEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RelistenEvent>> {
        let this = self.get_mut();
        loop {
            match &mut this.stage {
                Stage::Over => return Poll::Ready(None),
                Stage::Begin => this.stage = Stage::Connecting((this.connect)()),
                Stage::Pausing(sleep) => {
                    ready!(sleep.as_mut().poll(cx));
                    this.stage = Stage::Begin;
                }
                Stage::Connecting(connecting) => match ready!(connecting.as_mut().poll(cx)) {
                    Ok(client) => {
                        let subscription = Box::new(client.listen(this.spec.clone()));
                        this.stage = Stage::Listening { subscription, since: None };
                    }
                    Err(cause) => {
                        let end = ListenEnd::Lost(cause.into());
                        return Poll::Ready(Some(this.interrupted(end, None)));
                    }
                },
                Stage::Listening { subscription, since } => {
                    let event = match ready!(Pin::new(&mut **subscription).poll_next(cx)) {
                        Some(ListenEvent::Acknowledged(agreed)) => {
                            *since = Some(this.clock.now().mono);
                            RelistenEvent::Opened(agreed)
                        }
                        Some(ListenEvent::Changed(change)) => RelistenEvent::Changed(change),
                        Some(ListenEvent::Ended(end)) => {
                            let since = mem::take(since);
                            this.interrupted(end, since)
                        }
                        None => {
                            this.stage = Stage::Over;
                            return Poll::Ready(None);
                        }
                    };
                    return Poll::Ready(Some(event));
                }
            }
        }
    }
}

impl FusedStream for Relisten {
    fn is_terminated(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }
}

//! The work for one request, from its open gate until everything about it is over.
//!
//! 1. *Run*: layers, lane, handler, one future. Ends with a reply, a panic (the reply is -32603), or a stop,
//!    which drops it where it stands.
//! 2. *Drain*: a blocking body that was stopped is waited for; it alone knows when it returns.
//! 3. *Clean up*: what the handler registered, last first, shielded from the stop, each within its bound.
//! 4. Whoever polls it gives its ticket back: slot and lane were held until here.
//!
//! The reply is handed over at the end of the first step; nothing later delays it.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::call::Call;
use super::signal::{Cancelled, LeftBehind};
use super::watch::moved;
use super::{Bounds, Hub};
use crate::clock::Alarm;
use crate::mode::Mode;
use crate::server::{Registry, Reply, run_request};

pub(crate) struct Work<M: Mode> {
    call: Arc<Call<M>>,
    stage: Stage<M>,
    bounds: Bounds,
    span: tracing::Span,
}

enum Stage<M: Mode> {
    Run(M::Future<Reply>),
    Drain,
    CleanUp { future: M::Future<()>, bound: Bound },
    Over,
}

/// When a clean-up is dropped, at the latest.
struct Bound {
    alarm: Alarm,
    /// Shutting down makes it earlier, also in the middle.
    ending: Option<Cancelled>,
}

impl Bound {
    fn new(hub: &Hub, within: Duration) -> Self {
        let alarm = Alarm::new(&*hub.clock, hub.clock.now().mono + within);
        let ending = Cancelled::new(Arc::clone(&hub.lock().ending));
        Self { alarm, ending: Some(ending) }
    }

    fn poll(&mut self, hub: &Hub, closing: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let ends = self.ending.as_mut().is_some_and(|ending| Pin::new(ending).poll(cx).is_ready());
        if ends {
            self.ending = None;
            let at = hub.clock.now().mono + closing;
            if at < self.alarm.at() {
                self.alarm = Alarm::new(&*hub.clock, at);
            }
        }
        self.alarm.poll(&*hub.clock, cx)
    }
}

impl<M: Mode> Work<M> {
    /// The handler's code runs at the first poll, not here.
    pub(crate) fn new(call: Arc<Call<M>>, registry: &Arc<Registry<M>>, bounds: Bounds) -> Self {
        let request = &call.request;
        let span = tracing::info_span!(
            "mcp.request",
            method = request.method().name(),
            name = request.name(),
            id = %request.wire_id(),
            traceparent = request.traceparent(),
        );
        let stage = if call.signal.is_stopped() {
            Stage::Drain
        } else {
            span.in_scope(|| moved!(trace, "gate", request));
            if let Some(future) = contained(|| run_request(registry, &call)) {
                Stage::Run(future)
            } else {
                deliver(&call.hub, &call, &Reply::panicked());
                Stage::Drain
            }
        };
        Self { call, stage, bounds, span }
    }

    fn poll_stage(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match &mut self.stage {
                Stage::Run(future) => {
                    if self.call.signal.is_stopped() {
                        if self.call.signal.is_outstanding() {
                            moved!(trace, "draining", &self.call.request);
                        }
                        self.replace_stage(Stage::Drain);
                        continue;
                    }
                    let granted = self.call.signal.is_granted();
                    match contained(|| Pin::new(future).poll(cx)) {
                        Some(Poll::Pending) => {
                            let signal = &self.call.signal;
                            signal.register_work(cx.waker());
                            // A stop or a grant may have come before the registration: then nobody woke us.
                            if signal.is_stopped() || signal.is_granted() != granted {
                                continue;
                            }
                            return Poll::Pending;
                        }
                        Some(Poll::Ready(reply)) => {
                            self.replied(&reply);
                        }
                        None => self.replied(&Reply::panicked()),
                    }
                }
                Stage::Drain => {
                    if self.call.signal.is_outstanding() {
                        self.call.signal.register_work(cx.waker());
                        if self.call.signal.is_outstanding() {
                            return Poll::Pending;
                        }
                    }
                    let Some(cleanup) = self.call.next_cleanup() else {
                        self.replace_stage(Stage::Over);
                        self.call.signal.end();
                        self.call.drop_cleanups();
                        // Told before it makes way for others, so that their news come later.
                        moved!(trace, "over", &self.call.request);
                        return Poll::Ready(());
                    };
                    moved!(trace, "cleanup", &self.call.request);
                    let bound = Bound::new(&self.call.hub, cleanup.bound.unwrap_or(self.bounds.cleanup));
                    self.stage = Stage::CleanUp { future: cleanup.future, bound };
                }
                Stage::CleanUp { future, bound } => {
                    let over = match contained(|| Pin::new(future).poll(cx)) {
                        Some(Poll::Pending) => {
                            let late = bound.poll(&self.call.hub, self.bounds.closing, cx).is_ready();
                            if late {
                                tracing::warn!(
                                    code = "CLEANUP_TIMED_OUT",
                                    "clean-up was dropped at its bound"
                                );
                            }
                            late
                        }
                        Some(Poll::Ready(())) | None => true,
                    };
                    if !over {
                        return Poll::Pending;
                    }
                    self.replace_stage(Stage::Drain);
                }
                Stage::Over => return Poll::Ready(()),
            }
        }
    }

    /// Polls it as a driver does, which gives back what its call [leaves](Call::leave) at the end, its ticket too.
    pub(super) fn poll_work(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let span = self.span.clone();
        let _entered = span.enter();
        self.poll_stage(cx)
    }

    pub(super) fn call(&self) -> &Arc<Call<M>> {
        &self.call
    }

    /// The handler is over.
    fn replied(&mut self, reply: &Reply) {
        deliver(&self.call.hub, &self.call, reply);
        self.replace_stage(Stage::Drain);
    }

    /// What the old stage drops is the user's: its panics are contained.
    fn replace_stage(&mut self, stage: Stage<M>) {
        let old = std::mem::replace(&mut self.stage, stage);
        contained(|| drop(old));
    }
}

fn deliver<M: Mode>(hub: &Hub, call: &Call<M>, reply: &Reply) {
    let refusal;
    let reply = match reply {
        Reply::InputRequired(asks) => match call.prepare(asks) {
            Ok(asks) => {
                if hub.lock().ask(call.channel, call.serving, &asks) {
                    moved!(trace, "asks", &call.request);
                }
                return;
            }
            Err(failure) => {
                refusal = Reply::Error(failure);
                &refusal
            }
        },
        Reply::Answer(_) | Reply::Error(_) => reply,
    };
    // A handler that reports its own stop has nothing to say; whoever stopped it expects nothing.
    let handed = hub.lock().respond(call.channel, call.serving, reply);
    if handed {
        moved!(trace, "answered", &call.request, error = reply.is_error());
    }
}

/// Runs user code; `None` if it panicked.
pub(crate) fn contained<T>(code: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(value) => Some(value),
        Err(panic) => {
            let message = panic
                .downcast_ref::<&str>()
                .copied()
                .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("no message");
            tracing::error!(
                code = "PANIC",
                message,
                "code of the server's author panicked; nothing but its own request is concerned"
            );
            // Dropping the payload is user code too.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
            None
        }
    }
}

impl<M: Mode> Future for Work<M> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if matches!(self.stage, Stage::Over) {
            return Poll::Ready(());
        }
        let over = self.poll_work(cx);
        if over.is_ready() {
            self.call.hub.lock().finish(self.call.ticket);
        }
        over
    }
}

impl<M: Mode> Drop for Work<M> {
    /// Only when the driver, or the executor that the work was spawned on, drops it before its time.
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::Over) {
            self.replace_stage(Stage::Over);
            let call = &self.call;
            deliver(&call.hub, call, &Reply::dropped());
            call.signal.end();
            call.drop_cleanups();
            let left_behind = call.signal.leave_behind(LeftBehind {
                hub: Arc::clone(&call.hub),
                ticket: call.ticket,
                request: Arc::clone(&call.request),
            });
            if let Some(left_behind) = left_behind {
                left_behind.finish();
            }
        }
    }
}

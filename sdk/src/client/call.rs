//! One call, before it is made and while it runs.

use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sansio_mcp::client::{Answer, CallSpec, Refused};
use sansio_mcp::id::CallId;
use sansio_mcp::model::CallToolResult;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::CallError;
use super::events::Events;
use super::progress::Progress;
use super::shared::Handle;

/// A call of a tool.
pub type ToolCall = Call<CallToolResult>;

type OnProgress = Box<dyn FnMut(Progress) + Send>;

/// A call: set it up, then await it. It is made when it is first polled; dropping it after that cancels it.
///
/// The deadlines run from then on and need the transport to be polled. Setting up a call that was made already has
/// no effect.
#[must_use = "a call is not made before it is polled"]
pub struct Call<T> {
    handle: Arc<Handle>,
    stage: Stage,
    on_progress: Option<OnProgress>,
    batch: VecDeque<Progress>,
    decode: fn(Answer) -> Result<T, CallError>,
}

enum Stage {
    /// Not made yet; or it cannot be made, and polling tells.
    Described(Result<CallSpec, CallError>),
    /// Made: the slot of its outcome.
    Made(u32),
    Over,
}

/// Reads a result as a type.
#[allow(clippy::needless_pass_by_value)] // it is one of the forms of `Call::decode`, another keeps the answer
pub(super) fn decode<T: DeserializeOwned>(answer: Answer) -> Result<T, CallError> {
    answer.result().map_err(|error| CallError::Decode(error.to_string().into()))
}

/// Reads the result of a tool.
#[allow(clippy::needless_pass_by_value)] // as above
pub(super) fn decode_tool(answer: Answer) -> Result<CallToolResult, CallError> {
    answer.tool_result().map_err(|error| CallError::Decode(error.to_string().into()))
}

impl<T> Call<T> {
    pub(super) fn new(
        handle: Arc<Handle>,
        spec: Result<CallSpec, Refused>,
        decode: fn(Answer) -> Result<T, CallError>,
    ) -> Self {
        let stage = Stage::Described(spec.map_err(CallError::from));
        Self { handle, stage, on_progress: None, batch: VecDeque::new(), decode }
    }

    /// Asks for progress and has it passed to `callback`: in order, before the result, in the task that awaits the
    /// call. Where that task is slow, the newest of more than 16 waiting reports replaces the one before.
    ///
    /// A panic of the callback is logged and harms nothing else.
    pub fn on_progress(mut self, callback: impl FnMut(Progress) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(callback));
        self.describe(|spec| Ok(spec.progress()))
    }

    /// Asks for progress and gives it as a stream, whose last item is the result. A callback set before is not
    /// called.
    pub fn events(self) -> Events<T> {
        Events::new(self.describe(|spec| Ok(spec.progress())))
    }

    /// Ends the call with a time-out when neither an answer nor progress has come for this long. Asks for progress.
    pub fn idle_timeout(self, idle: Duration) -> Self {
        self.describe(|spec| Ok(spec.idle_timeout(idle)))
    }

    /// Ends the call with a time-out after this long, whatever progress it makes; `None`: never. The default is
    /// five minutes.
    pub fn total_timeout(self, total: Option<Duration>) -> Self {
        self.describe(|spec| Ok(spec.total_timeout(total)))
    }

    /// Adds members to the request's `_meta`: a value that serialises to an object. What it must not hold is
    /// reported as the error of the call.
    pub fn meta(self, meta: &(impl Serialize + ?Sized)) -> Self {
        self.describe(|spec| spec.meta(meta))
    }

    /// Gives the call up: awaiting it gives [`CallError::Cancelled`], unless it had ended before. A server that
    /// knows of the call is told the reason. Dropping the call does the same without a reason.
    pub fn cancel(&mut self, reason: &str) {
        match &mut self.stage {
            Stage::Described(described) => *described = Err(CallError::Cancelled),
            Stage::Made(slot) => self.handle.shared.cancel(*slot, Some(reason)),
            Stage::Over => {}
        }
    }

    /// Progress that was collected and not passed on.
    pub(super) fn next_in_batch(&mut self) -> Option<Progress> {
        self.batch.pop_front()
    }

    fn describe(mut self, change: impl FnOnce(CallSpec) -> Result<CallSpec, Refused>) -> Self {
        self.stage = match mem::replace(&mut self.stage, Stage::Over) {
            Stage::Described(Ok(spec)) => Stage::Described(change(spec).map_err(CallError::from)),
            stage => stage,
        };
        self
    }

    /// Progress into the batch, which must be empty; and the result, once.
    pub(super) fn poll_batch(
        &mut self,
        cx: &mut Context<'_>,
        watched: bool,
    ) -> (Poll<Result<T, CallError>>, &mut VecDeque<Progress>) {
        let outcome = match &mut self.stage {
            Stage::Made(slot) => self.handle.shared.collect(*slot, &mut self.batch, cx),
            Stage::Described(_) => match mem::replace(&mut self.stage, Stage::Over) {
                Stage::Described(Ok(spec)) => match self.handle.shared.begin(spec, watched, cx.waker()) {
                    Ok(slot) => {
                        self.stage = Stage::Made(slot);
                        Poll::Pending
                    }
                    Err(error) => Poll::Ready((None, Err(error))),
                },
                Stage::Described(Err(error)) => Poll::Ready((None, Err(error))),
                Stage::Made(_) | Stage::Over => Poll::Pending,
            },
            Stage::Over => Poll::Pending,
        };
        let outcome = outcome.map(|(call, answer)| {
            self.stage = Stage::Over;
            let result = answer.and_then(self.decode);
            log(call, result.as_ref().err());
            result
        });
        (outcome, &mut self.batch)
    }
}

impl Call<Answer> {
    /// Reads the result as a `U`.
    pub fn typed<U: DeserializeOwned>(mut self) -> Call<U> {
        let stage = mem::replace(&mut self.stage, Stage::Over);
        Call {
            handle: Arc::clone(&self.handle),
            stage,
            on_progress: self.on_progress.take(),
            batch: mem::take(&mut self.batch),
            decode,
        }
    }
}

impl<T> Future for Call<T> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut callback = this.on_progress.take();
        let (outcome, batch) = this.poll_batch(cx, callback.is_some());
        if let Some(callback) = &mut callback {
            batch.drain(..).for_each(|progress| contained(|| callback(progress)));
        }
        if outcome.is_pending() {
            this.on_progress = callback;
        }
        outcome
    }
}

impl<T> Drop for Call<T> {
    fn drop(&mut self) {
        if let Stage::Made(slot) = self.stage
            && let Some(call) = self.handle.shared.abandon(slot)
        {
            log(Some(call), Some(&CallError::Cancelled));
        }
    }
}

/// Runs the application's code; a panic is logged.
fn contained(code: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(code)) {
        tracing::warn!("a progress callback panicked");
        // What was thrown may throw again when it is dropped.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
    }
}

/// Tells the operator how a call ended.
fn log(call: Option<CallId>, error: Option<&CallError>) {
    match error {
        None => tracing::debug!(?call, code = "COMPLETE", "a call ended"),
        Some(error) => tracing::debug!(?call, code = error.code(), %error, "a call ended"),
    }
}

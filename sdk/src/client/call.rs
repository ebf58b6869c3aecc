//! One call, before it is made and while it runs.

use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sansio_mcp::client::{Answer, CallSpec, LogMessage, Refused};
use sansio_mcp::id::CallId;
use sansio_mcp::model::{CallToolResult, LoggingLevel};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cache::Found;
use super::canceller::Canceller;
use super::error::CallError;
use super::events::Events;
use super::extra::{Extra, Logs};
use super::input::{Round, contained};
use super::progress::Progress;
use super::shared::{Collected, Handle};

/// A call of a tool.
pub type ToolCall = Call<CallToolResult>;

type OnProgress = Box<dyn FnMut(Progress) + Send>;
type OnLog = Box<dyn FnMut(&LogMessage) + Send>;

/// What few calls have.
struct More {
    on_log: Option<(LoggingLevel, OnLog)>,
    answer_within: Within,
    /// Not from the cache.
    fresh: bool,
    /// Questions being answered.
    round: Option<Round>,
}

/// How long a question may wait.
enum Within {
    AsTheClientSays,
    Time(Duration),
    ForEver,
}

impl More {
    fn boxed() -> Box<Self> {
        Box::new(Self { on_log: None, answer_within: Within::AsTheClientSays, fresh: false, round: None })
    }
}

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
    more: Option<Box<More>>,
    canceller: Option<Canceller>,
    decode: fn(Answer) -> Result<T, CallError>,
}

enum Stage {
    /// Not made yet; or it cannot be made, and polling tells.
    Described(Result<CallSpec, CallError>),
    /// Made: the slot of its outcome, and what it is there.
    Made(u32, CallId),
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
        Self { handle, stage, on_progress: None, batch: VecDeque::new(), more: None, canceller: None, decode }
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

    /// Asks for log messages of this level and above, for the client's
    /// [`on_log`](super::ClientBuilder::on_log) (server/utilities/logging; deprecated by the specification).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.describe(|spec| Ok(spec.log_level(level)))
    }

    /// Asks for log messages of this level and above and has them passed to `callback`, before the result, in the task
    /// that awaits the call. Of those that wait, 256 are kept.
    ///
    /// On a channel that all calls share (stdio, memory) nothing says which call a message is of: where several calls in
    /// flight have asked for its level, all of them get it.
    ///
    /// A panic of the callback is logged and harms nothing else.
    pub fn on_log(self, level: LoggingLevel, callback: impl FnMut(&LogMessage) + Send + 'static) -> Self {
        let mut this = self.log_level(level);
        this.more.get_or_insert_with(More::boxed).on_log = Some((level, Box::new(callback)));
        this
    }

    /// Ends the call when a question of the server is not answered within this time; `None`: never. Overrides
    /// [`ClientBuilder::answer_within`](super::ClientBuilder::answer_within).
    pub fn answer_within(mut self, within: Option<Duration>) -> Self {
        self.more.get_or_insert_with(More::boxed).answer_within =
            within.map_or(Within::ForEver, Within::Time);
        self
    }

    /// Asks the server even if the client's cache has the result; what comes is kept there.
    pub fn fresh(mut self) -> Self {
        self.more.get_or_insert_with(More::boxed).fresh = true;
        self
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
            Stage::Made(slot, _) => self.handle.shared.cancel(*slot, Some(reason)),
            Stage::Over => {}
        }
    }

    /// A handle with which the call can be given up from elsewhere, while it is awaited: a button, a signal, a race.
    pub fn canceller(&mut self) -> Canceller {
        let canceller = self.canceller.get_or_insert_default();
        if let Stage::Made(slot, call) = self.stage {
            canceller.made(&self.handle.shared, slot, call);
        }
        canceller.clone()
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
        let outcome = match self.stage {
            Stage::Made(slot, _) => self.poll_made(slot, cx),
            Stage::Described(_) => self.begin(cx, watched),
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

    fn begin(&mut self, cx: &Context<'_>, watched: bool) -> Poll<Ended> {
        let Stage::Described(described) = mem::replace(&mut self.stage, Stage::Over) else {
            return Poll::Pending;
        };
        let spec = match described {
            Ok(spec) => spec,
            Err(error) => return Poll::Ready((None, Err(error))),
        };
        if self.canceller.as_ref().is_some_and(|canceller| !canceller.may_be_made()) {
            return Poll::Ready((None, Err(CallError::Cancelled)));
        }
        let shared = &self.handle.shared;
        let mut extra: Option<Box<Extra>> = None;
        if let Some(cache) = shared.cache.as_ref().filter(|_| !shared.is_closed()) {
            let look = self.more.as_ref().is_none_or(|more| !more.fresh);
            match cache.find(&spec, shared.clock.now().mono, look) {
                Found::Fresh(answer) => return Poll::Ready((None, Ok(answer))),
                Found::Missing(fetch) => extra.get_or_insert_default().fetch = Some(fetch),
                Found::NotCacheable => {}
            }
        }
        if let Some((level, _)) = self.more.as_ref().and_then(|more| more.on_log.as_ref()) {
            extra.get_or_insert_default().logs = Some(Logs::new(*level));
        }
        let (slot, call) = match shared.begin(spec, watched, extra, cx.waker()) {
            Ok(made) => made,
            Err(error) => return Poll::Ready((None, Err(error))),
        };
        if self.canceller.as_ref().is_some_and(|canceller| !canceller.made(shared, slot, call)) {
            shared.abandon(slot);
            return Poll::Ready((None, Err(CallError::Cancelled)));
        }
        self.stage = Stage::Made(slot, call);
        Poll::Pending
    }

    fn poll_made(&mut self, slot: u32, cx: &mut Context<'_>) -> Poll<Ended> {
        let shared = &self.handle.shared;
        loop {
            let mut logs = Default::default();
            let collected = shared.collect(slot, &mut self.batch, &mut logs, cx);
            if let Some((_, callback)) = self.more.as_mut().and_then(|more| more.on_log.as_mut()) {
                pass_on(logs, callback);
            }
            match collected {
                Poll::Ready(Collected::Over(call, result)) => {
                    // Nobody waits for answers any more.
                    self.more = None;
                    return Poll::Ready((call, result));
                }
                Poll::Ready(Collected::Asked(asked)) => {
                    let setup = &shared.setup;
                    let more = self.more.get_or_insert_with(More::boxed);
                    let within = match more.answer_within {
                        Within::AsTheClientSays => setup.answer_within,
                        Within::Time(within) => Some(within),
                        Within::ForEver => None,
                    };
                    let begun = match &setup.inputs {
                        Some(inputs) => Round::begin(inputs, asked, within, &shared.clock),
                        None => Err(CallError::InputUnsupported),
                    };
                    match begun {
                        Ok(round) => more.round = Some(round),
                        Err(error) => return Poll::Ready((shared.abandon(slot), Err(error))),
                    }
                }
                Poll::Pending => {}
            }
            let round = self.more.as_mut().and_then(|more| more.round.as_mut());
            let answers = match round.map(|round| round.poll(&shared.clock, cx)) {
                None | Some(Poll::Pending) => return Poll::Pending,
                Some(Poll::Ready(answers)) => answers,
            };
            if let Some(more) = &mut self.more {
                more.round = None;
            }
            match answers {
                // What comes of it is collected at once: the waker is with the slot already.
                Ok(answers) => shared.answer(slot, &answers),
                Err(error) => return Poll::Ready((shared.abandon(slot), Err(error))),
            }
        }
    }
}

/// How a call ended, and which it was if it was made.
type Ended = (Option<CallId>, Result<Answer, CallError>);

/// Passes log messages on.
fn pass_on((messages, dropped): (VecDeque<Arc<LogMessage>>, u64), callback: &mut OnLog) {
    if dropped > 0 {
        tracing::debug!(
            dropped,
            "log messages of the server were dropped: nobody looked at those before them"
        );
    }
    for message in messages {
        contained(|| callback(&message));
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
            more: self.more.take(),
            canceller: self.canceller.take(),
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
        if let Stage::Made(slot, _) = self.stage
            && let Some(call) = self.handle.shared.abandon(slot)
        {
            log(Some(call), Some(&CallError::Cancelled));
        }
    }
}

/// Tells the operator how a call ended.
fn log(call: Option<CallId>, error: Option<&CallError>) {
    match error {
        None => tracing::debug!(?call, code = "COMPLETE", "a call ended"),
        Some(error) => tracing::debug!(?call, code = error.code(), %error, "a call ended"),
    }
}

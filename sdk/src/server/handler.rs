//! The forms a handler may take, made one: each becomes a future of a reply, in which the gate is passed, the
//! lane taken, and only then the handler's own code run.

use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_core::Stream;
use sansio_mcp::admission::LaneKey;
use sansio_mcp::code::wire;
use sansio_mcp::model::{CallToolResult, ClientCapabilities, RawJson};
use sansio_mcp::server::{Progress, Request, Status};

use super::Failure;
use super::check::{Checks, brief};
use super::context::{Context, Report};
use super::exit::Exit;
use super::kinds::{Gives, Kind, Taken, Takes};
use super::layer::{ContextHook, Entered};
use super::output::{ToolInput, ToolOutput};
use super::reply::Reply;
use super::spec::Lane;
use super::step::Step;
use crate::engine::Call;
use crate::mode::{Local, Mode, Shared};

/// A tool's handler behind its registration.
pub trait RunTool<M: Mode> {
    fn run(&self, call: Running<M>) -> M::Future<Reply>;
}

/// A call whose layers are behind it.
pub struct Running<M: Mode> {
    pub(crate) call: Arc<Call<M>>,
    pub(crate) hook: Option<Arc<M::Hook>>,
}

/// What every form shares: where the application's state is, and the rules for each call.
pub(crate) struct Common<S, K> {
    pub(crate) state: Arc<S>,
    pub(crate) rules: K,
}

/// A handler as its calls share it.
struct Coded<F, S, K> {
    code: F,
    common: Common<S, K>,
}

/// Which calls of a tool exclude each other, what they need of their client, and what they must fit.
pub(crate) struct Rules {
    pub(crate) lane: Lane,
    pub(crate) requires: Option<ClientCapabilities>,
    pub(crate) checks: Checks,
}

impl Kind for Rules {
    type Kept = ();
}

impl<A: ToolInput> Takes<A> for Rules {
    fn take(&self, request: &Request) -> Result<Taken<A, ()>, Reply> {
        let arguments = request.arguments().unwrap_or("{}");
        let name = request.name().unwrap_or_default();
        if let Some(required) = &self.requires {
            check_capabilities(request, required)?;
        }
        let lane = match &self.lane {
            Lane::None => None,
            Lane::Tool => Some(LaneKey::tool(name)),
            Lane::Computed(key) => Some(match key(arguments) {
                Some(key) => LaneKey::computed(name, &key),
                None => LaneKey::tool(name),
            }),
        };
        // The type first: what it says of a mistake is clearer.
        let input = A::parse(arguments)
            .and_then(|input| self.checks.arguments(arguments).map(|()| input))
            .map_err(|why| format!("the arguments do not fit the tool's schema: {}", brief(why)))
            .map_err(CallToolResult::error)?;
        Ok(Taken { input, lane, kept: () })
    }
}

impl<T: ToolOutput> Gives<T> for Rules {
    fn give(&self, (): (), result: Result<T, Exit>) -> Reply {
        match result.and_then(ToolOutput::into_result) {
            Ok(result) => self.checks.result(result),
            Err(exit) => exit.into_reply(),
        }
    }
}

/// What a handler takes, gate, lane, context: everything before the handler's own code.
async fn begin<A, S, M: Mode, K: Takes<A>>(
    running: Running<M>,
    common: &Common<S, K>,
) -> Result<(A, Context<S, M>, K::Kept), Reply> {
    let Running { call, hook } = running;
    let Taken { input, lane, kept } = common.rules.take(&call.request)?;
    if lane.is_none() {
        call.adopt();
    }
    call.pass(lane).await?;
    if let Some(hook) = hook {
        hook.prepare(Entered(Arc::clone(&call))).await.map_err(Exit::into_reply)?;
    }
    Ok((input, Context::new(call, Arc::clone(&common.state)), kept))
}

fn check_capabilities(request: &Request, required: &ClientCapabilities) -> Result<(), Reply> {
    let mut failure = match request.missing_capabilities(required) {
        Ok(None) => return Ok(()),
        Ok(Some(missing)) => {
            let message = "the request needs a capability that the client did not declare";
            let mut failure = Failure::new(wire::MISSING_CAPABILITY, message);
            failure.data = RawJson::from_value(&missing).ok();
            failure
        }
        Err(error) => {
            Failure::new(wire::INVALID_PARAMS, format!("the declared capabilities are malformed: {error}"))
        }
    };
    failure.status = Status::BadRequest;
    Err(Reply::Error(failure))
}

/// Steps in a row that a stream may give before others get their turn: one that never waits must not keep the
/// driver from everything else, the cancellation of its own request included.
const TURN: u32 = 64;

/// Progress goes out, notes go to the log, the final item is the response; nothing after it is polled.
async fn follow<T, S, M: Mode, K: Gives<T>>(
    stream: impl Stream<Item = Step<T>>,
    context: Context<S, M>,
    rules: &K,
    kept: K::Kept,
) -> Reply {
    let mut stream = pin!(stream);
    let mut left = TURN;
    loop {
        let next = poll_fn(|cx| {
            // The work looks at the signal once nothing goes on here: the stream is dropped between two steps.
            if context.is_cancelled() {
                return Poll::Pending;
            }
            if left == 0 {
                left = TURN;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let polled = stream.as_mut().poll_next(cx);
            left = if polled.is_ready() { left - 1 } else { TURN };
            polled
        });
        match next.await {
            Some(Step::Percent { percent, message }) => {
                if !context.wants_progress() {
                    continue;
                }
                if !(0.0..=100.0).contains(&percent) {
                    context.refuse(Report::OutOfRange);
                    continue;
                }
                let mut report = Progress::new(percent).of(100.0);
                report.message = message.as_deref();
                context.report(&report);
            }
            Some(Step::Progress { progress, total, message }) => {
                let mut report = Progress::new(progress);
                report.total = total;
                report.message = message.as_deref();
                context.report(&report);
            }
            Some(Step::Note(note)) => tracing::debug!(note, "a handler's note"),
            Some(Step::Done(result)) => return rules.give(kept, result),
            None => {
                tracing::error!(code = "NO_FINAL_ITEM", "a handler's stream ended without its final item");
                let message =
                    "the handler's stream ended without a final item: its last step must be Step::Done";
                return Reply::Error(Failure::new(wire::INTERNAL_ERROR, message));
            }
        }
    }
}

/// A handler of a form `H`, whose input is read as an `A`.
pub(crate) struct Handler<H, F, A, S, K> {
    tool: Arc<Coded<F, S, K>>,
    form: PhantomData<fn(A) -> H>,
}

impl<H, F, A, S, K> Handler<H, F, A, S, K> {
    pub(crate) fn boxed(code: F, common: Common<S, K>) -> Box<Self> {
        Box::new(Self { tool: Arc::new(Coded { code, common }), form: PhantomData })
    }
}

/// The form of `async` functions.
pub(crate) enum Asynchronous {}

/// The form of functions that give a stream.
pub(crate) enum Streaming {}

/// The form of blocking functions.
#[cfg(feature = "blocking")]
pub(crate) enum Blocking {}

macro_rules! forms {
    ($mode:ty, [$($send:tt)*], [$($sync:tt)*]) => {
        impl<F, Fut, A, S, T, K> RunTool<$mode> for Handler<Asynchronous, F, A, S, K>
        where
            F: Fn(A, Context<S, $mode>) -> Fut $($sync)* + 'static,
            Fut: Future<Output = Result<T, Exit>> $($send)* + 'static,
            A: 'static $($send)*,
            K: Takes<A> + Gives<T>,
            S: 'static $($sync)*,
            T: 'static,
        {
            fn run(&self, call: Running<$mode>) -> <$mode as Mode>::Future<Reply> {
                let tool = Arc::clone(&self.tool);
                Box::pin(async move {
                    match begin(call, &tool.common).await {
                        Ok((input, context, kept)) => {
                            let handler = (tool.code)(input, context);
                            tool.common.rules.give(kept, handler.await)
                        }
                        Err(reply) => reply,
                    }
                })
            }
        }

        impl<F, Str, A, S, T, K> RunTool<$mode> for Handler<Streaming, F, A, S, K>
        where
            F: Fn(A, Context<S, $mode>) -> Str $($sync)* + 'static,
            Str: Stream<Item = Step<T>> $($send)* + 'static,
            A: 'static $($send)*,
            K: Takes<A> + Gives<T>,
            S: 'static $($sync)*,
            T: 'static $($send)*,
        {
            fn run(&self, call: Running<$mode>) -> <$mode as Mode>::Future<Reply> {
                let tool = Arc::clone(&self.tool);
                Box::pin(async move {
                    match begin(call, &tool.common).await {
                        Ok((input, context, kept)) => {
                            follow((tool.code)(input, context.clone()), context, &tool.common.rules, kept).await
                        }
                        Err(reply) => reply,
                    }
                })
            }
        }
    };
}

forms!(Local, [], []);
forms!(Shared, [+ Send], [+ Send + Sync]);

/// Runs a blocking body on the pool. Slot and lane stay taken until it has returned, whatever happens to this
/// future.
#[cfg(feature = "blocking")]
async fn on_pool<A, S, T, K>(
    tool: Arc<Coded<impl Fn(A, Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static, S, K>>,
    input: A,
    context: Context<S, Shared>,
    kept: K::Kept,
) -> Reply
where
    A: Send + 'static,
    S: Send + Sync + 'static,
    T: 'static,
    K: Gives<T>,
{
    let outstanding = context.begin_blocking();
    let span = tracing::Span::current();
    let body = move || {
        let _entered = span.enter();
        let reply = if context.is_cancelled() {
            Exit::cancelled().into_reply() // cancelled before a thread was free: it never starts
        } else {
            let body = || tool.common.rules.give(kept, (tool.code)(input, context));
            crate::engine::contained(body).unwrap_or_else(Reply::panicked)
        };
        drop(outstanding);
        reply
    };
    blocking::unblock(body).await
}

#[cfg(feature = "blocking")]
impl<F, A, S, T, K> RunTool<Shared> for Handler<Blocking, F, A, S, K>
where
    F: Fn(A, Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static,
    A: Send + 'static,
    S: Send + Sync + 'static,
    T: 'static,
    K: Takes<A> + Gives<T>,
{
    fn run(&self, call: Running<Shared>) -> <Shared as Mode>::Future<Reply> {
        let tool = Arc::clone(&self.tool);
        Box::pin(async move {
            match begin::<A, S, Shared, K>(call, &tool.common).await {
                Ok((input, context, kept)) => on_pool(tool, input, context, kept).await,
                Err(reply) => reply,
            }
        })
    }
}

#[cfg(feature = "blocking")]
impl<F, A, S, T, K> RunTool<Local> for Handler<Blocking, F, A, S, K>
where
    F: Fn(A, Context<S, Shared>) -> Result<T, Exit> + Send + Sync + 'static,
    A: Send + 'static,
    S: Send + Sync + 'static,
    T: 'static,
    K: Takes<A> + Gives<T>,
{
    fn run(&self, call: Running<Local>) -> <Local as Mode>::Future<Reply> {
        let tool = Arc::clone(&self.tool);
        Box::pin(async move {
            match begin::<A, S, Local, K>(call, &tool.common).await {
                Ok((input, context, kept)) => on_pool(tool, input, context.for_thread(), kept).await,
                Err(reply) => reply,
            }
        })
    }
}

//! Handlers as streams.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::exit::Exit;

/// What a handler's stream yields.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<T> {
    /// Progress in percent, 0 to 100: the side channel.
    Percent {
        /// Increases with each step.
        percent: f64,
        /// For a person.
        message: Option<Cow<'static, str>>,
    },
    /// Progress in any unit.
    Progress {
        /// Increases with each step.
        progress: f64,
        /// The value at the end, if it is known.
        total: Option<f64>,
        /// For a person.
        message: Option<Cow<'static, str>>,
    },
    /// The response; nothing after it is polled.
    Done(Result<T, Exit>),
    /// Anything else: it goes to the operator's log and never to the client.
    Note(String),
}

impl<T> Step<T> {
    /// Progress in percent.
    pub fn percent(percent: f64, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Percent { percent, message: Some(message.into()) }
    }
}

/// A handler written as straight code that yields progress on its way: a stream of [`Step`]s whose last is what
/// the code returns. Code that uses the arguments or the context is `async move`: they go with it.
///
/// ```
/// # use sansio_mcp_sdk::server::{generator, Context, Exit, Generator, NoArguments, Server};
/// let server = Server::shared("reports", "1").stream_tool("report", |_: NoArguments, cx: Context| {
///     generator(async move |y| {
///         y.progress(30.0, "rows").await;
///         y.progress(90.0, "totals").await;
///         Ok(format!("a report by {}", cx.request().name().unwrap_or("nobody")))
///     })
/// });
/// ```
pub fn generator<T, F>(code: impl FnOnce(Yielder) -> F) -> Generator<F>
where
    F: Future<Output = Result<T, Exit>>,
{
    let slot = Arc::<Mutex<Slot>>::default();
    let future = code(Yielder { slot: Arc::clone(&slot) });
    Generator { future: Some(Box::pin(future)), slot }
}

/// The stream that [`generator`] makes.
#[must_use = "streams do nothing unless polled"]
pub struct Generator<F> {
    future: Option<Pin<Box<F>>>,
    slot: Arc<Mutex<Slot>>,
}

/// Yields the steps of a [`Generator`].
pub struct Yielder {
    slot: Arc<Mutex<Slot>>,
}

/// What was yielded and not taken: one item, unless the code yields from several futures at once.
#[derive(Default)]
struct Slot {
    first: Option<(Yielded, Waker)>,
    more: VecDeque<(Yielded, Waker)>,
}

enum Yielded {
    Percent { percent: f64, message: Option<Cow<'static, str>> },
    Progress { progress: f64, total: Option<f64>, message: Option<Cow<'static, str>> },
    Note(String),
}

impl Slot {
    fn push(&mut self, item: Yielded, waker: Waker) {
        if self.first.is_none() && self.more.is_empty() {
            self.first = Some((item, waker));
        } else {
            self.more.push_back((item, waker));
        }
    }

    /// The next item, and who waits for its being taken.
    fn pop(&mut self) -> Option<(Yielded, Waker)> {
        self.first.take().or_else(|| self.more.pop_front())
    }
}

impl Yielded {
    fn into_step<T>(self) -> Step<T> {
        match self {
            Self::Percent { percent, message } => Step::Percent { percent, message },
            Self::Progress { progress, total, message } => Step::Progress { progress, total, message },
            Self::Note(note) => Step::Note(note),
        }
    }
}

impl Yielder {
    /// Yields progress in percent. The code goes on once the step was taken.
    pub fn progress(
        &self,
        percent: f64,
        message: impl Into<Cow<'static, str>>,
    ) -> impl Future<Output = ()> + Send {
        self.give(Yielded::Percent { percent, message: Some(message.into()) })
    }

    /// Yields progress in any unit.
    pub fn report(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<Cow<'static, str>>,
    ) -> impl Future<Output = ()> + Send {
        self.give(Yielded::Progress { progress, total, message })
    }

    /// Yields a line for the operator's log.
    pub fn note(&self, note: impl Into<String>) -> impl Future<Output = ()> + Send {
        self.give(Yielded::Note(note.into()))
    }

    fn give(&self, item: Yielded) -> Give {
        Give { slot: Arc::clone(&self.slot), item: Some(item) }
    }
}

/// Puts its item into the slot and lets the stream yield it before the code goes on.
struct Give {
    slot: Arc<Mutex<Slot>>,
    item: Option<Yielded>,
}

impl Future for Give {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(item) = self.item.take() else { return Poll::Ready(()) };
        // Usually the stream's own waker; a combinator inside the code may have put another in its place.
        self.slot.lock().unwrap_or_else(PoisonError::into_inner).push(item, cx.waker().clone());
        Poll::Pending
    }
}

impl<T, F: Future<Output = Result<T, Exit>>> Stream for Generator<F> {
    type Item = Step<T>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Step<T>>> {
        let this = &mut *self;
        let pop = || this.slot.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let give = |(item, waiting): (Yielded, Waker)| {
            // The code is polled again with the next poll of the stream; what waits with another waker
            // inside it would not be polled then.
            if !waiting.will_wake(cx.waker()) {
                waiting.wake();
            }
            Poll::Ready(Some(item.into_step()))
        };
        if let Some(yielded) = pop() {
            return give(yielded);
        }
        let Some(future) = &mut this.future else { return Poll::Ready(None) };
        let polled = future.as_mut().poll(&mut Context::from_waker(cx.waker()));
        let yielded = pop();
        if let Poll::Ready(result) = polled {
            // What was yielded by a future that the code no longer waits for is of no interest.
            this.future = None;
            return Poll::Ready(Some(Step::Done(result)));
        }
        yielded.map_or(Poll::Pending, give)
    }
}

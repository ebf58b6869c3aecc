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
    /// Progress, in any unit: the side channel.
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
        Self::Progress { progress: percent, total: Some(100.0), message: Some(message.into()) }
    }
}

/// A handler written as straight code that yields progress on its way: a stream of [`Step`]s whose last is what
/// the code returns.
///
/// ```
/// # use sansio_mcp_sdk::server::{generator, Exit};
/// let report = generator(async |y| {
///     y.progress(30.0, "rows").await;
///     y.progress(90.0, "totals").await;
///     Ok::<_, Exit>("report".to_string())
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
    first: Option<Item>,
    more: VecDeque<Item>,
    /// Whoever polls the stream. It polls the code again by itself once it has taken an item.
    outer: Option<Waker>,
}

/// An item, and who is to be woken when it was taken: a set of futures polls only those of them that were woken.
type Item = (Yielded, Option<Waker>);

enum Yielded {
    Progress { progress: f64, total: Option<f64>, message: Option<Cow<'static, str>> },
    Note(String),
}

impl Slot {
    fn push(&mut self, item: Yielded, cx: &Context<'_>) {
        let own = !self.outer.as_ref().is_some_and(|outer| outer.will_wake(cx.waker()));
        let item = (item, own.then(|| cx.waker().clone()));
        if self.first.is_none() && self.more.is_empty() {
            self.first = Some(item);
        } else {
            self.more.push_back(item);
        }
    }

    fn pop(&mut self) -> Option<Item> {
        self.first.take().or_else(|| self.more.pop_front())
    }
}

/// Must be called without the slot's lock: waking may run other people's code.
fn step<T>((item, waker): Item) -> Step<T> {
    if let Some(waker) = waker {
        waker.wake();
    }
    match item {
        Yielded::Progress { progress, total, message } => Step::Progress { progress, total, message },
        Yielded::Note(note) => Step::Note(note),
    }
}

impl Yielder {
    /// Yields progress in percent. The code goes on once the step was taken.
    pub fn progress(
        &self,
        percent: f64,
        message: impl Into<Cow<'static, str>>,
    ) -> impl Future<Output = ()> + Send {
        self.give(Yielded::Progress { progress: percent, total: Some(100.0), message: Some(message.into()) })
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
        self.slot.lock().unwrap_or_else(PoisonError::into_inner).push(item, cx);
        Poll::Pending
    }
}

impl<T, F: Future<Output = Result<T, Exit>>> Stream for Generator<F> {
    type Item = Step<T>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Step<T>>> {
        let this = &mut *self;
        let slot = || this.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = slot().pop();
        if let Some(item) = waiting {
            return Poll::Ready(Some(step(item)));
        }
        let Some(future) = &mut this.future else { return Poll::Ready(None) };
        let _old = {
            let outer = &mut slot().outer;
            if outer.as_ref().is_some_and(|outer| outer.will_wake(cx.waker())) {
                None
            } else {
                outer.replace(cx.waker().clone())
            }
        };
        let polled = future.as_mut().poll(cx);
        let yielded = slot().pop();
        if let Poll::Ready(result) = polled {
            // What was yielded by a future that the code no longer waits for is of no interest.
            this.future = None;
            return Poll::Ready(Some(Step::Done(result)));
        }
        match yielded {
            Some(item) => Poll::Ready(Some(step(item))),
            None => Poll::Pending,
        }
    }
}

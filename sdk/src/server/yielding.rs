//! Streams of steps written as straight code.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::exit::Exit;
use super::step::Step;

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
    let strays = Arc::<Strays>::default();
    let future = code(Yielder { strays: Arc::clone(&strays) });
    Generator { future: Some(Box::pin(future)), waiting: VecDeque::new(), strays }
}

/// The stream that [`generator`] makes.
#[must_use = "streams do nothing unless polled"]
pub struct Generator<F> {
    future: Option<Pin<Box<F>>>,
    /// What the code has yielded from several futures at once, but for the first.
    waiting: VecDeque<Given>,
    strays: Arc<Strays>,
}

/// Yields the steps of a [`Generator`].
pub struct Yielder {
    strays: Arc<Strays>,
}

/// An item, and who waits for its being taken.
type Given = (Yielded, Waker);

enum Yielded {
    Percent { percent: f64, message: Option<Cow<'static, str>> },
    Progress { progress: f64, total: Option<f64>, message: Option<Cow<'static, str>> },
    Note(String),
}

/// What was yielded other than from inside the code, on another thread say. Also says whose an item is.
#[derive(Default)]
struct Strays {
    some: AtomicBool,
    items: Mutex<VecDeque<Given>>,
}

thread_local! {
    /// The generators whose code runs on this thread, innermost last. Code yields to its own generator while that
    /// polls it, so what it yields needs no lock and no memory of its own.
    static POLLED: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// What was yielded while a generator polls its code.
struct Frame {
    owner: *const Strays,
    first: Option<Given>,
    more: VecDeque<Given>,
}

impl Frame {
    fn enter(owner: &Arc<Strays>) -> Entered {
        let frame = Self { owner: Arc::as_ptr(owner), first: None, more: VecDeque::new() };
        // A thread that is ending has no frames any more: what is yielded there strays.
        Entered(POLLED.try_with(|polled| polled.borrow_mut().push(frame)).is_ok())
    }

    fn push(&mut self, given: Given) {
        if self.first.is_none() {
            self.first = Some(given);
        } else {
            self.more.push_back(given);
        }
    }
}

/// Takes the innermost frame away again, also when the code panics.
struct Entered(bool);

impl Entered {
    fn leave(mut self) -> Option<Frame> {
        self.pop()
    }

    fn pop(&mut self) -> Option<Frame> {
        if !std::mem::take(&mut self.0) {
            return None;
        }
        POLLED.try_with(|polled| polled.borrow_mut().pop()).ok().flatten()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.pop();
    }
}

impl Strays {
    fn items(&self) -> MutexGuard<'_, VecDeque<Given>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, given: Given) {
        self.items().push_back(given);
        self.some.store(true, Ordering::Release);
    }

    fn take(&self) -> VecDeque<Given> {
        if self.some.swap(false, Ordering::AcqRel) {
            std::mem::take(&mut *self.items())
        } else {
            VecDeque::new()
        }
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

    fn give(&self, item: Yielded) -> Give<'_> {
        Give { strays: &self.strays, item: Some(item) }
    }
}

/// Hands its item over and lets the stream yield it before the code goes on.
struct Give<'a> {
    strays: &'a Arc<Strays>,
    item: Option<Yielded>,
}

impl Future for Give<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(item) = self.item.take() else { return Poll::Ready(()) };
        // Usually the stream's own waker; a combinator inside the code may have put another in its place.
        let mut given = Some((item, cx.waker().clone()));
        let owner = Arc::as_ptr(self.strays);
        let _ = POLLED.try_with(|polled| {
            let mut polled = polled.borrow_mut();
            if let Some(frame) = polled.iter_mut().rev().find(|frame| frame.owner == owner)
                && let Some(given) = given.take()
            {
                frame.push(given);
            }
        });
        if let Some(given) = given {
            self.strays.push(given);
        }
        Poll::Pending
    }
}

impl<T, F: Future<Output = Result<T, Exit>>> Stream for Generator<F> {
    type Item = Step<T>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Step<T>>> {
        let this = &mut *self;
        let give = |(item, waiting): Given| {
            // The code is polled again with the next poll of the stream; what waits with another waker
            // inside it would not be polled then.
            if !waiting.will_wake(cx.waker()) {
                waiting.wake();
            }
            Poll::Ready(Some(item.into_step()))
        };
        if let Some(given) = this.waiting.pop_front() {
            return give(given);
        }
        let Some(future) = &mut this.future else { return Poll::Ready(None) };
        let entered = Frame::enter(&this.strays);
        let polled = future.as_mut().poll(&mut Context::from_waker(cx.waker()));
        let frame = entered.leave();
        if let Poll::Ready(result) = polled {
            // What was yielded by a future that the code no longer waits for is of no interest.
            this.future = None;
            return Poll::Ready(Some(Step::Done(result)));
        }
        let first = frame.and_then(|frame| {
            this.waiting = frame.more;
            frame.first
        });
        this.waiting.extend(this.strays.take());
        first.or_else(|| this.waiting.pop_front()).map_or(Poll::Pending, give)
    }
}

#[cfg(test)]
#[path = "yielding_test.rs"]
mod tests;

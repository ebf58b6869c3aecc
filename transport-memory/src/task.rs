//! The output of a spawned future.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::lab::Lab;

/// A future that was spawned: await it for its output. Dropping this lets it run on.
pub struct Task<T> {
    pub(crate) lab: Lab,
    pub(crate) id: usize,
    pub(crate) output: Rc<RefCell<Output<T>>>,
}

pub(crate) enum Output<T> {
    Awaited(Option<Waker>),
    There(T),
    Taken,
}

impl<T> Output<T> {
    /// The future is over; returns whom to wake.
    pub(crate) fn set(&mut self, value: T) -> Option<Waker> {
        match std::mem::replace(self, Self::There(value)) {
            Self::Awaited(waker) => waker,
            Self::There(_) | Self::Taken => None,
        }
    }
}

impl<T> Task<T> {
    /// Drops the future where it stands; its output will never come. From within itself it has no effect.
    pub fn abort(&self) {
        self.lab.remove(self.id);
    }

    /// Whether the output is there, or was.
    pub fn is_done(&self) -> bool {
        !matches!(*self.output.borrow(), Output::Awaited(_))
    }

    /// The output, if it is there.
    pub fn take(&self) -> Option<T> {
        if !self.is_done() {
            return None;
        }
        match std::mem::replace(&mut *self.output.borrow_mut(), Output::Taken) {
            Output::There(value) => Some(value),
            Output::Awaited(_) | Output::Taken => None,
        }
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        if let Some(value) = self.take() {
            return Poll::Ready(value);
        }
        if let Output::Awaited(waker) = &mut *self.output.borrow_mut() {
            *waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

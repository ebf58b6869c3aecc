//! Many futures in one, each polled only when it was woken.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

use crate::system::threaded::{keep, wake};

/// Futures that give nothing.
pub(super) struct Set<F> {
    places: Vec<Option<Place<F>>>,
    free: Vec<usize>,
    woken: Arc<Woken>,
}

struct Place<F> {
    future: Pin<Box<F>>,
    flag: Arc<Flag>,
}

#[derive(Default)]
struct Woken {
    state: Mutex<(Vec<Arc<Flag>>, Option<Waker>)>,
}

struct Flag {
    index: usize,
    queued: AtomicBool,
    woken: Arc<Woken>,
}

impl Woken {
    fn lock(&self) -> MutexGuard<'_, (Vec<Arc<Flag>>, Option<Waker>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let waker = {
            let mut state = self.woken.lock();
            state.0.push(Arc::clone(self));
            state.1.take()
        };
        wake(waker);
    }
}

impl<F: Future<Output = ()>> Set<F> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new(), woken: Arc::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Adds a future. It is polled by the next [`poll`](Self::poll).
    pub(super) fn push(&mut self, future: F) {
        let index = self.free.pop().unwrap_or(self.places.len());
        let woken = Arc::clone(&self.woken);
        let flag = Arc::new(Flag { index, queued: AtomicBool::new(false), woken });
        flag.wake_by_ref();
        let place = Some(Place { future: Box::pin(future), flag });
        match self.places.get_mut(index) {
            Some(free) => *free = place,
            None => self.places.push(place),
        }
    }

    /// Polls those that were woken, once each. Whether there were any.
    pub(super) fn poll(&mut self, cx: &Context<'_>) -> bool {
        let (round, _old) = {
            let mut state = self.woken.lock();
            let old = keep(&mut state.1, cx);
            (std::mem::take(&mut state.0), old)
        };
        let any = !round.is_empty();
        for flag in round {
            flag.queued.store(false, Ordering::Release);
            let Some(at) = self.places.get_mut(flag.index) else { continue };
            // Its place may be another's by now.
            let Some(place) = at.as_mut().filter(|place| Arc::ptr_eq(&place.flag, &flag)) else { continue };
            let waker = Waker::from(Arc::clone(&flag));
            if place.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                *at = None;
                self.free.push(flag.index);
            }
        }
        any
    }
}

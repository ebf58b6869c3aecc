//! Tasks that one future polls, each when it was woken, and not before.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

/// Places of tasks. A place keeps its waker when its task goes, for the next one, which a late wake of the old may poll
/// without need.
pub(super) struct Set<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
    queue: Arc<Queue>,
    /// Taken off the queue, not yet polled.
    batch: VecDeque<u32>,
}

struct Place<T> {
    task: Option<T>,
    flag: Arc<Flag>,
    waker: Waker,
}

/// Which tasks were woken, and who polls them, asleep.
#[derive(Default)]
struct Queue {
    state: Mutex<Woken>,
}

#[derive(Default)]
struct Woken {
    ready: VecDeque<u32>,
    sleeper: Option<Waker>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Woken> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Flag {
    place: u32,
    /// It is in the queue.
    queued: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let sleeper = {
            let mut woken = self.queue.lock();
            woken.ready.push_back(self.place);
            woken.sleeper.take()
        };
        if let Some(sleeper) = sleeper {
            sleeper.wake();
        }
    }
}

impl<T> Set<T> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new(), queue: Arc::default(), batch: VecDeque::new() }
    }

    /// Takes a task in, to be polled soon.
    pub(super) fn insert(&mut self, task: T) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            let place = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            let flag =
                Arc::new(Flag { place, queued: AtomicBool::new(false), queue: Arc::clone(&self.queue) });
            let waker = Waker::from(Arc::clone(&flag));
            self.places.push(Place { task: None, flag, waker });
            place
        });
        if let Some(place) = self.places.get_mut(at as usize) {
            place.task = Some(task);
            place.flag.wake_by_ref();
        }
        at
    }

    /// Takes a task out.
    pub(super) fn remove(&mut self, at: u32) -> Option<T> {
        let task = self.places.get_mut(at as usize)?.task.take()?;
        self.free.push(at);
        Some(task)
    }

    /// The next task that was woken, with its waker.
    pub(super) fn next_woken(&mut self) -> Option<(u32, &mut T, &Waker)> {
        let at = loop {
            let Some(at) = self.batch.pop_front() else {
                mem::swap(&mut self.queue.lock().ready, &mut self.batch);
                if self.batch.is_empty() {
                    return None;
                }
                continue;
            };
            let place = self.places.get(at as usize)?;
            // Before it is polled: what wakes it meanwhile queues it again.
            place.flag.queued.store(false, Ordering::Release);
            if place.task.is_some() {
                break at;
            }
        };
        let place = self.places.get_mut(at as usize)?;
        Some((at, place.task.as_mut()?, &place.waker))
    }

    /// Goes to sleep until a task is woken; false if one is already.
    pub(super) fn sleep(&self, cx: &Context<'_>) -> bool {
        if !self.batch.is_empty() {
            return false;
        }
        let _old: Option<Waker>;
        let mut woken = self.queue.lock();
        if !woken.ready.is_empty() {
            return false;
        }
        if !woken.sleeper.as_ref().is_some_and(|sleeper| sleeper.will_wake(cx.waker())) {
            _old = woken.sleeper.replace(cx.waker().clone());
        }
        drop(woken);
        true
    }

    /// Drops every task.
    pub(super) fn clear(&mut self) {
        for at in 0..self.places.len() {
            self.remove(u32::try_from(at).unwrap_or(u32::MAX));
        }
    }
}

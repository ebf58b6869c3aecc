//! The system's clock, whose timers are the threads that wait anyway.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Instant;

use sansio_mcp_sdk::clock::{Clock, Sleep, Start};
use sansio_mcp_sdk::protocol::time::{Mono, Now};

use super::block_on::{Parked, drive};

/// The system's monotonic clock, starting when this value is made, and its calendar. Clones share their timers.
///
/// There is no thread for timers: they go off while some thread is in this clock's [`block_on`](Self::block_on), and not
/// otherwise. A timer may be polled on any thread.
#[derive(Clone, Debug)]
pub struct SystemClock {
    start: Start,
    timers: Arc<Mutex<Timers>>,
}

#[derive(Default, Debug)]
struct Timers {
    /// By time, and by number where that is the same.
    waiting: BTreeMap<(Instant, u64), Waker>,
    next: u64,
    /// The threads that park until the first of them.
    threads: Vec<(u64, Arc<Parked>)>,
}

impl Timers {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn threads(&self) -> Vec<Arc<Parked>> {
        self.threads.iter().map(|(_, parked)| Arc::clone(parked)).collect()
    }
}

impl SystemClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Start::now(), timers: Arc::default() }
    }

    /// Polls a future on this thread until it completes; the thread parks meanwhile, at most until the next timer of
    /// this clock.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let parked = Parked::current();
        let _present = Present::new(&self.timers, &parked);
        drive(future, &parked, || self.park())
    }

    /// Parks until a timer has gone off, or this thread is woken.
    fn park(&self) {
        let first = {
            let timers = lock(&self.timers);
            timers.waiting.keys().next().map(|(at, _)| *at)
        };
        let Some(first) = first else { return thread::park() };
        let now = Instant::now();
        if first > now {
            thread::park_timeout(first - now);
        }
        self.ring(Instant::now());
    }

    /// Wakes what is due.
    fn ring(&self, now: Instant) {
        loop {
            let due = {
                let mut timers = lock(&self.timers);
                match timers.waiting.first_entry() {
                    Some(entry) if entry.key().0 <= now => entry.remove(),
                    _ => return,
                }
            };
            due.wake();
        }
    }
}

fn lock(timers: &Mutex<Timers>) -> MutexGuard<'_, Timers> {
    timers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread in `block_on`, to be told of timers earlier than the one it parks for.
struct Present<'a> {
    timers: &'a Mutex<Timers>,
    number: u64,
}

impl<'a> Present<'a> {
    fn new(timers: &'a Mutex<Timers>, parked: &Arc<Parked>) -> Self {
        let mut state = lock(timers);
        let number = state.number();
        state.threads.push((number, Arc::clone(parked)));
        Self { timers, number }
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        let mut state = lock(self.timers);
        state.threads.retain(|(number, _)| *number != self.number);
        // Another thread may have to park for less from now on.
        let others = state.threads();
        drop(state);
        for parked in others {
            parked.unpark();
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn mono(&self) -> Mono {
        self.start.mono()
    }

    fn now(&self) -> Now {
        self.start.read()
    }

    fn sleep_until(&self, at: Mono) -> Sleep {
        Box::pin(Timer { at: self.start.instant(at), timers: Arc::clone(&self.timers), number: None })
    }
}

struct Timer {
    at: Instant,
    timers: Arc<Mutex<Timers>>,
    number: Option<u64>,
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if Instant::now() >= this.at {
            return Poll::Ready(());
        }
        let waker = cx.waker().clone();
        let (_old, sleepers) = {
            let mut timers = lock(&this.timers);
            let number = this.number.unwrap_or_else(|| timers.number());
            this.number = Some(number);
            let key = (this.at, number);
            let old = timers.waiting.insert(key, waker);
            let first = timers.waiting.keys().next() == Some(&key);
            (old, if first { timers.threads() } else { Vec::new() })
        };
        for parked in sleepers {
            parked.unpark();
        }
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let _old = lock(&self.timers).waiting.remove(&(self.at, number));
    }
}

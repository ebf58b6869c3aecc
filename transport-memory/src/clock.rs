//! Time that passes when it is told to.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sansio_mcp::time::{Mono, Now};
use sansio_mcp_sdk::clock::{Clock, Sleep};

/// Milliseconds since 1970 at the start of virtual time: 2026-07-28, 00:00 UTC.
const START_UNIX: u64 = 1_785_196_800_000;

/// A clock that stands still until it is advanced. Clones show the same time.
#[derive(Clone, Default)]
pub struct VirtualClock {
    time: Arc<Mutex<Time>>,
}

#[derive(Default)]
struct Time {
    now: Mono,
    /// Sleepers by when they wake and when they fell asleep.
    sleepers: BTreeMap<(Mono, u64), Waker>,
    next: u64,
}

impl VirtualClock {
    /// A clock at its start.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since the start.
    pub fn elapsed(&self) -> Duration {
        self.lock().now.since(Mono::ZERO)
    }

    /// When the next sleeper wakes.
    pub fn next_alarm(&self) -> Option<Mono> {
        self.lock().sleepers.keys().next().map(|(at, _)| *at)
    }

    /// Goes on to the next sleeper and wakes all of that time; false if there is none.
    pub fn advance_to_next(&self) -> bool {
        let next = self.next_alarm();
        if let Some(at) = next {
            self.wake_until(at);
        }
        next.is_some()
    }

    /// Goes on for `time`. Sleepers are woken in the order of their times, with the clock standing at each of
    /// them; what they do then has to be run by an executor, for which [`Lab::advance`](crate::Lab::advance) stops
    /// in between.
    pub fn advance(&self, time: Duration) {
        let until = self.lock().now + time;
        while self.next_alarm().is_some_and(|at| at <= until) {
            self.advance_to_next();
        }
        self.wake_until(until);
    }

    /// Sets the time and wakes whoever wanted to sleep no longer.
    fn wake_until(&self, until: Mono) {
        let due = {
            let mut time = self.lock();
            time.now = time.now.max(until);
            let later = time.sleepers.split_off(&(until, u64::MAX));
            std::mem::replace(&mut time.sleepers, later)
        };
        due.into_values().for_each(Waker::wake);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Now {
        let mono = self.lock().now;
        Now { mono, unix_millis: START_UNIX + mono.as_nanos() / 1_000_000 }
    }

    fn sleep_until(&self, at: Mono) -> Sleep {
        Box::pin(Sleeper { clock: self.clone(), at, key: None })
    }
}

struct Sleeper {
    clock: VirtualClock,
    at: Mono,
    key: Option<u64>,
}

impl Future for Sleeper {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        // Wakers are dropped outside the lock.
        let _old: Option<Waker>;
        let mut time = this.clock.lock();
        if time.now >= this.at {
            return Poll::Ready(());
        }
        let key = *this.key.get_or_insert_with(|| {
            time.next += 1;
            time.next
        });
        _old = time.sleepers.insert((this.at, key), cx.waker().clone());
        drop(time);
        Poll::Pending
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let old = self.clock.lock().sleepers.remove(&(self.at, key));
            drop(old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    /// Notes the order and the time in which it is woken.
    struct Note {
        clock: VirtualClock,
        log: Arc<Mutex<Vec<(usize, Duration)>>>,
        name: AtomicUsize,
    }

    impl Wake for Note {
        fn wake(self: Arc<Self>) {
            let entry = (self.name.load(Ordering::Relaxed), self.clock.elapsed());
            self.log.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        }
    }

    #[test]
    fn sleepers_wake_in_order_at_their_exact_time() {
        let clock = VirtualClock::new();
        let log = Arc::new(Mutex::new(Vec::new()));
        let seconds = Duration::from_secs;
        let mut sleeps = Vec::new();
        for (name, after) in [(0, 3), (1, 1), (2, 2), (3, 2), (4, 9)] {
            let name = AtomicUsize::new(name);
            let note = Arc::new(Note { clock: clock.clone(), log: Arc::clone(&log), name });
            let mut sleep = clock.sleep_until(Mono::ZERO + seconds(after));
            assert!(sleep.as_mut().poll(&mut Context::from_waker(&note.into())).is_pending());
            sleeps.push(sleep);
        }
        drop(sleeps.remove(2));
        clock.advance(seconds(5));
        let log = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        assert_eq!(log, [(1, seconds(1)), (3, seconds(2)), (0, seconds(3))]);
        assert_eq!(clock.elapsed(), seconds(5));
        assert_eq!(clock.next_alarm(), Some(Mono::ZERO + seconds(9)));
        drop(sleeps);
        assert_eq!(clock.next_alarm(), None);
    }
}

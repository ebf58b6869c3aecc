//! The driver: the future in which handlers live.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::call::Call;
use super::hub::Left;
use super::signal::keep;
use super::work::{Work, contained};
use super::{Bounds, Hub};
use crate::clock::Alarm;
use crate::mode::Mode;
use crate::server::{Live, Registry};

/// Works polled before the executor gets its turn again.
const BUDGET: usize = 512;

/// Runs everything the engine has admitted. Poll it, or spawn it; it completes after
/// [`Engine::shutdown`](super::Engine::shutdown), or once every engine handle and connection is gone, when
/// the last handler and its clean-up are over; at the latest after the
/// [closing bound](crate::server::Builder::closing_bound), when it drops what is left. Work that a spawn hook was given
/// is left to its executor then, and a blocking body to its thread: it keeps slot and lane until it returns.
#[must_use = "handlers run only while the driver is polled"]
pub struct Driver<M: Mode> {
    hub: Arc<Hub>,
    live: Arc<Live<M>>,
    /// What is offered, of this generation.
    registry: Arc<Registry<M>>,
    generation: u64,
    bounds: Bounds,
    spawn: Option<Box<M::Spawn>>,
    places: Vec<Place<M>>,
    free: Vec<usize>,
    woken: Arc<Woken>,
    /// Places to poll in this round.
    round: VecDeque<usize>,
    /// What the last work left.
    left: Option<Left>,
    /// When closing ends, whatever is left.
    closing: Option<Alarm>,
    over: bool,
}

/// Where one work lives; its waker outlives it and serves the next.
struct Place<M: Mode> {
    work: Option<Work<M>>,
    flag: Arc<PlaceWaker>,
    waker: Waker,
}

/// The places whose works want to be polled.
#[derive(Default)]
struct Woken {
    list: Mutex<(VecDeque<usize>, Option<Waker>)>,
}

struct PlaceWaker {
    index: usize,
    queued: AtomicBool,
    woken: Arc<Woken>,
}

impl Wake for PlaceWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let driver = {
            let mut list = self.woken.list();
            list.0.push_back(self.index);
            list.1.take()
        };
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

impl Woken {
    fn list(&self) -> std::sync::MutexGuard<'_, (VecDeque<usize>, Option<Waker>)> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Mode> Driver<M> {
    pub(super) fn new(
        hub: Arc<Hub>,
        live: Arc<Live<M>>,
        bounds: Bounds,
        spawn: Option<Box<M::Spawn>>,
    ) -> Self {
        let (registry, generation) = live.current();
        Self {
            hub,
            live,
            registry,
            generation,
            bounds,
            spawn,
            places: Vec::new(),
            free: Vec::new(),
            woken: Arc::default(),
            round: VecDeque::new(),
            left: None,
            closing: None,
            over: false,
        }
    }

    /// Everything is closing: whether that has lasted for so long that what is left is dropped.
    fn closing_is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let clock = &*self.hub.clock;
        let total = self.bounds.total;
        let alarm = self.closing.get_or_insert_with(|| Alarm::new(clock, clock.now().mono + total));
        if alarm.poll(clock, cx).is_pending() {
            return false;
        }
        tracing::warn!(code = "CLOSING_TIMED_OUT", "what was not over at the closing bound was left behind");
        self.over = true;
        self.give_back();
        self.places.clear();
        true
    }

    /// Looks whether there is something else on offer.
    fn refresh(&mut self) {
        if self.live.generation() != self.generation {
            let (registry, generation) = self.live.current();
            let old = std::mem::replace(&mut self.registry, registry);
            self.generation = generation;
            // With it goes the last hold of what was removed, unless that still runs.
            contained(|| drop(old));
        }
    }

    /// Starts a work: on the user's executor if there is a hook, else here, where it is polled at once.
    fn start(&mut self, work: Work<M>) {
        if let Some(spawn) = &self.spawn {
            // An executor that is not there may panic: then the work is dropped, which answers for it.
            contained(|| spawn(M::work(crate::mode::Work(work))));
            return;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            let index = self.places.len();
            let woken = Arc::clone(&self.woken);
            let flag = Arc::new(PlaceWaker { index, queued: AtomicBool::new(false), woken });
            let waker = Waker::from(Arc::clone(&flag));
            self.places.push(Place { work: None, flag, waker });
            index
        });
        if let Some(place) = self.places.get_mut(index) {
            place.work = Some(work);
        }
        self.poll_place(index);
    }

    fn poll_place(&mut self, index: usize) {
        self.give_back();
        let Some(place) = self.places.get_mut(index) else { return };
        place.flag.queued.store(false, Ordering::Release);
        let Some(work) = &mut place.work else { return };
        let mut cx = Context::from_waker(&place.waker);
        if work.poll_work(&mut cx).is_ready() {
            let call = Arc::clone(work.call());
            place.work = None;
            self.left = Some(call.leave());
            self.free.push(index);
        }
    }

    /// Gives back what the last work left, unless that is done on the way to the next.
    fn give_back(&mut self) {
        if let Some(left) = self.left.take() {
            self.hub.lock().reclaim(left);
        }
    }
}

impl<M: Mode> Future for Driver<M> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.over {
            return Poll::Ready(());
        }
        let mut budget = BUDGET;
        // What is woken from here on is seen below.
        let _known = this.hub.lock().driver.take();
        loop {
            let mut idle = true;
            let mut closing = false;
            // Wakers that were replaced, dropped while nothing is locked.
            let mut old = [None, None];
            loop {
                let assigned = {
                    let mut hub = this.hub.lock();
                    if let Some(left) = this.left.take() {
                        hub.reclaim(left);
                    }
                    if let Some(assigned) = hub.take_dispatch() {
                        assigned
                    } else {
                        if hub.closing && hub.works == 0 {
                            return Poll::Ready(());
                        }
                        closing = hub.closing;
                        old[0] = keep(&mut hub.driver, cx.waker());
                        break;
                    }
                };
                idle = false;
                this.refresh();
                let call = Call::new(Arc::clone(&this.hub), assigned);
                let work = Work::new(call, &this.registry, this.bounds);
                this.start(work);
                budget = budget.saturating_sub(1);
                if budget == 0 {
                    break;
                }
            }
            {
                let mut list = this.woken.list();
                std::mem::swap(&mut list.0, &mut this.round);
                old[1] = keep(&mut list.1, cx.waker());
            }
            drop(old);
            this.refresh();
            while let Some(index) = this.round.pop_front() {
                idle = false;
                this.poll_place(index);
                budget = budget.saturating_sub(1);
            }
            if closing && this.closing_is_over(cx) {
                return Poll::Ready(());
            }
            if idle {
                return Poll::Pending;
            }
            if budget == 0 {
                this.give_back();
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}

impl<M: Mode> Drop for Driver<M> {
    /// Without a driver nothing will ever be answered: whatever is running is dropped, everything is closed.
    fn drop(&mut self) {
        self.give_back();
        self.places.clear();
        let now = self.hub.now();
        self.hub.lock().shut_down(now);
    }
}

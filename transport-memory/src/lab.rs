//! A deterministic executor on virtual time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use sansio_mcp::limits::MAX_MESSAGE;
use sansio_mcp::time::Mono;
use sansio_mcp_sdk::Engine;
use sansio_mcp_sdk::client::{Client, ClientSetup};
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::lines::pump;

use crate::clock::VirtualClock;
use crate::duplex::pair;
use crate::sim::Dice;
use crate::task::{Output, Task};

/// A single-threaded executor for tests: runs what is ready, first come first served, and where nothing is, lets the
/// next sleeper of its clock wake. So nothing ever waits, and the same program runs the same way each time.
///
/// Work on other threads is waited for, in real time and none of the virtual, while an [`External`] of it lives.
/// Clones are the same lab.
#[derive(Clone, Default)]
pub struct Lab {
    inner: Rc<Inner>,
}

#[derive(Default)]
struct Inner {
    clock: VirtualClock,
    tasks: RefCell<Vec<Option<Running>>>,
    queue: Arc<Queue>,
    /// Says who is next among those that are ready; without it, who was ready first.
    order: Option<Dice>,
}

struct Running {
    /// Absent while it is being polled.
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    waker: Arc<TaskWaker>,
}

/// What is ready to be polled. The only part that other threads touch.
#[derive(Default)]
struct Queue {
    state: Mutex<Ready>,
    changed: Condvar,
}

#[derive(Default)]
struct Ready {
    tasks: VecDeque<usize>,
    external: usize,
    /// The lab's thread waits for a change. Telling it costs a system call.
    parked: bool,
}

/// The future that [`Lab::run`] was given has this place of its own.
const MAIN: usize = usize::MAX;

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Ready> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct TaskWaker {
    id: usize,
    queue: Arc<Queue>,
    queued: AtomicBool,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            let mut ready = self.queue.lock();
            ready.tasks.push_back(self.id);
            if ready.parked {
                self.queue.changed.notify_one();
            }
        }
    }
}

/// Work on another thread that the lab has to wait for. Dropping it says that the work is done.
pub struct External {
    queue: Arc<Queue>,
}

impl Drop for External {
    fn drop(&mut self) {
        self.queue.lock().external -= 1;
        self.queue.changed.notify_one();
    }
}

impl Lab {
    /// A lab with a clock at its start.
    pub fn new() -> Self {
        Self::default()
    }

    /// A lab that runs what is ready in an order that these dice decide.
    pub(crate) fn in_order_of(dice: Dice) -> Self {
        Self { inner: Rc::new(Inner { order: Some(dice), ..Inner::default() }) }
    }

    /// Its clock.
    pub fn clock(&self) -> VirtualClock {
        self.inner.clock.clone()
    }

    /// A client of an engine, over a [`pair`] of pipes whose two ends this lab moves on; the engine's driver has to be
    /// [spawned](Self::spawn) beside it. For configurations with one channel for all requests, as they are
    /// unless they say otherwise.
    pub fn connect(&self, engine: &Engine, config: impl Into<ClientSetup>) -> Client {
        let clock: Arc<dyn Clock> = Arc::new(self.clock());
        let (near, far) = pair();
        let (reader, writer) = far.split();
        self.spawn(pump(engine.connect(), reader, writer, Arc::clone(&clock), MAX_MESSAGE));
        let (client, connection) = Client::connect(config, Arc::clone(&clock));
        let (reader, writer) = near.split();
        self.spawn(pump(connection, reader, writer, clock, MAX_MESSAGE));
        client
    }

    /// Completes after `time` on its clock.
    ///
    /// A lab may not leave its thread. What has to be `Send`, such as a client's handler in which a person thinks for ten
    /// minutes, sleeps by [`lab.clock()`](Self::clock): that may go anywhere, and is a
    /// [`Clock`](sansio_mcp_sdk::clock::Clock::sleep).
    pub async fn sleep(&self, time: Duration) {
        let at = self.inner.clock.now().mono + time;
        self.inner.clock.sleep_until(at).await;
    }

    /// Announces work on another thread. Drop the result there once its waking is done.
    pub fn external(&self) -> External {
        self.inner.queue.lock().external += 1;
        External { queue: Arc::clone(&self.inner.queue) }
    }

    /// Runs a future alongside.
    pub fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> Task<T> {
        let output = Rc::new(RefCell::new(Output::Awaited(None)));
        let place = Rc::clone(&output);
        let future = async move {
            let value = future.await;
            let waker = place.borrow_mut().set(value);
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        let mut tasks = self.inner.tasks.borrow_mut();
        // Places are not used again, so that a late wake means nobody else.
        let id = tasks.len();
        let waker = self.waker(id);
        waker.wake_by_ref();
        tasks.push(Some(Running { future: Some(Box::pin(future)), waker }));
        Task { lab: self.clone(), id, output }
    }

    fn waker(&self, id: usize) -> Arc<TaskWaker> {
        Arc::new(TaskWaker { id, queue: Arc::clone(&self.inner.queue), queued: AtomicBool::new(false) })
    }

    pub(crate) fn remove(&self, id: usize) {
        // Dropped outside the borrow: its destructor may spawn.
        let task = self.inner.tasks.borrow_mut().get_mut(id).and_then(Option::take);
        drop(task);
    }

    /// Tasks that have not ended.
    pub fn tasks(&self) -> usize {
        self.inner.tasks.borrow().iter().flatten().count()
    }

    /// Polls what is ready until nothing is. Time stands still.
    pub fn run_until_idle(&self) {
        while let Some(id) = self.next_ready() {
            self.poll(id);
        }
    }

    /// Lets `time` pass: every sleeper wakes at its time, and what it makes ready is run before time goes on.
    pub fn advance(&self, time: Duration) {
        let until = self.inner.clock.now().mono + time;
        self.run_until_idle();
        while self.inner.clock.next_alarm().is_some_and(|at| at <= until) {
            self.inner.clock.advance_to_next();
            self.run_until_idle();
        }
        self.inner.clock.advance(until.since(self.inner.clock.now().mono));
        self.run_until_idle();
    }

    /// Runs a future, and everything spawned, until it has its output.
    ///
    /// # Panics
    /// When nothing is ready, nobody sleeps, no work is announced on other threads, and there is no output: it would
    /// never come.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let main = self.waker(MAIN);
        main.wake_by_ref();
        let waker = Waker::from(Arc::clone(&main));
        loop {
            match self.next_ready() {
                Some(MAIN) => {
                    main.queued.store(false, Ordering::Release);
                    if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                        return value;
                    }
                }
                Some(id) => self.poll(id),
                None if self.wait_for_external() => {}
                None if self.inner.clock.advance_to_next() => {}
                None => panic!(
                    "deadlock at {:?}: nothing is ready, nobody sleeps, {} spawned tasks are waiting",
                    self.inner.clock.now().mono.since(Mono::ZERO),
                    self.tasks()
                ),
            }
        }
    }

    fn next_ready(&self) -> Option<usize> {
        let mut ready = self.inner.queue.lock();
        match &self.inner.order {
            Some(dice) if ready.tasks.len() > 1 => {
                let next = dice.below(ready.tasks.len());
                ready.tasks.remove(next)
            }
            _ => ready.tasks.pop_front(),
        }
    }

    fn poll(&self, id: usize) {
        let taken = self.inner.tasks.borrow_mut().get_mut(id).and_then(Option::as_mut).and_then(|task| {
            let future = task.future.take()?;
            Some((future, Arc::clone(&task.waker)))
        });
        let Some((mut future, waker)) = taken else { return };
        // Before it is polled: what wakes it meanwhile must queue it again.
        waker.queued.store(false, Ordering::Release);
        let done = future.as_mut().poll(&mut Context::from_waker(&waker.into())).is_ready();
        let mut tasks = self.inner.tasks.borrow_mut();
        match tasks.get_mut(id) {
            Some(Some(task)) if !done => {
                task.future = Some(future);
                return;
            }
            Some(place) => *place = None,
            None => {}
        }
        drop(tasks);
        drop(future);
    }

    /// Waits until another thread has woken something or is done; false if there is no work there.
    fn wait_for_external(&self) -> bool {
        let mut ready = self.inner.queue.lock();
        let before = ready.external;
        if before == 0 {
            return !ready.tasks.is_empty();
        }
        ready.parked = true;
        while ready.tasks.is_empty() && ready.external == before {
            ready = self.inner.queue.changed.wait(ready).unwrap_or_else(PoisonError::into_inner);
        }
        ready.parked = false;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn tasks_take_turns_and_time_goes_from_alarm_to_alarm() {
        let lab = Lab::new();
        let log = Rc::new(RefCell::new(Vec::new()));
        for (name, pauses) in [("a", [5, 5]), ("b", [3, 9]), ("c", [5, 1])] {
            let (inner, log) = (lab.clone(), Rc::clone(&log));
            lab.spawn(async move {
                for pause in pauses {
                    inner.sleep(Duration::from_secs(pause)).await;
                    log.borrow_mut().push((name, inner.clock().elapsed().as_secs()));
                }
            });
        }
        lab.run(lab.sleep(Duration::from_secs(20)));
        let want = [("b", 3), ("a", 5), ("c", 5), ("c", 6), ("a", 10), ("b", 12)];
        assert_eq!(*log.borrow(), want);
        assert_eq!(lab.tasks(), 0);
    }

    struct Flag(Rc<Cell<bool>>);

    impl Drop for Flag {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }

    #[test]
    fn a_task_gives_its_output_or_is_aborted() {
        let lab = Lab::new();
        let task = lab.spawn(async { 7 });
        assert_eq!(lab.run(task), 7);
        let dropped = Rc::new(Cell::new(false));
        let flag = Flag(Rc::clone(&dropped));
        let task = lab.spawn(async move {
            std::future::pending::<()>().await;
            drop(flag);
        });
        lab.run_until_idle();
        assert!(!dropped.get());
        task.abort();
        assert!(dropped.get() && !task.is_done());
    }

    #[test]
    fn time_advances_by_what_was_asked_for() {
        let lab = Lab::new();
        let inner = lab.clone();
        let task = lab.spawn(async move {
            inner.sleep(Duration::from_secs(1)).await;
            inner.sleep(Duration::from_secs(1)).await;
            inner.clock().elapsed()
        });
        lab.advance(Duration::from_secs(9));
        assert_eq!(task.take(), Some(Duration::from_secs(2)));
        assert_eq!(lab.clock().elapsed(), Duration::from_secs(9));
    }

    #[test]
    #[should_panic(expected = "deadlock at 3s: nothing is ready, nobody sleeps, 1 spawned tasks are waiting")]
    fn what_can_never_come_is_a_panic() {
        let lab = Lab::new();
        lab.spawn(std::future::pending::<()>());
        lab.run(async {
            lab.sleep(Duration::from_secs(3)).await;
            std::future::pending::<()>().await;
        });
    }

    #[test]
    fn other_threads_are_waited_for_and_cost_no_virtual_time() {
        let lab = Lab::new();
        let shared = Arc::new(Mutex::new((false, None::<Waker>)));
        let external = lab.external();
        let theirs = Arc::clone(&shared);
        lab.spawn({
            let lab = lab.clone();
            async move { lab.sleep(Duration::from_mins(1)).await }
        });
        let mut thread = Some((theirs, external));
        lab.run(std::future::poll_fn(|cx| {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(cx.waker().clone());
            if let Some((theirs, external)) = thread.take() {
                std::thread::spawn(move || {
                    let mut state = theirs.lock().unwrap_or_else(PoisonError::into_inner);
                    state.0 = true;
                    state.1.take().into_iter().for_each(Waker::wake);
                    drop(external);
                });
            }
            Poll::Pending
        }));
        assert_eq!(lab.clock().elapsed(), Duration::ZERO);
    }
}

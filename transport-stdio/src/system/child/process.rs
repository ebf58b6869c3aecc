//! The child itself: watched by two threads, signalled only while it certainly is the one meant.
//!
//! One thread drains its stderr; one waits for its exit. On Unix that one waits without reaping first: until then the
//! process and its group keep their numbers, so that a signal never reaches a stranger.

use std::io::{self, ErrorKind, Read};
use std::process::{Child, ChildStderr, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::launch::Waits;
use super::stderr::{Lines, Tail};
use crate::system::threaded::{keep, spawn, wake};

/// Holds the child. Dropped before the child has exited, the ladder runs on a thread of its own.
pub(super) struct Process {
    watched: Arc<Watched>,
    waits: Waits,
    /// Its end was waited for, in vain or not.
    pub(super) waited: bool,
}

struct Watched {
    state: Mutex<State>,
    exited: Condvar,
}

struct State {
    child: Child,
    exited: bool,
    status: Option<ExitStatus>,
    stderr_ended: bool,
    tail: Tail,
    waker: Option<Waker>,
}

/// What a server can be told from outside.
#[derive(Clone, Copy)]
pub(super) enum Signal {
    Terminate,
    Kill,
}

impl State {
    /// It has been reaped: in the same hold of the lock, so that nobody signals it any more.
    fn reaped(&mut self, status: Option<ExitStatus>) {
        self.exited = true;
        self.status = status;
    }
}

impl Watched {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let waker = {
            let mut state = self.lock();
            change(&mut state);
            state.waker.take()
        };
        self.exited.notify_all();
        wake(waker);
    }

    fn signal(&self, signal: Signal) {
        let mut state = self.lock();
        if !state.exited {
            system::signal(&mut state.child, signal);
        }
    }

    /// Whether it has exited, at the latest after `bound`.
    fn wait(&self, bound: Duration) -> bool {
        let end = Instant::now().checked_add(bound);
        let mut state = self.lock();
        while !state.exited {
            let left = end.map_or(bound, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return false;
            }
            state = self.exited.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// The ladder, in the system's time.
    fn climb(&self, waits: Waits) {
        if self.wait(waits.exit) {
            return;
        }
        self.signal(Signal::Terminate);
        if !self.wait(waits.terminate) {
            self.signal(Signal::Kill);
        }
    }
}

impl Process {
    /// Begins to watch a child that was just started.
    pub(super) fn watch(mut child: Child, tail: usize, waits: Waits) -> io::Result<Self> {
        let stderr = child.stderr.take();
        let state = State {
            child,
            exited: false,
            status: None,
            stderr_ended: stderr.is_none(),
            tail: Tail::new(tail),
            waker: None,
        };
        let watched = Arc::new(Watched { state: Mutex::new(state), exited: Condvar::new() });
        let started = Self::start_threads(&watched, stderr);
        if let Err(error) = started {
            // Nobody would ever reap it.
            let mut state = watched.lock();
            system::signal(&mut state.child, Signal::Kill);
            let _ = state.child.wait();
            return Err(error);
        }
        Ok(Self { watched, waits, waited: false })
    }

    fn start_threads(watched: &Arc<Watched>, stderr: Option<ChildStderr>) -> io::Result<()> {
        if let Some(stderr) = stderr {
            let watched = Arc::clone(watched);
            spawn("stderr", move || drain(stderr, &watched))?;
        }
        let watched = Arc::clone(watched);
        spawn("child", move || {
            system::wait(&watched);
            // Whoever waits for that is told now.
            watched.change(|state| debug_assert!(state.exited));
        })
    }

    pub(super) fn signal(&self, signal: Signal) {
        self.watched.signal(signal);
    }

    /// Ready once it has exited, with its status if that is known.
    pub(super) fn poll_exited(&self, cx: &Context<'_>) -> Poll<Option<ExitStatus>> {
        self.poll(cx, |state| state.exited).map(|()| self.status())
    }

    /// Ready once it has exited and everything it wrote to stderr was read.
    pub(super) fn poll_silent(&self, cx: &Context<'_>) -> Poll<()> {
        self.poll(cx, |state| state.exited && state.stderr_ended)
    }

    fn poll(&self, cx: &Context<'_>, ready: impl FnOnce(&State) -> bool) -> Poll<()> {
        let _old: Option<Waker>;
        let mut state = self.watched.lock();
        if ready(&state) {
            return Poll::Ready(());
        }
        _old = keep(&mut state.waker, cx);
        drop(state);
        Poll::Pending
    }

    pub(super) fn has_exited(&self) -> bool {
        self.watched.lock().exited
    }

    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.watched.lock().status
    }

    pub(super) fn tail(&self) -> String {
        self.watched.lock().tail.text()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _old = self.watched.lock().waker.take();
        if self.waited || self.has_exited() {
            return;
        }
        let (watched, waits) = (Arc::clone(&self.watched), self.waits);
        if spawn("ladder", move || watched.climb(waits)).is_err() {
            self.watched.signal(Signal::Kill);
        }
    }
}

/// Reads stderr to its end.
fn drain(mut stderr: ChildStderr, watched: &Watched) {
    let id = watched.lock().child.id();
    let tell = |line: &str| tracing::info!(target: "sansio_mcp_stdio::child", pid = id, "{line}");
    let mut lines = Lines::default();
    let mut chunk = vec![0; 8 * 1024];
    loop {
        match stderr.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => {
                let read = chunk.get(..n).unwrap_or_default();
                watched.lock().tail.push(read);
                lines.push(read, tell);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    lines.flush(tell);
    watched.change(|state| state.stderr_ended = true);
}

#[cfg(unix)]
mod system {
    use std::process::Child;

    use rustix::io::Errno;
    use rustix::process::{self, Pid, WaitId, WaitIdOptions};

    use super::{Signal, Watched};

    /// Tells the whole group, whose number is the child's own.
    pub(super) fn signal(child: &mut Child, signal: Signal) {
        let signal = match signal {
            Signal::Terminate => process::Signal::TERM,
            Signal::Kill => process::Signal::KILL,
        };
        // What has gone in the meantime needs no signal.
        let _ = process::kill_process_group(Pid::from_child(child), signal);
    }

    /// Returns when the child is reaped.
    pub(super) fn wait(watched: &Watched) {
        let id = Pid::from_child(&watched.lock().child);
        let gone = loop {
            match process::waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Err(Errno::INTR) => {}
                done => break done.is_ok(),
            }
        };
        let mut state = watched.lock();
        if gone {
            // It is still there to be reaped, so its group is still its own: what it left there ends too.
            signal(&mut state.child, Signal::Kill);
        }
        let status = state.child.wait().ok();
        state.reaped(status);
    }
}

#[cfg(not(unix))]
mod system {
    use std::process::Child;
    use std::time::Duration;

    use super::{Signal, Watched};

    /// How often a child is looked after.
    const TURN: Duration = Duration::from_millis(20);

    /// There is only the killing.
    pub(super) fn signal(child: &mut Child, signal: Signal) {
        if matches!(signal, Signal::Kill) {
            let _ = child.kill();
        }
    }

    /// Returns when the child has gone.
    pub(super) fn wait(watched: &Watched) {
        loop {
            {
                let mut state = watched.lock();
                match state.child.try_wait() {
                    Ok(None) => {}
                    done => return state.reaped(done.ok().flatten()),
                }
            }
            std::thread::sleep(TURN);
        }
    }
}

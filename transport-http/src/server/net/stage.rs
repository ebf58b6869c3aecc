//! How far the end of a server is, told to everything that waits for it.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The stages of a server's end, in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Stage {
    /// It serves.
    Serving,
    /// It is leaving, and serves what is on its way from clients that cannot know: connections are used once more.
    Settling,
    /// Nothing new is begun.
    Draining,
    /// Everything is dropped.
    Over,
}

/// Shared by a server, its connections and its handles.
pub(super) struct Stages {
    stage: AtomicU8,
    connections: AtomicUsize,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// The server's own task.
    server: Option<Waker>,
    /// Connections, each at its place.
    connections: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Stages {
    pub(super) fn new() -> Self {
        Self {
            stage: AtomicU8::new(Stage::Serving as u8),
            connections: AtomicUsize::new(0),
            waiting: Mutex::default(),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stage(&self) -> Stage {
        match self.stage.load(Ordering::SeqCst) {
            0 => Stage::Serving,
            1 => Stage::Settling,
            2 => Stage::Draining,
            _ => Stage::Over,
        }
    }

    /// Goes on to a stage, and never back.
    pub(super) fn advance(&self, stage: Stage) {
        let (server, connections) = {
            let mut waiting = self.waiting();
            // With the lock held: whoever registered before is woken, and whoever does after knows the stage.
            if self.stage.fetch_max(stage as u8, Ordering::SeqCst) >= stage as u8 {
                return;
            }
            let connections: Vec<Waker> = waiting.connections.iter_mut().filter_map(Option::take).collect();
            (waiting.server.take(), connections)
        };
        server.into_iter().chain(connections).for_each(Waker::wake);
    }

    /// The server's task is to hear of stages and of connections that end. It looks again afterwards.
    pub(super) fn register(&self, cx: &Context<'_>) {
        let old = {
            let mut waiting = self.waiting();
            if waiting.server.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                return;
            }
            waiting.server.replace(cx.waker().clone())
        };
        drop(old);
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// One connection's part in it. It is open until this is dropped.
pub(super) struct Seat {
    stages: std::sync::Arc<Stages>,
    place: usize,
    /// What is registered, and the stage whose end takes it away.
    known: Option<(Waker, Stage)>,
}

impl Seat {
    pub(super) fn take(stages: &std::sync::Arc<Stages>) -> Self {
        stages.connections.fetch_add(1, Ordering::SeqCst);
        let place = {
            let mut waiting = stages.waiting();
            waiting.free.pop().unwrap_or_else(|| {
                waiting.connections.push(None);
                waiting.connections.len() - 1
            })
        };
        Self { stages: std::sync::Arc::clone(stages), place, known: None }
    }

    pub(super) fn stages(&self) -> &std::sync::Arc<Stages> {
        &self.stages
    }

    /// Ready once a stage has been reached.
    pub(super) fn poll_reached(&mut self, stage: Stage, cx: &Context<'_>) -> Poll<()> {
        let now = self.stages.stage();
        if now >= stage {
            return Poll::Ready(());
        }
        // Asked each time that a connection is polled: all of them share the lock.
        if self.known.as_ref().is_some_and(|(known, then)| *then == now && known.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        let now = self.register(cx.waker());
        if now >= stage { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Registers a waker for the end of the stage that this gives.
    fn register(&mut self, waker: &Waker) -> Stage {
        let (new, own) = (waker.clone(), waker.clone());
        let (old, now) = {
            let mut waiting = self.stages.waiting();
            let old = waiting.connections.get_mut(self.place).and_then(|place| place.replace(new));
            (old, self.stages.stage())
        };
        drop(old);
        self.known = Some((own, now));
        now
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let (old, server) = {
            let mut waiting = self.stages.waiting();
            let old = waiting.connections.get_mut(self.place).and_then(Option::take);
            waiting.free.push(self.place);
            // With the lock held: the server, woken by another that ends, would count this one and hear of it no more.
            self.stages.connections.fetch_sub(1, Ordering::SeqCst);
            (old, waiting.server.take())
        };
        drop(old);
        server.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "stage_test.rs"]
mod tests;

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
        if self.stage.fetch_max(stage as u8, Ordering::SeqCst) >= stage as u8 {
            return;
        }
        let (server, connections) = {
            let mut waiting = self.waiting();
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
    known: Option<Waker>,
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
        if self.stages.stage() >= stage {
            return Poll::Ready(());
        }
        if !self.known.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            self.known = Some(cx.waker().clone());
        }
        self.register();
        if self.stages.stage() >= stage { Poll::Ready(()) } else { Poll::Pending }
    }

    fn register(&self) {
        let old = {
            let mut waiting = self.stages.waiting();
            let Some(place) = waiting.connections.get_mut(self.place) else { return };
            if let (Some(known), Some(new)) = (&*place, &self.known)
                && known.will_wake(new)
            {
                return;
            }
            std::mem::replace(place, self.known.clone())
        };
        drop(old);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let (old, server) = {
            let mut waiting = self.stages.waiting();
            let old = waiting.connections.get_mut(self.place).and_then(Option::take);
            waiting.free.push(self.place);
            (old, waiting.server.take())
        };
        drop(old);
        self.stages.connections.fetch_sub(1, Ordering::SeqCst);
        server.into_iter().for_each(Waker::wake);
    }
}

//! Requests that wait until the engine's driver has had its turn.
//!
//! Most answers are there then, and those requests need no alarm: setting one for each costs more than their answers.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
#[cfg(any(feature = "smol", feature = "tokio"))]
use std::{
    mem,
    task::{Context, Poll},
};

/// Shared by requests and whoever polls the driver, if that is known here.
#[derive(Default)]
pub(super) struct Turn(Mutex<State>);

#[derive(Default)]
struct State {
    /// Who polls the driver.
    host: Option<Waker>,
    waiting: Vec<Waker>,
}

impl Turn {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes a request after the driver's next turn. Where the driver is polled by somebody unknown, which may be a task woken
    /// earlier, at once.
    pub(super) fn wait(&self, waker: &Waker) {
        let host = {
            let mut state = self.state();
            if state.host.is_some() {
                state.waiting.push(waker.clone());
                // The first one asks for the turn: the driver may have looked at this request already.
                if state.waiting.len() > 1 {
                    return;
                }
            }
            state.host.clone()
        };
        host.as_ref().unwrap_or(waker).wake_by_ref();
    }
}

#[cfg(any(feature = "smol", feature = "tokio"))]
impl Turn {
    /// Polls the driver, and wakes those who have waited for it.
    pub(super) fn drive(
        &self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<()>,
    ) -> Poll<()> {
        let _old = {
            let mut state = self.state();
            if state.host.as_ref().is_some_and(|host| host.will_wake(cx.waker())) {
                None
            } else {
                state.host.replace(cx.waker().clone())
            }
        };
        let polled = poll(cx);
        let mut woken = mem::take(&mut self.state().waiting);
        woken.drain(..).for_each(Waker::wake);
        // The list keeps its memory.
        let mut state = self.state();
        if state.waiting.is_empty() {
            mem::swap(&mut state.waiting, &mut woken);
        }
        drop(state);
        polled
    }

    /// Nobody polls the driver any more.
    pub(super) fn leave(&self) {
        let State { host, waiting } = mem::take(&mut *self.state());
        drop(host);
        waiting.into_iter().for_each(Waker::wake);
    }
}

//! Virtual time for code that blocks its thread.
//!
//! A blocking handler runs on a real thread, and real threads are never at the same place twice. Here its every
//! pause is a turnstile: the thread waits until the virtual clock has passed the pause, and the clock waits until
//! the thread is at its next pause, or over. So the two take turns, the same ones in every run.

use std::future::poll_fn;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use sansio_mcp_memory::{External, Lab};

#[derive(Clone, Default)]
pub(crate) struct Turnstile {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// A thread that pauses, and how to let it go on.
    pausing: Option<(Duration, SyncSender<()>)>,
    lab: Option<Waker>,
    /// While this is held, the virtual clock stands.
    thread: Option<External>,
}

impl Turnstile {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks the calling thread for some virtual time.
    pub(crate) fn pause(&self, time: Duration) {
        let (sender, receiver) = sync_channel(1);
        let mut state = self.lock();
        state.pausing = Some((time, sender));
        let (lab, thread) = (state.lab.take(), state.thread.take());
        drop(state);
        if let Some(lab) = lab {
            lab.wake();
        }
        drop(thread);
        // An error: the tour is over.
        let _ = receiver.recv();
    }

    /// A thread is about to run: the clock waits for its first pause.
    pub(crate) fn expect(&self, lab: &Lab) {
        let before = self.lock().thread.replace(lab.external());
        drop(before);
    }

    /// The thread is over: the clock need not wait for it any more.
    pub(crate) fn over(&self) {
        let thread = self.lock().thread.take();
        drop(thread);
    }

    /// Lets the clock pass every pause. Runs in the lab, for ever.
    pub(crate) async fn run(self, lab: Lab) {
        loop {
            let (time, go) = poll_fn(|cx| {
                let mut state = self.lock();
                if let Some(pausing) = state.pausing.take() {
                    return Poll::Ready(pausing);
                }
                state.lab = Some(cx.waker().clone());
                Poll::Pending
            })
            .await;
            lab.sleep(time).await;
            self.expect(&lab);
            let _ = go.send(());
        }
    }
}

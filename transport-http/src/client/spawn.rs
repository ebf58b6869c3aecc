//! Futures that the layers below want to have run: the driver runs them.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

/// One of them.
pub(super) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where they are left. Clones are the same place.
#[derive(Clone, Default)]
pub(super) struct Spawned {
    inner: Arc<Mutex<Left>>,
}

#[derive(Default)]
struct Left {
    works: Vec<Work>,
    driver: Option<Waker>,
}

impl Spawned {
    fn lock(&self) -> MutexGuard<'_, Left> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(any(feature = "smol", feature = "tokio"))]
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut left = self.lock();
        left.works.push(Box::pin(work));
        let driver = left.driver.take();
        drop(left);
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// One that was left; without any, the driver is woken for the next.
    pub(super) fn next(&self, cx: &Context<'_>) -> Option<Work> {
        let _old: Option<Waker>;
        let mut left = self.lock();
        if let Some(work) = left.works.pop() {
            return Some(work);
        }
        if !left.driver.as_ref().is_some_and(|driver| driver.will_wake(cx.waker())) {
            _old = left.driver.replace(cx.waker().clone());
        }
        drop(left);
        None
    }
}

#[cfg(any(feature = "smol", feature = "tokio"))]
impl<F> hyper::rt::Executor<F> for Spawned
where
    F: Future + Send + 'static,
{
    fn execute(&self, future: F) {
        self.spawn(async move {
            future.await;
        });
    }
}

//! Waiting for what cannot be awaited, and for the end.

use std::process::ExitCode;
use std::time::Duration;

use async_signal::{Signal, Signals};
use smol::stream::StreamExt;

/// How often one looks.
pub(crate) const LOOKS: Duration = Duration::from_millis(5);

/// Waits until something is there. Whoever calls it has a bound.
pub(crate) async fn found<T>(mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(found) = look() {
            return found;
        }
        smol::Timer::after(LOOKS).await;
    }
}

/// Ready when somebody wants this to end, so that all that was started is dropped.
pub(crate) async fn interrupted() -> ExitCode {
    match Signals::new([Signal::Int, Signal::Term]) {
        Ok(mut signals) => {
            signals.next().await;
            eprintln!("interrupted");
            ExitCode::FAILURE
        }
        Err(_) => std::future::pending().await,
    }
}

//! Until when it goes on.

use std::process::ExitCode;
use std::time::Duration;

use async_signal::{Signal, Signals};
use smol::stream::StreamExt;

/// How often one looks for what cannot be awaited.
pub(crate) const LOOKS: Duration = Duration::from_millis(5);

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

//! Tools that work: one at once, one as long as it is told, and one that says how often somebody did not wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Builder, Context, Exit, Next, NoArguments, Reply, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Everything;

/// How many requests were cancelled.
#[derive(Clone, Default)]
pub struct Tally(Arc<AtomicU64>);

impl Tally {
    /// So many.
    pub fn cancelled(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Around every request: one that is cancelled is dropped before it has its answer.
    pub(super) async fn count(self, next: Next<Shared>) -> Reply {
        struct Unanswered(Option<Tally>);
        impl Drop for Unanswered {
            fn drop(&mut self) {
                if let Some(Tally(cancelled)) = &self.0 {
                    cancelled.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        let mut unanswered = Unanswered(Some(self));
        let reply = next.run().await;
        unanswered.0 = None;
        reply
    }
}

pub(super) fn offer(builder: Builder<Shared, Everything>) -> Builder<Shared, Everything> {
    builder
        .tool(
            ToolSpec::new("greet").description("Greets somebody.").read_only(),
            async |Somebody { name }: Somebody, _: Context<Everything>| Ok(format!("Hello, {name}!")),
        )
        .tool(
            ToolSpec::new("slow_compute")
                .description("Computes for as many seconds as it is told.")
                .read_only(),
            slow_compute,
        )
        .tool(
            ToolSpec::new("cancel_count").description("How many calls were cancelled so far.").read_only(),
            async |_: NoArguments, cx: Context<Everything>| Ok(cx.state().tally.cancelled().to_string()),
        )
}

#[derive(Deserialize, JsonSchema)]
struct Somebody {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Job {
    /// How long it takes.
    #[schemars(range(min = 0.0, max = 3600.0))]
    seconds: f64,
    /// What the answer repeats.
    #[serde(default)]
    label: String,
}

async fn slow_compute(Job { seconds, label }: Job, cx: Context<Everything>) -> Result<String, Exit> {
    let time = Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| *time <= Duration::from_hours(1))
        .ok_or_else(|| Exit::failure(format!("{seconds} is not between 0 and 3600 seconds")))?;
    cx.sleep(time).await;
    Ok(format!("Computed for {seconds} s: {label}"))
}

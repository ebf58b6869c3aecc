//! A server that counts: the same tools for every runtime.

use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Builder, Context, Exit, Json, NoArguments, Server};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the server knows.
#[derive(Default)]
pub(crate) struct Counter {
    held: AtomicU64,
    released: AtomicU64,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct CountTo {
    to: u32,
    /// How long one step takes.
    #[serde(default)]
    step_ms: u64,
}

#[derive(Serialize, JsonSchema)]
struct Holds {
    held: u64,
    released: u64,
}

/// The server. Slots and queue are left to the caller.
pub(crate) fn server() -> Builder<Shared, Counter> {
    Server::shared("counter", "1.0.0")
        .state(Counter::default())
        .tool("add", add)
        .tool("count", count)
        .tool("hold", hold)
        .tool("holds", holds)
}

async fn add(numbers: Add, _: Context<Counter>) -> Result<Json<Sum>, Exit> {
    let sum = numbers.a.checked_add(numbers.b).ok_or_else(|| Exit::failure("the sum is too large"))?;
    Ok(Json(Sum { sum }))
}

/// Counts, with a report for every step, on whatever clock serves it.
async fn count(CountTo { to, step_ms }: CountTo, cx: Context<Counter>) -> Result<String, Exit> {
    for step in 1..=to {
        if step_ms > 0 {
            cx.sleep(Duration::from_millis(step_ms)).await;
        }
        cx.progress(100.0 * f64::from(step) / f64::from(to), format_args!("{step} of {to}"));
    }
    Ok(format!("counted to {to}"))
}

/// Holds something until it is cancelled; the clean-up lets go of it.
async fn hold(_: NoArguments, cx: Context<Counter>) -> Result<&'static str, Exit> {
    cx.state().held.fetch_add(1, Ordering::SeqCst);
    let counter = cx.state_arc();
    cx.on_exit(async move {
        counter.held.fetch_sub(1, Ordering::SeqCst);
        counter.released.fetch_add(1, Ordering::SeqCst);
    });
    pending().await
}

async fn holds(_: NoArguments, cx: Context<Counter>) -> Result<Json<Holds>, Exit> {
    let counter = cx.state();
    let (held, released) = (counter.held.load(Ordering::SeqCst), counter.released.load(Ordering::SeqCst));
    Ok(Json(Holds { held, released }))
}

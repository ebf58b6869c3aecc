//! One replica after the other leaves and comes back, while clients go on as if nothing was.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sansio_mcp_sdk::client::{CallError, Client, ListenEnd, ListenSpec, RelistenEvent, RelistenLimits};
use sansio_mcp_sdk::model::CallToolResult;
use serde_json::{Value, json};

use crate::fleet::Fleet;
use crate::rounds::gift;
use crate::tally::{Step, Tally, check, same};
use crate::until::LOOKS;

/// Who calls, again and again.
const CALLERS: usize = 12;
/// Calls that end well between one restart and the next.
const BETWEEN: usize = 60;

pub(crate) async fn steps(tally: &mut Tally, fleet: &mut Fleet) {
    tally.step("a rolling restart under load loses no answer that was begun", roll(fleet)).await;
}

#[derive(Clone, Default)]
struct Load {
    stopped: Arc<AtomicBool>,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    done: usize,
    /// Calls that failed before anything of an answer had come: what it was.
    refused: Vec<String>,
    /// Calls that failed in the middle of their answer.
    cut: Vec<String>,
}

impl Load {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn calls(self, client: Client, caller: usize) {
        while !self.stopped.load(Ordering::Relaxed) {
            let begun = Arc::new(AtomicBool::new(false));
            let ended = match caller % 3 {
                0 => gift(&client).await,
                1 => report(&client, &begun).await,
                _ => find(&client).await,
            };
            let mut kept = self.kept();
            match ended {
                Ok(()) => kept.done += 1,
                Err(error) if begun.load(Ordering::Relaxed) => kept.cut.push(told(&error)),
                Err(error) => kept.refused.push(told(&error)),
            }
        }
    }

    /// Waits until some more calls have ended well.
    async fn goes_on(&self) {
        let before = self.kept().done;
        while self.kept().done < before + BETWEEN {
            smol::Timer::after(LOOKS).await;
        }
    }
}

fn told(error: &CallError) -> String {
    format!("{}: {error}", error.code())
}

/// A report, told of in between; `begun` once its answer has.
async fn report(client: &Client, begun: &Arc<AtomicBool>) -> Result<(), CallError> {
    let begun = Arc::clone(begun);
    let report = client
        .call_tool("monthly_report", &json!({"month": "2026-06"}))
        .on_progress(move |_| begun.store(true, Ordering::Relaxed))
        .await?;
    let month = report.structured_as::<Value>().ok().flatten().unwrap_or_default();
    wanted(month["month"] == "2026-06" && month["orders"].is_u64(), &report)
}

async fn find(client: &Client) -> Result<(), CallError> {
    let found = client.call_tool("find_book", &json!({"query": "rust"})).await?;
    wanted(found.first_text().is_some_and(|text| text.lines().count() == 2), &found)
}

fn wanted(holds: bool, result: &CallToolResult) -> Result<(), CallError> {
    if holds { Ok(()) } else { Err(CallError::Decode(format!("another answer: {result:?}").into())) }
}

async fn roll(fleet: &mut Fleet) -> Step {
    let client = fleet.client()?;
    let load = Load::default();
    let callers: Vec<_> =
        (0..CALLERS).map(|caller| smol::spawn(load.clone().calls(client.clone(), caller))).collect();
    let mut listening = client.relisten(ListenSpec::new().tools(), RelistenLimits::default());
    let (told, ends) = smol::channel::unbounded();
    let (opened, openings) = smol::channel::unbounded();
    let listener = smol::spawn(async move {
        while let Some(event) = listening.next().await {
            let _ = match event {
                RelistenEvent::Opened(_) => opened.try_send(()).is_ok(),
                RelistenEvent::Interrupted(end) | RelistenEvent::Ended(end) => told.try_send(end).is_ok(),
                _ => true,
            };
        }
    });
    openings.recv().await.map_err(|_| "nobody listens")?;

    load.goes_on().await;
    for replica in 0..fleet.shops.len() {
        let shop = fleet.shops.get_mut(replica).ok_or("no such replica")?;
        let status = shop.leave().await?;
        check("it left in order", status.success())?;
        load.goes_on().await;
        fleet.reopen(replica).await?;
        load.goes_on().await;
    }
    load.stopped.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await;
    }
    openings.recv().await.map_err(|_| "it was not listened to again")?;
    drop(listener);

    let kept = load.kept();
    println!("     {} calls, {} refused and called again", kept.done, kept.refused.len());
    let mut refused = kept.refused.clone();
    refused.sort();
    refused.dedup();
    for refused in refused {
        println!("     {refused}");
    }
    // Busy, or a gateway's word that nobody answered: either may be called again.
    check(
        "who was refused was told so",
        kept.refused.iter().all(|told| told.starts_with("SERVER_BUSY") || told.contains("502")),
    )?;
    same("answers that were cut", &kept.cut, &Vec::<String>::new())?;
    let mut ends = std::iter::from_fn(|| ends.try_recv().ok());
    let first = ends.next();
    check("the subscription ended with the replica it was at", first.is_some())?;
    check(
        "and each time in order",
        first.into_iter().chain(ends).all(|end| matches!(end, ListenEnd::Graceful)),
    )
}

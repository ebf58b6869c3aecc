//! Pages in a headless Chromium call the bookshop.
//!
//! ```text
//! browser CHROMIUM BOOKSHOP FOLDER
//! ```
//!
//! `page.html` is served from a port of its own under three origins: one that the bookshop lists, one that it does not, and one of
//! this machine. Between the browser and the shop is a relay that notes what is asked and with which status it is answered,
//! for the page does not learn that of what it must not read.
//!
//! One line a step, `PASS name` or `FAIL name: reason`, then `N passed, M failed`; the exit code is 0 when nothing failed.
//! What it starts it ends, also when it is interrupted. `FOLDER` is for the browser's profile.

mod chromium;
mod pages;
#[path = "../raw.rs"]
mod raw;
mod relay;
#[path = "../shop.rs"]
mod shop;
mod stage;
#[path = "../../../servers/src/tally.rs"]
mod tally;
#[path = "../until.rs"]
mod until;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use smol::future::or;
use stage::Stage;
use tally::{Step, Tally, check, same};

fn main() -> ExitCode {
    let words: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [chromium, bookshop, folder] = &*words else {
        eprintln!("usage: browser CHROMIUM BOOKSHOP FOLDER");
        return ExitCode::from(2);
    };
    let steps = async {
        let stage = match Stage::open(chromium, bookshop, folder).await {
            Ok(stage) => stage,
            Err(error) => {
                eprintln!("the bookshop cannot be started: {error}");
                return ExitCode::FAILURE;
            }
        };
        let mut tally = Tally::default();
        tally
            .step("a page of a listed origin lists, calls, hears of progress, and goes away", listed(&stage))
            .await;
        tally.step("a page of another origin is refused", unlisted(&stage)).await;
        tally.step("a page of this machine that is not listed reads nothing", local(&stage)).await;
        tally.end()
    };
    smol::block_on(or(steps, until::interrupted()))
}

async fn listed(stage: &Stage) -> Step {
    let origin = stage.listed();
    let (outcome, asked) = stage.visit(&origin).await?;
    let tools = outcome["list"]["tools"].as_array().ok_or_else(|| format!("no list: {outcome}"))?;
    check("the list has the shop's tools", tools.contains(&json!("order_book")) && tools.len() > 10)?;
    let progress =
        |progress| json!({"method": "notifications/progress", "token": "report", "progress": progress});
    let report = &outcome["report"];
    same("type", report["type"].as_str(), Some("text/event-stream"))?;
    let sales = json!({"month": "2026-06", "orders": 242, "revenue_cents": 803_924});
    same("report", &report["messages"], &json!([progress(30), progress(90), sales]))?;
    // The order was told of while it waited, and put its copies back when the page went away from it.
    same("order", &outcome["order"], &json!({"progress": 50}))?;
    stage.holds(json!({"held": 0, "released": 2})).await?;
    // What is no JSON is refused whoever sends it.
    same("simple", &outcome["simple"]["type"], "opaque")?;
    check("the browser asked before", asked.contains(&("OPTIONS".into(), origin.clone(), 204)))?;
    check("and called", asked.contains(&("POST".into(), origin.clone(), 200)))?;
    check("nothing of it was forbidden", asked.iter().all(|(_, _, status)| *status != 403))
}

async fn unlisted(stage: &Stage) -> Step {
    let origin = stage.unlisted();
    let (outcome, asked) = stage.visit(&origin).await?;
    for what in ["list", "report", "order"] {
        same(what, &outcome[what], &json!({"failed": "TypeError"}))?;
    }
    // It was sent, and refused; the page cannot tell.
    same("simple", &outcome["simple"], &json!({"type": "opaque", "status": 0}))?;
    let times = |method| asked.iter().filter(|(asked, _, _)| asked == method).count();
    check(
        "it was asked, and only what needs no asking was sent",
        times("OPTIONS") >= 3 && times("POST") == 1,
    )?;
    check("all of it was forbidden", asked.iter().all(|(_, from, status)| *from == origin && *status == 403))
}

/// Such a page is not forbidden to send: programs of this machine may. But nothing tells the browser that it may read.
async fn local(stage: &Stage) -> Step {
    let origin = stage.local();
    let (outcome, asked) = stage.visit(&origin).await?;
    for what in ["list", "report", "order"] {
        same(what, &outcome[what], &json!({"failed": "TypeError"}))?;
    }
    same("simple", &outcome["simple"], &json!({"type": "opaque", "status": 0}))?;
    let mut asked = asked.into_iter().map(|(method, _, status)| (method, status)).collect::<Vec<_>>();
    asked.sort();
    asked.dedup();
    same("asked", asked, [("OPTIONS".into(), 403), ("POST".to_owned(), 415)])
}

//! A tour of what this library does with calls that take a while: progress going out, cancellation going in, and
//! questions in the middle.
//!
//! ```text
//! cargo run --example tour
//! cargo run --example tour -- --http
//! ```
//!
//! A client and the bookshop server talk over a pipe in memory, or over HTTP without a socket, under a virtual clock: half a
//! minute of waiting for a payment takes no time at all, and every run prints the same.

/// As `println!`, but a reader that has seen enough (`| head`) ends the tour quietly.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        if writeln!(std::io::stdout(), $($text)*).is_err() {
            std::process::exit(0);
        }
    }};
}

mod bounds;
mod failures;
mod http;
mod listening;
mod person;
mod questions;
#[path = "../shop/mod.rs"]
mod shop;
mod tap;
mod timeline;
mod turnstile;
mod way;
mod wire;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use person::Person;
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::Engine;
use sansio_mcp_sdk::client::{CallError, Client};
use sansio_mcp_sdk::protocol::client::ClientConfig;
use sansio_mcp_sdk::protocol::model::{CallToolResult, ClientCapabilities, Implementation, RawJson};
use sansio_mcp_sdk::protocol::server::continuation::NoEntropy;
use sansio_mcp_sdk::server::{KeyRing, SealKey};
use serde_json::{Value, json};
use shop::{Season, Shop};
use smol::future::or;
use timeline::Timeline;
use tracing_subscriber::layer::SubscriberExt;
use turnstile::Turnstile;
use way::Way;

/// Requests that the server runs at one time.
const SLOTS: usize = 2;
/// Requests that may wait for their turn.
const QUEUE: usize = 2;

/// Everything a scene needs.
struct Stage {
    lab: Lab,
    engine: Engine,
    way: Way,
    season: Season,
    timeline: Timeline,
    turnstile: Turnstile,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let http = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--http") => true,
        Some(other) => return Err(format!("unknown: {other}").into()),
    };
    let lab = Lab::new();
    let timeline = Timeline::new(lab.clock());
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(timeline.clone()))?;

    let turnstile = Turnstile::default();
    lab.spawn(turnstile.clone().run(lab.clone()));
    let pause = turnstile.clone();
    let shop = Shop::new(Arc::new(lab.clock()), "tour", move |time| pause.pause(time));
    let keys = KeyRing::new(SealKey::new([7; 32]), counted);
    let season = shop.season();
    let server = shop::server(shop).slots(SLOTS).queue(QUEUE).state_keys(keys).build()?;
    let (engine, driver) = Engine::new(server, Arc::new(lab.clock()));
    lab.spawn(driver);

    let way = if http { Way::http(&engine)? } else { Way::Pipe };
    say!(
        "A bookshop server with {SLOTS} slots and room for {QUEUE} to wait, and a client. Times are virtual and begin \
         anew in each\nscene. `-->` and `<--` are {}; `…` stands for what was left out.",
        way.shows()
    );
    let stage = Stage { lab: lab.clone(), engine, way, season, timeline, turnstile };
    let held = lab.run(async {
        let person = Person::new(&stage.timeline, stage.lab.clock(), &stage.engine);
        let (client, _) = stage.connect(client_config()?);
        let (asking, _) = stage.connect(person.setup()?);
        stage.report(&client).await?;
        stage.cancelled_order(&client).await?;
        stage.cancelled_rebuild(&client).await?;
        stage.refunds(&client).await?;
        stage.busy(&client).await?;
        stage.questions(&asking, &person).await?;
        stage.nine_rounds(&asking, &person).await?;
        stage.tampered().await?;
        stage.listening(&client).await?;
        stage.failures().await?;
        let facts = stage.engine.facts();
        stage.timeline.check("in the end nothing runs and nothing waits", facts.running + facts.waiting == 0);
        Ok::<bool, Box<dyn Error>>(stage.timeline.summary())
    })?;
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The tour's nonces: the same in every run, so that every run prints the same. A real server takes random ones.
#[allow(clippy::unnecessary_wraps)] // the form of a source
fn counted(out: &mut [u8]) -> Result<(), NoEntropy> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes();
    out.iter_mut().zip(count).for_each(|(place, byte)| *place = byte);
    Ok(())
}

/// A result as a client would read it.
fn shown(result: &Result<CallToolResult, CallError>) -> String {
    match result {
        Ok(result) => result.first_text().unwrap_or_default().to_owned(),
        Err(error) => format!("{}: {error}", error.code()),
    }
}

fn structured(result: &CallToolResult) -> Value {
    let content = result.structured_content.as_ref().map(RawJson::get);
    serde_json::from_str(content.unwrap_or_default()).unwrap_or_default()
}

fn client_config() -> Result<ClientConfig, Box<dyn Error>> {
    Ok(ClientConfig::builder(Implementation::new("tour", "1"), ClientCapabilities::default()).build()?)
}

impl Stage {
    /// Asks for a status, on the side.
    async fn status(&self, client: &Client, tool: &str) -> Result<Value, CallError> {
        self.timeline.quiet(true);
        let status = client.call_tool(tool, &json!({})).await;
        self.timeline.quiet(false);
        let status = structured(&status?);
        self.timeline.client(format!("asks for {tool}: {status}"));
        Ok(status)
    }

    /// A handler written as a generator: it yields progress, and what it returns is the answer.
    async fn report(&self, client: &Client) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("A report is made, and tells how far it is");
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let (told, note) = (t.clone(), Arc::clone(&seen));
        t.client("calls monthly_report and wants to hear of its progress");
        let report = client
            .call_tool("monthly_report", &json!({"month": "2026-06"}))
            .on_progress(move |progress| {
                told.client(format!(
                    "hears {} % {}",
                    progress.percent().unwrap_or_default(),
                    progress.message.as_deref().unwrap_or_default()
                ));
                if let Ok(mut seen) = note.lock() {
                    seen.push(progress.progress);
                }
            })
            .await;
        t.client(format!("has the report: {}", shown(&report)));
        let report = structured(&report?);
        let seen = seen.lock().map(|seen| seen.clone()).unwrap_or_default();
        t.check("progress 30 and 90 came before the report", seen == [30.0, 90.0]);
        t.check("the report is about the month that was asked for", report["month"] == "2026-06");
        Ok(())
    }

    /// An `async` handler that is cancelled at its await; its clean-up runs all the same.
    async fn cancelled_order(&self, client: &Client) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("An order is cancelled while it waits for payment, and puts its copies back");
        t.client("orders two copies");
        let mut order = client
            .call_tool("order_book", &json!({"isbn": "9780131103627", "copies": 2}))
            .on_progress(|_| {});
        let early = or(async { Some((&mut order).await) }, async {
            self.lab.sleep(Duration::from_secs(2)).await;
            None
        });
        let early = early.await;
        let during = self.status(client, "hold_status").await?;
        t.client("changes her mind");
        order.cancel("changed my mind");
        let outcome = order.await;
        t.client(format!("has {}", shown(&outcome)));
        t.until("order_book", "over").await;
        let after = self.status(client, "hold_status").await?;
        t.check(
            "an order held its two copies until it was cancelled",
            early.is_none() && during["held"] == 2,
        );
        let code = outcome.as_ref().err().map(CallError::code);
        t.check("a cancelled call tells its caller CANCELLED, and nobody sent it an answer", {
            code == Some("CANCELLED") && t.fact("order_book", 0, "answered").is_none()
        });
        t.check("its clean-up put them back", after == json!({"held": 0, "released": 2}));
        t.check(
            "its clean-up ran after the stop, and was over when it was really over",
            t.states("order_book", 0) == ["gate", "running", "stopped", "cleanup", "over"],
        );
        Ok(())
    }

    /// A plain function on a thread of its own: it asks between two books whether it is still wanted.
    async fn cancelled_rebuild(&self, client: &Client) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("A blocking rebuild of the index is cancelled between two books");
        self.turnstile.expect(&self.lab);
        let (watch, turnstile) = (t.clone(), self.turnstile.clone());
        self.lab.spawn(async move {
            watch.until("rebuild_index", "over").await;
            turnstile.over();
        });
        t.client("wants 1000 books indexed");
        {
            let rebuild = client.call_tool("rebuild_index", &json!({"books": 1000}));
            let late = async {
                self.lab.sleep(Duration::from_micros(3_500)).await;
                Err(CallError::Cancelled)
            };
            // Whichever is first; the other is dropped. Dropping a call cancels it.
            let _ = or(rebuild, late).await;
            t.client("drops the call in the middle of the fourth book");
        }
        t.until("rebuild_index", "over").await;
        let status = self.status(client, "index_status").await?;
        t.check("the rebuild stopped after the book it was at", status["indexed"] == 4);
        let (stopped, over) = (t.fact("rebuild_index", 0, "stopped"), t.fact("rebuild_index", 0, "over"));
        let held = stopped.zip(over).map(|(stopped, over)| over.at.saturating_sub(stopped.at));
        t.check(
            "its slot was kept until the thread had returned, half a millisecond later",
            held == Some(Duration::from_micros(500)) && t.fact("rebuild_index", 0, "draining").is_some(),
        );
        Ok(())
    }

    /// A mutation with a lane per invoice.
    async fn refunds(&self, client: &Client) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("Two refunds of one invoice take turns; a third gives up waiting");
        let refund = |invoice: &str, cents: u32| {
            t.client(format!("refunds {cents} cents of {invoice}"));
            let refund = client.call_tool("refund", &json!({"invoice": invoice, "cents": cents}));
            let t = t.clone();
            self.lab.spawn(async move {
                let result = refund.await;
                t.client(format!("has {}", shown(&result)));
                result
            })
        };
        let (first, third) = (refund("INV-7", 100), refund("INV-7", 900));
        let second = refund("INV-7", 250);
        self.lab.sleep(Duration::from_millis(10)).await;
        t.client("gives the one of 900 up");
        third.abort();
        let (first, second) = (first.await, second.await);
        let total = |result: &Result<CallToolResult, CallError>| {
            result.as_ref().ok().and_then(|result| structured(result)["refunded_cents"].as_u64())
        };
        t.check(
            "both refunds count, one after the other",
            (total(&first), total(&second)) == (Some(100), Some(350)),
        );
        t.check(
            "the one that gave up never began",
            t.fact("refund", 1, "stopped").is_some_and(|fact| fact.started == Some(false))
                && t.fact("refund", 1, "running").is_none(),
        );
        let (end, begin) = (t.fact("refund", 0, "over"), t.fact("refund", 2, "running"));
        t.check(
            "the second began when the first was over",
            end.zip(begin).is_some_and(|(end, begin)| end.at <= begin.at),
        );
        Ok(())
    }

    /// More than there are slots and places to wait.
    async fn busy(&self, client: &Client) -> Result<(), CallError> {
        let t = &self.timeline;
        t.scene("A full house: two run, two wait, the fifth is refused at once");
        let mut orders = Vec::new();
        for copies in 1..=4 {
            t.client(format!("orders {copies}"));
            let order = json!({"isbn": "9781718503106", "copies": copies});
            orders.push(self.lab.spawn(client.call_tool("order_book", &order)));
        }
        self.lab.sleep(Duration::from_millis(1)).await;
        t.client("looks for a book");
        let refused = client.call_tool("find_book", &json!({"query": "rust"})).await;
        t.client(format!("has {}", shown(&refused)));
        if let Err(error) = &refused {
            t.client(format!("is told to come back in {} ms", error.retry_after_ms().unwrap_or_default()));
            t.check(
                "the fifth was refused with a code, and with when to come back",
                error.code() == "SERVER_BUSY" && error.retry_after_ms().is_some(),
            );
        }
        t.client("gives the third order up, then the first");
        if let [first, second, third, fourth] = &*orders {
            third.abort();
            first.abort();
            self.lab.sleep(Duration::from_secs(1)).await;
            let (waited, next) = (t.fact("order_book", 2, "stopped"), t.fact("order_book", 3, "running"));
            t.check(
                "one that gives up in the queue never comes to the gate",
                waited.is_some_and(|fact| fact.started == Some(false))
                    && t.fact("order_book", 2, "gate").is_none(),
            );
            t.check("the next one in the queue took the slot that came free", next.is_some());
            t.client("gives the others up too");
            fourth.abort();
            second.abort();
        }
        self.lab.sleep(Duration::from_secs(1)).await;
        let again = client.call_tool("find_book", &json!({"query": "rust"})).await;
        t.client(format!("looks again: {}", shown(&again).lines().next().unwrap_or_default()));
        t.check("afterwards the server has room again", again.is_ok());
        Ok(())
    }
}

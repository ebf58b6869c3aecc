//! The client disappears while the refund runs: what its end and the server see of it, and when.
//!
//! ```text
//! cargo run -p sansio-mcp-memory --example disappears
//! ```
//!
//! Over one shared channel and over a stream for each request. Prints the trace, which is the same each time.

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use sansio_mcp_memory::sim::{Link, Sim, Way};
use sansio_mcp_sdk::client::Client;
use sansio_mcp_sdk::model::Implementation;
use sansio_mcp_sdk::server::{Context, NoArguments, Server};
use sansio_mcp_sdk::{Engine, Local};

fn main() -> Result<(), Box<dyn Error>> {
    disappear("one shared channel", Link::shared())?;
    disappear("a stream for each request", Link::per_request())
}

fn disappear(name: &str, link: Link) -> Result<(), Box<dyn Error>> {
    println!("over {name}:");
    let sim = Sim::new(7);
    let ledger = Rc::new(RefCell::new(Vec::new()));
    let (book, clock) = (Rc::clone(&ledger), sim.lab().clock());
    let server = Server::local("shop", "1").tool("refund", move |_: NoArguments, cx: Context<(), Local>| {
        let (book, clock) = (Rc::clone(&book), clock.clone());
        async move {
            let note = move |what: &str| {
                book.borrow_mut().push(format!("{:>5} ms: {what}", clock.elapsed().as_millis()));
            };
            note("the invoice is held");
            let released = note.clone();
            cx.on_exit(async move { released("the hold is released") });
            cx.sleep(Duration::from_secs(20)).await;
            note("the money goes back");
            Ok("refunded")
        }
    });
    let (engine, driver) = Engine::new(server.build()?, Arc::new(sim.lab().clock()));
    sim.lab().spawn(driver);

    // The request takes a while, in pieces.
    let up = Way::clear().delay(Duration::from_millis(5)..=Duration::from_millis(50)).pieces(64..=128);
    let client = Client::builder(Implementation::new("till", "1"));
    let (client, cord) = sim.connect(&engine, client, link.ways(up, Way::clear()))?;
    let refund = sim.lab().spawn(client.call_tool("refund", &serde_json::json!({})));
    sim.lab().advance(Duration::from_secs(10));
    sim.note("test", "pulls the plug");
    cord.cut();
    // A stream for each request is missed at once; the end of a shared channel's input leaves 1.5 s for answers.
    sim.lab().advance(Duration::from_secs(30));

    print!("{}", sim.trace());
    ledger.borrow().iter().for_each(|line| println!("{line}"));
    let outcome = refund.take().ok_or("the call has not ended")?;
    println!("the call: {}", outcome.map_or_else(|error| error.code(), |_| "refunded"));
    println!("handlers that still run: {}\n", engine.facts().running);
    Ok(())
}

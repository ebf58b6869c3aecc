//! A deterministic simulation of a client, a server, and a network between them that misbehaves.
//!
//! A [`Sim`] has a [`Lab`], whose time is virtual: a sleep of an hour takes no time and is exact to the nanosecond. A
//! [`Link`] says what lies between a client and a server: how long bytes take, how writes are split and merged, when the
//! other end stops reading, and at which byte the stream is cut; over one shared channel or with a stream for each
//! request. Everything else is the real thing: the engine, the client, and the pumps that carry stdio.
//!
//! Whatever is left to chance, the order in which ready tasks run included, is decided by one **seed**: equal seeds give
//! equal runs and equal [traces](Trace), byte for byte. (So long as the program itself does nothing that differs from run to
//! run: threads, real time, the order of a `HashMap`.) A simulation that panics prints its seed; `SANSIO_SEED` sets it:
//!
//! ```text
//! simulation failed: SANSIO_SEED=17 runs it again
//! $ SANSIO_SEED=17 SANSIO_TRACE=trace.jsonl cargo test the_test
//! ```
//!
//! `SANSIO_TRACE` names a file for the trace of what failed: JSON Lines that say who wrote, got or lost what, and when.
//!
//! # The client disappears while the refund runs
//!
//! ```
//! use std::{cell::Cell, rc::Rc, sync::Arc, time::Duration};
//!
//! use sansio_mcp_memory::sim::{Link, Sim, Way};
//! use sansio_mcp_sdk::client::Client;
//! use sansio_mcp_sdk::model::Implementation;
//! use sansio_mcp_sdk::server::{Context, NoArguments, Server};
//! use sansio_mcp_sdk::{Engine, Local};
//!
//! let sim = Sim::new(7);
//! let released = Rc::new(Cell::new(false));
//! let by_tool = released.clone();
//! let server = Server::local("shop", "1").tool("refund", move |_: NoArguments, cx: Context<(), Local>| {
//!     let released = by_tool.clone();
//!     async move {
//!         // However it ends: the hold on the invoice is released.
//!         cx.on_exit(async move { released.set(true) });
//!         cx.sleep(Duration::from_secs(20)).await;
//!         Ok("refunded")
//!     }
//! });
//! let (engine, driver) = Engine::new(server.build()?, Arc::new(sim.lab().clock()));
//! sim.lab().spawn(driver);
//!
//! // Requests take 5 to 50 ms and arrive in small pieces.
//! let up = Way::clear().delay(Duration::from_millis(5)..=Duration::from_millis(50)).pieces(1..=100);
//! let builder = Client::builder(Implementation::new("till", "1"));
//! let (client, cord) = sim.connect(&engine, builder, Link::shared().ways(up, Way::clear()))?;
//!
//! let refund = sim.lab().spawn(client.call_tool("refund", &serde_json::json!({})));
//! sim.lab().advance(Duration::from_secs(10));
//! assert_eq!((engine.facts().running, released.get()), (1, false));
//! cord.cut();
//! sim.lab().run_until_idle();
//! assert_eq!(refund.take().unwrap().unwrap_err().code(), "LOST");
//!
//! // The server sees the end of its input: what runs may finish within 1.5 s, and is stopped then.
//! assert_eq!((engine.facts().running, released.get()), (1, false));
//! sim.lab().advance(Duration::from_millis(1500));
//! assert_eq!((engine.facts().running, released.get()), (0, true));
//! println!("{}", sim.trace());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The client disappears while a question is open
//!
//! A question ends its entry of the request, so that nothing runs and the server has nothing to notice:
//!
//! ```
//! use std::sync::Arc;
//!
//! use sansio_mcp_memory::sim::{Link, Sim};
//! use sansio_mcp_sdk::client::Client;
//! use sansio_mcp_sdk::model::Implementation;
//! use sansio_mcp_sdk::server::{Context, Form, NoArguments, Server};
//! use sansio_mcp_sdk::{Engine, Local};
//!
//! for seed in Sim::seeds(0..20) {
//!     let sim = Sim::new(seed);
//!     let server = Server::local("shop", "1").tool("refund", async |_: NoArguments, cx: Context<(), Local>| {
//!         cx.ask("sure", Form::new("Refund 40 euros?"))?;
//!         Ok("refunded")
//!     });
//!     let (engine, driver) = Engine::new(server.build()?, Arc::new(sim.lab().clock()));
//!     sim.lab().spawn(driver);
//!     let builder = Client::builder(Implementation::new("till", "1")).on_form(async |_| std::future::pending().await);
//!     let (client, cord) = sim.connect(&engine, builder, Link::shared())?;
//!     let refund = sim.lab().spawn(client.call_tool("refund", &serde_json::json!({})));
//!     sim.lab().run_until_idle();
//!     assert!(sim.trace().to_string().contains("Refund 40 euros?"));
//!     assert_eq!((engine.facts().running, refund.is_done()), (0, false));
//!     cord.cut();
//!     sim.lab().run_until_idle();
//!     assert_eq!(refund.take().unwrap().unwrap_err().code(), "LOST");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/disappears.rs` does the first over both routings and prints what happened. `examples/soak.rs` lets clients do whatever
//! comes to mind over rough links, for as many steps as one likes: `cargo run -p sansio-mcp-memory --example soak --
//! --seed 1 --steps 100000`.

mod dice;
mod link;
mod relay;
mod trace;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use sansio_mcp::client::{Abandon, Routing};
use sansio_mcp::config::ConfigError;
use sansio_mcp::limits::MAX_MESSAGE;
use sansio_mcp_sdk::Engine;
use sansio_mcp_sdk::client::{Client, ClientBuilder};
use sansio_mcp_sdk::lines::pump;

pub use dice::Dice;
pub use link::{Link, Way};
use relay::{Knife, Stream, carry};
pub use trace::{Entry, Trace, What, Who};

use crate::duplex::{Duplex, duplex};
use crate::lab::Lab;
use crate::per_request::{drive, per_request};
use crate::serve::serve_streams;

/// A simulation: a lab, dice, and a trace. Dropped while its thread panics it prints its seed.
pub struct Sim {
    seed: u64,
    dice: Dice,
    lab: Lab,
    trace: Trace,
    streams: Rc<Cell<u64>>,
}

impl Sim {
    /// A simulation of this seed.
    pub fn new(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let lab = Lab::in_order_of(dice.fork());
        let trace = Trace::new(lab.clock());
        Self { seed, dice, lab, trace, streams: Rc::default() }
    }

    /// The seeds to run: these, or the one that `SANSIO_SEED` names.
    ///
    /// # Panics
    /// `SANSIO_SEED` is not a number.
    pub fn seeds(otherwise: impl IntoIterator<Item = u64>) -> Vec<u64> {
        match std::env::var("SANSIO_SEED").ok().map(|seed| seed.parse()) {
            Some(Ok(seed)) => vec![seed],
            Some(Err(_)) => panic!("SANSIO_SEED is not a number"),
            None => otherwise.into_iter().collect(),
        }
    }

    /// Its seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// For everything that a test leaves to chance.
    pub fn dice(&self) -> &Dice {
        &self.dice
    }

    /// Runs everything. Clones of it may go into tasks.
    pub fn lab(&self) -> &Lab {
        &self.lab
    }

    /// What has happened.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Writes something into the trace.
    pub fn note(&self, who: &str, note: impl Into<String>) {
        self.trace.add(Who::Other(who.into()), None, What::Note(note.into()));
    }

    /// A client of an engine behind a link; the engine's driver has to be [spawned](Lab::spawn) in this lab. The client's
    /// binding is that of the link.
    ///
    /// # Errors
    /// What is wrong with the client's configuration.
    pub fn connect(
        &self,
        engine: &Engine,
        client: ClientBuilder,
        link: Link,
    ) -> Result<(Client, Cord), ConfigError> {
        let clock = Arc::new(self.lab.clock());
        let cord = Cord::default();
        let network = Network {
            lab: self.lab.clone(),
            trace: self.trace.clone(),
            streams: Rc::clone(&self.streams),
            dice: self.dice.fork(),
            link,
            cord: cord.clone(),
        };
        let capacity = network.link.capacity;
        let client = if network.link.routing == Routing::PerRequest {
            let client = client.binding(Routing::PerRequest, Abandon::CloseStream).build()?;
            let (opener, mut far) = per_request(capacity);
            let (onward, acceptor) = per_request(capacity);
            self.lab.spawn(serve_streams(self.lab.clone(), engine.clone(), acceptor, MAX_MESSAGE));
            let (client, connection) = Client::connect(client, clock.clone());
            self.lab.spawn(drive(connection, opener, clock, MAX_MESSAGE));
            self.lab.spawn(async move {
                while let Some(from_client) = far.accept().await {
                    let Some(to_server) = onward.open() else { break };
                    network.join(from_client, to_server);
                }
            });
            client
        } else {
            let client = client.binding(Routing::Shared, Abandon::Notify).build()?;
            let (near, from_client) = duplex(capacity);
            let (to_server, far) = duplex(capacity);
            let (reader, writer) = far.split();
            self.lab.spawn(pump(engine.connect(), reader, writer, clock.clone(), MAX_MESSAGE));
            let (client, connection) = Client::connect(client, clock.clone());
            let (reader, writer) = near.split();
            self.lab.spawn(pump(connection, reader, writer, clock, MAX_MESSAGE));
            network.join(from_client, to_server);
            client
        };
        Ok((client, cord))
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("simulation failed: SANSIO_SEED={} runs it again", self.seed);
            if let Some(file) = std::env::var_os("SANSIO_TRACE")
                && let Err(error) = std::fs::write(&file, self.trace.to_string())
            {
                eprintln!("its trace could not be written: {error}");
            }
        }
    }
}

/// What connects one client: it can be cut. Dropping it changes nothing. Clones are the same cord.
#[derive(Clone, Default)]
pub struct Cord {
    knives: Rc<RefCell<Vec<Weak<Knife>>>>,
}

impl Cord {
    /// Cuts every stream that is open: both ends lose it, whatever was on the way. Over a shared channel that is the end of
    /// the connection; a client with a stream for each request may open others.
    pub fn cut(&self) {
        let knives = std::mem::take(&mut *self.knives.borrow_mut());
        knives.iter().filter_map(Weak::upgrade).for_each(|knife| knife.cut());
    }
}

/// What lies between one client and its server.
struct Network {
    lab: Lab,
    trace: Trace,
    streams: Rc<Cell<u64>>,
    dice: Dice,
    link: Link,
    cord: Cord,
}

impl Network {
    /// Carries what one end writes to the other, from now on.
    fn join(&self, client: Duplex, server: Duplex) {
        let number = self.streams.get();
        self.streams.set(number + 1);
        self.trace.add(Who::Client, Some(number), What::Opened);
        let knife = Rc::new(Knife::default());
        let mut knives = self.cord.knives.borrow_mut();
        knives.retain(|knife| knife.strong_count() > 0);
        knives.push(Rc::downgrade(&knife));
        let stream = Stream { lab: self.lab.clone(), trace: self.trace.clone(), number, knife };
        let dice = self.dice.fork();
        let ways = self.link.drawn(&dice);
        self.lab.spawn(carry(stream, client, server, ways, dice));
    }
}

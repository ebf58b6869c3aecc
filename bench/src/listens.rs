//! Subscriptions: how long it takes until the last of many subscribers has been told of a change.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sansio_mcp_sdk::client::{Change, Changed, Client, ListenEvent, ListenSpec, Subscription};
use sansio_mcp_sdk::lines::pump;
use sansio_mcp_sdk::model::Implementation;
use sansio_mcp_sdk::{Engine, clock::Clock};
use sansio_mcp_stdio::{LINE_LIMIT, SystemClock};
use smol::LocalExecutor;
use smol::channel::{Receiver, Sender};

use crate::harness::{Load, Side, Wrong};
use crate::ours_server::server;

/// Channels, each with a client of its own.
const CHANNELS: usize = 10;

/// Subscriptions in all: each with a stream and a task of its own, as many of a channel as of every other.
pub const ALL: usize = 10_000;

/// A server, its clients and their subscriptions on one thread. A call is one change: from publishing it until the last
/// subscriber's stream has given it.
pub struct Listens {
    executor: LocalExecutor<'static>,
    engine: Engine,
    told: Rc<Told>,
    all: Receiver<()>,
}

/// How far the subscribers are.
struct Told {
    count: Cell<usize>,
    wrong: Cell<bool>,
    all: Sender<()>,
}

impl Told {
    fn note(&self, right: bool) {
        self.wrong.set(self.wrong.get() || !right);
        self.count.set(self.count.get() + 1);
        if self.count.get() == ALL {
            self.count.set(0);
            // There is room for one, and whoever waits has taken the last.
            let _ = self.all.try_send(());
        }
    }
}

impl Listens {
    /// Connects everything and waits until every subscription is acknowledged.
    pub fn start() -> Result<Self, Wrong> {
        let executor = LocalExecutor::new();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let (engine, driver) = Engine::new(server()?, Arc::clone(&clock));
        executor.spawn(driver).detach();
        let (all, told) = smol::channel::bounded(1);
        let this = Self {
            executor,
            engine,
            told: Rc::new(Told {
                count: Cell::new(0),
                wrong: Cell::new(false),
                all,
            }),
            all: told,
        };
        for _ in 0..CHANNELS {
            this.connect(&clock)?;
        }
        this.wait()?;
        Ok(this)
    }

    fn connect(&self, clock: &Arc<dyn Clock>) -> Result<(), Wrong> {
        let (near, far) = sansio_mcp_memory::pair();
        let (reader, writer) = far.split();
        let served = pump(
            self.engine.connect(),
            reader,
            writer,
            Arc::clone(clock),
            LINE_LIMIT,
        );
        self.executor.spawn(served).detach();

        let info = Implementation::new("bench", "1.0.0");
        let setup = Client::builder(info)
            .build()
            .map_err(Wrong::when("building the client"))?;
        let (client, connection) = Client::connect(setup, Arc::clone(clock));
        let (reader, writer) = near.split();
        let pumped = pump(connection, reader, writer, Arc::clone(clock), LINE_LIMIT);
        self.executor.spawn(pumped).detach();
        for _ in 0..ALL / CHANNELS {
            let subscription = client.listen(ListenSpec::new().tools());
            self.executor
                .spawn(listen(subscription, Rc::clone(&self.told)))
                .detach();
        }
        Ok(())
    }

    /// Until every subscriber has noted something once more.
    fn wait(&self) -> Result<(), Wrong> {
        let all = self.executor.run(self.all.recv());
        smol::block_on(all).map_err(Wrong::when("waiting"))?;
        if self.told.wrong.get() {
            return Err(Wrong("a subscriber was told something else".into()));
        }
        Ok(())
    }
}

/// Notes the acknowledgement, and then every change.
async fn listen(mut subscription: Subscription, told: Rc<Told>) {
    told.note(subscription.acknowledged().await.is_ok());
    while let Some(event) = subscription.next().await {
        told.note(event == ListenEvent::Changed(Changed::Tools));
    }
}

impl Side for Listens {
    fn name(&self) -> String {
        format!("sansio-mcp, {CHANNELS} channels")
    }

    fn run(&mut self, load: Load) -> Result<Duration, Wrong> {
        let started = Instant::now();
        for _ in 0..load.calls {
            self.engine
                .publish(Change::Tools)
                .map_err(Wrong::when("publishing"))?;
            self.wait()?;
        }
        Ok(started.elapsed())
    }
}

//! Clients that do whatever comes to mind, over links that misbehave, and what must hold all the same.

mod listeners;
mod questions;
mod server;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sansio_mcp_memory::Task;
use sansio_mcp_memory::sim::{Cord, Dice, Link, Sim, What, Who};
use sansio_mcp_sdk::Engine;
use sansio_mcp_sdk::client::{CallError, Client};
use sansio_mcp_sdk::model::{CallToolResult, Implementation};
use serde_json::{Value, json};

use listeners::{Clients, Listener, TOPICS, Versions};
use server::{Handlers, QUEUE, SLOTS, server};

/// Clients at one time.
const CLIENTS: usize = 5;
/// Calls of one client at one time.
const CALLS: usize = 16;
/// Subscriptions of one client at one time, and those that outlive their clients.
const LISTENERS: usize = 5;

struct Caller {
    number: u64,
    client: Client,
    cord: Cord,
    calls: Vec<Call>,
    listeners: Vec<Listener>,
}

struct Call {
    n: u64,
    /// What it may be answered with, or end with, if it asks.
    asks: Option<Result<String, &'static [&'static str]>>,
    task: Task<Result<CallToolResult, CallError>>,
    progress: Arc<Mutex<Vec<f64>>>,
}

/// How calls ended: how many of each code, and how many were dropped.
pub(crate) type Ends = BTreeMap<String, u64>;

/// What is left of a run.
pub(crate) struct Outcome {
    /// How calls ended.
    pub(crate) ends: Ends,
    /// How subscriptions ended, and how many were acknowledged.
    pub(crate) listens: Ends,
    /// What happened on the wire.
    pub(crate) trace: String,
}

/// Runs so many steps.
///
/// # Panics
/// Something does not hold.
pub(crate) fn run(seed: u64, steps: u64) -> Outcome {
    let sim = Sim::new(seed);
    let dice = sim.dice().fork();
    let handlers = Rc::new(Handlers::default());
    let versions = Versions::default();
    let (engine, driver) = Engine::new(server(&handlers, &versions), Arc::new(sim.lab().clock()));
    let driver = sim.lab().spawn(driver);
    let asks = !dice.one_in(5);
    let mut storm = Storm {
        sim,
        dice,
        engine,
        versions,
        callers: Vec::new(),
        clients: Clients::default(),
        again: Vec::new(),
        asks,
        connected: 0,
        next: 0,
        ends: Ends::new(),
        listens: Ends::new(),
    };
    for _ in 0..steps {
        storm.step();
        let facts = storm.engine.facts();
        // Clean-up of a request that ended keeps its slot.
        assert!(facts.running <= SLOTS, "{} run", facts.running);
        // Whoever comes back with an answer waits whatever waits.
        assert!(storm.asks || facts.waiting <= QUEUE + SLOTS, "{} wait", facts.waiting);
    }
    storm.end(&handlers, &driver)
}

struct Storm {
    sim: Sim,
    dice: Dice,
    engine: Engine,
    versions: Versions,
    callers: Vec<Caller>,
    clients: Clients,
    /// Those that listen on whatever client there is.
    again: Vec<Listener>,
    /// Whether tools ask in this run.
    asks: bool,
    connected: u64,
    next: u64,
    ends: Ends,
    listens: Ends,
}

impl Storm {
    fn step(&mut self) {
        let (what, pick) = (self.dice.below(100), self.dice.below(self.callers.len()));
        match what {
            0..=5 => self.connect(),
            6..=43 => self.call(pick),
            44..=48 => self.listen(pick),
            49..=53 => self.change(),
            54..=55 => self.stop_listening(pick),
            56..=62 => self.drop_a_call(pick),
            63 => self.callers.get(pick).into_iter().for_each(|caller| caller.cord.cut()),
            64 => self.callers.get(pick).into_iter().for_each(|caller| caller.client.close()),
            65 => {
                // What listens again on whatever there is has a client in hand: it has to see the loss.
                self.callers.get(pick).into_iter().for_each(|caller| caller.cord.cut());
                self.leave(pick);
            }
            66..=75 => self.sim.lab().run_until_idle(),
            _ => {
                let time = Duration::from_millis(1 << self.dice.below(12));
                self.sim.lab().advance(self.dice.time(&(Duration::ZERO..=time)));
            }
        }
        self.collect();
    }

    fn connect(&mut self) {
        if self.callers.len() == CLIENTS {
            return self.leave(0);
        }
        let link = if self.dice.one_in(2) { Link::shared() } else { Link::per_request() };
        let capacity = 1 << (4 + self.dice.below(12));
        let client = Client::builder(Implementation::new("caller", "1"));
        let client = questions::person(client, Arc::new(self.sim.lab().clock()));
        let link = if self.dice.one_in(5) { link } else { link.rough() };
        let (client, cord) =
            self.sim.connect(&self.engine, client, link.capacity(capacity)).expect("a client");
        self.connected += 1;
        let number = self.connected;
        self.clients.lock().expect("a lock").insert(number, client.clone());
        self.callers.push(Caller { number, client, cord, calls: Vec::new(), listeners: Vec::new() });
    }

    fn call(&mut self, pick: usize) {
        // Over is over: seldom tried.
        let over = self.callers.get(pick).is_some_and(|caller| caller.client.is_closed());
        if over && !self.dice.one_in(8) {
            return self.leave(pick);
        }
        let n = self.next;
        let Some(caller) = self.callers.get_mut(pick).filter(|caller| caller.calls.len() < CALLS) else {
            return;
        };
        self.next += 1;
        let tools = ["plain", "plain", "lane", "fails", "nobody", "restock", "asks", "asks", "asks"];
        let tool = tools[self.dice.below(if self.asks { 9 } else { 6 })];
        let takes = self.dice.number() % (1 << self.dice.below(14));
        let asks = u8::try_from(self.dice.below(12)).unwrap_or(0);
        let mut call = caller.client.call_tool(tool, &json!({"n": n, "takes": takes, "asks": asks}));
        if self.dice.one_in(4) {
            call = call.idle_timeout(Duration::from_millis(1 + self.dice.number() % 3000));
        }
        // Every link carries in the end what it does not cut.
        let total = self.dice.one_in(4).then(|| Duration::from_millis(1 + self.dice.number() % 9000));
        let progress = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&progress);
        let call = call
            .total_timeout(total)
            .on_progress(move |progress| seen.lock().expect("a lock").push(progress.progress));
        let asks = (tool == "asks").then(|| questions::expected(n, asks));
        caller.calls.push(Call { n, asks, task: self.sim.lab().spawn(call), progress });
    }

    fn drop_a_call(&mut self, pick: usize) {
        let Some(caller) = self.callers.get_mut(pick).filter(|caller| !caller.calls.is_empty()) else {
            return;
        };
        let call = caller.calls.swap_remove(self.dice.below(caller.calls.len()));
        call.task.abort();
        *self.ends.entry("dropped".into()).or_default() += 1;
    }

    fn listen(&mut self, pick: usize) {
        let (lab, dice) = (self.sim.lab(), &self.dice);
        if dice.one_in(6) {
            if self.again.len() < LISTENERS {
                self.again.push(Listener::again(&self.clients, lab, dice, &self.versions));
            }
        } else if let Some(caller) = self.callers.get_mut(pick).filter(|all| all.listeners.len() < LISTENERS)
        {
            caller.listeners.push(Listener::on(&caller.client, lab, dice, &self.versions));
        }
    }

    /// Something changes, and everybody who listens is told.
    fn change(&mut self) {
        let changed = |topic: &usize| self.versions.changed(*topic);
        if self.dice.one_in(4) {
            let prices = |uri: &str| uri.starts_with("price://");
            (0..TOPICS.len()).filter(|topic| prices(TOPICS[*topic])).for_each(|topic| changed(&topic));
            self.engine.publish_resources(&prices).expect("it was declared");
        } else {
            let topic = self.dice.below(TOPICS.len());
            changed(&topic);
            self.engine.publish(self.versions.change(topic)).expect("it was declared");
        }
    }

    fn stop_listening(&mut self, pick: usize) {
        let Some(caller) = self.callers.get_mut(pick).filter(|caller| !caller.listeners.is_empty()) else {
            return;
        };
        let listener = caller.listeners.swap_remove(self.dice.below(caller.listeners.len()));
        listener.leave();
        *self.listens.entry("dropped".into()).or_default() += 1;
    }

    /// A client goes away, and its calls and subscriptions with it.
    fn leave(&mut self, pick: usize) {
        if pick < self.callers.len() {
            let caller = self.callers.swap_remove(pick);
            self.clients.lock().expect("a lock").remove(&caller.number);
            caller.listeners.iter().for_each(Listener::leave);
            *self.ends.entry("dropped".into()).or_default() += caller.calls.len() as u64;
            caller.calls.iter().for_each(|call| call.task.abort());
        }
    }

    /// What has ended: as it may, and with the answer to its own question.
    fn collect(&mut self) {
        for caller in &mut self.callers {
            caller.calls.retain(|call| {
                let Some(end) = call.task.take() else { return true };
                *self.ends.entry(call.ended(&end).into()).or_default() += 1;
                false
            });
            caller.listeners.retain(|listener| count(listener, &mut self.listens));
        }
        self.again.retain(|listener| count(listener, &mut self.listens));
    }

    /// Waits: every call ends, and whoever listens has missed nothing. Everybody leaves, or the server shuts down and tells
    /// those who listen: nothing is left.
    fn end(mut self, handlers: &Handlers, driver: &Task<()>) -> Outcome {
        let lab = self.sim.lab().clone();
        lab.advance(Duration::from_hours(6));
        self.collect();
        for caller in &self.callers {
            let open: Vec<u64> = caller.calls.iter().map(|call| call.n).collect();
            assert!(open.is_empty(), "calls without an end: {open:?}");
            assert!(caller.client.open_calls() <= caller.listeners.len() + self.again.len());
            for listener in &caller.listeners {
                assert!(listener.is_acknowledged() || listener.ended().is_some(), "nobody answers");
                listener.is_up_to_date(&self.versions);
            }
        }
        // Those may be without a client, or without room on the only one.
        self.again.iter().for_each(|listener| listener.is_up_to_date(&self.versions));
        assert_eq!(self.ends.values().sum::<u64>(), self.next, "each call ends once");
        self.again.drain(..).for_each(|listener| listener.leave());
        if self.dice.one_in(2) {
            self.shut_down(driver);
        }
        while !self.callers.is_empty() {
            self.leave(0);
        }
        lab.advance(Duration::from_hours(1));
        let facts = self.engine.facts();
        assert_eq!((facts.running, facts.waiting, facts.channels, facts.subscriptions), (0, 0, 0, 0));
        assert_eq!(handlers.begun.get(), handlers.cleaned.get(), "clean-up runs once for each that began");
        drop(self.engine);
        lab.run_until_idle();
        assert!(driver.is_done());
        assert_eq!(lab.tasks(), 0, "tasks are left");
        assert_eq!(lab.clock().next_alarm(), None, "somebody sleeps");
        answered_once(&self.sim);
        Outcome { ends: self.ends, listens: self.listens, trace: self.sim.trace().to_string() }
    }

    /// Whoever listens is told that this is the end; nobody else has a reason to end.
    fn shut_down(&mut self, driver: &Task<()>) {
        assert!(!driver.is_done());
        let listening = self.engine.facts().subscriptions;
        self.engine.shutdown();
        self.sim.lab().advance(Duration::from_hours(1));
        for caller in &mut self.callers {
            for listener in &caller.listeners {
                let end = listener.ended();
                let told = matches!(end, Some("GRACEFUL" | "LOST"));
                assert!(told || !listener.reads_on(), "a shutdown ended a subscription with {end:?}");
            }
        }
        assert!(driver.is_done(), "{listening} listened");
        self.collect();
    }
}

impl Call {
    /// What became of it.
    fn ended(&self, end: &Result<CallToolResult, CallError>) -> &'static str {
        let progress = self.progress.lock().expect("a lock");
        assert!(progress.windows(2).all(|pair| pair[0] < pair[1]), "{progress:?}");
        let code = match end {
            Ok(result) => {
                let text = result.first_text().unwrap_or_default();
                let own = text.split(' ').next() == Some(&self.n.to_string());
                assert!(own, "{} was answered {text}", self.n);
                if let Some(expected) = &self.asks {
                    assert_eq!(expected.as_deref(), Ok(text), "answers were lost or mixed up");
                }
                if result.is_error() { "tool error" } else { "ok" }
            }
            Err(error) => error.code(),
        };
        let any = ["ok", "tool error", "LOST", "CLOSED", "TIMED_OUT_IDLE", "TIMED_OUT_TOTAL", "SERVER_BUSY"];
        let known = match &self.asks {
            None => any.contains(&code) || code == "PEER_ERROR",
            Some(Ok(_)) => any.contains(&code),
            Some(Err(codes)) => any.contains(&code) || codes.contains(&code),
        };
        assert!(known, "{} ended with {end:?}", self.n);
        if self.asks.is_some() && code == "ok" { "ok after questions" } else { code }
    }
}

/// Counts a subscription that has ended; whether it is to be kept.
fn count(listener: &Listener, listens: &mut Ends) -> bool {
    let Some(end) = listener.ended() else { return true };
    let when = if listener.is_acknowledged() { "listening" } else { "opening" };
    *listens.entry(format!("{when} {end}")).or_default() += 1;
    false
}

/// On every stream a request has one answer at most.
fn answered_once(sim: &Sim) {
    let answered = RefCell::new(BTreeSet::new());
    for entry in sim.trace().entries() {
        let (What::Line(line), Who::Client) = (&entry.what, &entry.who) else { continue };
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        if line.get("method").is_none() {
            assert!(
                answered.borrow_mut().insert((entry.stream, line["id"].to_string())),
                "answered twice: {line}"
            );
        }
    }
}

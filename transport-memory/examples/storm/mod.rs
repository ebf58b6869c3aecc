//! Clients that do whatever comes to mind, over links that misbehave, and what must hold all the same.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sansio_mcp_memory::Task;
use sansio_mcp_memory::sim::{Cord, Dice, Link, Sim, What, Who};
use sansio_mcp_sdk::client::{CallError, Client};
use sansio_mcp_sdk::model::{CallToolResult, Implementation};
use sansio_mcp_sdk::server::{Context, Exit, Server, ToolSpec};
use sansio_mcp_sdk::{Engine, Local};
use serde_json::{Value, json};

const SLOTS: usize = 3;
const QUEUE: usize = 4;
/// Clients at one time.
const CLIENTS: usize = 5;
/// Calls of one client at one time.
const CALLS: usize = 16;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Args {
    /// Comes back in the answer.
    n: u64,
    /// In milliseconds.
    takes: u64,
}

/// What the handlers do, counted.
#[derive(Default)]
struct Handlers {
    begun: Cell<u64>,
    cleaned: Cell<u64>,
    in_lane: Cell<u64>,
}

struct Caller {
    client: Client,
    cord: Cord,
    calls: Vec<Call>,
}

struct Call {
    n: u64,
    task: Task<Result<CallToolResult, CallError>>,
    progress: Arc<Mutex<Vec<f64>>>,
}

/// How calls ended: how many of each code, and how many were dropped.
pub(crate) type Ends = BTreeMap<String, u64>;

/// What is left of a run.
pub(crate) struct Outcome {
    /// How calls ended.
    pub(crate) ends: Ends,
    /// What happened on the wire.
    pub(crate) trace: String,
}

fn server(handlers: &Rc<Handlers>) -> sansio_mcp_sdk::server::Server<Local> {
    let handler = |lane: bool, fails: bool| {
        let handlers = Rc::clone(handlers);
        move |args: Args, cx: Context<(), Local>| {
            let handlers = Rc::clone(&handlers);
            async move {
                handlers.begun.set(handlers.begun.get() + 1);
                if lane {
                    handlers.in_lane.set(handlers.in_lane.get() + 1);
                    assert_eq!(handlers.in_lane.get(), 1, "two at a time in a lane");
                }
                let by_exit = Rc::clone(&handlers);
                cx.on_exit(async move {
                    by_exit.cleaned.set(by_exit.cleaned.get() + 1);
                    if lane {
                        by_exit.in_lane.set(by_exit.in_lane.get() - 1);
                    }
                });
                for part in 1..=4_u32 {
                    cx.sleep(Duration::from_millis(args.takes / 4)).await;
                    cx.progress(f64::from(part) * 25.0, "on the way");
                }
                if fails {
                    return Err(Exit::failure(format!("{} fails", args.n)));
                }
                Ok(format!("{} {}", args.n, "x".repeat(usize::try_from(args.takes % 3000).unwrap_or(0))))
            }
        }
    };
    Server::local("storm", "1")
        .slots(SLOTS)
        .queue(QUEUE)
        .tool("plain", handler(false, false))
        .tool("fails", handler(false, true))
        .tool(ToolSpec::new("lane").one_at_a_time(), handler(true, false))
        .build()
        .expect("a server")
}

/// Runs so many steps.
///
/// # Panics
/// Something does not hold.
pub(crate) fn run(seed: u64, steps: u64) -> Outcome {
    let sim = Sim::new(seed);
    let dice = sim.dice().fork();
    let handlers = Rc::new(Handlers::default());
    let (engine, driver) = Engine::new(server(&handlers), Arc::new(sim.lab().clock()));
    let driver = sim.lab().spawn(driver);
    let mut storm = Storm { sim, dice, engine, callers: Vec::new(), next: 0, ends: Ends::new() };
    for _ in 0..steps {
        storm.step();
        let facts = storm.engine.facts();
        // Clean-up of a request that ended keeps its slot.
        assert!(facts.running <= SLOTS, "{} run", facts.running);
        assert!(facts.waiting <= QUEUE + SLOTS, "{} wait", facts.waiting);
    }
    storm.end(&handlers, &driver)
}

struct Storm {
    sim: Sim,
    dice: Dice,
    engine: Engine,
    callers: Vec<Caller>,
    next: u64,
    ends: Ends,
}

impl Storm {
    fn step(&mut self) {
        let (what, pick) = (self.dice.below(100), self.dice.below(self.callers.len()));
        match what {
            0..=5 => self.connect(),
            6..=55 => self.call(pick),
            56..=62 => self.drop_a_call(pick),
            63 => self.callers.get(pick).into_iter().for_each(|caller| caller.cord.cut()),
            64 => self.callers.get(pick).into_iter().for_each(|caller| caller.client.close()),
            65 => self.leave(pick),
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
        let link = if self.dice.one_in(5) { link } else { link.rough() };
        let (client, cord) =
            self.sim.connect(&self.engine, client, link.capacity(capacity)).expect("a client");
        self.callers.push(Caller { client, cord, calls: Vec::new() });
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
        let tool = ["plain", "plain", "lane", "fails", "nobody"][self.dice.below(5)];
        let takes = self.dice.number() % (1 << self.dice.below(14));
        let mut call = caller.client.call_tool(tool, &json!({"n": n, "takes": takes}));
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
        caller.calls.push(Call { n, task: self.sim.lab().spawn(call), progress });
    }

    fn drop_a_call(&mut self, pick: usize) {
        let Some(caller) = self.callers.get_mut(pick).filter(|caller| !caller.calls.is_empty()) else {
            return;
        };
        let call = caller.calls.swap_remove(self.dice.below(caller.calls.len()));
        call.task.abort();
        *self.ends.entry("dropped".into()).or_default() += 1;
    }

    /// A client goes away, and its calls with it.
    fn leave(&mut self, pick: usize) {
        if pick < self.callers.len() {
            let caller = self.callers.swap_remove(pick);
            *self.ends.entry("dropped".into()).or_default() += caller.calls.len() as u64;
            caller.calls.iter().for_each(|call| call.task.abort());
        }
    }

    /// What has ended: as it may, and with the answer to its own question.
    fn collect(&mut self) {
        for caller in &mut self.callers {
            caller.calls.retain(|call| {
                let Some(end) = call.task.take() else { return true };
                let progress = call.progress.lock().expect("a lock");
                assert!(progress.windows(2).all(|pair| pair[0] < pair[1]), "{progress:?}");
                let code = match end {
                    Ok(result) => {
                        let text = result.first_text().unwrap_or_default();
                        let own = text.split(' ').next() == Some(&call.n.to_string());
                        assert!(own, "{} was answered {text}", call.n);
                        if result.is_error() { "tool error" } else { "ok" }
                    }
                    Err(error) => error.code(),
                };
                let known = ["ok", "tool error", "LOST", "CLOSED", "TIMED_OUT_IDLE", "TIMED_OUT_TOTAL"];
                let known = known.contains(&code) || ["PEER_ERROR", "SERVER_BUSY"].contains(&code);
                assert!(known, "{code}");
                *self.ends.entry(code.into()).or_default() += 1;
                false
            });
        }
    }

    /// Waits: every call ends. Everybody leaves: nothing is left.
    fn end(mut self, handlers: &Handlers, driver: &Task<()>) -> Outcome {
        let lab = self.sim.lab().clone();
        lab.advance(Duration::from_hours(6));
        self.collect();
        for caller in &self.callers {
            let open: Vec<u64> = caller.calls.iter().map(|call| call.n).collect();
            assert!(open.is_empty(), "calls without an end: {open:?}");
            assert_eq!(caller.client.open_calls(), 0);
        }
        assert_eq!(self.ends.values().sum::<u64>(), self.next, "each call ends once");
        while !self.callers.is_empty() {
            self.leave(0);
        }
        lab.advance(Duration::from_hours(1));
        let facts = self.engine.facts();
        assert_eq!((facts.running, facts.waiting, facts.channels), (0, 0, 0));
        assert_eq!(handlers.begun.get(), handlers.cleaned.get(), "clean-up runs once for each that began");
        assert!(!driver.is_done());
        drop(self.engine);
        lab.run_until_idle();
        assert!(driver.is_done());
        assert_eq!(lab.tasks(), 0, "tasks are left");
        assert_eq!(lab.clock().next_alarm(), None, "somebody sleeps");
        answered_once(&self.sim);
        Outcome { ends: self.ends, trace: self.sim.trace().to_string() }
    }
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

//! The simulator: what a link does, that a seed decides all of it, and many seeds of clients and a server over links
//! that misbehave.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

use std::sync::Arc;
use std::time::Duration;

use sansio_mcp_memory::sim::{Cord, Link, Sim, Way, What, Who};
use sansio_mcp_sdk::client::{CallError, Client};
use sansio_mcp_sdk::model::{CallToolResult, Implementation};
use sansio_mcp_sdk::server::{Context, NoArguments, Server};
use sansio_mcp_sdk::{Engine, Local};
use serde_json::{Value, json};

#[path = "../examples/storm/mod.rs"]
mod storm;

#[test]
fn many_seeds_of_storm() {
    let (mut ends, mut listens) = (storm::Ends::new(), storm::Ends::new());
    for seed in Sim::seeds(1..=180) {
        let outcome = storm::run(seed, 160);
        for (all, more) in [(&mut ends, outcome.ends), (&mut listens, outcome.listens)] {
            for (code, count) in more {
                *all.entry(code).or_default() += count;
            }
        }
    }
    // Everything that can become of a call or a subscription happened, and often.
    if std::env::var_os("SANSIO_SEED").is_none() {
        let codes = ["ok", "tool error", "LOST", "CLOSED", "TIMED_OUT_IDLE", "TIMED_OUT_TOTAL", "PEER_ERROR"];
        for code in codes.into_iter().chain(["SERVER_BUSY", "dropped", "ok after questions"]) {
            assert!(ends.get(code).is_some_and(|count| *count >= 70), "{code}: {ends:?}");
        }
        for code in ["INPUT_FAILED", "INPUT_TIMED_OUT"] {
            assert!(ends.get(code).is_some_and(|count| *count >= 10), "{code}: {ends:?}");
        }
        for code in ["GRACEFUL", "CANCELLED", "LOST"] {
            let code = format!("listening {code}");
            assert!(listens.get(&code).is_some_and(|count| *count >= 30), "{code}: {listens:?}");
        }
        for code in ["opening SERVER_BUSY", "opening LOST", "opening TIMED_OUT_TOTAL", "dropped"] {
            assert!(listens.get(code).is_some_and(|count| *count >= 10), "{code}: {listens:?}");
        }
    }
}

#[test]
fn equal_seeds_give_equal_traces_and_others_do_not() {
    let first = storm::run(11, 400);
    let again = storm::run(11, 400);
    assert!(first.trace.lines().count() > 500);
    assert_eq!(first.trace, again.trace);
    assert_eq!(first.ends, again.ends);
    assert_ne!(first.trace, storm::run(12, 400).trace);
    // Every line is a JSON object with when, who and what.
    let mut last = 0;
    for line in first.trace.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let at = entry["at_ns"].as_u64().unwrap();
        assert!(at >= last && entry["who"].is_string() && entry["what"].is_string(), "{line}");
        last = at;
    }
}

/// A client of a server whose one tool answers after a second, behind a link.
struct Rig {
    sim: Sim,
    engine: Engine,
    client: Client,
    cord: Cord,
}

impl Rig {
    fn new(link: Link) -> Self {
        let sim = Sim::new(5);
        let server =
            Server::local("s", "1").tool("second", async |_: NoArguments, cx: Context<(), Local>| {
                cx.sleep(Duration::from_secs(1)).await;
                Ok("done")
            });
        let (engine, driver) = Engine::new(server.build().unwrap(), Arc::new(sim.lab().clock()));
        sim.lab().spawn(driver);
        let client = Client::builder(Implementation::new("c", "1"));
        let (client, cord) = sim.connect(&engine, client, link).unwrap();
        Self { sim, engine, client, cord }
    }

    /// One call, and how long it took.
    fn call(&self) -> (Result<CallToolResult, CallError>, Duration) {
        let began = self.sim.lab().clock().elapsed();
        let call = self.client.call_tool("second", &json!({})).total_timeout(None);
        let end = self.sim.lab().run(call);
        (end, self.sim.lab().clock().elapsed().saturating_sub(began))
    }

    /// Bytes of each piece that reached one end.
    fn pieces(&self, end: &Who) -> Vec<usize> {
        let got = |what: &What| if let What::Got(bytes) = what { Some(*bytes) } else { None };
        self.sim
            .trace()
            .entries()
            .iter()
            .filter(|entry| entry.who == *end)
            .filter_map(|e| got(&e.what))
            .collect()
    }

    /// Nothing of the client is left on the server.
    fn nothing_runs(&self) {
        self.sim.lab().advance(Duration::from_secs(5));
        assert_eq!((self.engine.facts().running, self.engine.facts().waiting), (0, 0));
    }
}

const LINKS: [fn() -> Link; 2] = [Link::shared, Link::per_request];

#[test]
fn a_clear_link_adds_no_time_and_splits_nothing() {
    for link in LINKS {
        let rig = Rig::new(link());
        let (end, took) = rig.call();
        assert_eq!((end.unwrap().first_text(), took), (Some("done"), Duration::from_secs(1)));
        assert_eq!((rig.pieces(&Who::Server).len(), rig.pieces(&Who::Client).len()), (1, 1));
    }
}

#[test]
fn delays_are_exact() {
    let exactly = |millis| Duration::from_millis(millis)..=Duration::from_millis(millis);
    for link in LINKS {
        let ways = (Way::clear().delay(exactly(250)), Way::clear().delay(exactly(33)));
        let (end, took) = Rig::new(link().ways(ways.0, ways.1)).call();
        assert!(end.is_ok());
        assert_eq!(took, Duration::from_millis(1283));
    }
}

#[test]
fn writes_are_split_into_pieces_and_merged_by_delay() {
    let rig = Rig::new(Link::shared().ways(Way::clear().pieces(3..=7), Way::clear().pieces(1..=1)));
    assert!(rig.call().0.is_ok());
    let up = rig.pieces(&Who::Server);
    let (last, pieces) = up.split_last().unwrap();
    assert!(*last <= 7 && pieces.len() > 20 && pieces.iter().all(|bytes| (3..=7).contains(bytes)), "{up:?}");
    assert!(rig.pieces(&Who::Client).iter().all(|bytes| *bytes == 1));

    // Ten answers that are written while the first is on its way arrive in a piece.
    let slow = Way::clear().delay(Duration::from_secs(2)..=Duration::from_secs(2));
    let rig = Rig::new(Link::shared().ways(Way::clear(), slow));
    let lab = rig.sim.lab();
    let calls: Vec<_> = (0..10_u64)
        .map(|nth| {
            let (lab, client) = (lab.clone(), rig.client.clone());
            rig.sim.lab().spawn(async move {
                lab.sleep(Duration::from_millis(nth)).await;
                client.call_tool("second", &json!({})).await
            })
        })
        .collect();
    lab.advance(Duration::from_secs(20));
    assert!(calls.iter().all(|call| call.take().unwrap().is_ok()));
    assert_eq!(rig.pieces(&Who::Client).len(), 2);
}

#[test]
fn a_stalled_reader_is_waited_for() {
    for link in LINKS {
        let minute = Duration::from_mins(1);
        let rig = Rig::new(link().capacity(16).ways(Way::clear().stall(40, minute), Way::clear()));
        let (end, took) = rig.call();
        assert!(end.is_ok());
        assert_eq!(took, minute + Duration::from_secs(1));
        assert_eq!(
            rig.pieces(&Who::Server)
                .iter()
                .scan(0, |sum, n| Some({
                    *sum += n;
                    *sum
                }))
                .find(|sum| *sum >= 40),
            Some(40)
        );
    }
}

#[test]
fn a_cut_at_any_byte_ends_the_call_and_leaves_nothing() {
    for link in LINKS {
        let whole = Rig::new(link());
        assert!(whole.call().0.is_ok());
        let (up, down): (usize, usize) =
            (whole.pieces(&Who::Server).iter().sum(), whole.pieces(&Who::Client).iter().sum());
        for at in 0..up as u64 {
            let rig = Rig::new(link().ways(Way::clear().cut(at), Way::clear()));
            assert_eq!(rig.call().0.unwrap_err().code(), "LOST", "up, {at}");
            rig.nothing_runs();
        }
        for at in 0..down as u64 {
            let rig = Rig::new(link().ways(Way::clear(), Way::clear().cut(at)));
            let (end, took) = rig.call();
            // The line's end may be missing: the end of the stream is one too.
            let last = down as u64 - 1;
            assert_eq!(
                end.as_ref().map_or_else(CallError::code, |_| "ok"),
                if at == last { "ok" } else { "LOST" },
                "down, {at}"
            );
            assert!(at == 0 || took == Duration::from_secs(1));
            rig.nothing_runs();
        }
    }
}

#[test]
fn a_cord_cuts_what_is_open() {
    for (link, shared) in LINKS.into_iter().zip([true, false]) {
        let rig = Rig::new(link());
        let call = rig.sim.lab().spawn(rig.client.call_tool("second", &json!({})));
        rig.sim.lab().advance(Duration::from_millis(100));
        assert_eq!(rig.engine.facts().running, 1);
        rig.cord.cut();
        rig.sim.lab().run_until_idle();
        assert_eq!(call.take().unwrap().unwrap_err().code(), "LOST");
        // A stream's end is a cancel. The end of a shared channel's input leaves some time for answers.
        assert_eq!(rig.engine.facts().running, usize::from(shared));
        rig.nothing_runs();
        assert!(rig.sim.trace().entries().iter().any(|entry| entry.what == What::Cut));
    }
}

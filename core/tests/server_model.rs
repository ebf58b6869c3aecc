//! The server beside a naive model of it, as a channel of many requests and as an exchange of one: the same messages, events
//! and facts, whatever the client sends and the application does, in whatever order; nothing left at the end; polls that
//! decide nothing. Numbers are those of the invariants in `tests/PROMISES.md`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use frame::{Engine as _, Operation as _, Reference as _};
use proptest::prelude::*;
use proptest_state_machine::prop_state_machine;
use server_model::{Command, Event, Model, Seen, Setup};
use server_ops::Op;
use server_system::System;

#[path = "support/bytes.rs"]
mod bytes;
#[path = "support/frame.rs"]
mod frame;
#[path = "support/server_listens.rs"]
mod server_listens;
#[path = "support/server_model.rs"]
mod server_model;
#[path = "support/server_ops.rs"]
mod server_ops;
#[path = "support/server_rules.rs"]
mod server_rules;
#[path = "support/server_system.rs"]
mod server_system;

type Beside = frame::Machine<System>;

prop_state_machine! {
    #![proptest_config(frame::config())]

    #[test]
    fn the_server_does_what_the_model_does(sequential 1..200 => Beside);
}

/// One soak of a seed; what was seen goes into `seen`, and everything that was answered is returned.
fn soak(single: bool, seed: u64, seen: &mut BTreeSet<String>) -> Vec<String> {
    let in_flight = 1 + usize::try_from(seed % 5).unwrap();
    let setup = Setup { single, in_flight, subscriptions: in_flight.div_ceil(2) };
    frame::soak::<System>(setup, seed, if single { 60 } else { 2000 }, |model, _, what| {
        let what = match what {
            Seen::Event(Event::Request(_, ask, _)) => format!("request {ask:?}"),
            Seen::Event(Event::Stopped(_, why)) => (*why).to_string(),
            Seen::Event(Event::Violation(rule)) => format!("{rule:?}"),
            Seen::Reported(what) => format!("{what:?}"),
            Seen::Answered { encoded } => format!("encoded {encoded}"),
            Seen::Misuse(why) => format!("{why:?}"),
            Seen::Notified(queued) => format!("notified {queued}"),
            Seen::Sent { json, .. } => {
                let error = json.pointer("/error/code").map(ToString::to_string);
                let kind =
                    json.get("method").or(json.pointer("/result/resultType")).and_then(|kind| kind.as_str());
                let subscription = json.pointer("/result/_meta/io.modelcontextprotocol~1subscriptionId");
                let what = if subscription.is_some() { Some("end") } else { kind };
                format!("sent {}", error.as_deref().or(what).unwrap())
            }
            Seen::Nothing | Seen::Ok => return true,
        };
        seen.insert(format!("{}{what}", if single { "single: " } else { "" }));
        seen.extend(model.met.iter().filter(|_| !single).map(ToString::to_string));
        !model.is_finished()
    })
}

/// Long runs reach everything that can become of a request and every answer of the engine's own; and identical runs give
/// identical traces (14).
#[test]
fn a_seeded_soak_sees_every_outcome() {
    let mut seen = BTreeSet::new();
    for seed in 0..2000 {
        let single = seed >= 60;
        let trace = soak(single, seed, &mut seen);
        if seed % 50 == 0 {
            assert_eq!(trace, soak(single, seed, &mut seen));
        }
    }
    let both = [
        "request Call",
        "request Again",
        "request List",
        "request Listen(0)",
        "request Listen(1)",
        "request Listen(2)",
        "request Listen(3)",
        "request Listen(4)",
        "request Listen(5)",
        "request Listen(6)",
        "request Listen(7)",
        "LOST",
        "CLOSING",
        "NotAMessage",
        "ResponseToServer",
        "Queued",
        "NotAsked",
        "NotIncreasing",
        "NotFinite",
        "Over",
        "encoded true",
        "encoded false",
        "notified true",
        "Subscription",
        "NotASubscription",
        "NotAccepted",
        "CannotAsk",
        "sent complete",
        "sent input_required",
        "sent notifications/message",
        "sent notifications/progress",
        "sent notifications/subscriptions/acknowledged",
        "sent notifications/tools/list_changed",
        "sent notifications/resources/updated",
        "sent end",
        "sent -32700",
        "sent -32600",
        "sent -32601",
        "sent -32602",
        "sent -32022",
        "sent -32603",
    ];
    let channel = [
        "CANCELLED",
        "DuplicateId",
        "Replaced",
        "sent 1001",
        "own answer withdrawn",
        "duplicate of an own answer",
        "own answer without room",
        "notified false",
        "overflow",
        "too many subscriptions",
    ];
    let single = ["single: SecondRequest"];
    let both = both.iter().flat_map(|what| [(*what).to_string(), format!("single: {what}")]);
    for what in both.chain(channel.iter().chain(&single).map(|what| (*what).to_string())) {
        assert!(seen.contains(&what), "never saw {what}: {seen:?}");
    }
}

/// The same commands on two servers, one asked for events after each, the other by whim: the same events in the same order,
/// the same bytes (5).
fn polls_decide_nothing(single: bool, ops: &[(Op, bool)]) {
    // The life of an exchange is short.
    let ops = &ops[..ops.len().min(if single { 6 } else { ops.len() })];
    let setup = Setup { single, in_flight: 1000, subscriptions: 500 };
    let (mut eager, mut lazy, mut model) = (System::of(setup), System::of(setup), Model::of(setup));
    for (op, whim) in ops {
        let (command, _) = model.step(*op);
        if let Some(nth) = command.request() {
            while lazy.collected() <= nth {
                lazy.poll();
            }
        }
        if command != Command::Poll {
            assert_eq!(eager.run(model.told, &command), lazy.run(model.told, &command), "{command:?}");
        }
        while eager.poll() != Seen::Nothing {}
        while model.run(&Command::Poll) != Seen::Nothing {}
        if *whim {
            lazy.poll();
        }
    }
    // The channel goes, whatever was collected by then.
    for system in [&mut eager, &mut lazy] {
        system.run(model.told, &Command::StreamEnd);
        while system.poll() != Seen::Nothing {}
    }
    // Where nobody collects, of many violations some are dropped; see `limits`. An exchange keeps the newest.
    if lazy.dropped() == 0 && !single {
        assert_eq!(eager.events, lazy.events);
    }
    let certain = |system: &System| -> Vec<Event> {
        let events = system.events.iter().filter(|event| !matches!(event, Event::Violation(_)));
        events.cloned().collect()
    };
    assert_eq!(certain(&eager), certain(&lazy));
}

proptest! {
    #![proptest_config(frame::config())]

    #[test]
    fn how_often_one_polls_decides_nothing(
        single in prop::bool::weighted(0.3),
        ops in Op::some(0.15, 120),
    ) {
        polls_decide_nothing(single, &ops);
    }
}

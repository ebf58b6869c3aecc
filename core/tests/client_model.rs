//! The client beside a naive model of it: the same messages, events, states and deadlines, whatever the server sends and the
//! application does, in whatever order; nothing left at the end; polls that decide nothing. Numbers are those of the
//! invariants in `tests/PROMISES.md`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use client_listens::Topic;
use client_model::{BINDINGS, Binding, Command, Event, Model, Seen, Setup};
use client_ops::Op;
use client_system::System;
use frame::{Engine as _, Operation as _, Reference as _};
use proptest::prelude::*;
use proptest_state_machine::prop_state_machine;

#[path = "support/bytes.rs"]
mod bytes;
#[path = "support/client_listens.rs"]
mod client_listens;
#[path = "support/client_model.rs"]
mod client_model;
#[path = "support/client_ops.rs"]
mod client_ops;
#[path = "support/client_rules.rs"]
mod client_rules;
#[path = "support/client_system.rs"]
mod client_system;
#[path = "support/frame.rs"]
mod frame;

type Beside = frame::Machine<System>;

prop_state_machine! {
    #![proptest_config(frame::config())]

    #[test]
    fn the_client_does_what_the_model_does(sequential 1..200 => Beside);
}

/// One soak of a seed; what was seen goes into `seen`, and everything that was answered is returned.
fn soak(seed: u64, seen: &mut BTreeSet<(Binding, String)>) -> Vec<String> {
    let binding = BINDINGS[usize::try_from(seed % 3).unwrap()];
    let setup = Setup { binding, calls: 1 + usize::try_from(seed % 5).unwrap() };
    frame::soak::<System>(setup, seed, 3000, |model, _, what| {
        // A subscription ends in its own ways: told apart by whether it was acknowledged.
        let listens = |nth: usize| model.calls[nth].listens.as_ref();
        let what = match what {
            Seen::Event(Event::Finished(nth, how)) => match listens(*nth) {
                None => (*how).to_string(),
                Some((_, true)) => format!("listening {how}"),
                Some((_, false)) => format!("opening {how}"),
            },
            Seen::Event(Event::Listening(..)) => "listening".into(),
            Seen::Event(Event::Changed(_, Topic::List(list))) => format!("changed {list}"),
            Seen::Event(Event::Changed(_, Topic::Resource(uri))) => format!("updated {uri}"),
            Seen::Event(Event::BadPeer(_, rule) | Event::Violation(rule)) => format!("{rule:?}"),
            Seen::Event(Event::Asked { round, .. }) => format!("asked {round}"),
            Seen::Event(Event::Progress(..)) => "progress".into(),
            Seen::Sent { call, .. } => format!("sent {}", if call.is_some() { "request" } else { "cancel" }),
            Seen::Refused(why) => format!("{why:?}"),
            Seen::Misuse(why) => format!("{why:?}"),
            Seen::CloseStream => "close".into(),
            Seen::Nothing | Seen::Called(_) | Seen::Ok | Seen::Ready(_) => return true,
        };
        seen.insert((binding, what));
        !(model.closed && model.events.is_empty())
    })
}

/// Long runs reach every outcome, every violation, the eighth question, every end of a subscription and the limit, under each
/// binding; and identical runs
/// give identical traces (14).
#[test]
fn a_seeded_soak_sees_every_outcome() {
    let mut seen = BTreeSet::new();
    for seed in 0..75 {
        let trace = soak(seed, &mut seen);
        if seed < 6 {
            assert_eq!(trace, soak(seed, &mut seen));
        }
    }
    let common = [
        "COMPLETE",
        "PEER_ERROR",
        "ROUNDS_EXCEEDED",
        "CANCELLED",
        "TIMED_OUT_IDLE",
        "TIMED_OUT_TOTAL",
        "LOST",
        "CLOSED",
        "UnknownResultType",
        "MalformedResult",
        "InputNotAllowed",
        "InputWithoutContent",
        "NotAMessage",
        "RequestToClient",
        "MalformedProgress",
        "UnknownResponse",
        "UnknownToken",
        "ProgressNotIncreasing",
        "progress",
        "asked 1",
        "asked 8",
        "sent request",
        "TooManyCalls",
        "Closed",
        "Over",
        "NotAsked",
        "NotAnObject",
        "listening",
        "changed 0",
        "changed 1",
        "changed 2",
        "updated a://x",
        "updated a://x/y",
        "updated b/",
        "updated \u{e9}",
        "updated ",
        "NotSubscribed",
        "listening COMPLETE",
        "listening PEER_ERROR",
        "listening CANCELLED",
        "opening COMPLETE",
        "opening PEER_ERROR",
        "opening CANCELLED",
        "opening TIMED_OUT_TOTAL",
    ];
    for what in ["listening LOST", "listening CLOSED", "opening LOST", "opening CLOSED"] {
        assert!(seen.iter().any(|(_, seen)| seen == what), "never saw {what}");
    }
    for binding in BINDINGS {
        let own: &[&str] = match binding {
            Binding::Shared => &["sent cancel"],
            Binding::StreamsThatClose => &["close", "WrongStream"],
            Binding::StreamsThatNotify => &["sent cancel", "WrongStream"],
        };
        for what in common.iter().chain(own) {
            assert!(seen.contains(&(binding, (*what).to_string())), "{binding:?} never saw {what}");
        }
    }
}

/// The same commands on two clients, one asked for events after each, the other by whim. Nothing else differs, and the same
/// events come in the same order; where many wait, the lazy one may miss progress and repeated changes alone (5).
fn polls_decide_nothing(binding: Binding, ops: &[(Op, bool)]) {
    let setup = Setup { binding, calls: 1000 };
    let (mut eager, mut lazy, mut model) = (System::of(setup), System::of(setup), Model::of(setup));
    for (op, whim) in ops {
        let (command, _) = model.step(*op);
        if command != Command::Poll {
            assert_eq!(eager.run(model.told, &command), lazy.run(model.told, &command), "{command:?}");
        }
        while eager.poll() != Seen::Nothing {}
        model.events.clear();
        if *whim {
            lazy.poll();
            lazy.client.poll_timeout();
        }
        assert_eq!(eager.client.open_calls(), lazy.client.open_calls());
        assert_eq!(eager.client.poll_timeout(), lazy.client.poll_timeout());
    }
    while lazy.poll() != Seen::Nothing {}
    // A flood of violations is cut short where nobody collects them; see `limits`.
    if lazy.client.dropped_violations() > 0 {
        return;
    }
    let certain = |system: &System| -> Vec<Event> {
        let coalesces = |event: &&Event| matches!(event, Event::Progress(..) | Event::Changed(..));
        let events = system.events.iter().filter(|event| !coalesces(event));
        events.cloned().collect()
    };
    assert_eq!(certain(&eager), certain(&lazy));
    let mut all = eager.events.iter();
    assert!(lazy.events.iter().all(|event| all.any(|other| other == event)), "out of order");
}

proptest! {
    #![proptest_config(frame::config())]

    #[test]
    fn how_often_one_polls_decides_nothing(
        binding in prop::sample::select(BINDINGS.to_vec()),
        ops in Op::some(0.5, 200),
    ) {
        polls_decide_nothing(binding, &ops);
    }
}

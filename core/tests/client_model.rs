//! The client beside a naive model of it: the same messages, events, states and deadlines, whatever the server sends and the
//! application does, in whatever order; nothing left at the end; polls that decide nothing. Numbers are those of the design,
//! 2.6.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use bytes::{Bytes, seeded};
use client_model::{Binding, Command, Event, Model, Seen, Setup};
use client_ops::Op;
use client_system::System;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

#[path = "support/bytes.rs"]
mod bytes;
#[path = "support/client_model.rs"]
mod client_model;
#[path = "support/client_ops.rs"]
mod client_ops;
#[path = "support/client_rules.rs"]
mod client_rules;
#[path = "support/client_system.rs"]
mod client_system;

const BINDINGS: [Binding; 3] = [Binding::Shared, Binding::StreamsThatClose, Binding::StreamsThatNotify];

fn setup() -> impl Strategy<Value = Setup> {
    (prop::sample::select(BINDINGS.to_vec()), 1..6usize).prop_map(|(binding, calls)| Setup { binding, calls })
}

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Op;

    fn init_state() -> BoxedStrategy<Self> {
        setup().prop_map(Self::new).boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<Op> {
        any::<[u8; Op::BYTES]>().prop_map(|bytes| Op::from_bytes(&mut Bytes(&bytes)).unwrap()).boxed()
    }

    fn apply(mut state: Self, op: &Op) -> Self {
        state.apply(*op);
        state
    }
}

struct Beside;

impl StateMachineTest for Beside {
    type SystemUnderTest = System;
    type Reference = Model;

    fn init_test(model: &Model) -> System {
        System::new(model.setup)
    }

    fn apply(mut system: System, model: &Model, _: Op) -> System {
        follow(&mut system, model);
        system
    }

    fn check_invariants(system: &System, model: &Model) {
        system.check(model);
    }

    fn teardown(system: System, model: Model) {
        end(system, model);
    }
}

fn follow(system: &mut System, model: &Model) {
    let (command, expected) = &model.last;
    assert_eq!(&system.run(model.told, command), expected, "{command:?}");
}

/// Cancels what is open and takes what waits: nothing is left (7). Then closes: nothing is possible any more (13). Every other
/// run closes in the middle of things.
fn end(mut system: System, mut model: Model) {
    let mut both = |system: &mut System, command: Command| {
        let seen = model.run(&command);
        assert_eq!(system.run(model.told, &command), seen, "{command:?}");
        system.check(&model);
        seen
    };
    let closes_at_once = system.calls_made().is_multiple_of(2);
    for call in 0..system.calls_made() {
        if closes_at_once && call > 0 {
            break;
        }
        both(&mut system, Command::Cancel { call, reason: true });
    }
    if closes_at_once {
        both(&mut system, Command::Close);
    }
    // Some were named before and not taken.
    while let Seen::Ready(1..) = both(&mut system, Command::Ready) {}
    for stream in 0..system.streams_named() {
        while both(&mut system, Command::Transmit(stream)) != Seen::Nothing {}
    }
    while both(&mut system, Command::Poll) != Seen::Nothing {}
    system.check_empty();
    both(&mut system, Command::Close);
    let stray = Command::Message { stream: 0, message: client_ops::Message::Junk(0) };
    both(&mut system, stray);
    both(&mut system, Command::Timeout);
    system.check_empty();
    assert!(system.client.is_closed());
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

prop_state_machine! {
    #![proptest_config(config(256))]

    #[test]
    fn the_client_does_what_the_model_does(sequential 1..200 => Beside);
}

/// One soak of a seed; what was seen goes into `seen`, and everything that was answered is returned.
fn soak(seed: u64, steps: usize, seen: &mut BTreeSet<(Binding, String)>) -> Vec<String> {
    let binding = BINDINGS[usize::try_from(seed % 3).unwrap()];
    let setup = Setup { binding, calls: 1 + usize::try_from(seed % 5).unwrap() };
    let bytes = seeded(seed, steps * Op::BYTES);
    let mut bytes = Bytes(&bytes);
    let (mut model, mut system) = (Model::new(setup), System::new(setup));
    let mut trace = Vec::new();
    while let Some(op) = Op::from_bytes(&mut bytes) {
        model.apply(op);
        follow(&mut system, &model);
        system.check(&model);
        trace.push(format!("{:?}", model.last));
        let what = match &model.last.1 {
            Seen::Event(Event::Finished(_, how)) => (*how).to_string(),
            Seen::Event(Event::BadPeer(_, rule) | Event::Violation(rule)) => format!("{rule:?}"),
            Seen::Event(Event::Asked { round, .. }) => format!("asked {round}"),
            Seen::Event(Event::Progress(..)) => "progress".into(),
            Seen::Sent { call, .. } => format!("sent {}", if call.is_some() { "request" } else { "cancel" }),
            Seen::Refused(why) => format!("{why:?}"),
            Seen::Misuse(why) => format!("{why:?}"),
            Seen::CloseStream => "close".into(),
            Seen::Nothing | Seen::Called(_) | Seen::Ok | Seen::Ready(_) => continue,
        };
        seen.insert((binding, what));
        if model.closed && model.events.is_empty() {
            break;
        }
    }
    end(system, model);
    trace
}

/// Long runs reach every outcome, every violation, the eighth question and the limit, under each binding; and identical runs
/// give identical traces (14).
#[test]
fn a_seeded_soak_sees_every_outcome() {
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let trace = soak(seed, 3000, &mut seen);
        if seed < 6 {
            assert_eq!(trace, soak(seed, 3000, &mut seen));
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
    ];
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
/// events come in the same order; where many wait, the lazy one may miss progress alone (5).
fn polls_decide_nothing(binding: Binding, ops: &[(Op, bool)]) {
    let setup = Setup { binding, calls: 1000 };
    let (mut eager, mut lazy, mut model) = (System::new(setup), System::new(setup), Model::new(setup));
    for (op, whim) in ops {
        model.apply(*op);
        let command = model.last.0.clone();
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
        let events = system.events.iter().filter(|event| !matches!(event, Event::Progress(..)));
        events.cloned().collect()
    };
    assert_eq!(certain(&eager), certain(&lazy));
    let mut all = eager.events.iter();
    assert!(lazy.events.iter().all(|event| all.any(|other| other == event)), "out of order");
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn how_often_one_polls_decides_nothing(
        binding in prop::sample::select(BINDINGS.to_vec()),
        ops in prop::collection::vec(any::<([u8; Op::BYTES], bool)>(), 1..200),
    ) {
        let ops: Vec<(Op, bool)> =
            ops.iter().map(|(op, whim)| (Op::from_bytes(&mut Bytes(op)).unwrap(), *whim)).collect();
        polls_decide_nothing(binding, &ops);
    }
}

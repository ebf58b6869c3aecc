//! Admission beside a naive model of it: the same answers, grants, states and facts, whatever is done in whatever order;
//! nothing left at the end; and polls that decide nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use sansio_mcp::admission::{AdmissionLimits, State};
use support::{Bytes, Command, Model, Op, Outcome, System, limits};

#[path = "support/admission.rs"]
mod support;

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Op;

    fn init_state() -> BoxedStrategy<Self> {
        any::<[u8; 2]>().prop_map(|bytes| Self::new(limits(&mut Bytes(&bytes)).unwrap())).boxed()
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
        System::new(model.limits)
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
    let (command, expected) = model.last;
    assert_eq!(system.run(command), expected, "{command:?}");
}

/// When all is over nothing is left (2.6, 7).
fn end(mut system: System, mut model: Model) {
    for command in model.ending() {
        assert_eq!(system.run(command), model.run(command), "{command:?}");
        system.check(&model);
    }
    assert_eq!(system.facts(), [0; 7]);
    assert_eq!(system.poll(), Outcome::Nothing);
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

prop_state_machine! {
    #![proptest_config(config(256))]

    #[test]
    fn admission_does_what_the_model_does(sequential 1..150 => Beside);
}

/// Bytes that are the same on every run.
fn seeded(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32).to_le_bytes()[0]
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn a_seeded_soak_sees_every_outcome() {
    let mut seen = BTreeSet::new();
    for seed in 0..300 {
        let bytes = seeded(seed, 2 + 250 * Op::BYTES);
        let mut bytes = Bytes(&bytes);
        let mut model = Model::new(limits(&mut bytes).unwrap());
        let mut system = System::new(model.limits);
        while let Some(op) = Op::from_bytes(&mut bytes) {
            model.apply(op);
            follow(&mut system, &model);
            system.check(&model);
            seen.insert(match model.last {
                (Command::Pass { .. }, Outcome::Busy) => "busy at the lane",
                (_, Outcome::Busy) => "busy on entry",
                (Command::Enter { again: true, .. }, Outcome::Queued) => "queued again",
                (_, Outcome::Queued) => "queued",
                (_, Outcome::AtGate) => "at the gate",
                (_, Outcome::Start) => "start",
                (_, Outcome::Waits) => "waits",
                (_, Outcome::Ok) => "ok",
                (_, Outcome::Misuse) => "misuse",
                (_, Outcome::NeverStarted) => "never started",
                (_, Outcome::Stop) => "stop",
                (Command::Cancel { .. }, Outcome::Nothing) => "late cancel",
                (_, Outcome::Nothing) => "nothing",
                (_, Outcome::OpenGate(_)) => "gate granted",
                (_, Outcome::StartGrant(_)) => "start granted",
            });
        }
        end(system, model);
    }
    assert_eq!(seen.len(), 15, "the operations do not reach everything: {seen:?}");
}

/// Runs the same commands on two: one is polled dry after each, the other only where a command needs a grant collected, and by
/// whim. A command answers the same on both, and the same is granted in the same order (2.6, 5).
fn polls_decide_nothing(limits: AdmissionLimits, ops: &[(Op, bool)]) {
    let (mut eager, mut lazy, mut model) = (System::new(limits), System::new(limits), Model::new(limits));
    let mut withdrawn = BTreeSet::new();
    for (op, whim) in ops {
        model.apply(*op);
        let command = model.last.0;
        if let Command::Pass { nth, .. }
        | Command::Refuse { nth }
        | Command::Finish { nth }
        | Command::Cancel { nth } = command
        {
            match (command, lazy.state(nth)) {
                // It never comes to the gate, on one of them without having been told to.
                (Command::Cancel { .. }, Some(State::GateDue)) => {
                    withdrawn.insert(Outcome::OpenGate(nth));
                }
                (_, Some(State::GateDue | State::StartDue)) => {
                    while matches!(lazy.state(nth), Some(State::GateDue | State::StartDue)) {
                        lazy.poll();
                    }
                }
                _ => {}
            }
        }
        if *whim {
            lazy.poll();
        }
        if command != Command::Poll {
            assert_eq!(eager.run(command), lazy.run(command), "{command:?}");
        }
        while eager.poll() != Outcome::Nothing {}
        while model.run(Command::Poll) != Outcome::Nothing {}
        let [_, slots, waiting, _, tickets, lanes, channels] = eager.facts();
        let [_, lazy_slots, lazy_waiting, _, lazy_tickets, lazy_lanes, lazy_channels] = lazy.facts();
        assert_eq!(
            [slots, waiting, tickets, lanes, channels],
            [lazy_slots, lazy_waiting, lazy_tickets, lazy_lanes, lazy_channels],
            "{command:?}"
        );
    }
    while lazy.poll() != Outcome::Nothing {}
    eager.grants.retain(|grant| !withdrawn.contains(grant) || lazy.grants.contains(grant));
    assert_eq!(eager.grants, lazy.grants);
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn how_often_one_polls_decides_nothing(
        bytes in any::<[u8; 2]>(),
        ops in prop::collection::vec(any::<([u8; Op::BYTES], bool)>(), 1..150),
    ) {
        let ops: Vec<(Op, bool)> =
            ops.iter().map(|(op, whim)| (Op::from_bytes(&mut Bytes(op)).unwrap(), *whim)).collect();
        polls_decide_nothing(limits(&mut Bytes(&bytes)).unwrap(), &ops);
    }
}

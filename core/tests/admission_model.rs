//! Admission beside a naive model of it: the same answers, grants, states and facts, whatever is done in whatever order;
//! nothing left at the end; and polls that decide nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use admission_model::Model;
use admission_ops::{Command, Op, Outcome};
use admission_system::System;
use frame::{Engine as _, Operation as _, Reference as _};
use proptest::prelude::*;
use proptest_state_machine::prop_state_machine;
use sansio_mcp::admission::{AdmissionLimits, State};

#[path = "support/admission_model.rs"]
mod admission_model;
#[path = "support/admission_ops.rs"]
mod admission_ops;
#[path = "support/admission_system.rs"]
mod admission_system;
#[path = "support/bytes.rs"]
mod bytes;
#[path = "support/frame.rs"]
mod frame;

type Beside = frame::Machine<System>;

prop_state_machine! {
    #![proptest_config(frame::config())]

    #[test]
    fn admission_does_what_the_model_does(sequential 1..150 => Beside);
}

#[test]
fn a_seeded_soak_sees_every_outcome() {
    let mut seen = BTreeSet::new();
    for seed in 0..300 {
        let small = usize::try_from(seed).unwrap();
        let limits = AdmissionLimits::new(1 + small % 4, small / 4 % 6);
        frame::soak::<System>(limits, seed, 250, |_, command, outcome| {
            seen.insert(match (command, outcome) {
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
            true
        });
    }
    assert_eq!(seen.len(), 15, "the operations do not reach everything: {seen:?}");
}

/// Runs the same commands on two: one is polled dry after each, the other only where a command needs a grant collected, and by
/// whim. A command answers the same on both, and the same is granted in the same order (invariant 5).
fn polls_decide_nothing(limits: AdmissionLimits, ops: &[(Op, bool)]) {
    let (mut eager, mut lazy, mut model) = (System::of(limits), System::of(limits), Model::of(limits));
    let mut withdrawn = BTreeSet::new();
    for (op, whim) in ops {
        let (command, _) = model.step(*op);
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
            assert_eq!(eager.run(0, &command), lazy.run(0, &command), "{command:?}");
        }
        while eager.poll() != Outcome::Nothing {}
        while model.run(&Command::Poll) != Outcome::Nothing {}
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
    #![proptest_config(frame::config())]

    #[test]
    fn how_often_one_polls_decides_nothing(limits in Model::setups(), ops in Op::some(0.5, 150)) {
        polls_decide_nothing(limits, &ops);
    }
}

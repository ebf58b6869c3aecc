//! The table of a ticket: what its documentation shows, and what must hold in every state it can reach.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use std::eprintln;

use super::super::ticket::{Effect, Input, State, Step, step};

/// The table as the doc comment of its file shows it: per state, inputs with the same result share a row.
fn rendered() -> String {
    let mut out = String::from("//! | in state | input | next | effects |\n//! | --- | --- | --- | --- |\n");
    for state in State::ALL {
        let mut rows: Vec<(Step, Vec<Input>)> = Vec::new();
        for input in Input::ALL {
            let step = step(*state, *input);
            match rows.iter_mut().find(|(known, _)| *known == step) {
                Some((_, inputs)) => inputs.push(*input),
                None => rows.push((step, Vec::from([*input]))),
            }
        }
        // What happens first, then what is nothing, then what is misuse.
        rows.sort_by_key(|(step, _)| (step.effects.contains(&Effect::Misuse), step.effects.is_empty()));
        for (step, inputs) in rows {
            let next = if step.next == *state { "same" } else { &alloc::format!("{:?}", step.next) };
            let effects = if step.effects.is_empty() { "nothing" } else { &list(step.effects) };
            writeln!(out, "//! | {state:?} | {} | {next} | {effects} |", list(&inputs)).unwrap();
        }
    }
    out
}

fn list(items: &[impl core::fmt::Debug]) -> String {
    let names: Vec<String> = items.iter().map(|item| alloc::format!("{item:?}")).collect();
    names.join(", ")
}

#[test]
fn the_documented_table_is_the_table() {
    let file = include_str!("../ticket.rs");
    let (_, after) = file.split_once("//! <!-- table -->\n//!\n").unwrap();
    let (documented, _) = after.split_once("//!\n//! <!-- end of table -->").unwrap();
    let rendered = rendered();
    if documented != rendered {
        eprintln!("{rendered}");
    }
    assert!(documented == rendered, "the table in ticket.rs is not what `step` does; the right one is above");
}

/// What a ticket holds and where it is linked, by the effects alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Ledger {
    slots: i8,
    lanes: i8,
    queue: i8,
    lane_queue: i8,
    due: i8,
    starts: i8,
    /// Ways in which it ended: a cancel before the start, busy, or over.
    told_never: i8,
    told_stop: i8,
    cancelled: bool,
}

impl Ledger {
    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::JoinQueue => self.queue += 1,
            Effect::LeaveQueue => self.queue -= 1,
            Effect::JoinLane => self.lane_queue += 1,
            Effect::LeaveLane => self.lane_queue -= 1,
            Effect::Offer => self.due += 1,
            Effect::Unoffer => self.due -= 1,
            Effect::TakeSlot => self.slots += 1,
            Effect::FreeSlot => self.slots -= 1,
            Effect::TakeLane => self.lanes += 1,
            Effect::FreeLane => self.lanes -= 1,
            Effect::Start => self.starts += 1,
            Effect::Stop => self.told_stop += 1,
            Effect::NeverStarted | Effect::Busy => self.told_never += 1,
            Effect::OpenGate | Effect::Misuse => {}
        }
        // In one list at most at any moment, never twice, and nothing is given back that is not held.
        assert!((0..=1).contains(&(self.queue + self.lane_queue + self.due)), "{self:?}");
        for count in [self.slots, self.lanes, self.queue, self.lane_queue, self.due] {
            assert!((0..=1).contains(&count), "{self:?}");
        }
    }
}

const COMMANDS: [Input; 5] =
    [Input::LaneOpen, Input::LaneTaken, Input::LaneFull, Input::Refused, Input::Over];

/// Walks every reachable state with every input, along every way in which the ledger differs (2.6, 7 and 11).
#[test]
fn every_reachable_state_keeps_its_books_with_every_input() {
    let mut seen = BTreeSet::new();
    let mut todo = Vec::from([(State::New, Ledger::default())]);
    while let Some((state, ledger)) = todo.pop() {
        if !seen.insert((state, ledger)) {
            continue;
        }
        for input in Input::ALL {
            let mut now = ledger;
            let step = step(state, *input);
            assert_eq!(step, super::super::ticket::step(state, *input), "a function of its arguments");
            step.effects.iter().for_each(|effect| now.apply(*effect));
            let at = alloc::format!("{state:?}, {input:?}: {step:?}, {now:?}");

            // A step that tells nothing, or of misuse, changes nothing; one that changes something says what.
            if step.effects.is_empty() || step.effects.contains(&Effect::Misuse) {
                assert_eq!((step.next, now), (state, ledger), "{at}");
            } else {
                assert_ne!(step.next, state, "{at}");
            }
            assert_eq!(step.effects.contains(&Effect::Misuse), step.effects == [Effect::Misuse], "{at}");
            if step.effects == [Effect::Misuse] {
                assert!(COMMANDS.contains(input), "only a command can be misuse: {at}");
            } else if COMMANDS.contains(input) {
                assert_ne!(step.next, state, "a command acts or is misuse: {at}");
            }

            // The books agree with what the state says of itself.
            assert_eq!(now.slots == 1, step.next.holds_slot(), "{at}");
            assert_eq!(now.lanes == 1, step.next.holds_lane(), "{at}");
            assert_eq!(now.queue + now.lane_queue == 1, step.next.waits(), "{at}");
            assert_eq!(now.queue == 1, step.next == State::Queued, "{at}");
            assert_eq!(now.due == 1, matches!(step.next, State::GateDue | State::StartDue), "{at}");
            assert!(!step.next.runs() || now.starts == 1, "{at}");

            // A lane or slot is taken in time: whoever starts has both.
            if step.effects.contains(&Effect::Start) {
                assert!(now.slots == 1 && now.lanes == 1 && now.starts == 1, "{at}");
                assert!(!ledger.cancelled, "a cancelled ticket started: {at}");
            }
            // A cancel ends what has not started, stops what has, once, and frees nothing of what runs.
            if *input == Input::Cancel && state != State::New && state != State::Done {
                now.cancelled = true;
                let expected = if state.runs() { State::Draining } else { State::Done };
                assert_eq!(step.next, expected, "{at}");
            }
            if step.effects.contains(&Effect::Stop) {
                assert!(now.told_stop == 1 && now.slots == 1 && now.lanes == 1, "{at}");
            }
            // The end: everything is given back, exactly one of "started" and "never" is true, and nothing follows.
            if step.next == State::Done {
                assert_eq!([now.slots, now.lanes, now.queue, now.lane_queue, now.due], [0; 5], "{at}");
                assert_eq!(now.starts + now.told_never, 1, "{at}");
            }
            if state == State::Done {
                assert!(step.next == State::Done && now == ledger, "{at}");
            }
            todo.push((step.next, now));
        }
    }
    let reached: BTreeSet<State> = seen.iter().map(|(state, _)| *state).collect();
    assert_eq!(reached.len(), State::ALL.len(), "a state is never reached: {reached:?}");
}

#[test]
fn what_waits_or_runs_can_always_end() {
    for state in State::ALL {
        let ends = |state: State| Input::ALL.iter().any(|input| step(state, *input).next == State::Done);
        assert!(ends(*state), "{state:?}");
    }
}

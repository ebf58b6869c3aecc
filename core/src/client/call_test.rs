//! Brute force over the table, and its rendering.

use super::*;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const INPUTS: [Input; 15] = [
    Input::Taken,
    Input::Complete,
    Input::Failed,
    Input::Invalid,
    Input::AsksInput,
    Input::SendsState,
    Input::Correctable,
    Input::Progress,
    Input::StaleProgress,
    Input::Answered,
    Input::RetryDue,
    Input::Corrected,
    Input::Cancel,
    Input::Deadline,
    Input::Lost,
];

fn start() -> State {
    State::Queued(Count::default())
}

/// Every state that can be reached from the start.
fn reachable() -> Vec<State> {
    let mut seen = Vec::from([start()]);
    let mut at = 0;
    while let Some(state) = seen.get(at).copied() {
        for input in INPUTS {
            let next = step(state, input).0;
            if !seen.contains(&next) {
                seen.push(next);
            }
        }
        at += 1;
    }
    seen
}

fn count(state: State) -> Option<Count> {
    match state {
        State::Queued(count)
        | State::InFlight(count)
        | State::AwaitingInput(count)
        | State::BackingOff(count)
        | State::Correcting(count) => Some(count),
        State::Done => None,
    }
}

fn name(state: State) -> &'static str {
    match state {
        State::Queued(_) => "Queued",
        State::InFlight(_) => "InFlight",
        State::AwaitingInput(_) => "AwaitingInput",
        State::BackingOff(_) => "BackingOff",
        State::Correcting(_) => "Correcting",
        State::Done => "Done",
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::None => "-",
        Effect::Send => "send",
        Effect::Ask => "ask",
        Effect::Pause => "pause",
        Effect::Correct => "correct",
        Effect::PassOn => "pass on",
        Effect::Finish => "finish",
        Effect::FinishRoundsExceeded => "finish: rounds exceeded",
        Effect::WithdrawAndFinish => "withdraw, finish",
        Effect::AbandonAndFinish => "abandon, finish",
        Effect::Stray => "stray",
        Effect::Misuse => "misuse",
    }
}

/// From, to, effect.
type Row = (String, String, &'static str);

/// The rows of one kind of state. Inputs that do the same share a row; round and correction are named where
/// they make a difference.
fn rows(kind: &str) -> String {
    let states: Vec<State> = reachable().into_iter().filter(|state| name(*state) == kind).collect();
    let mut rows: Vec<(Row, Vec<String>)> = Vec::new();
    for input in INPUTS {
        let mut seen = BTreeSet::new();
        for state in &states {
            let (from, to, what) = row(kind, *state, input);
            if seen.insert(from.clone()) {
                let row = (from, to, what);
                match rows.iter_mut().find(|(known, _)| *known == row) {
                    Some((_, inputs)) => inputs.push(format!("{input:?}")),
                    None => rows.push((row, Vec::from([format!("{input:?}")]))),
                }
            }
        }
    }
    let mut out = String::new();
    for ((from, to, what), inputs) in rows {
        out += &format!("//! | {from} | {} | {to} | {what} |\n", inputs.join(", "));
    }
    out
}

fn row(kind: &str, state: State, input: Input) -> Row {
    let (next, what) = step(state, input);
    let Some(from) = count(state) else {
        return (name(state).to_string(), name(next).to_string(), effect(what));
    };
    let asks = matches!(input, Input::AsksInput | Input::SendsState) && kind == "InFlight";
    let round = match (asks, from.round) {
        (true, MAX_ROUNDS) => "8",
        (true, _) => "r<8",
        (false, _) => "r",
    };
    let used = if input == Input::Correctable && kind == "InFlight" && from.corrected { " 1" } else { "" };
    let to = count(next).map_or_else(
        || name(next).to_string(),
        |to| {
            let round = if to.round > from.round { "r+1" } else { "r" };
            let used = if to.corrected && !from.corrected { " 1" } else { "" };
            format!("{} {round}{used}", name(next))
        },
    );
    (format!("{} {round}{used}", name(state)), to, effect(what))
}

#[test]
fn the_documented_table_is_the_code() {
    let rendered: String =
        ["Queued", "InFlight", "AwaitingInput", "BackingOff", "Correcting", "Done"].map(rows).concat();
    crate::table_test::assert_documented(include_str!("call.rs"), &rendered);
}

fn finishes(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::Finish | Effect::FinishRoundsExceeded | Effect::WithdrawAndFinish | Effect::AbandonAndFinish
    )
}

#[test]
fn a_call_finishes_exactly_when_it_is_done_and_never_again() {
    for state in reachable() {
        for input in INPUTS {
            let (next, effect) = step(state, input);
            let ends = state != State::Done && next == State::Done;
            assert_eq!(finishes(effect), ends, "{state:?} {input:?}");
            if state == State::Done {
                assert_eq!(next, State::Done, "{input:?}");
            }
        }
    }
}

#[test]
fn misuse_and_strays_change_nothing() {
    for state in reachable() {
        for input in INPUTS {
            let (next, effect) = step(state, input);
            if matches!(effect, Effect::Misuse | Effect::Stray | Effect::None) && input != Input::Taken {
                assert_eq!(next, state, "{state:?} {input:?}");
            }
        }
    }
}

#[test]
fn only_an_attempt_in_flight_is_abandoned_and_only_a_queued_one_withdrawn() {
    for state in reachable() {
        for input in INPUTS {
            match step(state, input).1 {
                Effect::AbandonAndFinish => assert!(matches!(state, State::InFlight(_)), "{state:?}"),
                Effect::WithdrawAndFinish => assert!(matches!(state, State::Queued(_)), "{state:?}"),
                _ => {}
            }
        }
    }
    let in_flight = State::InFlight(Count::default());
    assert_eq!(step(in_flight, Input::Cancel).1, Effect::AbandonAndFinish);
    assert_eq!(step(in_flight, Input::Deadline).1, Effect::AbandonAndFinish);
    assert_eq!(step(start(), Input::Cancel).1, Effect::WithdrawAndFinish);
}

/// The longest walk of questions: eight are asked, the ninth is not, whether rounds carry questions or only
/// state, and corrections do not count as rounds.
#[test]
fn eight_questions_are_asked_and_a_ninth_is_not() {
    for by in [Input::AsksInput, Input::SendsState] {
        let mut state = start();
        let mut asked = 0;
        let mut attempts = 0;
        loop {
            state = step(state, Input::Taken).0;
            attempts += 1;
            if attempts == 3 {
                state = step(state, Input::Correctable).0;
                state = step(state, Input::Corrected).0;
                state = step(state, Input::Taken).0;
            }
            let (next, effect) = step(state, by);
            state = next;
            if effect == Effect::FinishRoundsExceeded {
                break;
            }
            assert!(matches!(effect, Effect::Ask | Effect::Pause));
            asked += 1;
            let answer = if by == Input::AsksInput { Input::Answered } else { Input::RetryDue };
            state = step(state, answer).0;
        }
        assert_eq!((asked, attempts, state), (8, 9, State::Done));
    }
}

#[test]
fn a_call_is_corrected_once() {
    let mut state = step(start(), Input::Taken).0;
    assert_eq!(step(state, Input::Correctable).1, Effect::Correct);
    state = step(state, Input::Correctable).0;
    state = step(state, Input::Corrected).0;
    state = step(state, Input::Taken).0;
    assert_eq!(step(state, Input::Correctable), (State::Done, Effect::Finish));
}

#[test]
fn the_round_never_exceeds_eight() {
    assert!(reachable().into_iter().filter_map(count).all(|count| count.round <= MAX_ROUNDS));
}

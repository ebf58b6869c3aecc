//! The life of one subscription on the client (basic/patterns/subscriptions).
//!
//! A `subscriptions/listen` request *awaits its acknowledgement*, is *active* from then on, and is *done* when it ends.
//! This table decides what notifications that name it mean. The request itself is queued, sent, corrected, abandoned
//! and answered like any other and runs the table of [`call`](super::call) beside it.
//!
//! How it ended is told apart by the outcome of that call: a result is the server's graceful end, `Cancelled` our own,
//! `Lost` the transport's.
//!
//! <!-- table -->
//!
//! | in state | input | next | effects |
//! | --- | --- | --- | --- |
//! | AwaitingAck | Acknowledged | Active | tell |
//! | AwaitingAck | Change | AwaitingAck | violation |
//! | AwaitingAck | NotAsked | AwaitingAck | violation |
//! | AwaitingAck | Ended | Done | - |
//! | Active | Acknowledged | Active | violation |
//! | Active | Change | Active | pass on |
//! | Active | NotAsked | Active | violation |
//! | Active | Ended | Done | - |
//! | Done | Acknowledged | Done | - |
//! | Done | Change | Done | - |
//! | Done | NotAsked | Done | - |
//! | Done | Ended | Done | - |
//!
//! <!-- end -->

/// Where a subscription stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum State {
    /// The server has not acknowledged it.
    AwaitingAck,
    /// It is acknowledged; changes are told.
    Active,
    /// It has ended.
    Done,
}

/// What can happen to a subscription.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Input {
    /// The acknowledgement.
    Acknowledged,
    /// A notification of a kind that was asked for.
    Change,
    /// A notification that was not asked for.
    NotAsked,
    /// Its call has finished, however.
    Ended,
}

/// What has to be done about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Nothing.
    None,
    /// Tell the application what was acknowledged.
    Tell,
    /// Hand the change on.
    PassOn,
    /// The peer broke a rule; drop the notification and note that.
    Violation,
}

/// One step of the table.
#[allow(clippy::match_same_arms, reason = "a table reads by state")]
pub fn step(state: State, input: Input) -> (State, Effect) {
    match (state, input) {
        (State::AwaitingAck, Input::Acknowledged) => (State::Active, Effect::Tell),
        (State::AwaitingAck, Input::Change | Input::NotAsked) => (state, Effect::Violation),
        (State::Active, Input::Change) => (state, Effect::PassOn),
        (State::Active, Input::Acknowledged | Input::NotAsked) => (state, Effect::Violation),
        (State::AwaitingAck | State::Active, Input::Ended) => (State::Done, Effect::None),
        (State::Done, Input::Acknowledged | Input::Change | Input::NotAsked | Input::Ended) => {
            (state, Effect::None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    const STATES: [State; 3] = [State::AwaitingAck, State::Active, State::Done];
    const INPUTS: [Input; 4] = [Input::Acknowledged, Input::Change, Input::NotAsked, Input::Ended];

    #[test]
    fn the_documented_table_is_the_code() {
        let mut rendered = String::new();
        for state in STATES {
            for input in INPUTS {
                let (next, effect) = step(state, input);
                let effect = match effect {
                    Effect::None => "-",
                    Effect::Tell => "tell",
                    Effect::PassOn => "pass on",
                    Effect::Violation => "violation",
                };
                rendered += &format!("//! | {state:?} | {input:?} | {next:?} | {effect} |\n");
            }
        }
        crate::table_test::assert_documented(include_str!("listen.rs"), &rendered);
    }

    /// Every sequence of seven inputs: the acknowledgement is told once and first, nothing follows the end.
    #[test]
    fn brute_force() {
        fn walk(state: State, depth: usize, trace: &mut Vec<(Input, Effect)>) {
            let told: Vec<Effect> = trace
                .iter()
                .map(|(_, effect)| *effect)
                .filter(|effect| matches!(effect, Effect::Tell | Effect::PassOn))
                .collect();
            assert!(told.first().is_none_or(|first| *first == Effect::Tell), "{trace:?}");
            assert!(told.iter().filter(|effect| **effect == Effect::Tell).count() <= 1, "{trace:?}");
            if let Some(end) = trace.iter().position(|(input, _)| *input == Input::Ended) {
                assert!(trace[end..].iter().all(|(_, effect)| *effect == Effect::None), "{trace:?}");
            }
            if depth == 0 {
                return;
            }
            for input in INPUTS {
                let (next, effect) = step(state, input);
                trace.push((input, effect));
                walk(next, depth - 1, trace);
                trace.pop();
            }
        }
        walk(State::AwaitingAck, 7, &mut Vec::new());
    }
}

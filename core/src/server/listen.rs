//! The life of one subscription on the server (basic/patterns/subscriptions).
//!
//! A `subscriptions/listen` request is *opening* until the application accepts it; then its acknowledgement is queued,
//! before anything else, and it is *listening*: changes it asked for are queued behind that. It is *done* when its
//! response is queued, or when nobody waits for one any more.
//!
//! This table decides what may be said on a subscription. The request itself, which is answered or not like any
//! other, runs the table of [`exchange`](super::exchange) beside it: `end` below is that table's `Respond`.
//!
//! A server that ends a subscription itself says so with the response that carries nothing: when it closes, when its
//! input has ended, and when a subscriber reads so slowly that changes would pile up. A peer that cancels, or whose
//! stream has gone, hears nothing more.
//!
//! <!-- table -->
//!
//! | in state | input | next | effects |
//! | --- | --- | --- | --- |
//! | Opening | Accept | Listening | acknowledge |
//! | Opening | Refuse | Done | - |
//! | Opening | Change | Opening | drop it |
//! | Opening | Repeated | Opening | drop it |
//! | Opening | Overflow | Opening | drop it |
//! | Opening | Close | Done | - |
//! | Opening | PeerCancelled | Done | - |
//! | Opening | StreamEnded | Done | - |
//! | Listening | Accept | Listening | misuse |
//! | Listening | Refuse | Listening | misuse |
//! | Listening | Change | Listening | queue it |
//! | Listening | Repeated | Listening | drop it |
//! | Listening | Overflow | Done | withdraw changes, end |
//! | Listening | Close | Done | end |
//! | Listening | PeerCancelled | Done | - |
//! | Listening | StreamEnded | Done | - |
//! | Done | Accept | Done | misuse |
//! | Done | Refuse | Done | misuse |
//! | Done | Change | Done | drop it |
//! | Done | Repeated | Done | drop it |
//! | Done | Overflow | Done | drop it |
//! | Done | Close | Done | - |
//! | Done | PeerCancelled | Done | - |
//! | Done | StreamEnded | Done | - |
//!
//! <!-- end -->

/// Where a subscription stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum State {
    /// Not accepted yet.
    Opening,
    /// Acknowledged: changes are told.
    Listening,
    /// Nothing will be told any more.
    Done,
}

/// What can happen to a subscription.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Input {
    /// The application accepts it.
    Accept,
    /// The application answers it with an error.
    Refuse,
    /// Something changed that it asked for.
    Change,
    /// The same, while an equal notification waits to be sent.
    Repeated,
    /// The same, while too much waits to be sent.
    Overflow,
    /// The server closes it: shutdown, end of input, or the application's wish.
    Close,
    /// The peer's cancel was read.
    PeerCancelled,
    /// The stream has gone.
    StreamEnded,
}

/// What has to be done about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Nothing.
    None,
    /// Queue the acknowledgement.
    Acknowledge,
    /// Queue the notification.
    Queue,
    /// Send nothing.
    Drop,
    /// Queue the response that ends it.
    End,
    /// Remove the notifications that are queued, but not the acknowledgement; then as [`End`](Self::End).
    WithdrawAndEnd,
    /// The caller did this at the wrong time; nothing changes.
    Misuse,
}

/// One step of the table.
#[allow(clippy::match_same_arms, reason = "a table reads by state")]
pub fn step(state: State, input: Input) -> (State, Effect) {
    match (state, input) {
        (State::Opening, Input::Accept) => (State::Listening, Effect::Acknowledge),
        (State::Opening, Input::Change | Input::Repeated | Input::Overflow) => (state, Effect::Drop),
        (State::Opening, Input::Refuse | Input::Close) => (State::Done, Effect::None),
        (State::Listening, Input::Change) => (state, Effect::Queue),
        (State::Listening, Input::Repeated) => (state, Effect::Drop),
        (State::Listening, Input::Overflow) => (State::Done, Effect::WithdrawAndEnd),
        (State::Listening, Input::Close) => (State::Done, Effect::End),
        (State::Opening | State::Listening, Input::PeerCancelled | Input::StreamEnded) => {
            (State::Done, Effect::None)
        }
        (State::Listening | State::Done, Input::Accept | Input::Refuse) => (state, Effect::Misuse),
        (State::Done, Input::Change | Input::Repeated | Input::Overflow) => (state, Effect::Drop),
        (State::Done, Input::Close | Input::PeerCancelled | Input::StreamEnded) => (state, Effect::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    const STATES: [State; 3] = [State::Opening, State::Listening, State::Done];
    const INPUTS: [Input; 8] = [
        Input::Accept,
        Input::Refuse,
        Input::Change,
        Input::Repeated,
        Input::Overflow,
        Input::Close,
        Input::PeerCancelled,
        Input::StreamEnded,
    ];

    #[test]
    fn the_documented_table_is_the_code() {
        let mut rendered = String::new();
        for state in STATES {
            for input in INPUTS {
                let (next, effect) = step(state, input);
                let effect = match effect {
                    Effect::None => "-",
                    Effect::Acknowledge => "acknowledge",
                    Effect::Queue => "queue it",
                    Effect::Drop => "drop it",
                    Effect::End => "end",
                    Effect::WithdrawAndEnd => "withdraw changes, end",
                    Effect::Misuse => "misuse",
                };
                rendered += &format!("//! | {state:?} | {input:?} | {next:?} | {effect} |\n");
            }
        }
        crate::table_test::assert_documented(include_str!("listen.rs"), &rendered);
    }

    /// Every sequence of six inputs: one acknowledgement at most, nothing before it, one end at most, nothing after
    /// that or after the peer has gone.
    #[test]
    fn brute_force() {
        fn walk(state: State, depth: usize, trace: &mut Vec<(Input, Effect)>) {
            check(trace);
            if depth == 0 {
                return;
            }
            for input in INPUTS {
                let (next, effect) = step(state, input);
                if matches!(effect, Effect::Misuse | Effect::Drop) {
                    assert_eq!(next, state);
                }
                trace.push((input, effect));
                walk(next, depth - 1, trace);
                trace.pop();
            }
        }
        fn check(trace: &[(Input, Effect)]) {
            let said = |effect: Effect| {
                matches!(effect, Effect::Acknowledge | Effect::Queue | Effect::End | Effect::WithdrawAndEnd)
            };
            let all: Vec<Effect> = trace.iter().map(|(_, effect)| *effect).filter(|e| said(*e)).collect();
            if let Some((first, rest)) = all.split_first() {
                assert_eq!(*first, Effect::Acknowledge, "{trace:?}");
                assert!(!rest.contains(&Effect::Acknowledge), "{trace:?}");
                let end = rest.iter().position(|e| matches!(e, Effect::End | Effect::WithdrawAndEnd));
                assert!(end.is_none_or(|end| end + 1 == rest.len()), "{trace:?}");
            }
            let gone = trace.iter().position(|(i, _)| matches!(i, Input::PeerCancelled | Input::StreamEnded));
            if let Some(gone) = gone {
                assert!(trace[gone..].iter().all(|(_, effect)| !said(*effect)), "{trace:?}");
            }
        }
        walk(State::Opening, 6, &mut Vec::new());
    }
}

//! The life of one request on the server.
//!
//! A request is *running* from the moment it is accepted until its handler's answer is queued; it is
//! *answered* until the transport takes that answer; then it is *done*. The peer's cancel ends it silently
//! and for ever, wherever it stands: what was queued for it is withdrawn, a later answer of the handler is
//! dropped. Losing the stream does the same. Closing the server is different: nobody asked for silence, so a
//! response that is queued already may still be taken; only what is running is stopped.
//!
//! Completion and cancellation are decided once: whichever input comes first moves the state, the other finds
//! it moved.
//!
//! <!-- table -->
//!
//! | in state | input | next | effects |
//! | --- | --- | --- | --- |
//! | Running | Progress | Running | queue it |
//! | Running | StaleProgress | Running | drop it |
//! | Running | Notify | Running | queue it |
//! | Running | Respond | Answered | queue it |
//! | Running | Taken | Running | misuse |
//! | Running | PeerCancelled | Done | withdraw, stop the handler |
//! | Running | StreamEnded | Done | withdraw, stop the handler |
//! | Running | Closing | Done | withdraw, stop the handler |
//! | Answered | Progress | Answered | misuse |
//! | Answered | StaleProgress | Answered | misuse |
//! | Answered | Notify | Answered | misuse |
//! | Answered | Respond | Answered | misuse |
//! | Answered | Taken | Done | - |
//! | Answered | PeerCancelled | Done | withdraw |
//! | Answered | StreamEnded | Done | withdraw |
//! | Answered | Closing | Answered | - |
//! | Done | Progress | Done | misuse |
//! | Done | StaleProgress | Done | misuse |
//! | Done | Notify | Done | misuse |
//! | Done | Respond | Done | misuse |
//! | Done | Taken | Done | misuse |
//! | Done | PeerCancelled | Done | - |
//! | Done | StreamEnded | Done | - |
//! | Done | Closing | Done | - |
//!
//! <!-- end -->

/// Where a request stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum State {
    /// Accepted; its handler may still do anything.
    Running,
    /// Its response is queued and not yet taken.
    Answered,
    /// Nothing will be sent for it any more.
    Done,
}

/// What can happen to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Input {
    /// The handler reports progress that is greater than before.
    Progress,
    /// The handler reports progress that is not.
    StaleProgress,
    /// The handler says something else to whoever waits, such as a line of its log.
    Notify,
    /// The handler answers: a result, an error, or that it needs input.
    Respond,
    /// The transport took the response.
    Taken,
    /// The peer's cancel was read.
    PeerCancelled,
    /// The stream that would carry the response has gone.
    StreamEnded,
    /// The server is closing, or the grace time after the end of input is over.
    Closing,
}

/// What has to be done about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Nothing.
    None,
    /// Queue what was given.
    Queue,
    /// Do not send what was given; its sender is told.
    Drop,
    /// Remove everything queued for this request.
    Withdraw,
    /// Remove everything queued for this request and stop its handler.
    WithdrawAndStop,
    /// The caller did this at the wrong time; nothing changes.
    Misuse,
}

/// One step of the table.
pub fn step(state: State, input: Input) -> (State, Effect) {
    match (state, input) {
        (State::Running, Input::Progress | Input::Notify) => (State::Running, Effect::Queue),
        (State::Running, Input::StaleProgress) => (State::Running, Effect::Drop),
        (State::Running, Input::Respond) => (State::Answered, Effect::Queue),
        (State::Running, Input::Taken) => (State::Running, Effect::Misuse),
        (State::Running, Input::PeerCancelled | Input::StreamEnded | Input::Closing) => {
            (State::Done, Effect::WithdrawAndStop)
        }
        (State::Answered, Input::Progress | Input::StaleProgress | Input::Notify | Input::Respond) => {
            (State::Answered, Effect::Misuse)
        }
        (State::Answered, Input::Taken) => (State::Done, Effect::None),
        (State::Answered, Input::PeerCancelled | Input::StreamEnded) => (State::Done, Effect::Withdraw),
        (State::Answered, Input::Closing) => (State::Answered, Effect::None),
        (
            State::Done,
            Input::Progress | Input::StaleProgress | Input::Notify | Input::Respond | Input::Taken,
        ) => (State::Done, Effect::Misuse),
        (State::Done, Input::PeerCancelled | Input::StreamEnded | Input::Closing) => {
            (State::Done, Effect::None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    const STATES: [State; 3] = [State::Running, State::Answered, State::Done];
    const INPUTS: [Input; 8] = [
        Input::Progress,
        Input::StaleProgress,
        Input::Notify,
        Input::Respond,
        Input::Taken,
        Input::PeerCancelled,
        Input::StreamEnded,
        Input::Closing,
    ];

    #[test]
    fn the_documented_table_is_the_code() {
        let mut rendered = String::new();
        for state in STATES {
            for input in INPUTS {
                let (next, effect) = step(state, input);
                let effect = match (effect, input) {
                    (Effect::None, _) => "-",
                    (Effect::Queue, _) => "queue it",
                    (Effect::Drop, _) => "drop it",
                    (Effect::Withdraw, _) => "withdraw",
                    (Effect::WithdrawAndStop, _) => "withdraw, stop the handler",
                    (Effect::Misuse, _) => "misuse",
                };
                rendered += &format!("//! | {state:?} | {input:?} | {next:?} | {effect} |\n");
            }
        }
        crate::table_test::assert_documented(include_str!("exchange.rs"), &rendered);
    }

    /// Every sequence of six inputs: at most one response is queued and at most one taken, nothing is queued
    /// after a cancel or a lost stream, the handler is stopped at most once and never after it answered.
    #[test]
    fn brute_force() {
        fn walk(state: State, depth: usize, trace: &mut Vec<(Input, Effect)>) {
            check(trace);
            if depth == 0 {
                return;
            }
            for input in INPUTS {
                let (next, effect) = step(state, input);
                if effect == Effect::Misuse {
                    assert_eq!(next, state, "misuse changes nothing");
                }
                trace.push((input, effect));
                walk(next, depth - 1, trace);
                trace.pop();
            }
        }
        fn check(trace: &[(Input, Effect)]) {
            let queued =
                |(input, effect): &&(Input, Effect)| *input == Input::Respond && *effect == Effect::Queue;
            assert!(trace.iter().filter(queued).count() <= 1, "{trace:?}");
            let taken = trace.iter().filter(|(i, e)| *i == Input::Taken && *e != Effect::Misuse).count();
            assert!(taken <= 1, "{trace:?}");
            let stops = trace.iter().filter(|(_, e)| *e == Effect::WithdrawAndStop).count();
            let answered = trace.iter().position(|entry| queued(&entry));
            assert!(stops + answered.iter().count() <= 1, "stopped and answered: {trace:?}");
            let silent =
                trace.iter().position(|(i, _)| matches!(i, Input::PeerCancelled | Input::StreamEnded));
            if let Some(at) = silent {
                assert!(trace[at + 1..].iter().all(|(_, e)| *e != Effect::Queue), "{trace:?}");
                assert!(
                    trace[at + 1..].iter().all(|(i, e)| *i != Input::Taken || *e == Effect::Misuse),
                    "nothing is taken after a cancel: {trace:?}"
                );
            }
        }
        walk(State::Running, 6, &mut Vec::new());
    }
}

//! The life of one logical call, over all its attempts.
//!
//! An attempt is *queued* until the transport takes its bytes, then *in flight* until it is answered. An
//! answer ends the call, or it asks for input: then the call waits for the application (*awaiting input*) or,
//! where only state was sent, for a short pause (*backing off*), and the next attempt is queued. Rounds are
//! counted from 0; eight questions can be answered, so there are at most nine attempts. The ninth question is
//! never put to anybody. One refusal a call may be corrected (another protocol version, other headers); that
//! is not a round.
//!
//! Whoever comes first decides: after `Done` the wire is ignored and the application is told of its misuse.
//! Giving up leaves a trace on the wire only where an attempt is in flight: one that was never written is
//! withdrawn, and while nobody but us has the ball there is nothing to abandon.
//!
//! `r` is the round, `1` whether the correction is used up.
//!
//! <!-- table -->
//!
//! | in state | input | next | effect |
//! | --- | --- | --- | --- |
//! | Queued r | Taken | InFlight r | - |
//! | Queued r | Complete, Failed, Invalid, AsksInput, SendsState, Correctable, Progress, StaleProgress | Queued r | stray |
//! | Queued r | Answered, Corrected | Queued r | misuse |
//! | Queued r | RetryDue | Queued r | - |
//! | Queued r | Cancel, Deadline, Lost | Done | withdraw, finish |
//! | InFlight r | Taken, Answered, Corrected | InFlight r | misuse |
//! | InFlight r | Complete, Failed, Invalid, Lost | Done | finish |
//! | InFlight r<8 | AsksInput | AwaitingInput r+1 | ask |
//! | InFlight 8 | AsksInput, SendsState | Done | finish: rounds exceeded |
//! | InFlight r<8 | SendsState | BackingOff r+1 | pause |
//! | InFlight r | Correctable | Correcting r | correct |
//! | InFlight r 1 | Correctable | Done | finish |
//! | InFlight r | Progress | InFlight r | pass on |
//! | InFlight r | StaleProgress | InFlight r | stray |
//! | InFlight r | RetryDue | InFlight r | - |
//! | InFlight r | Cancel, Deadline | Done | abandon, finish |
//! | AwaitingInput r | Taken, Corrected | AwaitingInput r | misuse |
//! | AwaitingInput r | Complete, Failed, Invalid, AsksInput, SendsState, Correctable, Progress, StaleProgress | AwaitingInput r | stray |
//! | AwaitingInput r | Answered | Queued r | send |
//! | AwaitingInput r | RetryDue | AwaitingInput r | - |
//! | AwaitingInput r | Cancel, Deadline, Lost | Done | finish |
//! | BackingOff r | Taken, Answered, Corrected | BackingOff r | misuse |
//! | BackingOff r | Complete, Failed, Invalid, AsksInput, SendsState, Correctable, Progress, StaleProgress | BackingOff r | stray |
//! | BackingOff r | RetryDue | Queued r | send |
//! | BackingOff r | Cancel, Deadline, Lost | Done | finish |
//! | Correcting r | Taken, Answered | Correcting r | misuse |
//! | Correcting r | Complete, Failed, Invalid, AsksInput, SendsState, Correctable, Progress, StaleProgress | Correcting r | stray |
//! | Correcting r | RetryDue | Correcting r | - |
//! | Correcting r | Corrected | Queued r 1 | send |
//! | Correcting r | Cancel, Deadline, Lost | Done | finish |
//! | Done | Taken, Answered, Corrected, Cancel | Done | misuse |
//! | Done | Complete, Failed, Invalid, AsksInput, SendsState, Correctable, Progress, StaleProgress, RetryDue, Deadline, Lost | Done | - |
//!
//! <!-- end -->

use crate::limits::MAX_ROUNDS;

/// How often a call has asked for input, and whether its one correction is used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Count {
    /// 0 to [`MAX_ROUNDS`].
    pub round: u8,
    /// The attempt in question was corrected once.
    pub corrected: bool,
}

/// Where a call stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum State {
    /// An attempt waits to be written.
    Queued(Count),
    /// An attempt was written and is not answered.
    InFlight(Count),
    /// The application is asked for input.
    AwaitingInput(Count),
    /// A retry with state alone waits a moment.
    BackingOff(Count),
    /// The container finds out how to correct the attempt.
    Correcting(Count),
    /// It has finished.
    Done,
}

/// What can happen to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Input {
    /// The transport took the attempt's bytes.
    Taken,
    /// A complete result.
    Complete,
    /// An error response that cannot be corrected.
    Failed,
    /// A response that breaks the specification.
    Invalid,
    /// `input_required` with questions.
    AsksInput,
    /// `input_required` with state alone.
    SendsState,
    /// An error response that another version or other headers may cure.
    Correctable,
    /// Progress greater than before.
    Progress,
    /// Progress that is not.
    StaleProgress,
    /// The application has answered the questions.
    Answered,
    /// The pause is over.
    RetryDue,
    /// The container has corrected the attempt.
    Corrected,
    /// The application gives up.
    Cancel,
    /// A deadline has passed.
    Deadline,
    /// The stream of the attempt, or the whole channel, has gone.
    Lost,
}

/// What has to be done about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Nothing.
    None,
    /// Queue an attempt: new id, same params.
    Send,
    /// Put the questions to the application.
    Ask,
    /// Arm the pause.
    Pause,
    /// Find a correction.
    Correct,
    /// Hand the progress on, re-arm the idle deadline.
    PassOn,
    /// Report the outcome.
    Finish,
    /// Report that there were too many rounds.
    FinishRoundsExceeded,
    /// Take the attempt out of the queue and report the outcome.
    WithdrawAndFinish,
    /// Tell the peer that the attempt is abandoned and report the outcome.
    AbandonAndFinish,
    /// The peer sent what nobody waits for; note it.
    Stray,
    /// The application did this at the wrong time; nothing changes.
    Misuse,
}

/// One step of the table.
pub fn step(state: State, input: Input) -> (State, Effect) {
    use Input as I;
    match state {
        State::Queued(count) => match input {
            I::Taken => (State::InFlight(count), Effect::None),
            I::Complete
            | I::Failed
            | I::Invalid
            | I::AsksInput
            | I::SendsState
            | I::Correctable
            | I::Progress
            | I::StaleProgress => (state, Effect::Stray),
            I::Answered | I::Corrected => (state, Effect::Misuse),
            I::RetryDue => (state, Effect::None),
            I::Cancel | I::Deadline | I::Lost => (State::Done, Effect::WithdrawAndFinish),
        },
        State::InFlight(count) => match input {
            I::Complete | I::Failed | I::Invalid | I::Lost => (State::Done, Effect::Finish),
            I::AsksInput => match next_round(count) {
                Some(next) => (State::AwaitingInput(next), Effect::Ask),
                None => (State::Done, Effect::FinishRoundsExceeded),
            },
            I::SendsState => match next_round(count) {
                Some(next) => (State::BackingOff(next), Effect::Pause),
                None => (State::Done, Effect::FinishRoundsExceeded),
            },
            I::Correctable if count.corrected => (State::Done, Effect::Finish),
            I::Correctable => (State::Correcting(count), Effect::Correct),
            I::Progress => (state, Effect::PassOn),
            I::StaleProgress => (state, Effect::Stray),
            I::Taken | I::Answered | I::Corrected => (state, Effect::Misuse),
            I::RetryDue => (state, Effect::None),
            I::Cancel | I::Deadline => (State::Done, Effect::AbandonAndFinish),
        },
        State::AwaitingInput(count) => match input {
            I::Answered => (State::Queued(count), Effect::Send),
            I::Complete
            | I::Failed
            | I::Invalid
            | I::AsksInput
            | I::SendsState
            | I::Correctable
            | I::Progress
            | I::StaleProgress => (state, Effect::Stray),
            I::Taken | I::Corrected => (state, Effect::Misuse),
            I::RetryDue => (state, Effect::None),
            I::Cancel | I::Deadline | I::Lost => (State::Done, Effect::Finish),
        },
        State::BackingOff(count) => match input {
            I::RetryDue => (State::Queued(count), Effect::Send),
            I::Complete
            | I::Failed
            | I::Invalid
            | I::AsksInput
            | I::SendsState
            | I::Correctable
            | I::Progress
            | I::StaleProgress => (state, Effect::Stray),
            I::Taken | I::Answered | I::Corrected => (state, Effect::Misuse),
            I::Cancel | I::Deadline | I::Lost => (State::Done, Effect::Finish),
        },
        State::Correcting(count) => match input {
            I::Corrected => (State::Queued(Count { corrected: true, ..count }), Effect::Send),
            I::Complete
            | I::Failed
            | I::Invalid
            | I::AsksInput
            | I::SendsState
            | I::Correctable
            | I::Progress
            | I::StaleProgress => (state, Effect::Stray),
            I::Taken | I::Answered => (state, Effect::Misuse),
            I::RetryDue => (state, Effect::None),
            I::Cancel | I::Deadline | I::Lost => (State::Done, Effect::Finish),
        },
        State::Done => match input {
            I::Taken | I::Answered | I::Corrected | I::Cancel => (state, Effect::Misuse),
            I::Complete
            | I::Failed
            | I::Invalid
            | I::AsksInput
            | I::SendsState
            | I::Correctable
            | I::Progress
            | I::StaleProgress
            | I::RetryDue
            | I::Deadline
            | I::Lost => (state, Effect::None),
        },
    }
}

fn next_round(count: Count) -> Option<Count> {
    (count.round < MAX_ROUNDS).then_some(Count { round: count.round + 1, ..count })
}

#[cfg(test)]
#[path = "call_test.rs"]
mod tests;

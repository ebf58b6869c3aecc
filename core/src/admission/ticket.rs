//! The life of one admission ticket, as a pure table.
//!
//! A ticket is one entry of a request into its handler. It comes to the *gate* (middleware, authorization)
//! as soon as a *slot* is free and otherwise queues for one. What passes the gate starts, unless it
//! names a *lane* (one at a time per key) that is taken: then it gives its slot back and waits in the lane, so
//! that one hot key holds no slots away from the rest. Out of the lane it comes with slot and lane together.
//!
//! A grant is decided when a slot or lane becomes free, and *collected* by the caller later, by polling. The
//! states in between, `GateDue` and `StartDue`, already hold what was granted. So when one polls
//! changes nothing about who is granted what, or who is refused; and a ticket cancelled in between has never started.
//!
//! Cancelled before its start, a ticket is forgotten and whatever it holds is free at once. Cancelled while running,
//! it drains: slot and lane stay taken until the handler, with its cleanup, is really over.
//!
//! A command of the application that does not fit the state is [`Effect::Misuse`] and changes nothing. What may come late
//! through nobody's fault (a cancel), and what the container cannot send in that state, is nothing at all.
//!
//! The table, rendered from [`step`]; inputs with the same result share a row:
//!
//! <!-- table -->
//!
//! | in state | input | next | effects |
//! | --- | --- | --- | --- |
//! | New | SlotFree | AtGate | TakeSlot, OpenGate |
//! | New | MustQueue | Queued | JoinQueue |
//! | New | QueueFull | Done | Busy |
//! | New | Granted, Collected, Cancel | same | nothing |
//! | New | LaneOpen, LaneTaken, LaneFull, Refused, Over | same | Misuse |
//! | Queued | Granted | GateDue | LeaveQueue, TakeSlot, Offer |
//! | Queued | Cancel | Done | LeaveQueue, NeverStarted |
//! | Queued | SlotFree, MustQueue, QueueFull, Collected | same | nothing |
//! | Queued | LaneOpen, LaneTaken, LaneFull, Refused, Over | same | Misuse |
//! | GateDue | Collected | AtGate | Unoffer, OpenGate |
//! | GateDue | Cancel | Done | Unoffer, FreeSlot, NeverStarted |
//! | GateDue | SlotFree, MustQueue, QueueFull, Granted | same | nothing |
//! | GateDue | LaneOpen, LaneTaken, LaneFull, Refused, Over | same | Misuse |
//! | AtGate | LaneOpen | Running | TakeLane, Start |
//! | AtGate | LaneTaken | InLane | FreeSlot, JoinLane |
//! | AtGate | LaneFull | Done | FreeSlot, Busy |
//! | AtGate | Refused, Cancel | Done | FreeSlot, NeverStarted |
//! | AtGate | SlotFree, MustQueue, QueueFull, Granted, Collected | same | nothing |
//! | AtGate | Over | same | Misuse |
//! | InLane | Granted | StartDue | LeaveLane, TakeSlot, TakeLane, Offer |
//! | InLane | Cancel | Done | LeaveLane, NeverStarted |
//! | InLane | SlotFree, MustQueue, QueueFull, Collected | same | nothing |
//! | InLane | LaneOpen, LaneTaken, LaneFull, Refused, Over | same | Misuse |
//! | StartDue | Collected | Running | Unoffer, Start |
//! | StartDue | Cancel | Done | Unoffer, FreeLane, FreeSlot, NeverStarted |
//! | StartDue | SlotFree, MustQueue, QueueFull, Granted | same | nothing |
//! | StartDue | LaneOpen, LaneTaken, LaneFull, Refused, Over | same | Misuse |
//! | Running | Cancel | Draining | Stop |
//! | Running | Over | Done | FreeLane, FreeSlot |
//! | Running | SlotFree, MustQueue, QueueFull, Granted, Collected | same | nothing |
//! | Running | LaneOpen, LaneTaken, LaneFull, Refused | same | Misuse |
//! | Draining | Over | Done | FreeLane, FreeSlot |
//! | Draining | SlotFree, MustQueue, QueueFull, Granted, Collected, Cancel | same | nothing |
//! | Draining | LaneOpen, LaneTaken, LaneFull, Refused | same | Misuse |
//! | Done | SlotFree, MustQueue, QueueFull, Granted, Collected, Cancel | same | nothing |
//! | Done | LaneOpen, LaneTaken, LaneFull, Refused, Over | same | Misuse |
//!
//! <!-- end of table -->

listed! {
    /// Where a ticket is.
    pub enum State {
        /// Not decided yet: no ticket exists.
        New,
        /// Waits in its channel's queue; holds nothing.
        Queued,
        /// A slot was granted, the caller has yet to collect it. Holds a slot.
        GateDue,
        /// The gate is open: the caller runs its checks. Holds a slot.
        AtGate,
        /// Past the gate, waits for its lane and a slot; holds nothing.
        InLane,
        /// Lane and slot were granted, the caller has yet to collect them. Holds both.
        StartDue,
        /// The handler runs. Holds a slot, and its lane if it named one.
        Running,
        /// Cancelled while running; the handler is not over yet. Holds what it held.
        Draining,
        /// Over. Nothing changes any more.
        Done,
    }
}

listed! {
    /// What can happen to a ticket.
    pub enum Input {
        /// It enters and a slot is free.
        SlotFree,
        /// It enters, no slot is free (or its channel is held), and it may wait.
        MustQueue,
        /// It enters, no slot is free, and the queue has no room.
        QueueFull,
        /// What it waits for is given to it: a slot in the queue, lane and slot in a lane.
        Granted,
        /// The caller takes the grant.
        Collected,
        /// It passed the gate and names no lane, or one that is free.
        LaneOpen,
        /// It passed the gate, its lane is taken, and it may wait.
        LaneTaken,
        /// It passed the gate, its lane is taken, and the queue has no room.
        LaneFull,
        /// The gate refused it.
        Refused,
        /// Its request was cancelled, or its channel has gone.
        Cancel,
        /// The handler and its cleanup are really over.
        Over,
    }
}

listed! {
    /// What the container does, in the order listed by the step.
    pub enum Effect {
        /// Append it to its channel's queue.
        JoinQueue,
        /// Unlink it from its channel's queue.
        LeaveQueue,
        /// Append it to its lane's waiters.
        JoinLane,
        /// Unlink it from its lane's waiters.
        LeaveLane,
        /// Append it to the grants to be collected.
        Offer,
        /// Unlink it from the grants to be collected.
        Unoffer,
        /// One slot more is in use.
        TakeSlot,
        /// One slot fewer is in use.
        FreeSlot,
        /// Its lane, if it named one, is taken by it.
        TakeLane,
        /// Its lane, if it named one, is free.
        FreeLane,
        /// Tell the caller: run the gate.
        OpenGate,
        /// Tell the caller: start the handler.
        Start,
        /// Tell the caller: stop the handler.
        Stop,
        /// Tell the caller: refused as busy.
        Busy,
        /// Tell the caller: it ended without having started.
        NeverStarted,
        /// Tell the caller: this command does not fit; nothing changed.
        Misuse,
    }
}

/// The result of one input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Step {
    /// The state after it.
    pub next: State,
    /// What is to be done, in order.
    pub effects: &'static [Effect],
}

impl State {
    /// Whether a ticket in this state counts against the slots.
    pub const fn holds_slot(self) -> bool {
        matches!(self, Self::GateDue | Self::AtGate | Self::StartDue | Self::Running | Self::Draining)
    }

    /// Whether a ticket in this state keeps others out of its lane.
    pub const fn holds_lane(self) -> bool {
        matches!(self, Self::StartDue | Self::Running | Self::Draining)
    }

    /// Whether a ticket in this state counts against the queue limit.
    pub const fn waits(self) -> bool {
        matches!(self, Self::Queued | Self::InLane)
    }

    /// Whether the handler of a ticket in this state was started and is not over.
    pub const fn runs(self) -> bool {
        matches!(self, Self::Running | Self::Draining)
    }
}

/// Moves a ticket. The whole rule is in the [table](self).
pub const fn step(state: State, input: Input) -> Step {
    use Effect as E;
    use Input as I;
    use State as S;
    match (state, input) {
        (S::New, I::SlotFree) => to(S::AtGate, &[E::TakeSlot, E::OpenGate]),
        (S::New, I::MustQueue) => to(S::Queued, &[E::JoinQueue]),
        (S::New, I::QueueFull) => to(S::Done, &[E::Busy]),
        (S::New, I::LaneOpen | I::LaneTaken | I::LaneFull | I::Refused | I::Over) => misuse(S::New),
        (S::New, I::Granted | I::Collected | I::Cancel) => nothing(S::New),

        (S::Queued, I::Granted) => to(S::GateDue, &[E::LeaveQueue, E::TakeSlot, E::Offer]),
        (S::Queued, I::Cancel) => to(S::Done, &[E::LeaveQueue, E::NeverStarted]),
        (S::Queued, I::LaneOpen | I::LaneTaken | I::LaneFull | I::Refused | I::Over) => misuse(S::Queued),
        (S::Queued, I::SlotFree | I::MustQueue | I::QueueFull | I::Collected) => nothing(S::Queued),

        (S::GateDue, I::Collected) => to(S::AtGate, &[E::Unoffer, E::OpenGate]),
        (S::GateDue, I::Cancel) => to(S::Done, &[E::Unoffer, E::FreeSlot, E::NeverStarted]),
        (S::GateDue, I::LaneOpen | I::LaneTaken | I::LaneFull | I::Refused | I::Over) => misuse(S::GateDue),
        (S::GateDue, I::SlotFree | I::MustQueue | I::QueueFull | I::Granted) => nothing(S::GateDue),

        (S::AtGate, I::LaneOpen) => to(S::Running, &[E::TakeLane, E::Start]),
        (S::AtGate, I::LaneTaken) => to(S::InLane, &[E::FreeSlot, E::JoinLane]),
        (S::AtGate, I::LaneFull) => to(S::Done, &[E::FreeSlot, E::Busy]),
        (S::AtGate, I::Refused | I::Cancel) => to(S::Done, &[E::FreeSlot, E::NeverStarted]),
        (S::AtGate, I::Over) => misuse(S::AtGate),
        (S::AtGate, I::SlotFree | I::MustQueue | I::QueueFull | I::Granted | I::Collected) => {
            nothing(S::AtGate)
        }

        (S::InLane, I::Granted) => to(S::StartDue, &[E::LeaveLane, E::TakeSlot, E::TakeLane, E::Offer]),
        (S::InLane, I::Cancel) => to(S::Done, &[E::LeaveLane, E::NeverStarted]),
        (S::InLane, I::LaneOpen | I::LaneTaken | I::LaneFull | I::Refused | I::Over) => misuse(S::InLane),
        (S::InLane, I::SlotFree | I::MustQueue | I::QueueFull | I::Collected) => nothing(S::InLane),

        (S::StartDue, I::Collected) => to(S::Running, &[E::Unoffer, E::Start]),
        (S::StartDue, I::Cancel) => to(S::Done, &[E::Unoffer, E::FreeLane, E::FreeSlot, E::NeverStarted]),
        (S::StartDue, I::LaneOpen | I::LaneTaken | I::LaneFull | I::Refused | I::Over) => misuse(S::StartDue),
        (S::StartDue, I::SlotFree | I::MustQueue | I::QueueFull | I::Granted) => nothing(S::StartDue),

        (S::Running, I::Cancel) => to(S::Draining, &[E::Stop]),
        (S::Running | S::Draining, I::Over) => to(S::Done, &[E::FreeLane, E::FreeSlot]),
        (S::Running, I::LaneOpen | I::LaneTaken | I::LaneFull | I::Refused) => misuse(S::Running),
        (S::Running, I::SlotFree | I::MustQueue | I::QueueFull | I::Granted | I::Collected) => {
            nothing(S::Running)
        }

        (S::Draining, I::LaneOpen | I::LaneTaken | I::LaneFull | I::Refused) => misuse(S::Draining),
        (S::Draining, I::SlotFree | I::MustQueue | I::QueueFull | I::Granted | I::Collected | I::Cancel) => {
            nothing(S::Draining)
        }

        (S::Done, I::LaneOpen | I::LaneTaken | I::LaneFull | I::Refused | I::Over) => misuse(S::Done),
        (S::Done, I::SlotFree | I::MustQueue | I::QueueFull | I::Granted | I::Collected | I::Cancel) => {
            nothing(S::Done)
        }
    }
}

const fn to(next: State, effects: &'static [Effect]) -> Step {
    Step { next, effects }
}

const fn misuse(same: State) -> Step {
    to(same, &[Effect::Misuse])
}

const fn nothing(same: State) -> Step {
    to(same, &[])
}

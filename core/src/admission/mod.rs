//! Who may run, who waits, and who goes next. Knows no protocol, no clock and no handler: a ticket stands for
//! one entry of a request into its handler, and the caller says what becomes of it.
//!
//! [`ticket`] is the table of one ticket; [`Admission`] is the container around it.

/// An enum with the list of its variants.
macro_rules! listed {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Every variant.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];
        }
    };
}

mod answers;
mod books;
mod channels;
mod lanes;
mod limits;
mod list;
#[cfg(test)]
mod tests;
pub mod ticket;

use alloc::collections::BTreeMap;

pub use answers::{Busy, Cancelled, Entered, Grant, Passed, TicketId, TicketMisuse};
pub use channels::ChannelKey;
use channels::Channels;
pub use lanes::LaneKey;
use lanes::Lanes;
pub use limits::{AdmissionLimits, DEFAULT_AGAIN, DEFAULT_QUEUE, DEFAULT_SLOTS};
use list::{Linked, Links, List};
pub use ticket::State;
use ticket::{Effect, Input, Step, step};

use crate::config::ConfigError;
use crate::slab::{Key, Slab};

/// Slots, the queue for them, and lanes.
///
/// * Facts: [`state`](Self::state), [`running`](Self::running), [`slots_in_use`](Self::slots_in_use),
///   [`waiting`](Self::waiting), [`grants_due`](Self::grants_due), [`is_held`](Self::is_held), [`is_idle`](Self::is_idle) and so on
///   change nothing.
/// * Commands: [`enter`](Self::enter), [`enter_again`](Self::enter_again), [`pass`](Self::pass), [`refuse`](Self::refuse),
///   [`cancel`](Self::cancel), [`finish`](Self::finish), [`hold`](Self::hold), [`release`](Self::release).
/// * Out: [`poll_grant`](Self::poll_grant). Any command but `hold` may make grants due; poll until `None` after it.
///
/// # Order
///
/// A free slot goes to the ticket that came first, by entry, among those who can use it: the waiters for a slot, and the first
/// waiter of each free lane. Within a lane the order is that of arrival at the lane. Tickets on a held channel
/// are passed over and keep their places. Nobody overtakes: a newcomer gets a slot only if nobody can use it.
///
/// What is granted is decided by the commands alone. A grant that is due and not collected already holds its slot and lane, so how
/// often one polls changes nothing about anyone else.
///
/// # What is bounded
///
/// At most `slots` tickets are at the gate, running or draining, counting grants that are due. A ticket asks the queue for room once,
/// where it first has to wait: on entry, or at its lane if it came straight through. Who has waited for a slot is not refused at the
/// lane, so there the limit may be overshot, by at most `slots`: [`waiting`](Self::waiting) is at most `queue + slots`. Tickets of
/// [`enter_again`](Self::enter_again) count as waiting but do not ask for its room; at most
/// `again` of them come on top, and at most `slots` more in lanes.
///
/// # Cost
///
/// `enter`, `pass`, `refuse`, `cancel`, `finish` and `poll_grant` are O(log n) in the number of waiters, whatever waits where; `hold` is
/// O(k log n) in the waiters of that channel inside lanes, `release` likewise, and for each ticket it grants.
///
/// # Example
///
/// ```
/// use sansio_mcp::admission::{Admission, AdmissionLimits, Cancelled, ChannelKey, Grant, LaneKey, Passed};
///
/// let mut admission = Admission::new(AdmissionLimits::new(1, 8))?;
/// let channel = ChannelKey(0);
///
/// let first = admission.enter(channel)?;
/// assert!(first.at_gate);
/// let second = admission.enter(channel)?;
/// assert!(!second.at_gate);
///
/// assert_eq!(admission.pass(first.ticket, Some(LaneKey::tool("pay")))?, Passed::Start);
/// assert_eq!(admission.cancel(first.ticket), Cancelled::Stop);
/// assert_eq!(admission.poll_grant(), None); // stopping is not over yet
/// admission.finish(first.ticket)?;
///
/// assert_eq!(admission.poll_grant(), Some(Grant::OpenGate(second.ticket)));
/// admission.refuse(second.ticket)?;
/// assert!(admission.is_idle());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Admission {
    limits: AdmissionLimits,
    tickets: Slab<Ticket>,
    channels: Channels,
    lanes: Lanes,
    /// Who can use a free slot: the first of each queue and of each free lane, by arrival. Empty while a slot is free.
    candidates: BTreeMap<u64, Key>,
    /// Grants to be collected, in the order in which they were decided.
    due: List,
    slots_in_use: usize,
    waiting: usize,
    running: usize,
    arrivals: u64,
    lane_arrivals: u64,
}

#[derive(Debug)]
struct Ticket {
    state: State,
    /// Has asked the queue for room, or need not.
    has_room: bool,
    channel: ChannelKey,
    lane: Option<Key>,
    arrival: u64,
    lane_arrival: u64,
    links: Links,
}

impl Linked for Ticket {
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

impl Admission {
    /// An empty one.
    ///
    /// # Errors
    ///
    /// The limits cannot work; the error names the field.
    pub fn new(limits: AdmissionLimits) -> Result<Self, ConfigError> {
        Ok(Self {
            limits: limits.check()?,
            tickets: Slab::new(),
            channels: Channels::default(),
            lanes: Lanes::new(),
            candidates: BTreeMap::new(),
            due: List::default(),
            slots_in_use: 0,
            waiting: 0,
            running: 0,
            arrivals: 0,
            lane_arrivals: 0,
        })
    }

    // Commands.

    /// A request comes in. With a slot free it is at the gate at once; otherwise, or if its channel is held, it queues.
    ///
    /// # Errors
    ///
    /// [`Busy`] if it would have to queue and the queue is full.
    pub fn enter(&mut self, channel: ChannelKey) -> Result<Entered, Busy> {
        self.admit(channel, false)
    }

    /// A request comes in again with answers to the questions its handler asked. Like [`enter`](Self::enter), but it is not refused
    /// for a full queue: a person has already spent time on it. It queues behind those who came before.
    ///
    /// Use it only for requests whose continuation state was verified. The same state can be sent many times, so there is
    /// a bound all the same, [`AdmissionLimits::again`] beyond the queue.
    ///
    /// # Errors
    ///
    /// [`Busy`] at that bound.
    pub fn enter_again(&mut self, channel: ChannelKey) -> Result<Entered, Busy> {
        self.admit(channel, true)
    }

    /// The gate let it through, and it runs in this lane, if any. A hold of its channel does not matter: it has its slot.
    ///
    /// # Errors
    ///
    /// [`TicketMisuse`] unless it is [`AtGate`](State::AtGate).
    pub fn pass(&mut self, ticket: TicketId, lane: Option<LaneKey>) -> Result<Passed, TicketMisuse> {
        let at = self.find(ticket)?;
        let ready = self.tickets.get(at).is_some_and(|entry| !self.channels.is_held(entry.channel));
        let open = lane.as_ref().is_none_or(|key| self.lanes.is_open(key, ready));
        let may_wait = self.waiting < self.limits.queue || self.has_room(at);
        let input = match (open, may_wait) {
            (true, _) => Input::LaneOpen,
            (false, true) => Input::LaneTaken,
            (false, false) => Input::LaneFull,
        };
        let mut step = self.command(ticket, at, input)?;
        if step.next != State::Done
            && let Some(key) = lane
        {
            match (self.lanes.intern(key), self.tickets.get_mut(at)) {
                (Some(lane), Some(entry)) => entry.lane = Some(lane),
                // 2^32 lanes: none can be made for it, so it must not run.
                _ => step = self.command(ticket, at, Input::LaneFull)?,
            }
        }
        self.advance(at, step);
        Ok(match step.next {
            State::Running => Passed::Start,
            State::InLane => Passed::Waits,
            _ => Passed::Busy,
        })
    }

    /// The gate refused it. It is over and its slot is free.
    ///
    /// # Errors
    ///
    /// [`TicketMisuse`] unless it is [`AtGate`](State::AtGate).
    pub fn refuse(&mut self, ticket: TicketId) -> Result<(), TicketMisuse> {
        let at = self.find(ticket)?;
        let step = self.command(ticket, at, Input::Refused)?;
        self.advance(at, step);
        Ok(())
    }

    /// Its request was cancelled, or its channel has gone. Fits any time.
    pub fn cancel(&mut self, ticket: TicketId) -> Cancelled {
        let Ok(at) = self.find(ticket) else {
            return Cancelled::Nothing;
        };
        let Ok(step) = self.command(ticket, at, Input::Cancel) else {
            return Cancelled::Nothing;
        };
        self.advance(at, step);
        if step.effects.contains(&Effect::NeverStarted) {
            Cancelled::NeverStarted
        } else if step.effects.contains(&Effect::Stop) {
            Cancelled::Stop
        } else {
            Cancelled::Nothing
        }
    }

    /// Its handler is really over, cleanup included, however it ended. Its slot and lane are free.
    ///
    /// # Errors
    ///
    /// [`TicketMisuse`] unless it is [`Running`](State::Running) or [`Draining`](State::Draining).
    pub fn finish(&mut self, ticket: TicketId) -> Result<(), TicketMisuse> {
        let at = self.find(ticket)?;
        let step = self.command(ticket, at, Input::Over)?;
        self.advance(at, step);
        Ok(())
    }

    /// From now on nothing is granted to tickets of this channel. What was granted before stays granted, also where it was not
    /// collected yet; what is at the gate may pass and start. Holding twice is holding once.
    ///
    /// A held channel is remembered until it is [released](Self::release), so release it also when it has gone.
    pub fn hold(&mut self, channel: ChannelKey) {
        self.set_held(channel, true);
    }

    /// Tickets of this channel are granted again. They kept their places.
    pub fn release(&mut self, channel: ChannelKey) {
        if self.channels.is_held(channel) {
            self.set_held(channel, false);
            self.channels.tidy(channel);
            self.settle();
        }
    }

    // Out.

    /// Takes the next grant, in the order in which they were decided.
    pub fn poll_grant(&mut self) -> Option<Grant> {
        let at = self.due.head()?;
        let ticket = TicketId::of(at);
        let step = step(self.tickets.get(at)?.state, Input::Collected);
        self.advance(at, step);
        Some(if step.next == State::Running { Grant::Start(ticket) } else { Grant::OpenGate(ticket) })
    }

    // Facts.

    /// Where a ticket is; `None` once it is over.
    pub fn state(&self, ticket: TicketId) -> Option<State> {
        let at = self.find(ticket).ok()?;
        self.tickets.get(at).map(|ticket| ticket.state)
    }

    /// The limits it was built with.
    pub const fn limits(&self) -> AdmissionLimits {
        self.limits
    }

    /// Tickets whose handler was started and is not over; cancelled ones included.
    pub const fn running(&self) -> usize {
        self.running
    }

    /// Slots in use: at the gate, running, draining, or granted and not collected yet.
    pub const fn slots_in_use(&self) -> usize {
        self.slots_in_use
    }

    /// Tickets waiting for a slot or in a lane.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Grants to be collected.
    pub const fn grants_due(&self) -> usize {
        self.due.len()
    }

    /// Tickets that are not over.
    pub const fn tickets(&self) -> usize {
        self.tickets.len()
    }

    /// Lanes that are taken or waited for.
    pub const fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Channels remembered: those with waiters, and held ones.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// Whether a channel is held.
    pub fn is_held(&self, channel: ChannelKey) -> bool {
        self.channels.is_held(channel)
    }

    /// Whether every ticket is over.
    pub const fn is_idle(&self) -> bool {
        self.tickets() == 0
    }

    fn find(&self, ticket: TicketId) -> Result<Key, TicketMisuse> {
        let at = ticket.key();
        if self.tickets.get(at).is_some() { Ok(at) } else { Err(TicketMisuse::Unknown(ticket)) }
    }

    fn has_room(&self, at: Key) -> bool {
        self.tickets.get(at).is_some_and(|ticket| ticket.has_room)
    }

    fn command(&self, ticket: TicketId, at: Key, input: Input) -> Result<Step, TicketMisuse> {
        let state = self.tickets.get(at).map(|entry| entry.state).ok_or(TicketMisuse::Unknown(ticket))?;
        let step = step(state, input);
        if step.effects.contains(&Effect::Misuse) {
            Err(TicketMisuse::WrongState(ticket, state))
        } else {
            Ok(step)
        }
    }

    fn admit(&mut self, channel: ChannelKey, again: bool) -> Result<Entered, Busy> {
        let input = if self.slots_in_use < self.limits.slots && !self.channels.is_held(channel) {
            Input::SlotFree
        } else if self.waiting < self.limits.queue.saturating_add(if again { self.limits.again } else { 0 }) {
            Input::MustQueue
        } else {
            Input::QueueFull
        };
        let step = step(State::New, input);
        if step.next == State::Done {
            return Err(Busy);
        }
        let ticket = Ticket {
            state: State::New,
            has_room: again || step.next == State::Queued,
            channel,
            lane: None,
            arrival: self.arrivals,
            lane_arrival: 0,
            links: Links::default(),
        };
        let at = self.tickets.insert(ticket).ok_or(Busy)?;
        self.arrivals += 1;
        self.advance(at, step);
        Ok(Entered { ticket: TicketId::of(at), at_gate: step.next == State::AtGate })
    }
}

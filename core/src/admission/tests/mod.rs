//! Behaviours of the container, one file each, and the checks of the table.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use alloc::vec::Vec;

use super::*;

mod drain;
mod hold;
mod lane;
mod queue_cancel;
mod queue_full;
mod reentry;
mod table;

const CH: ChannelKey = ChannelKey(0);

fn admission(slots: usize, queue: usize) -> Admission {
    Admission::new(AdmissionLimits::new(slots, queue)).unwrap()
}

#[allow(clippy::unnecessary_wraps, reason = "what `pass` takes")]
fn lane(name: &str) -> Option<LaneKey> {
    Some(LaneKey::tool(name))
}

impl Admission {
    /// Enters, and is at the gate at once.
    fn at_gate(&mut self, channel: ChannelKey) -> TicketId {
        let entered = self.enter(channel).unwrap();
        assert!(entered.at_gate);
        entered.ticket
    }

    /// Enters, and has to queue.
    fn queued(&mut self, channel: ChannelKey) -> TicketId {
        let entered = self.enter(channel).unwrap();
        assert!(!entered.at_gate);
        entered.ticket
    }

    /// Enters and starts at once.
    fn started(&mut self, channel: ChannelKey, lane: Option<LaneKey>) -> TicketId {
        let ticket = self.at_gate(channel);
        assert_eq!(self.pass(ticket, lane), Ok(Passed::Start));
        ticket
    }

    /// Enters, passes the gate at once and has to wait in its lane.
    fn in_lane(&mut self, channel: ChannelKey, lane: Option<LaneKey>) -> TicketId {
        let ticket = self.at_gate(channel);
        assert_eq!(self.pass(ticket, lane), Ok(Passed::Waits));
        ticket
    }

    fn grants(&mut self) -> Vec<Grant> {
        core::iter::from_fn(|| self.poll_grant()).collect()
    }

    /// Every fact that a command which changes nothing must leave alone.
    fn facts(&self) -> [usize; 7] {
        [
            self.running(),
            self.slots_in_use(),
            self.waiting(),
            self.grants_due(),
            self.tickets(),
            self.lanes(),
            self.channels(),
        ]
    }

    /// Entries looked at so far: what is counted instead of time.
    fn visits(&self) -> u64 {
        self.tickets.visits() + self.lanes.visits()
    }

    /// Nothing is left of any ticket.
    fn assert_empty(&self) {
        assert_eq!(self.facts(), [0; 7]);
        assert!(self.is_idle() && self.candidates.is_empty());
    }
}

/// A fixed shuffle.
fn shuffle<T>(items: &mut [T]) {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for i in (1..items.len()).rev() {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        items.swap(i, usize::try_from(seed % (i as u64 + 1)).unwrap());
    }
}

#[test]
fn limits_without_slots_are_refused_by_name_and_a_queue_of_zero_is_fine() {
    let refused = Admission::new(AdmissionLimits::new(0, 5)).unwrap_err();
    assert_eq!((refused.field, &*refused.why), ("slots", "is zero: nothing could ever run"));

    let mut adm = admission(1, 0);
    let only = adm.at_gate(CH);
    assert_eq!(adm.enter(CH), Err(Busy));
    adm.refuse(only).unwrap();
    adm.assert_empty();
}

#[test]
fn a_ticket_id_is_never_reused() {
    let mut adm = admission(1, 0);
    let first = adm.at_gate(CH);
    adm.refuse(first).unwrap();
    let second = adm.at_gate(CH);
    assert_ne!(first, second);
    assert_eq!(adm.state(first), None);
    assert_eq!(adm.pass(first, None), Err(TicketMisuse::Unknown(first)));
    assert_eq!(adm.cancel(first), Cancelled::Nothing);
    assert_eq!(adm.state(second), Some(State::AtGate));
}

#[test]
fn a_command_at_the_wrong_time_is_misuse_and_changes_nothing() {
    let mut adm = admission(1, 4);
    let running = adm.started(CH, lane("a"));
    let queued = adm.queued(CH);
    let before = adm.facts();
    for ticket in [running, queued] {
        let state = adm.state(ticket).unwrap();
        let misuse = TicketMisuse::WrongState(ticket, state);
        assert_eq!(adm.pass(ticket, lane("b")), Err(misuse));
        assert_eq!(adm.refuse(ticket), Err(misuse));
        assert_eq!(adm.state(ticket), Some(state));
    }
    assert_eq!(adm.finish(queued), Err(TicketMisuse::WrongState(queued, State::Queued)));
    assert_eq!(adm.facts(), before);

    // A grant that was not collected is not there yet for the application.
    adm.finish(running).unwrap();
    assert_eq!(adm.pass(queued, None), Err(TicketMisuse::WrongState(queued, State::GateDue)));
    assert_eq!(adm.grants(), [Grant::OpenGate(queued)]);
}

#[test]
fn a_waiting_ticket_costs_less_than_two_hundred_bytes() {
    // The slab's entry, and its place among the candidates or its lane's waiters.
    assert!(size_of::<Ticket>() + 16 + 2 * size_of::<(u64, u32)>() < 200);
}

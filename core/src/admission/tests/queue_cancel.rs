//! C1: a cancelled request leaves the queue at once, in few steps even with 100,000 waiting, and never starts.

use super::*;

const MANY: u32 = 100_000;

/// Entries one command may look at, whatever waits.
const FEW: u64 = 24;

impl Admission {
    /// The entries a command looks at must be few; the ordered maps beside them are O(log n) by contract.
    fn cheap<T>(&mut self, command: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.visits();
        let result = command(self);
        let steps = self.visits() - before;
        assert!(steps <= FEW, "{steps} entries looked at with {} waiting", self.waiting());
        result
    }

    fn cancel_all(&mut self, tickets: &[TicketId]) {
        for (gone, ticket) in tickets.iter().enumerate() {
            assert_eq!(self.cheap(|adm| adm.cancel(*ticket)), Cancelled::NeverStarted);
            assert_eq!(self.state(*ticket), None);
            assert_eq!(self.waiting(), tickets.len() - gone - 1);
        }
        assert_eq!(self.grants(), []);
    }
}

fn orders(tickets: &[TicketId]) -> [Vec<TicketId>; 3] {
    let forwards = tickets.to_vec();
    let backwards = tickets.iter().rev().copied().collect();
    let mut shuffled = forwards.clone();
    shuffle(&mut shuffled);
    [forwards, backwards, shuffled]
}

/// Fills with 100,000 waiters, cancels them in three orders, and sees nothing but the first ticket start.
fn cancels(channel_of: impl Fn(u32) -> ChannelKey, in_lane: bool) {
    for order in 0..3 {
        let mut adm = admission(2, MANY as usize);
        let running = adm.started(CH, lane("hot"));
        let other = (!in_lane).then(|| adm.started(CH, None));
        let tickets: Vec<TicketId> = (0..MANY)
            .map(|i| {
                adm.cheap(|adm| {
                    if in_lane { adm.in_lane(channel_of(i), lane("hot")) } else { adm.queued(channel_of(i)) }
                })
            })
            .collect();
        assert_eq!(adm.waiting(), MANY as usize);
        adm.cancel_all(&orders(&tickets)[order]);
        adm.finish(running).unwrap();
        if let Some(other) = other {
            adm.finish(other).unwrap();
        }
        assert_eq!(adm.grants(), []);
        adm.assert_empty();
    }
}

#[test]
fn a_hundred_thousand_on_one_channel_leave_in_few_steps_each() {
    cancels(|_| CH, false);
}

#[test]
fn a_hundred_thousand_on_as_many_channels_leave_in_few_steps_each() {
    cancels(|i| ChannelKey(u64::from(i)), false);
}

#[test]
fn a_hundred_thousand_in_one_lane_leave_in_few_steps_each() {
    cancels(|i| ChannelKey(u64::from(i % 3)), true);
}

#[test]
fn a_hundred_thousand_are_served_in_order_in_few_steps_each() {
    let mut adm = admission(1, MANY as usize);
    let mut running = adm.started(CH, None);
    let tickets: Vec<TicketId> = (0..MANY).map(|i| adm.queued(ChannelKey(u64::from(i % 7)))).collect();
    for ticket in tickets {
        adm.cheap(|adm| adm.finish(running)).unwrap();
        assert_eq!(adm.cheap(Admission::poll_grant), Some(Grant::OpenGate(ticket)));
        assert_eq!(adm.cheap(|adm| adm.pass(ticket, None)), Ok(Passed::Start));
        running = ticket;
    }
    adm.finish(running).unwrap();
    adm.assert_empty();
}

#[test]
fn a_cancelled_waiter_leaves_and_the_next_gets_the_slot() {
    let mut adm = admission(1, 8);
    let running = adm.started(CH, None);
    let (first, second, third) = (adm.queued(CH), adm.queued(CH), adm.queued(CH));
    assert_eq!(adm.cancel(first), Cancelled::NeverStarted);
    assert_eq!(adm.cancel(first), Cancelled::Nothing);
    adm.finish(running).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(second)]);
    assert_eq!(adm.cancel(second), Cancelled::NeverStarted);
    assert_eq!(adm.grants(), [Grant::OpenGate(third)]);
}

#[test]
fn cancelled_between_grant_and_poll_it_never_comes_to_the_gate() {
    let mut adm = admission(1, 8);
    let running = adm.started(CH, None);
    let (first, second) = (adm.queued(CH), adm.queued(CH));
    adm.finish(running).unwrap();
    assert_eq!(adm.state(first), Some(State::GateDue));
    assert_eq!(adm.cancel(first), Cancelled::NeverStarted);
    assert_eq!(adm.grants(), [Grant::OpenGate(second)]);
}

#[test]
fn cancelled_at_the_gate_it_never_starts_and_its_slot_is_free() {
    let mut adm = admission(1, 8);
    let first = adm.at_gate(CH);
    let second = adm.queued(CH);
    assert_eq!(adm.cancel(first), Cancelled::NeverStarted);
    assert_eq!(adm.pass(first, None), Err(TicketMisuse::Unknown(first)));
    assert_eq!(adm.grants(), [Grant::OpenGate(second)]);
    assert_eq!(adm.running(), 0);
}

//! C3: one at a time per lane, first come first served; a waiter that leaves never lets two run at once, whoever waits
//! behind it; and a hot lane holds nothing away from the rest.

use super::*;

#[test]
fn a_lane_serves_one_at_a_time_in_order_of_arrival_at_it() {
    let mut adm = admission(4, 8);
    // They enter in one order and come to the lane in another.
    let entered: Vec<TicketId> = (0..4).map(|_| adm.at_gate(CH)).collect();
    let order = [entered[2], entered[0], entered[3], entered[1]];
    assert_eq!(adm.pass(order[0], lane("a")), Ok(Passed::Start));
    for ticket in &order[1..] {
        assert_eq!(adm.pass(*ticket, lane("a")), Ok(Passed::Waits));
    }
    assert_eq!((adm.running(), adm.slots_in_use(), adm.waiting()), (1, 1, 3));
    for pair in order.windows(2) {
        assert_eq!(adm.grants(), []);
        adm.finish(pair[0]).unwrap();
        assert_eq!(adm.grants(), [Grant::Start(pair[1])]);
        assert_eq!(adm.running(), 1);
    }
    adm.finish(order[3]).unwrap();
    adm.assert_empty();
}

#[test]
fn a_cancelled_waiter_never_lets_two_run_whoever_waits_behind_it() {
    for cancelled in 0..3 {
        let mut adm = admission(4, 8);
        let owner = adm.started(CH, lane("a"));
        let waiters: Vec<TicketId> = (0..3).map(|i| adm.in_lane(ChannelKey(i), lane("a"))).collect();
        assert_eq!(adm.cancel(waiters[cancelled]), Cancelled::NeverStarted);
        assert_eq!(adm.grants(), [], "the owner is still running");
        let newcomer = adm.in_lane(CH, lane("a"));
        assert_eq!((adm.running(), adm.grants_due()), (1, 0));

        let mut running = owner;
        for next in waiters.into_iter().filter(|ticket| adm.state(*ticket).is_some()).collect::<Vec<_>>() {
            adm.finish(running).unwrap();
            assert_eq!(adm.grants(), [Grant::Start(next)]);
            running = next;
        }
        adm.finish(running).unwrap();
        assert_eq!(adm.grants(), [Grant::Start(newcomer)]);
    }
}

#[test]
fn cancelled_between_grant_and_poll_the_lane_goes_to_the_next() {
    let mut adm = admission(2, 8);
    let owner = adm.started(CH, lane("a"));
    let (first, second) = (adm.in_lane(CH, lane("a")), adm.in_lane(CH, lane("a")));
    adm.finish(owner).unwrap();
    assert_eq!(adm.state(first), Some(State::StartDue));
    let newcomer = adm.in_lane(CH, lane("a"));
    assert_eq!(adm.cancel(first), Cancelled::NeverStarted);
    assert_eq!(adm.grants(), [Grant::Start(second)]);
    adm.finish(second).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(newcomer)]);
}

#[test]
fn a_newcomer_queues_behind_waiters_of_a_free_lane() {
    let mut adm = admission(2, 8);
    let owner = adm.started(CH, lane("a"));
    let waiter = adm.in_lane(CH, lane("a"));
    let newcomer = adm.at_gate(CH);
    let stranger = adm.queued(CH);
    let waits_for_slot = adm.queued(CH);
    adm.finish(owner).unwrap();
    // The lane went to its waiter, first by entry; nobody collected it yet.
    assert_eq!(adm.pass(newcomer, lane("a")), Ok(Passed::Waits));
    assert_eq!(adm.grants(), [Grant::Start(waiter), Grant::OpenGate(stranger)]);
    assert_eq!(adm.state(waits_for_slot), Some(State::Queued));

    // Lane free, but the slot went to one who entered before its waiter: the newcomer, slot in hand, still goes behind.
    let (mut adm, held) = (admission(2, 8), ChannelKey(1));
    adm.hold(held);
    let oldest = adm.queued(held);
    let owner = adm.started(CH, lane("a"));
    let waiter = adm.in_lane(CH, lane("a"));
    let newcomer = adm.at_gate(CH);
    adm.release(held);
    adm.finish(owner).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(oldest)]);
    assert_eq!(adm.pass(newcomer, lane("a")), Ok(Passed::Waits));
    assert_eq!(adm.grants(), [Grant::Start(waiter)]);
}

#[test]
fn a_hot_lane_does_not_starve_the_rest() {
    let mut adm = admission(2, 1000);
    let owner = adm.started(CH, lane("hot"));
    for _ in 0..500 {
        adm.in_lane(CH, lane("hot"));
    }
    assert_eq!(adm.slots_in_use(), 1);
    for _ in 0..10 {
        let other = adm.started(CH, lane("cold"));
        adm.finish(other).unwrap();
    }
    assert_eq!(adm.state(owner), Some(State::Running));
    assert_eq!(adm.lanes(), 1);
}

#[test]
fn a_free_slot_goes_to_the_first_by_entry_of_queue_and_lanes() {
    let mut adm = admission(2, 8);
    let a = adm.started(CH, lane("a"));
    let waits_a = adm.in_lane(ChannelKey(1), lane("a"));
    let plain = adm.started(CH, None);
    let queued = adm.queued(ChannelKey(2));
    // Both can use the slot and the lane that come free with `a`; the one in the lane entered before.
    adm.finish(a).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(waits_a)]);
    adm.finish(plain).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(queued)]);

    // And the other way round.
    let mut adm = admission(2, 8);
    let a = adm.started(CH, lane("a"));
    let late = adm.at_gate(CH);
    let queued = adm.queued(CH);
    let later = adm.queued(CH);
    assert_eq!(adm.pass(late, lane("a")), Ok(Passed::Waits));
    assert_eq!(adm.grants(), [Grant::OpenGate(queued)]);
    assert_eq!(adm.pass(queued, lane("a")), Ok(Passed::Waits));
    assert_eq!(adm.grants(), [Grant::OpenGate(later)]);
    adm.finish(a).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(late)]);
}

#[test]
fn keys_are_told_apart_and_vanish_when_unused() {
    assert_ne!(LaneKey::computed("ab", "c"), LaneKey::computed("a", "bc"));
    assert_ne!(LaneKey::computed("abc", ""), LaneKey::tool("abc"));
    let mut adm = admission(4, 8);
    let tickets = [
        adm.started(CH, Some(LaneKey::computed("pay", "1"))),
        adm.started(CH, Some(LaneKey::computed("pay", "2"))),
        adm.started(CH, lane("pay")),
    ];
    let waiter = adm.in_lane(CH, lane("pay"));
    assert_eq!(adm.lanes(), 3);
    for ticket in tickets {
        adm.finish(ticket).unwrap();
    }
    assert_eq!((adm.lanes(), adm.cancel(waiter)), (1, Cancelled::NeverStarted));
    adm.assert_empty();
}

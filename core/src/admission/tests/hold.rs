//! A channel over its output limit gets no grants until released, and disturbs no other.

use super::*;

const STUCK: ChannelKey = ChannelKey(7);

#[test]
fn a_held_channel_is_passed_over_and_keeps_its_place() {
    let mut adm = admission(1, 8);
    let running = adm.started(CH, None);
    let (stuck, other) = (adm.queued(STUCK), adm.queued(CH));
    let later = adm.queued(CH);
    adm.hold(STUCK);
    adm.hold(STUCK);
    assert!(adm.is_held(STUCK));
    adm.finish(running).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(other)]);
    adm.release(STUCK);
    assert_eq!(adm.grants(), [], "no slot is free");
    adm.refuse(other).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(stuck)], "it came before {later:?}");
}

#[test]
fn a_newcomer_on_a_held_channel_queues_even_if_a_slot_is_free() {
    let mut adm = admission(2, 1);
    adm.hold(STUCK);
    let stuck = adm.queued(STUCK);
    assert_eq!(adm.enter(STUCK), Err(Busy));
    assert_eq!(adm.grants(), []);
    let other = adm.at_gate(CH);
    adm.release(STUCK);
    assert_eq!(adm.grants(), [Grant::OpenGate(stuck)]);
    adm.refuse(stuck).unwrap();
    adm.refuse(other).unwrap();
    adm.assert_empty();
}

#[test]
fn a_stuck_first_in_a_lane_is_passed_over_and_keeps_its_place() {
    let mut adm = admission(4, 8);
    let owner = adm.started(CH, lane("a"));
    let stuck = adm.in_lane(STUCK, lane("a"));
    let (second, third) = (adm.in_lane(CH, lane("a")), adm.in_lane(CH, lane("a")));
    adm.hold(STUCK);
    adm.finish(owner).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(second)]);
    adm.release(STUCK);
    assert_eq!(adm.grants(), []);
    adm.finish(second).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(stuck)]);
    adm.finish(stuck).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(third)]);
}

#[test]
fn a_lane_in_which_only_stuck_ones_wait_is_open_to_others_but_not_to_their_channel() {
    let mut adm = admission(4, 1);
    let owner = adm.started(CH, lane("a"));
    let stuck = adm.in_lane(STUCK, lane("a"));
    let (same_channel, stranger) = (adm.at_gate(STUCK), adm.at_gate(CH));
    adm.hold(STUCK);
    adm.finish(owner).unwrap();
    // The queue is full: it is refused, where it would overtake its own channel's first.
    assert_eq!(adm.pass(same_channel, lane("a")), Ok(Passed::Busy));
    assert_eq!(adm.pass(stranger, lane("a")), Ok(Passed::Start));
    adm.release(STUCK);
    adm.finish(stranger).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(stuck)]);
}

#[test]
fn what_was_granted_before_the_hold_stays_granted_and_what_is_at_the_gate_may_start() {
    let mut adm = admission(2, 8);
    let running = adm.started(STUCK, None);
    let at_gate = adm.at_gate(STUCK);
    let due = adm.queued(STUCK);
    adm.finish(running).unwrap();
    adm.hold(STUCK);
    assert_eq!(adm.pass(at_gate, lane("a")), Ok(Passed::Start));
    assert_eq!(adm.grants(), [Grant::OpenGate(due)]);
}

#[test]
fn a_channel_is_forgotten_unless_held_and_cancelling_its_tickets_leaves_nothing() {
    let mut adm = admission(1, 8);
    let running = adm.started(CH, lane("a"));
    let waiters = [adm.queued(STUCK), adm.queued(STUCK)];
    assert_eq!(adm.channels(), 1);
    adm.hold(STUCK);
    for ticket in waiters {
        assert_eq!(adm.cancel(ticket), Cancelled::NeverStarted);
    }
    assert_eq!(adm.channels(), 1);
    adm.release(STUCK);
    adm.release(STUCK);
    adm.finish(running).unwrap();
    adm.assert_empty();
}

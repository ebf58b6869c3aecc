//! E2: with the queue full a newcomer is refused at once, and nothing else is disturbed. And what "full" means.

use super::*;

#[test]
fn a_full_queue_refuses_and_changes_nothing() {
    let mut adm = admission(1, 2);
    let running = adm.started(CH, None);
    let (first, second) = (adm.queued(CH), adm.queued(ChannelKey(1)));
    let before = adm.facts();
    for channel in 0..4 {
        assert_eq!(adm.enter(ChannelKey(channel)), Err(Busy));
        assert_eq!(adm.facts(), before);
    }
    adm.finish(running).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(first)]);
    adm.refuse(first).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(second)]);
}

#[test]
fn the_room_of_one_who_left_is_free_at_once() {
    let mut adm = admission(1, 1);
    adm.started(CH, None);
    let waiter = adm.queued(CH);
    assert_eq!(adm.enter(CH), Err(Busy));
    adm.cancel(waiter);
    adm.queued(CH);
    assert_eq!(adm.enter(CH), Err(Busy));
}

#[test]
fn a_newcomer_never_overtakes_whether_or_not_one_polled() {
    let mut adm = admission(1, 4);
    let running = adm.started(CH, None);
    let waiter = adm.queued(CH);
    adm.finish(running).unwrap();
    let newcomer = adm.queued(ChannelKey(1));
    assert_eq!(adm.grants(), [Grant::OpenGate(waiter)]);
    adm.refuse(waiter).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(newcomer)]);
}

#[test]
fn lane_waiters_count_and_a_newcomer_to_a_full_lane_is_refused() {
    let mut adm = admission(2, 2);
    let owner = adm.started(CH, lane("hot"));
    let (first, second) = (adm.in_lane(CH, lane("hot")), adm.in_lane(CH, lane("hot")));
    assert_eq!(adm.waiting(), 2);
    let third = adm.at_gate(CH);
    let before = adm.facts();
    assert_eq!(adm.pass(third, lane("hot")), Ok(Passed::Busy));
    assert_eq!(adm.state(third), None);
    assert_eq!((adm.slots_in_use(), adm.tickets()), (before[1] - 1, before[4] - 1));

    // Not a stranger to that lane, though: a slot is free for it, as if nobody waited.
    let stranger = adm.started(CH, lane("cold"));
    adm.finish(owner).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(first)]);
    adm.finish(stranger).unwrap();
    adm.finish(first).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(second)]);
}

#[test]
fn who_waited_for_a_slot_is_not_refused_at_the_lane_and_the_overshoot_is_bounded() {
    let (slots, queue) = (3, 4);
    let mut adm = admission(slots, queue);
    let owner = adm.started(CH, lane("hot"));
    let others = [adm.started(CH, None), adm.started(CH, None)];
    let mut waited: Vec<TicketId> = (0..queue).map(|_| adm.queued(CH)).collect();
    for other in others {
        adm.finish(other).unwrap();
    }
    // Their places in the queue are taken by others before they come to the lane.
    for _ in 0..others.len() {
        waited.push(adm.queued(CH));
    }
    assert_eq!(adm.enter(CH), Err(Busy));
    let mut most = 0;
    while let Some(grant) = adm.poll_grant() {
        let Grant::OpenGate(ticket) = grant else { panic!("{grant:?}") };
        assert_eq!(adm.pass(ticket, lane("hot")), Ok(Passed::Waits));
        most = most.max(adm.waiting());
    }
    // All wait in the lane, and slots are free. Who comes straight through to it now has nowhere to wait.
    for _ in 0..10 {
        let newcomer = adm.at_gate(CH);
        assert_eq!(adm.pass(newcomer, lane("hot")), Ok(Passed::Busy));
    }
    assert!(most > queue && most <= queue + slots, "{most}");
    adm.finish(owner).unwrap();
    for ticket in waited {
        assert_eq!(adm.grants(), [Grant::Start(ticket)]);
        adm.finish(ticket).unwrap();
    }
    adm.assert_empty();
}

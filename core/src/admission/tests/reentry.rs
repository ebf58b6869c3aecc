//! M8: while a person thinks neither slot nor lane is held; each entry takes its lane again; and an answered question is
//! never refused as busy.

use super::*;

#[test]
fn while_a_person_thinks_slot_and_lane_are_free_for_others() {
    let mut adm = admission(1, 1);
    let asks = adm.started(CH, lane("a"));
    adm.finish(asks).unwrap();
    adm.assert_empty();
    let other = adm.started(CH, lane("a"));

    // The answer arrives: it waits for its turn like all, and takes the lane again.
    let again = adm.enter_again(CH).unwrap();
    assert!(!again.at_gate && again.ticket != asks);
    adm.finish(other).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(again.ticket)]);
    assert_eq!(adm.pass(again.ticket, lane("a")), Ok(Passed::Start));
}

#[test]
fn an_answered_question_is_not_refused_by_a_full_queue_nor_at_a_full_lane() {
    let mut adm = admission(2, 1);
    let owner = adm.started(CH, lane("a"));
    let other = adm.started(CH, None);
    let queued = adm.queued(CH);
    assert_eq!(adm.enter(CH), Err(Busy));
    let again: Vec<TicketId> = (0..5).map(|_| adm.enter_again(CH).unwrap().ticket).collect();
    assert_eq!(adm.waiting(), 6);
    adm.finish(other).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(queued)]);
    adm.refuse(queued).unwrap();
    for ticket in &again {
        assert_eq!(adm.grants(), [Grant::OpenGate(*ticket)]);
        assert_eq!(adm.pass(*ticket, lane("a")), Ok(Passed::Waits));
    }
    // Straight through to the lane, with a slot free: no refusal either.
    let last = adm.enter_again(CH).unwrap();
    assert!(last.at_gate);
    assert_eq!(adm.pass(last.ticket, lane("a")), Ok(Passed::Waits));
    // They count, so a newcomer to that lane is refused.
    let newcomer = adm.at_gate(CH);
    assert_eq!(adm.pass(newcomer, lane("a")), Ok(Passed::Busy));

    let mut running = owner;
    for next in again.into_iter().chain([last.ticket]) {
        adm.finish(running).unwrap();
        assert_eq!(adm.grants(), [Grant::Start(next)]);
        running = next;
    }
    adm.finish(running).unwrap();
    adm.assert_empty();
}

#[test]
fn it_queues_behind_those_who_came_before() {
    let mut adm = admission(1, 1);
    let running = adm.started(CH, None);
    let queued = adm.queued(ChannelKey(1));
    let again = adm.enter_again(CH).unwrap().ticket;
    adm.finish(running).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(queued)]);
    adm.refuse(queued).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(again)]);
}

#[test]
fn they_have_a_bound_of_their_own() {
    let mut limits = AdmissionLimits::new(1, 1);
    limits.again = 2;
    let mut adm = Admission::new(limits).unwrap();
    let running = adm.enter(CH).unwrap();
    adm.enter(CH).unwrap();
    assert_eq!(adm.enter(CH), Err(Busy));
    let again: Vec<TicketId> = (0..2).map(|_| adm.enter_again(CH).unwrap().ticket).collect();
    assert_eq!((adm.enter_again(CH), adm.enter(CH)), (Err(Busy), Err(Busy)));
    // Room of theirs is theirs alone, and free again when one goes.
    adm.cancel(again[0]);
    assert_eq!(adm.enter(CH), Err(Busy));
    assert!(adm.enter_again(CH).is_ok());
    assert_eq!(adm.state(running.ticket), Some(State::AtGate));
}

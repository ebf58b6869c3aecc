//! C6: slot and lane stay taken until cancelled work is really over.

use super::*;

#[test]
fn draining_keeps_slot_and_lane_until_it_is_over() {
    let mut adm = admission(1, 8);
    let mutation = adm.started(CH, lane("a"));
    let next = adm.queued(CH);
    assert_eq!(adm.cancel(mutation), Cancelled::Stop);
    assert_eq!(adm.state(mutation), Some(State::Draining));
    assert_eq!((adm.running(), adm.slots_in_use(), adm.grants_due()), (1, 1, 0));

    // However often it is cancelled, and whatever else leaves.
    assert_eq!(adm.cancel(mutation), Cancelled::Nothing);
    let other = adm.queued(CH);
    assert_eq!(adm.cancel(other), Cancelled::NeverStarted);
    assert_eq!(adm.grants(), []);

    adm.finish(mutation).unwrap();
    assert_eq!(adm.grants(), [Grant::OpenGate(next)]);
    assert_eq!(adm.finish(mutation), Err(TicketMisuse::Unknown(mutation)));
}

#[test]
fn a_draining_mutation_never_overlaps_the_next_in_its_lane() {
    let mut adm = admission(4, 8);
    let mutation = adm.started(CH, lane("a"));
    let waiter = adm.in_lane(CH, lane("a"));
    assert_eq!(adm.cancel(mutation), Cancelled::Stop);
    assert_eq!(adm.grants(), []);
    let newcomer = adm.in_lane(CH, lane("a"));
    adm.finish(mutation).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(waiter)]);
    adm.finish(waiter).unwrap();
    assert_eq!(adm.grants(), [Grant::Start(newcomer)]);
}

#[test]
fn slots_that_drain_admit_nobody_until_over() {
    let mut adm = admission(3, 0);
    let running: Vec<TicketId> = (0..3).map(|_| adm.started(CH, None)).collect();
    for ticket in &running {
        assert_eq!(adm.cancel(*ticket), Cancelled::Stop);
        assert_eq!(adm.enter(CH), Err(Busy));
    }
    adm.finish(running[1]).unwrap();
    adm.at_gate(CH);
    assert_eq!(adm.enter(CH), Err(Busy));
}

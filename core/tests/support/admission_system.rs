//! The real admission under the model's commands.

use std::collections::BTreeSet;

use sansio_mcp::admission::{
    Admission, AdmissionLimits, Busy, Cancelled, ChannelKey, Entered, Grant, LaneKey, Passed, State, TicketId,
};

use crate::admission_model::Model;
use crate::admission_ops::{CHANNELS, Command, LANES, Outcome};
use crate::frame::{self, Engine};

/// The real thing, with the ids it gave out in order, and what one must never see of it.
pub(crate) struct System {
    admission: Admission,
    ids: Vec<TicketId>,
    cancelled: BTreeSet<TicketId>,
    started: BTreeSet<TicketId>,
    /// Grants collected, in order.
    pub(crate) grants: Vec<Outcome>,
}

impl Engine for System {
    type Model = Model;

    fn of(limits: AdmissionLimits) -> Self {
        Self {
            admission: Admission::new(limits).unwrap(),
            ids: Vec::new(),
            cancelled: BTreeSet::new(),
            started: BTreeSet::new(),
            grants: Vec::new(),
        }
    }

    fn run(&mut self, _: u64, command: &Command) -> Outcome {
        let key = |channel: u8| ChannelKey(u64::from(channel));
        match *command {
            Command::Enter { channel, again } => {
                let entered = if again {
                    self.admission.enter_again(key(channel))
                } else {
                    self.admission.enter(key(channel))
                };
                match entered {
                    Err(Busy) => Outcome::Busy,
                    Ok(Entered { ticket, at_gate, .. }) => {
                        assert!(!self.ids.contains(&ticket), "an id was reused");
                        self.ids.push(ticket);
                        if at_gate { Outcome::AtGate } else { Outcome::Queued }
                    }
                }
            }
            Command::Pass { nth, lane } => {
                let lane = lane.map(|lane| LaneKey::computed("tool", &lane.to_string()));
                match self.admission.pass(self.ids[nth], lane) {
                    Err(_) => Outcome::Misuse,
                    Ok(Passed::Busy) => Outcome::Busy,
                    Ok(Passed::Waits) => Outcome::Waits,
                    Ok(Passed::Start) => {
                        self.starts(self.ids[nth]);
                        Outcome::Start
                    }
                }
            }
            Command::Refuse { nth } => {
                self.admission.refuse(self.ids[nth]).map_or(Outcome::Misuse, |()| Outcome::Ok)
            }
            Command::Finish { nth } => {
                self.admission.finish(self.ids[nth]).map_or(Outcome::Misuse, |()| Outcome::Ok)
            }
            Command::Cancel { nth } => {
                self.cancelled.insert(self.ids[nth]);
                match self.admission.cancel(self.ids[nth]) {
                    Cancelled::NeverStarted => {
                        assert!(!self.started.contains(&self.ids[nth]));
                        Outcome::NeverStarted
                    }
                    Cancelled::Stop => Outcome::Stop,
                    Cancelled::Nothing => Outcome::Nothing,
                }
            }
            Command::Hold { channel } => {
                self.admission.hold(key(channel));
                Outcome::Ok
            }
            Command::Release { channel } => {
                self.admission.release(key(channel));
                Outcome::Ok
            }
            Command::Poll => self.poll(),
            Command::Nothing => Outcome::Nothing,
        }
    }

    /// What holds at any moment, said of the system's own states and facts.
    fn check(&self, model: &Model) {
        assert_eq!(self.facts(), model.facts());
        assert_eq!(self.ids.len(), model.seen.len());
        let states: Vec<Option<State>> = (0..self.ids.len()).map(|nth| self.state(nth)).collect();
        for (nth, state) in states.iter().enumerate() {
            assert_eq!(*state, model.state(nth), "ticket {nth}");
        }
        for channel in 0..CHANNELS {
            assert_eq!(self.admission.is_held(ChannelKey(u64::from(channel))), model.held.contains(&channel));
        }

        let count = |fact: &dyn Fn(usize, State) -> bool| {
            states
                .iter()
                .enumerate()
                .filter(|(nth, state)| state.is_some_and(|state| fact(*nth, state)))
                .count()
        };
        let AdmissionLimits { slots, queue, .. } = model.limits;
        // 11: never more than the slots, never two in a lane. 8: the queue limit, with what may come on top.
        assert!(count(&|_, state| state.holds_slot()) <= slots);
        for lane in 0..LANES {
            assert!(count(&|nth, state| model.seen[nth].lane == Some(lane) && state.holds_lane()) <= 1);
        }
        assert!(count(&|nth, state| state.waits() && !model.seen[nth].again) <= queue + slots);
        // 7: no ticket, nothing else.
        assert_eq!(self.admission.is_idle(), states.iter().all(Option::is_none));
        if self.admission.is_idle() {
            assert_eq!(self.facts()[..6], [0; 6]);
        }
    }

    /// When all is over nothing is left (invariant 7).
    fn end(mut self, mut model: Model) {
        for command in model.ending() {
            frame::both(&mut self, &mut model, &command);
        }
        assert_eq!(self.facts(), [0; 7]);
        assert_eq!(self.poll(), Outcome::Nothing);
    }
}

impl System {
    pub(crate) fn poll(&mut self) -> Outcome {
        let nth = |ticket: TicketId| self.ids.iter().position(|id| *id == ticket).unwrap();
        let outcome = match self.admission.poll_grant() {
            None => return Outcome::Nothing,
            Some(Grant::OpenGate(ticket)) => Outcome::OpenGate(nth(ticket)),
            Some(Grant::Start(ticket)) => {
                let outcome = Outcome::StartGrant(nth(ticket));
                self.starts(ticket);
                outcome
            }
        };
        self.grants.push(outcome);
        outcome
    }

    pub(crate) fn state(&self, nth: usize) -> Option<State> {
        self.admission.state(self.ids[nth])
    }

    fn starts(&mut self, ticket: TicketId) {
        assert!(!self.cancelled.contains(&ticket), "a cancelled ticket started");
        assert!(self.started.insert(ticket), "a ticket started twice");
    }

    /// Running, slots in use, waiting, grants due, tickets, lanes, channels.
    pub(crate) fn facts(&self) -> [usize; 7] {
        let adm = &self.admission;
        [
            adm.running(),
            adm.slots_in_use(),
            adm.waiting(),
            adm.grants_due(),
            adm.tickets(),
            adm.lanes(),
            adm.channels(),
        ]
    }
}

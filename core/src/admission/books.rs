//! What the effects of a step do to queues, lanes, slots and candidates.

use super::ticket::{Effect, Input, Step, step};
use super::{Admission, ChannelKey, State};
use crate::slab::Key;

impl Admission {
    /// Applies a step, then gives away what it freed.
    pub(super) fn advance(&mut self, at: Key, step: Step) {
        self.apply(at, step);
        self.settle();
    }

    /// Gives free slots to candidates until either is used up.
    pub(super) fn settle(&mut self) {
        while self.slots_in_use < self.limits.slots
            && let Some((_, at)) = self.candidates.pop_first()
            && let Some(ticket) = self.tickets.get(at)
        {
            self.apply(at, step(ticket.state, Input::Granted));
        }
    }

    fn apply(&mut self, at: Key, step: Step) {
        let Some(ticket) = self.tickets.get_mut(at) else {
            return;
        };
        let before = core::mem::replace(&mut ticket.state, step.next);
        let (channel, lane, arrival) = (ticket.channel, ticket.lane, ticket.lane_arrival);
        for effect in step.effects {
            match effect {
                Effect::JoinQueue => self.channels.entry(channel).queued.push_back(&mut self.tickets, at),
                Effect::LeaveQueue => {
                    if let Some(channel) = self.channels.get_mut(channel) {
                        channel.queued.remove(&mut self.tickets, at);
                    }
                }
                Effect::JoinLane => self.join_lane(at, channel, lane),
                Effect::LeaveLane => {
                    if let Some(channel) = self.channels.get_mut(channel) {
                        channel.in_lanes.remove(&mut self.tickets, at);
                    }
                    if let Some(lane) = lane {
                        self.lanes.leave(lane, arrival);
                    }
                }
                Effect::Offer => self.due.push_back(&mut self.tickets, at),
                Effect::Unoffer => self.due.remove(&mut self.tickets, at),
                Effect::TakeSlot => self.slots_in_use += 1,
                Effect::FreeSlot => self.slots_in_use = self.slots_in_use.saturating_sub(1),
                Effect::TakeLane | Effect::FreeLane => {
                    if let Some(lane) = lane {
                        self.lanes.set_taken(lane, *effect == Effect::TakeLane);
                    }
                }
                // Told to the caller by the method that made the step.
                Effect::OpenGate
                | Effect::Start
                | Effect::Stop
                | Effect::Busy
                | Effect::NeverStarted
                | Effect::Misuse => {}
            }
        }
        count(&mut self.waiting, before.waits(), step.next.waits());
        count(&mut self.running, before.runs(), step.next.runs());
        self.refresh_channel(channel);
        self.channels.tidy(channel);
        if let Some(lane) = lane {
            self.refresh_lane(lane);
            self.lanes.tidy(lane);
        }
        if step.next == State::Done {
            self.tickets.remove(at);
        }
    }

    fn join_lane(&mut self, at: Key, channel: ChannelKey, lane: Option<Key>) {
        let arrival = self.lane_arrivals;
        self.lane_arrivals += 1;
        if let Some(ticket) = self.tickets.get_mut(at) {
            ticket.lane_arrival = arrival;
        }
        let channel = self.channels.entry(channel);
        channel.in_lanes.push_back(&mut self.tickets, at);
        if let Some(lane) = lane {
            self.lanes.join(lane, arrival, at, !channel.held);
        }
    }

    pub(super) fn set_held(&mut self, key: ChannelKey, held: bool) {
        let channel = self.channels.entry(key);
        if core::mem::replace(&mut channel.held, held) == held {
            return;
        }
        let mut next = channel.in_lanes.head();
        while let Some(at) = next
            && let Some(ticket) = self.tickets.get(at)
        {
            next = ticket.links.next;
            if let Some(lane) = ticket.lane {
                self.lanes.set_ready(lane, ticket.lane_arrival, at, !held);
                self.refresh_lane(lane);
            }
        }
        self.refresh_channel(key);
    }

    /// Puts the first of a channel's queue among the candidates, in place of the one before.
    fn refresh_channel(&mut self, key: ChannelKey) {
        let Some(channel) = self.channels.get_mut(key) else {
            return;
        };
        let first = if channel.held { None } else { channel.queued.head() };
        let first = first.and_then(|at| Some((self.tickets.get(at)?.arrival, at)));
        let before = core::mem::replace(&mut channel.candidate, first.map(|(arrival, _)| arrival));
        self.replace_candidate(before, first);
    }

    /// Puts the next of a free lane among the candidates, in place of the one before.
    fn refresh_lane(&mut self, lane: Key) {
        let first = self.lanes.next(lane);
        let first = first.and_then(|at| Some((self.tickets.get(at)?.arrival, at)));
        let before = self.lanes.replace_candidate(lane, first.map(|(arrival, _)| arrival));
        self.replace_candidate(before, first);
    }

    fn replace_candidate(&mut self, before: Option<u64>, now: Option<(u64, Key)>) {
        if before == now.map(|(arrival, _)| arrival) {
            return;
        }
        if let Some(before) = before {
            self.candidates.remove(&before);
        }
        if let Some((arrival, at)) = now {
            self.candidates.insert(arrival, at);
        }
    }
}

/// Moves a counter with a fact about one ticket.
fn count(counter: &mut usize, before: bool, now: bool) {
    match (before, now) {
        (false, true) => *counter += 1,
        (true, false) => *counter = counter.saturating_sub(1),
        (true, true) | (false, false) => {}
    }
}

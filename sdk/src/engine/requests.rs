//! What becomes of requests: admission, dispatch, answers, stops.

use std::sync::Arc;

use sansio_mcp::admission::{Cancelled, Grant, LaneKey, Passed, State, TicketId};
use sansio_mcp::id::ServingId;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::model::{InputRequiredResult, ServerBusy};
use sansio_mcp::server::continuation::Continuation;
use sansio_mcp::server::{Method, Progress, Reported, Request, ServerEvent, Stopped};

use super::channel::{ChannelId, Entry, Port};
use super::hub::{Assigned, Dispatch, Hub, HubState, Left, Opening, SPARE_SIGNALS};
use super::sealing::NotOpened;
use super::watch::{Note, moved};
use crate::server::Reply;

impl Hub {
    /// Opens the state that a request brings along, and lets it in or refuses it. The lock is not held while the state
    /// is opened: the sealer may be the application's, and a request may be long.
    pub(super) fn open_state(&self, opening: Opening) {
        let Opening { channel, serving, request, caller } = opening;
        let state = request.request_state().unwrap_or_default();
        let opened = self.sealing.open(&request, state, caller.as_deref().unwrap_or_default(), self.now());
        let refusal = match opened {
            Ok(continuation) => {
                let mut hub = self.lock();
                return hub.enter_again(channel, serving, request, Box::new(continuation));
            }
            Err(NotOpened::Refused(why)) => {
                moved!(info, "refused", &request, code = why.reason().code());
                let reply = why.reply();
                Reply::error(reply.code, reply.message)
            }
            Err(NotOpened::Panicked) => Reply::panicked(),
        };
        self.lock().respond(channel, serving, &refusal);
    }
}

impl HubState {
    /// A request whose state was opened, unless it was stopped meanwhile.
    fn enter_again(
        &mut self,
        channel: ChannelId,
        serving: ServingId,
        request: Arc<Request>,
        continuation: Box<Continuation>,
    ) {
        if !self.channel(channel).is_some_and(|channel| channel.port.is_running(serving)) {
            return;
        }
        if self.closing {
            self.respond(channel, serving, &Reply::dropped());
            return;
        }
        self.admit(channel, serving, request, Some(continuation));
    }

    // What works do.

    /// The next request whose gate is open, made ready to run.
    pub(crate) fn take_dispatch(&mut self) -> Option<Assigned> {
        loop {
            let Some(Dispatch { channel, serving }) = self.inbox.pop_front() else {
                self.resume();
                return None;
            };
            let Some(entry) = self.entry(channel, serving) else { continue };
            if entry.signal.is_some() {
                continue;
            }
            let request = Arc::clone(&entry.request);
            let (ticket, continuation) = (entry.ticket, entry.continuation.take());
            if ticket.is_none()
                && let Some(at) = self.channel(channel).filter(|channel| channel.held)
            {
                at.park(serving); // without a ticket there is no continuation to lose
                continue;
            }
            let signal = self.spare_signals.pop().unwrap_or_default();
            if let Some(entry) = self.entry(channel, serving) {
                entry.signal = Some(Arc::clone(&signal));
            }
            self.works += 1;
            let answer_only = self.channel(channel).is_some_and(|channel| channel.terms.answer_only);
            return Some(Assigned { channel, serving, ticket, request, signal, continuation, answer_only });
        }
    }

    /// A work is over, and what it leaves serves the next.
    pub(crate) fn reclaim(&mut self, left: Left) {
        self.finish(left.ticket);
        let Some((request, signal)) = left.memory else { return };
        if self.spare_signals.len() < SPARE_SIGNALS {
            self.spare_signals.push(signal);
        }
        if let Some(Port::Shared(server)) = self.channel(left.channel).map(|channel| &mut channel.port) {
            server.reclaim(request);
        }
    }

    /// `None`: the ticket is over.
    pub(crate) fn pass(&mut self, ticket: TicketId, lane: Option<LaneKey>) -> Option<Passed> {
        let passed = self.admission.pass(ticket, lane);
        self.grants();
        passed.ok()
    }

    /// Hands a reply over; false if the request is over and nobody waits for one.
    pub(crate) fn respond(&mut self, channel: ChannelId, serving: ServingId, reply: &Reply) -> bool {
        let Some(at) = self.channel(channel) else { return false };
        let handed = at.port.respond(serving, reply);
        self.handed(channel, serving);
        let Ok(fault) = handed else { return false };
        self.notes.extend(fault.map(Note::NotEncoded));
        true
    }

    /// Hands questions over; false as for [`respond`](Self::respond).
    pub(crate) fn ask(&mut self, channel: ChannelId, serving: ServingId, asks: &InputRequiredResult) -> bool {
        let Some(at) = self.channel(channel) else { return false };
        let handed = at.port.ask(serving, asks);
        self.handed(channel, serving);
        handed.is_ok()
    }

    /// Something was handed over for a request, which is over with that.
    fn handed(&mut self, channel: ChannelId, serving: ServingId) {
        let Some(at) = self.channel(channel) else { return };
        if let Some(place) = at.requests.get_mut(serving.index() as usize)
            && place.as_ref().is_some_and(|entry| entry.serving == serving)
        {
            *place = None;
        }
        let writer = at.writer.take();
        let attached = at.terms.attached.take_if(|_| matches!(at.port, Port::Single(_)));
        self.wakes.extend(writer);
        self.detached.extend(attached);
        self.congestion(channel);
    }

    pub(crate) fn progress(
        &mut self,
        channel: ChannelId,
        serving: ServingId,
        report: &Progress<'_>,
    ) -> Result<Reported, Misuse> {
        let at = self.channel(channel).ok_or(Misuse::Over)?;
        let reported = match &mut at.port {
            Port::Shared(server) => server.progress(serving, report),
            Port::Single(exchange) => exchange.progress(report),
        };
        let writer = at.writer.take();
        self.wakes.extend(writer);
        self.congestion(channel);
        reported
    }

    /// Sends a notification for a request; false if too much waits already.
    pub(crate) fn notify(
        &mut self,
        channel: ChannelId,
        serving: ServingId,
        method: &str,
        params: &[u8],
    ) -> Result<bool, Misuse> {
        let at = self.channel(channel).ok_or(Misuse::Over)?;
        let sent = match &mut at.port {
            Port::Shared(server) => server.notify(serving, method, params),
            Port::Single(exchange) => exchange.notify(method, params),
        };
        let writer = at.writer.take();
        self.wakes.extend(writer);
        self.congestion(channel);
        sent
    }

    /// A work is over, however.
    pub(crate) fn finish(&mut self, ticket: Option<TicketId>) {
        self.works -= 1;
        if let Some(ticket) = ticket {
            match self.admission.state(ticket) {
                Some(State::AtGate) => self.admission.refuse(ticket).unwrap_or_default(),
                Some(State::Running | State::Draining) => self.admission.finish(ticket).unwrap_or_default(),
                Some(_) => {
                    self.admission.cancel(ticket);
                }
                None => {}
            }
            self.forget(ticket);
            self.grants();
        }
        if self.closing && self.works == 0 {
            self.wake_driver();
        }
    }

    // Below: how.

    fn entry(&mut self, channel: ChannelId, serving: ServingId) -> Option<&mut Entry> {
        self.channel(channel)?.entry(serving)
    }

    fn forget(&mut self, ticket: TicketId) {
        if let Some(place) = self.tickets.get_mut(ticket.index())
            && place.is_some_and(|(known, ..)| known == ticket)
        {
            *place = None;
        }
    }

    /// Does what the events of a channel ask for.
    pub(super) fn settle(&mut self, id: ChannelId) {
        self.count_subscriptions(id);
        while let Some(event) = self.channel(id).and_then(|channel| channel.port.poll_event()) {
            match event {
                ServerEvent::Request { serving, request } => self.request(id, serving, request),
                ServerEvent::Stopped { serving, why } => self.stopped(id, serving, why),
                ServerEvent::Violation(violation) => self.notes.push(Note::Violation(violation)),
                _ => {}
            }
        }
        self.congestion(id);
    }

    fn request(&mut self, id: ChannelId, serving: ServingId, request: Arc<Request>) {
        if self.closing {
            // Nobody will run it.
            self.respond(id, serving, &Reply::dropped());
            return;
        }
        if *request.method() == Method::SubscriptionsListen {
            if self.channel(id).is_some_and(|channel| channel.terms.answer_only) {
                self.respond(id, serving, &Reply::no_stream());
                return;
            }
            if self.no_subscriptions {
                self.respond(id, serving, &Reply::dropped());
                return;
            }
            if self.subscriptions > self.max_subscriptions {
                self.notes.push(Note::Busy(request));
                return self.busy(id, serving);
            }
        }
        if request.request_state().is_some() && request.method().takes_input() == Some(true) {
            // So that it is known if it is stopped meanwhile.
            let entry = Entry {
                serving,
                ticket: None,
                request: Arc::clone(&request),
                continuation: None,
                signal: None,
            };
            self.know(id, entry);
            let caller = self.caller(id);
            self.opening.push(Opening { channel: id, serving, request, caller });
            return;
        }
        self.admit(id, serving, request, None);
    }

    /// A request of which everything is known may queue. One that goes on from a verified state is not refused for a full
    /// queue: a person has spent time on it. Those have a bound of their own.
    fn admit(
        &mut self,
        id: ChannelId,
        serving: ServingId,
        request: Arc<Request>,
        continuation: Option<Box<Continuation>>,
    ) {
        // Lists are read from memory, and subscriptions have a cap of their own.
        let tracked = !matches!(
            request.method(),
            Method::ToolsList
                | Method::PromptsList
                | Method::ResourcesList
                | Method::ResourceTemplatesList
                | Method::SubscriptionsListen
        );
        let (ticket, open) = if tracked {
            let entered = if continuation.is_some() {
                self.admission.enter_again(id.key())
            } else {
                self.admission.enter(id.key())
            };
            if let Ok(entered) = entered {
                (Some(entered.ticket), entered.at_gate)
            } else {
                self.notes.push(Note::Busy(request));
                return self.busy(id, serving);
            }
        } else {
            (None, true)
        };
        if let Some(ticket) = ticket {
            place(&mut self.tickets, ticket.index(), (ticket, id, serving));
        }
        if !open && Note::queued_may_be_wanted() {
            self.notes.push(Note::Queued(Arc::clone(&request)));
        }
        self.know(id, Entry { serving, ticket, request, continuation, signal: None });
        if open {
            self.inbox.push_back(Dispatch { channel: id, serving });
        }
    }

    fn know(&mut self, id: ChannelId, entry: Entry) {
        if let Some(channel) = self.channel(id) {
            place(&mut channel.requests, entry.serving.index() as usize, entry);
        }
    }

    fn busy(&mut self, id: ChannelId, serving: ServingId) {
        let reply = crate::server::busy(&self.refusal());
        self.respond(id, serving, &reply);
    }

    /// What a client is told whose request may not even wait.
    pub(crate) fn refusal(&self) -> ServerBusy {
        ServerBusy::behind(self.admission.waiting())
    }

    fn stopped(&mut self, id: ChannelId, serving: ServingId, why: Stopped) {
        let place = self.channel(id).and_then(|channel| channel.requests.get_mut(serving.index() as usize));
        let Some(entry) = place.filter(|place| place.as_ref().is_some_and(|entry| entry.serving == serving))
        else {
            return;
        };
        let Some(Entry { ticket, request, signal, .. }) = entry.take() else { return };
        let mut started = ticket.is_none() && signal.is_some();
        if let Some(ticket) = ticket {
            match self.admission.cancel(ticket) {
                Cancelled::NeverStarted | Cancelled::Nothing => {}
                Cancelled::Stop => {
                    debug_assert!(signal.is_some());
                    started = true;
                }
            }
            if signal.is_none() {
                self.forget(ticket);
            }
        }
        if let Some(signal) = signal {
            self.wakes.extend(signal.stop());
        }
        self.notes.push(Note::Stopped { request, why, started });
        self.grants();
    }

    pub(super) fn grants(&mut self) {
        while let Some(grant) = self.admission.poll_grant() {
            let (ticket, opens) = match grant {
                Grant::OpenGate(ticket) => (ticket, true),
                Grant::Start(ticket) => (ticket, false),
            };
            let Some(Some((known, channel, serving))) = self.tickets.get(ticket.index()).copied() else {
                continue;
            };
            debug_assert_eq!(known, ticket);
            if opens {
                self.inbox.push_back(Dispatch { channel, serving });
            } else if let Some(signal) = self.entry(channel, serving).and_then(|entry| entry.signal.clone()) {
                self.wakes.extend(signal.grant());
            }
        }
    }

    /// A channel whose reader is far behind gets no grants until it has caught up.
    pub(super) fn congestion(&mut self, id: ChannelId) {
        let Some(channel) = self.channel(id) else { return };
        let congested = channel.port.is_congested();
        if congested == channel.held {
            return;
        }
        channel.held = congested;
        if congested {
            self.admission.hold(id.key());
        } else {
            let parked = std::mem::take(&mut channel.parked);
            self.inbox.extend(parked.into_iter().map(|serving| Dispatch { channel: id, serving }));
            self.admission.release(id.key());
            self.grants();
        }
    }
}

fn place<T>(places: &mut Vec<Option<T>>, index: usize, value: T) {
    if places.len() <= index {
        places.resize_with(index + 1, || None);
    }
    if let Some(place) = places.get_mut(index) {
        *place = Some(value);
    }
}

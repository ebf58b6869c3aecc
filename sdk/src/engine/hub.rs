//! What channels, handlers and the driver share: one lock around the protocol's state.
//!
//! Nothing of the user's runs under the lock, neither code nor destructors, and no waker is woken under it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use sansio_mcp::admission::{Admission, Cancelled, ChannelKey, Grant, LaneKey, Passed, State, TicketId};
use sansio_mcp::id::ServingId;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::server::{
    EncodeError, ErrorReply, Exchange, Method, Progress, Reported, Request, Server, ServerConfig,
    ServerEvent, Stopped,
};
use sansio_mcp::time::{Mono, Now};
use serde_json::value::RawValue;

use super::signal::{Signal, keep};
use super::watch::Note;
use crate::clock::Clock;
use crate::server::Reply;

pub(crate) struct Hub {
    state: Mutex<HubState>,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) clock: Arc<dyn Clock>,
    refused_progress: AtomicU64,
}

pub(crate) struct HubState {
    pub(crate) admission: Admission,
    channels: Vec<Option<Channel>>,
    /// Indices of `channels` that are free, and how often each was used.
    free: Vec<u32>,
    generation: u32,
    /// Whose ticket it is, by the ticket's index.
    tickets: Vec<Option<(TicketId, ChannelId, ServingId)>>,
    pub(crate) inbox: VecDeque<Dispatch>,
    /// Channels that are not read until the driver has begun what is in the inbox.
    paused: Vec<ChannelId>,
    pub(crate) driver: Option<Waker>,
    /// Engines and connections.
    handles: usize,
    pub(crate) closing: bool,
    /// Tells what is to hear of it that `closing` was set.
    pub(crate) ending: Arc<Signal>,
    /// Works handed to the driver that are not over.
    pub(crate) works: usize,
    wakes: Vec<Waker>,
    /// Wakers that nobody needs any more: dropping one may run an executor's code.
    stale: Vec<Waker>,
    notes: Vec<Note>,
    /// Signals that nobody holds any more, for reuse.
    spare_signals: Vec<Arc<Signal>>,
}

/// Signals kept for reuse.
const SPARE_SIGNALS: usize = 256;

/// A channel's place; never mistaken for a later channel's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChannelId {
    index: u32,
    generation: u32,
}

impl ChannelId {
    fn key(self) -> ChannelKey {
        ChannelKey(u64::from(self.generation) << 32 | u64::from(self.index))
    }
}

struct Channel {
    generation: u32,
    port: Port,
    writer: Option<Waker>,
    held: bool,
    /// It was told not to read, and has not been told otherwise.
    paused: bool,
    /// Requests without a ticket, which nobody grants anything, that wait until its reader has caught up.
    parked: Vec<ServingId>,
    /// What is known of each request, by its serving's index.
    requests: Vec<Option<Entry>>,
}

enum Port {
    Shared(Box<Server>),
    Single(Box<Exchange>),
}

struct Entry {
    serving: ServingId,
    ticket: Option<TicketId>,
    request: Arc<Request>,
    /// Once it is dispatched.
    signal: Option<Arc<Signal>>,
}

/// A request whose gate is open.
pub(crate) struct Dispatch {
    channel: ChannelId,
    serving: ServingId,
}

/// Everything a work needs to know of its request.
pub(crate) struct Assigned {
    pub(crate) channel: ChannelId,
    pub(crate) serving: ServingId,
    pub(crate) ticket: Option<TicketId>,
    pub(crate) request: Arc<Request>,
    pub(crate) signal: Arc<Signal>,
}

/// What a work that is over leaves: memory that nobody else holds.
pub(crate) struct Left {
    pub(crate) channel: ChannelId,
    pub(crate) request: Arc<Request>,
    pub(crate) signal: Arc<Signal>,
}

/// What the engine is doing at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Facts {
    /// Handlers that are running, or cancelled and not over.
    pub running: usize,
    /// Requests that wait for a slot or in a lane.
    pub waiting: usize,
    /// Channels.
    pub channels: usize,
    /// Reports of progress that were not sent, since the start: not increasing, out of range, not a number.
    pub refused_progress: u64,
}

impl Port {
    fn poll_event(&mut self) -> Option<ServerEvent> {
        match self {
            Self::Shared(server) => server.poll_event(),
            Self::Single(exchange) => exchange.poll_event(),
        }
    }

    /// Hands a reply over. The error: the request is over, nobody waits for one. Inside, why the reply could not
    /// be encoded, when an error was handed over in its place.
    fn respond(&mut self, serving: ServingId, reply: &Reply) -> Result<Option<EncodeError>, Misuse> {
        match reply {
            Reply::Answer(answer) => {
                let done = match self {
                    Self::Shared(server) => server.respond(serving, answer),
                    Self::Single(exchange) => exchange.respond(answer),
                };
                done.map(Result::err)
            }
            Reply::Error(failure) => {
                let error = ErrorReply {
                    code: failure.code,
                    message: &failure.message,
                    data: failure.data.as_ref().map(sansio_mcp::model::RawJson::as_raw),
                };
                let done = match self {
                    Self::Shared(server) => server.refuse(serving, failure.status, &error),
                    Self::Single(exchange) => exchange.refuse(failure.status, &error),
                };
                done.map(|()| None)
            }
        }
    }

    fn is_congested(&self) -> bool {
        match self {
            Self::Shared(server) => server.is_congested(),
            Self::Single(_) => false,
        }
    }
}

impl Hub {
    pub(crate) fn new(admission: Admission, config: Arc<ServerConfig>, clock: Arc<dyn Clock>) -> Self {
        let state = HubState {
            admission,
            channels: Vec::new(),
            free: Vec::new(),
            generation: 0,
            tickets: Vec::new(),
            inbox: VecDeque::new(),
            paused: Vec::new(),
            driver: None,
            handles: 0,
            closing: false,
            ending: Arc::default(),
            works: 0,
            wakes: Vec::new(),
            stale: Vec::new(),
            notes: Vec::new(),
            spare_signals: Vec::new(),
        };
        Self { state: Mutex::new(state), config, clock, refused_progress: AtomicU64::new(0) }
    }

    pub(crate) fn now(&self) -> Now {
        self.clock.now()
    }

    pub(crate) fn refused_progress(&self) {
        self.refused_progress.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn facts(&self) -> Facts {
        let state = self.lock();
        Facts {
            running: state.admission.running(),
            waiting: state.admission.waiting(),
            channels: state.channels.iter().flatten().count(),
            refused_progress: self.refused_progress.load(Ordering::Relaxed),
        }
    }

    /// The state. What was found to need waking is woken, and what is to be told is told, when the guard has
    /// been dropped.
    pub(crate) fn lock(&self) -> Guard<'_> {
        Guard { state: Some(self.state.lock().unwrap_or_else(PoisonError::into_inner)) }
    }
}

/// See [`Hub::lock`].
pub(crate) struct Guard<'a> {
    state: Option<MutexGuard<'a, HubState>>,
}

impl std::ops::Deref for Guard<'_> {
    type Target = HubState;
    #[allow(clippy::expect_used)] // only drop() empties it
    fn deref(&self) -> &HubState {
        self.state.as_ref().expect("the guard holds the lock")
    }
}

impl std::ops::DerefMut for Guard<'_> {
    #[allow(clippy::expect_used)] // only drop() empties it
    fn deref_mut(&mut self) -> &mut HubState {
        self.state.as_mut().expect("the guard holds the lock")
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let Some(mut state) = self.state.take() else { return };
        if !state.inbox.is_empty() {
            let driver = state.driver.take();
            state.wakes.extend(driver);
        }
        if state.wakes.is_empty() && state.notes.is_empty() && state.stale.is_empty() {
            return;
        }
        // Mostly there is one, and the list keeps its memory.
        let last = state.wakes.pop();
        let wakes = if state.wakes.is_empty() { Vec::new() } else { std::mem::take(&mut state.wakes) };
        let notes = std::mem::take(&mut state.notes);
        let stale = std::mem::take(&mut state.stale);
        drop(state);
        drop(stale);
        for note in notes {
            note.tell();
        }
        for waker in wakes.into_iter().chain(last) {
            waker.wake();
        }
    }
}

impl HubState {
    // Handles.

    pub(crate) fn add_handle(&mut self) {
        self.handles += 1;
    }

    pub(crate) fn drop_handle(&mut self) {
        self.handles -= 1;
        if self.handles == 0 {
            self.end();
        }
    }

    fn end(&mut self) {
        self.closing = true;
        let ending = Arc::clone(&self.ending);
        self.wakes.extend(ending.stop());
        self.wake_driver();
    }

    pub(crate) fn wake_driver(&mut self) {
        let driver = self.driver.take();
        self.wakes.extend(driver);
    }

    // Channels.

    pub(crate) fn open(&mut self, config: &Arc<ServerConfig>, single: bool) -> ChannelId {
        let port = if single {
            Port::Single(Box::new(Exchange::new(Arc::clone(config))))
        } else {
            Port::Shared(Box::new(Server::new(Arc::clone(config))))
        };
        self.generation = self.generation.wrapping_add(1);
        let generation = self.generation;
        let channel = Some(Channel {
            generation,
            port,
            writer: None,
            held: false,
            paused: false,
            parked: Vec::new(),
            requests: Vec::new(),
        });
        self.handles += 1;
        let index = if let Some(index) = self.free.pop() {
            if let Some(place) = self.channels.get_mut(index as usize) {
                *place = channel;
            }
            index
        } else {
            self.channels.push(channel);
            u32::try_from(self.channels.len() - 1).unwrap_or(u32::MAX)
        };
        ChannelId { index, generation }
    }

    fn channel(&mut self, id: ChannelId) -> Option<&mut Channel> {
        let channel = self.channels.get_mut(id.index as usize)?.as_mut()?;
        (channel.generation == id.generation).then_some(channel)
    }

    /// The transport has gone.
    pub(crate) fn close(&mut self, id: ChannelId, now: Now) {
        let Some(channel) = self.channel(id) else { return };
        match &mut channel.port {
            Port::Shared(server) => server.handle_stream_end(now),
            Port::Single(exchange) => exchange.handle_stream_end(),
        }
        self.settle(id);
        if let Some(place) = self.channels.get_mut(id.index as usize) {
            let gone = place.take();
            let held = gone.as_ref().is_some_and(|channel| channel.held);
            self.stale.extend(gone.and_then(|channel| channel.writer));
            if held {
                self.admission.release(id.key());
                self.grants();
            }
            self.free.push(id.index);
        }
        self.drop_handle();
    }

    /// Stops everything on every channel.
    pub(crate) fn shut_down(&mut self, now: Now) {
        self.end();
        for index in 0..self.channels.len() {
            let Some(Some(channel)) = self.channels.get_mut(index) else { continue };
            let id =
                ChannelId { index: u32::try_from(index).unwrap_or(u32::MAX), generation: channel.generation };
            match &mut channel.port {
                Port::Shared(server) => server.close(now),
                Port::Single(exchange) => exchange.close(),
            }
            let writer = channel.writer.take();
            self.wakes.extend(writer);
            self.settle(id);
        }
    }

    // What transports do.

    /// Gives the shared port of a channel to `command` and does what comes of it.
    pub(crate) fn with_server<T>(
        &mut self,
        id: ChannelId,
        command: impl FnOnce(&mut Server) -> T,
    ) -> Option<T> {
        let Port::Shared(server) = &mut self.channel(id)?.port else { return None };
        let done = command(server);
        self.settle(id);
        Some(done)
    }

    /// As [`with_server`](Self::with_server), for a stream of one request.
    pub(crate) fn with_exchange<T>(
        &mut self,
        id: ChannelId,
        command: impl FnOnce(&mut Exchange) -> T,
    ) -> Option<T> {
        let Port::Single(exchange) = &mut self.channel(id)?.port else { return None };
        let done = command(exchange);
        self.settle(id);
        Some(done)
    }

    /// Looks at the shared port of a channel.
    pub(crate) fn server(&self, id: ChannelId) -> Option<&Server> {
        let channel = self.channels.get(id.index as usize)?.as_ref()?;
        match &channel.port {
            Port::Shared(server) if channel.generation == id.generation => Some(server),
            Port::Shared(_) | Port::Single(_) => None,
        }
    }

    /// Whether to read on. Not while the driver has yet to begin what it was given: reading is faster than
    /// running, and whatever is read beyond the queue would be refused although no handler is slow.
    pub(crate) fn wants_input(&mut self, id: ChannelId) -> bool {
        let wants = self.server(id).is_some_and(Server::wants_input);
        let pause = wants && !self.closing && !self.inbox.is_empty();
        if let Some(channel) = self.channel(id)
            && channel.paused != pause
        {
            channel.paused = pause;
            if pause {
                self.paused.push(id);
            }
        }
        wants && !pause
    }

    /// The driver has begun everything: channels may be read again.
    fn resume(&mut self) {
        let mut paused = std::mem::take(&mut self.paused);
        paused.retain(|id| {
            let Some(channel) = self.channel(*id).filter(|channel| channel.paused) else { return false };
            // One that left no waker yet hears of it when it does, or after what the driver is given until then.
            let Some(writer) = channel.writer.take() else { return true };
            channel.paused = false;
            self.wakes.push(writer);
            false
        });
        self.paused = paused;
    }

    /// Appends what waits to be sent, each message with `end` after it, until there are about `max` new bytes. `waker`
    /// is kept for what comes next. Returns how many messages, and whether the last was a response.
    pub(crate) fn fill(
        &mut self,
        id: ChannelId,
        out: &mut Vec<u8>,
        max: usize,
        end: &[u8],
        waker: &Waker,
    ) -> (usize, bool) {
        let Some(channel) = self.channel(id) else { return (0, true) };
        let (mut count, mut last) = (0, false);
        let start = out.len();
        while out.len() - start < max {
            let transmit = match &mut channel.port {
                Port::Shared(server) => server.poll_transmit(out),
                Port::Single(exchange) => exchange.poll_transmit(out),
            };
            let Some(transmit) = transmit else { break };
            out.extend_from_slice(end);
            count += 1;
            last = transmit.last;
        }
        let old = keep(&mut channel.writer, waker);
        let (held, paused) = (channel.held, channel.paused);
        self.stale.extend(old);
        if paused && self.inbox.is_empty() {
            self.resume();
        }
        if held {
            self.settle(id);
        }
        (count, last)
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
            let ticket = entry.ticket;
            if ticket.is_none()
                && let Some(at) = self.channel(channel).filter(|channel| channel.held)
            {
                at.parked.push(serving);
                continue;
            }
            let signal = self.spare_signals.pop().unwrap_or_default();
            if let Some(entry) = self.entry(channel, serving) {
                entry.signal = Some(Arc::clone(&signal));
            }
            self.works += 1;
            return Some(Assigned { channel, serving, ticket, request, signal });
        }
    }

    /// What a work that is over leaves serves the next.
    pub(crate) fn reclaim(&mut self, left: Left) {
        if self.spare_signals.len() < SPARE_SIGNALS {
            self.spare_signals.push(left.signal);
        }
        if let Some(Port::Shared(server)) = self.channel(left.channel).map(|channel| &mut channel.port) {
            server.reclaim(left.request);
        }
    }

    pub(crate) fn pass(&mut self, ticket: TicketId, lane: Option<LaneKey>) -> Passed {
        let passed = self.admission.pass(ticket, lane);
        self.grants();
        // A ticket that is over belongs to a work that is being stopped: it waits for that.
        passed.unwrap_or(Passed::Waits)
    }

    /// Hands a reply over; false if the request is over and nobody waits for one.
    pub(crate) fn respond(&mut self, channel: ChannelId, serving: ServingId, reply: &Reply) -> bool {
        let Some(at) = self.channel(channel) else { return false };
        let handed = at.port.respond(serving, reply);
        if let Some(place) = at.requests.get_mut(serving.index() as usize)
            && place.as_ref().is_some_and(|entry| entry.serving == serving)
        {
            *place = None;
        }
        let writer = at.writer.take();
        self.wakes.extend(writer);
        self.congestion(channel);
        let Ok(fault) = handed else { return false };
        self.notes.extend(fault.map(Note::NotEncoded));
        true
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
        let entry = self.channel(channel)?.requests.get_mut(serving.index() as usize)?.as_mut()?;
        (entry.serving == serving).then_some(entry)
    }

    fn forget(&mut self, ticket: TicketId) {
        if let Some(place) = self.tickets.get_mut(ticket.index())
            && place.is_some_and(|(known, ..)| known == ticket)
        {
            *place = None;
        }
    }

    /// Does what the events of a channel ask for.
    fn settle(&mut self, id: ChannelId) {
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
        let tracked = *request.method() != Method::ToolsList;
        let (ticket, open) = if tracked {
            if let Ok(entered) = self.admission.enter(id.key()) {
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
        if !open && Note::queued_is_wanted() {
            self.notes.push(Note::Queued(Arc::clone(&request)));
        }
        let Some(channel) = self.channel(id) else { return };
        let entry = Entry { serving, ticket, request, signal: None };
        place(&mut channel.requests, serving.index() as usize, entry);
        if open {
            self.inbox.push_back(Dispatch { channel: id, serving });
        }
    }

    fn busy(&mut self, id: ChannelId, serving: ServingId) {
        let retry = self.admission.waiting().min(1_000) as u64 + 100;
        let reply = crate::server::busy(retry);
        self.respond(id, serving, &reply);
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

    fn grants(&mut self) {
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
    fn congestion(&mut self, id: ChannelId) {
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

    /// The nearest deadline of a channel.
    pub(crate) fn timeout(&self, id: ChannelId) -> Option<Mono> {
        self.server(id)?.poll_timeout().map(sansio_mcp::server::Deadline::at)
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

/// Data of an error, built of numbers and names alone.
pub(crate) fn data(text: String) -> Option<Box<RawValue>> {
    RawValue::from_string(text).ok()
}

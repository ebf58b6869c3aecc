//! What channels, handlers and the driver share: one lock around the protocol's state.
//!
//! Nothing of the user's runs under the lock, neither code nor destructors, and no waker is woken under it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use sansio_mcp::admission::{Admission, TicketId};
use sansio_mcp::id::ServingId;
use sansio_mcp::server::continuation::Continuation;
use sansio_mcp::server::{Exchange, Request, Server, ServerConfig};
use sansio_mcp::time::Now;

use super::Bounds;
use super::channel::{Channel, ChannelId, Port, Purpose, Terms};
use super::sealing::Sealing;
use super::signal::Signal;
use super::tools::Listing;
use super::values::Attached;
use super::watch::Note;
use super::work::contained;
use crate::clock::Clock;

pub(crate) struct Hub {
    state: Mutex<HubState>,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) sealing: Sealing,
    /// Handlers may log to their clients.
    pub(crate) logs: bool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tools: Arc<Listing>,
    refused_progress: AtomicU64,
}

pub(crate) struct HubState {
    pub(crate) admission: Admission,
    pub(super) channels: Vec<Option<Channel>>,
    /// Indices of `channels` that are free, and how often each was used.
    pub(super) free: Vec<u32>,
    pub(super) generation: u32,
    /// Whose ticket it is, by the ticket's index.
    pub(super) tickets: Vec<Option<(TicketId, ChannelId, ServingId)>>,
    pub(crate) inbox: VecDeque<Dispatch>,
    /// Channels that are not read until the driver has begun what is in the inbox.
    pub(super) paused: Vec<ChannelId>,
    pub(crate) driver: Option<Waker>,
    /// Engines and connections.
    pub(super) handles: usize,
    pub(crate) closing: bool,
    /// Subscriptions were ended, and there will be no more.
    pub(super) no_subscriptions: bool,
    /// Tells what is to hear of it that `closing` was set.
    pub(crate) ending: Arc<Signal>,
    /// Subscriptions on all channels, and how many there may be.
    pub(super) subscriptions: usize,
    pub(super) max_subscriptions: usize,
    /// Works handed to the driver that are not over.
    pub(crate) works: usize,
    pub(super) wakes: Vec<Waker>,
    /// Wakers that nobody needs any more: dropping one may run an executor's code.
    pub(super) stale: Vec<Waker>,
    /// What was attached to channels and nobody needs any more: its destructors are the user's.
    pub(super) detached: Vec<Attached>,
    pub(super) notes: Vec<Note>,
    /// Requests whose state is to be opened, which happens outside the lock.
    pub(super) opening: Vec<Opening>,
    /// Signals that nobody holds any more, for reuse.
    pub(super) spare_signals: Vec<Arc<Signal>>,
}

/// Signals kept for reuse.
pub(super) const SPARE_SIGNALS: usize = 256;

/// A request whose gate is open.
pub(crate) struct Dispatch {
    pub(super) channel: ChannelId,
    pub(super) serving: ServingId,
}

/// Everything a work needs to know of its request.
pub(crate) struct Assigned {
    pub(crate) channel: ChannelId,
    pub(crate) serving: ServingId,
    pub(crate) ticket: Option<TicketId>,
    pub(crate) request: Arc<Request>,
    pub(crate) signal: Arc<Signal>,
    pub(crate) continuation: Option<Box<Continuation>>,
    /// Its channel carries its answer and nothing else.
    pub(crate) answer_only: bool,
}

/// A request that brings state along.
pub(super) struct Opening {
    pub(super) channel: ChannelId,
    pub(super) serving: ServingId,
    pub(super) request: Arc<Request>,
    pub(super) caller: Option<Arc<[u8]>>,
}

/// What a work that is over leaves: its ticket, and memory if nobody else holds it.
pub(crate) struct Left {
    pub(crate) channel: ChannelId,
    pub(crate) ticket: Option<TicketId>,
    pub(crate) memory: Option<(Arc<Request>, Arc<Signal>)>,
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
    /// Subscriptions that have not ended.
    pub subscriptions: usize,
    /// Reports of progress that were not sent, since the start: not increasing, out of range, not a number.
    pub refused_progress: u64,
}

impl Hub {
    pub(crate) fn new(
        admission: Admission,
        config: Arc<ServerConfig>,
        sealing: Sealing,
        bounds: Bounds,
        logs: bool,
        tools: Arc<Listing>,
        clock: Arc<dyn Clock>,
    ) -> Self {
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
            no_subscriptions: false,
            ending: Arc::default(),
            subscriptions: 0,
            max_subscriptions: bounds.subscriptions,
            works: 0,
            wakes: Vec::new(),
            stale: Vec::new(),
            detached: Vec::new(),
            notes: Vec::new(),
            opening: Vec::new(),
            spare_signals: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            config,
            sealing,
            logs,
            clock,
            tools,
            refused_progress: AtomicU64::new(0),
        }
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
            subscriptions: state.subscriptions,
            refused_progress: self.refused_progress.load(Ordering::Relaxed),
        }
    }

    /// The state. What was found to need waking is woken, and what is to be told is told, when the guard has
    /// been dropped.
    pub(crate) fn lock(&self) -> Guard<'_> {
        Guard { state: Some(self.state.lock().unwrap_or_else(PoisonError::into_inner)), hub: self }
    }
}

/// See [`Hub::lock`].
pub(crate) struct Guard<'a> {
    state: Option<MutexGuard<'a, HubState>>,
    hub: &'a Hub,
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
        let quiet = state.wakes.is_empty() && state.notes.is_empty();
        if quiet && state.stale.is_empty() && state.detached.is_empty() && state.opening.is_empty() {
            return;
        }
        // Mostly there is one, and the list keeps its memory.
        let last = state.wakes.pop();
        let wakes = if state.wakes.is_empty() { Vec::new() } else { std::mem::take(&mut state.wakes) };
        let notes = std::mem::take(&mut state.notes);
        let stale = std::mem::take(&mut state.stale);
        let detached = state.detached.pop();
        let more = std::mem::take(&mut state.detached);
        let opening = std::mem::take(&mut state.opening);
        drop(state);
        drop(stale);
        for attached in detached.into_iter().chain(more) {
            contained(|| drop(attached));
        }
        for note in notes {
            note.tell();
        }
        for waker in wakes.into_iter().chain(last) {
            waker.wake();
        }
        for opening in opening {
            self.hub.open_state(opening);
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

    /// A new channel; one that is over already if the engine is closing.
    pub(crate) fn open(
        &mut self,
        config: &Arc<ServerConfig>,
        purpose: Purpose,
        terms: Terms,
        now: Now,
    ) -> ChannelId {
        let mut port = match purpose {
            Purpose::OneRequest => Port::Single(Box::new(Exchange::new(Arc::clone(config)))),
            Purpose::AllRequests => Port::Shared(Box::new(Server::new(Arc::clone(config)))),
        };
        if self.closing {
            match &mut port {
                Port::Shared(server) => server.close(now),
                Port::Single(exchange) => exchange.close(),
            }
        }
        self.generation = self.generation.wrapping_add(1);
        let generation = self.generation;
        let channel = Some(Channel {
            generation,
            port,
            terms,
            writer: None,
            held: false,
            paused: false,
            listed: false,
            parked: Vec::new(),
            requests: Vec::new(),
            subscriptions: 0,
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

    pub(super) fn channel(&mut self, id: ChannelId) -> Option<&mut Channel> {
        let channel = self.channels.get_mut(id.index as usize)?.as_mut()?;
        (channel.generation == id.generation).then_some(channel)
    }

    /// The channel at this place, if there is one.
    pub(super) fn channel_at(&self, index: usize) -> Option<ChannelId> {
        let generation = self.channels.get(index)?.as_ref()?.generation;
        Some(ChannelId { index: u32::try_from(index).ok()?, generation })
    }

    /// Who is at the other end of a channel.
    pub(crate) fn caller(&mut self, id: ChannelId) -> Option<Arc<[u8]>> {
        self.channel(id)?.terms.caller.clone()
    }

    /// What the transport has attached to a channel.
    pub(crate) fn attached(&mut self, id: ChannelId) -> Option<Attached> {
        self.channel(id)?.terms.attached.clone()
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
            self.subscriptions -= gone.as_ref().map_or(0, |channel| channel.subscriptions);
            let held = gone.as_ref().is_some_and(|channel| channel.held);
            if let Some(gone) = gone {
                self.stale.extend(gone.writer);
                self.detached.extend(gone.terms.attached);
            }
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
            let Some(id) = self.channel_at(index) else { continue };
            let Some(channel) = self.channel(id) else { continue };
            match &mut channel.port {
                Port::Shared(server) => server.close(now),
                Port::Single(exchange) => exchange.close(),
            }
            let writer = channel.writer.take();
            self.wakes.extend(writer);
            self.settle(id);
        }
    }

    /// Ends every subscription with its response; none is accepted from here on.
    pub(crate) fn end_subscriptions(&mut self) {
        self.no_subscriptions = true;
        for index in 0..self.channels.len() {
            let Some(id) = self.channel_at(index) else { continue };
            let Some(channel) = self.channel(id).filter(|channel| channel.subscriptions > 0) else {
                continue;
            };
            channel.port.end_subscriptions();
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
}

#[cfg(test)]
#[path = "hub_test.rs"]
mod tests;

//! One channel: the protocol's half of it, and what is known of its requests.

use std::sync::Arc;
use std::task::Waker;

use sansio_mcp::admission::{ChannelKey, TicketId};
use sansio_mcp::id::ServingId;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::model::InputRequiredResult;
use sansio_mcp::server::continuation::Continuation;
use sansio_mcp::server::{EncodeError, ErrorReply, Exchange, Request, Server, ServerEvent};
use sansio_mcp::subscription::Change;

use super::signal::Signal;
use super::values::Attached;
use crate::server::{Answer, Body, Reply};

/// A channel's place; never mistaken for a later channel's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChannelId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl ChannelId {
    pub(super) fn key(self) -> ChannelKey {
        ChannelKey(u64::from(self.generation) << 32 | u64::from(self.index))
    }
}

/// What a channel is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    OneRequest,
    AllRequests,
}

/// What a transport says about a channel when it opens it.
#[derive(Default)]
pub(crate) struct Terms {
    /// Who is at the other end, if the transport has verified it.
    pub(crate) caller: Option<Arc<[u8]>>,
    /// What handlers may ask the transport for.
    pub(crate) attached: Option<Attached>,
    /// It carries the answer and nothing before it.
    pub(crate) answer_only: bool,
}

/// A channel and what the engine knows of it.
pub(super) struct Channel {
    pub(super) generation: u32,
    pub(super) port: Port,
    pub(super) terms: Terms,
    pub(super) writer: Option<Waker>,
    pub(super) held: bool,
    /// It was told not to read, and has not been told otherwise.
    pub(super) paused: bool,
    /// It stands in the list of channels to be told.
    pub(super) listed: bool,
    /// Requests without a ticket, which nobody grants anything, that wait until its reader has caught up.
    pub(super) parked: Vec<ServingId>,
    /// What is known of each request, by its serving's index.
    pub(super) requests: Vec<Option<Entry>>,
    /// Its subscriptions when they were last counted.
    pub(super) subscriptions: usize,
}

/// What subscriptions are told.
pub(super) enum Published<'a> {
    One(Change<'a>),
    /// Every resource that it says yes to.
    Matching(&'a dyn Fn(&str) -> bool),
}

/// The protocol's half of a channel.
pub(super) enum Port {
    Shared(Box<Server>),
    Single(Box<Exchange>),
}

/// What is known of a request that is not answered.
pub(super) struct Entry {
    pub(super) serving: ServingId,
    pub(super) ticket: Option<TicketId>,
    pub(super) request: Arc<Request>,
    /// What it knows of earlier rounds, until it is dispatched.
    pub(super) continuation: Option<Box<Continuation>>,
    /// Once it is dispatched.
    pub(super) signal: Option<Arc<Signal>>,
}

impl Channel {
    /// What is known of a request.
    pub(super) fn entry(&mut self, serving: ServingId) -> Option<&mut Entry> {
        let entry = self.requests.get_mut(serving.index() as usize)?.as_mut()?;
        (entry.serving == serving).then_some(entry)
    }

    /// A request waits until the reader has caught up. Those that were stopped while they waited are forgotten before
    /// the list grows, so that a peer that takes back what it asked fills nothing.
    pub(super) fn park(&mut self, serving: ServingId) {
        if self.parked.len() == self.parked.capacity() {
            let mut parked = std::mem::take(&mut self.parked);
            parked.retain(|parked| self.entry(*parked).is_some());
            parked.reserve(parked.len().max(8));
            self.parked = parked;
        }
        self.parked.push(serving);
    }
}

impl Port {
    pub(super) fn poll_event(&mut self) -> Option<ServerEvent> {
        match self {
            Self::Shared(server) => server.poll_event(),
            Self::Single(exchange) => exchange.poll_event(),
        }
    }

    /// Hands a reply over. The error: the request is over, nobody waits for one. Inside, why the reply could not
    /// be encoded, when an error was handed over in its place.
    pub(super) fn respond(
        &mut self,
        serving: ServingId,
        reply: &Reply,
    ) -> Result<Option<EncodeError>, Misuse> {
        match reply {
            Reply::Answer(Answer::Subscribed(filter)) => {
                let done = match self {
                    Self::Shared(server) => server.acknowledge(serving, filter),
                    Self::Single(exchange) => exchange.acknowledge(filter),
                };
                done.map(|()| None)
            }
            Reply::Answer(answer) => {
                let body = Body::new(answer);
                let done = match self {
                    Self::Shared(server) => server.respond(serving, &body),
                    Self::Single(exchange) => exchange.respond(&body),
                };
                done.map(Result::err)
            }
            // It is made ready outside the lock, and goes out by `ask`.
            Reply::InputRequired(_) => Err(Misuse::CannotAsk),
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

    /// Hands questions over.
    pub(super) fn ask(&mut self, serving: ServingId, asks: &InputRequiredResult) -> Result<(), Misuse> {
        match self {
            Self::Shared(server) => server.ask(serving, asks),
            Self::Single(exchange) => exchange.ask(asks),
        }
    }

    /// Whether a request may still be answered.
    pub(super) fn is_running(&self, serving: ServingId) -> bool {
        match self {
            Self::Shared(server) => server.is_running(serving),
            Self::Single(exchange) => exchange.is_running(),
        }
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        match self {
            Self::Shared(server) => server.unsent_bytes(),
            Self::Single(exchange) => exchange.unsent_bytes(),
        }
    }

    /// Subscriptions that have not ended.
    pub(super) fn subscriptions(&self) -> usize {
        match self {
            Self::Shared(server) => server.subscriptions(),
            Self::Single(exchange) => usize::from(exchange.is_subscription()),
        }
    }

    /// Ends its subscriptions, each with its response.
    pub(super) fn end_subscriptions(&mut self) {
        match self {
            Self::Shared(server) => server.end_subscriptions(),
            Self::Single(exchange) if exchange.is_subscription() => exchange.close(),
            Self::Single(_) => {}
        }
    }

    pub(super) fn publish(&mut self, what: &Published<'_>) {
        match (self, what) {
            (Self::Shared(server), Published::One(change)) => server.publish(*change),
            (Self::Shared(server), Published::Matching(matches)) => server.publish_resources(*matches),
            (Self::Single(exchange), Published::One(change)) => exchange.publish(*change),
            (Self::Single(exchange), Published::Matching(matches)) => exchange.publish_resources(*matches),
        }
    }

    pub(super) fn is_congested(&self) -> bool {
        match self {
            Self::Shared(server) => server.is_congested(),
            Self::Single(_) => false,
        }
    }
}

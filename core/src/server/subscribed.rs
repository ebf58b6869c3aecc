//! A request that is a subscription, and the channel's view of all of them.

use alloc::vec::Vec;

use super::body::{self, WrittenBody};
use super::channel::Server;
use super::config::ServerConfig;
use super::exchange::Input as ExchangeInput;
use super::listen::{Effect, Input, State, step};
use super::outbox::KEEP;
use super::serving::Serving;
use super::single::Exchange;
use super::transmit::Kind;
use crate::id::ServingId;
use crate::limits::{MAX_UNSENT_BYTES, MAX_UNSENT_CHANGES};
use crate::misuse::Misuse;
use crate::model::{RawJson, SubscriptionFilter};
use crate::slab::Key;
use crate::subscription::{Change, Interest, Topic};
use crate::wire::write;

/// Marks of notifications in an outbox: the acknowledgement's, and a topic's.
const ACKNOWLEDGEMENT: u32 = 1;
const FIRST_TOPIC: u32 = 2;

/// What hangs on a request that is a subscription.
#[derive(Debug)]
pub(super) struct Subscribed {
    state: State,
    interest: Interest,
    /// The acknowledgement, while it waits to be sent.
    unsent_acknowledgement: Option<SubscriptionFilter>,
}

impl Subscribed {
    pub(super) fn new() -> Self {
        Self { state: State::Opening, interest: Interest::default(), unsent_acknowledgement: None }
    }

    fn apply(&mut self, input: Input) -> Effect {
        let (state, effect) = step(self.state, input);
        self.state = state;
        effect
    }

    /// A message with this mark was taken.
    pub(super) fn taken(&mut self, mark: u32) {
        match mark.checked_sub(FIRST_TOPIC) {
            Some(topic) => self.interest.taken(Topic::from_number(topic)),
            None if mark == ACKNOWLEDGEMENT => self.unsent_acknowledgement = None,
            None => {}
        }
    }
}

impl Serving {
    /// Whether it is a subscription.
    pub(super) fn is_subscription(&self) -> bool {
        self.subscribed.is_some()
    }

    /// How many resources it names.
    pub(super) fn named(&self) -> usize {
        self.subscribed.as_ref().map_or(0, |subscribed| subscribed.interest.named())
    }

    /// The application ends a subscription that it has accepted.
    fn end_by_application(&mut self, config: &ServerConfig) -> Result<(), Misuse> {
        let subscribed = self.subscribed.as_ref().ok_or(Misuse::NotASubscription)?;
        // Its request would be left without an answer.
        if subscribed.state == State::Opening {
            return Err(Misuse::NotAccepted);
        }
        self.close_subscription(config);
        Ok(())
    }

    /// Subscriptions have no result of the application's.
    pub(super) fn not_a_subscription(&self) -> Result<(), Misuse> {
        if self.is_subscription() { Err(Misuse::Subscription) } else { Ok(()) }
    }

    /// Accepts a subscription, for this much.
    pub(super) fn acknowledge(&mut self, filter: SubscriptionFilter) -> Result<(), Misuse> {
        let subscribed = self.subscribed.as_mut().ok_or(Misuse::NotASubscription)?;
        match subscribed.apply(Input::Accept) {
            Effect::Acknowledge => {
                subscribed.interest = Interest::of(&filter);
                self.size += subscribed.interest.size();
                self.push_acknowledgement(filter);
                Ok(())
            }
            Effect::None
            | Effect::Queue
            | Effect::Drop
            | Effect::End
            | Effect::WithdrawAndEnd
            | Effect::Misuse => Err(Misuse::Over),
        }
    }

    fn push_acknowledgement(&mut self, filter: SubscriptionFilter) {
        let id = &self.id;
        self.outbox.push_marked(Kind::Notification, ACKNOWLEDGEMENT, |out| {
            body::subscription(out, "notifications/subscriptions/acknowledged", id);
            out.extend_from_slice(b",\"notifications\":");
            filter.write(out);
            out.extend_from_slice(b"}}");
        });
        if let Some(subscribed) = &mut self.subscribed {
            subscribed.unsent_acknowledgement = Some(filter);
        }
    }

    /// The answer of the application to a request that is a subscription is a refusal, and only before it is accepted.
    pub(super) fn refuse_subscription(&mut self) -> Result<(), Misuse> {
        let Some(subscribed) = &mut self.subscribed else { return Ok(()) };
        match subscribed.apply(Input::Refuse) {
            Effect::None => Ok(()),
            Effect::Acknowledge
            | Effect::Queue
            | Effect::Drop
            | Effect::End
            | Effect::WithdrawAndEnd
            | Effect::Misuse => Err(Misuse::Subscription),
        }
    }

    /// Something changed. `full`: the channel has more unsent than it may.
    fn changed(&mut self, change: Change<'_>, full: bool, config: &ServerConfig) {
        if let Some(topic) = self.subscribed.as_ref().and_then(|subscribed| subscribed.interest.topic(change))
        {
            let full = full || self.is_behind();
            self.changed_topic(topic, full, config);
        }
    }

    fn changed_resources(&mut self, matches: &dyn Fn(&str) -> bool, full: bool, config: &ServerConfig) {
        let topics = self.subscribed.as_ref().map(|subscribed| subscribed.interest.resources(matches));
        // Looked at once: however long all of it is, its reader had no time yet to take any.
        let full = full || self.is_behind();
        for topic in topics.unwrap_or_default() {
            self.changed_topic(topic, full, config);
        }
    }

    /// Whether so many bytes wait that its reader must be far behind. One notification may always wait.
    fn is_behind(&self) -> bool {
        let waits = self.subscribed.as_ref().is_some_and(|subscribed| subscribed.interest.waiting() > 0);
        waits && self.outbox.len() >= MAX_UNSENT_BYTES
    }

    /// `full`: too many bytes wait to be sent, of its own or of the channel's.
    fn changed_topic(&mut self, topic: Topic, full: bool, config: &ServerConfig) {
        let Some(subscribed) = &mut self.subscribed else { return };
        let waiting = subscribed.interest.waiting();
        let input = if subscribed.interest.waits(topic) {
            Input::Repeated
        } else if full || waiting >= MAX_UNSENT_CHANGES {
            Input::Overflow
        } else {
            Input::Change
        };
        match subscribed.apply(input) {
            Effect::Queue => {
                let Some(change) = subscribed.interest.change(topic) else { return };
                let id = &self.id;
                self.outbox.push_marked(Kind::Notification, FIRST_TOPIC + topic.number(), |out| {
                    body::subscription(out, change.method(), id);
                    if let Change::Resource(uri) = change {
                        out.extend_from_slice(b",\"uri\":");
                        write::string(out, uri);
                    }
                    out.extend_from_slice(b"}}");
                });
                subscribed.interest.wait(topic);
            }
            Effect::WithdrawAndEnd => {
                let acknowledgement = subscribed.unsent_acknowledgement.take();
                self.outbox.clear(KEEP);
                if let Some(filter) = acknowledgement {
                    self.push_acknowledgement(filter);
                }
                self.end_subscription(config);
            }
            Effect::None | Effect::Drop | Effect::Acknowledge | Effect::End | Effect::Misuse => {}
        }
    }

    /// The server closes the subscription: whoever listens is told that this is the end of it.
    pub(super) fn close_subscription(&mut self, config: &ServerConfig) {
        if let Some(subscribed) = &mut self.subscribed {
            match subscribed.apply(Input::Close) {
                Effect::End => self.end_subscription(config),
                Effect::None
                | Effect::Acknowledge
                | Effect::Queue
                | Effect::Drop
                | Effect::WithdrawAndEnd
                | Effect::Misuse => {}
            }
        }
    }

    /// Its peer has cancelled it, or its stream has gone.
    pub(super) fn lose_subscription(&mut self, input: ExchangeInput) {
        if let Some(subscribed) = &mut self.subscribed {
            subscribed.apply(match input {
                ExchangeInput::StreamEnded => Input::StreamEnded,
                ExchangeInput::Progress
                | ExchangeInput::StaleProgress
                | ExchangeInput::Notify
                | ExchangeInput::Respond
                | ExchangeInput::Taken
                | ExchangeInput::PeerCancelled
                | ExchangeInput::Closing => Input::PeerCancelled,
            });
        }
    }

    /// Queues the response that ends it, behind what waits.
    fn end_subscription(&mut self, config: &ServerConfig) {
        let mut meta = Vec::from(b"{\"io.modelcontextprotocol/subscriptionId\":".as_slice());
        body::id(&mut meta, &self.id);
        meta.push(b'}');
        let meta = alloc::string::String::from_utf8(meta).unwrap_or_default();
        let meta = RawJson::from_text(meta).ok();
        let ended = self.respond(
            &config.server_info,
            &WrittenBody { members: b"", meta: meta.as_ref().map(RawJson::as_raw) },
        );
        debug_assert!(matches!(ended, Ok(Ok(()))));
    }
}

impl Server {
    /// Subscriptions that have not ended, those that are not accepted yet among them.
    pub fn subscriptions(&self) -> usize {
        self.subscriptions
    }

    /// Accepts a subscription: what it asks for and the server's capabilities have in common is acknowledged, of
    /// resources as many as [`ServerLimits::named_resources`](crate::limits::ServerLimits::named_resources) leaves. To grant less, take it out of the request's own
    /// [`subscription_filter`](super::Request::subscription_filter).
    ///
    /// # Errors
    /// The request is over, was accepted already, or is not a subscription.
    pub fn acknowledge(&mut self, serving: ServingId, filter: &SubscriptionFilter) -> Result<(), Misuse> {
        let at = serving.key();
        let before = self.live.get(at).map_or(0, |serving| serving.size);
        let ended = !self.is_reading();
        let named = self.named;
        self.with(serving, |config, request| {
            let room = config.limits.named_resources.saturating_sub(named);
            request.acknowledge(filter.honoured_within(&config.capabilities, room))?;
            if ended {
                // The peer will say nothing more, not even that it has heard enough.
                request.close_subscription(config);
            }
            Ok(())
        })?;
        let (size, named) = self.live.get(at).map_or((0, 0), |serving| (serving.size, serving.named()));
        self.grow(size - before);
        self.named += named;
        self.listening.insert(at);
        Ok(())
    }

    /// Something has changed: every subscription that asked for it is told, one that has an equal notification waiting
    /// is not told twice. One whose reader is too far behind is ended.
    pub fn publish(&mut self, change: Change<'_>) {
        self.each_listening(|serving, full, config| serving.changed(change, full, config));
    }

    /// As [`publish`](Self::publish), for all resources whose URI `matches`.
    pub fn publish_resources(&mut self, matches: &dyn Fn(&str) -> bool) {
        self.each_listening(|serving, full, config| serving.changed_resources(matches, full, config));
    }

    /// Ends a subscription from the server's side. Whoever listens is told that it is over.
    ///
    /// # Errors
    /// The request is over, is not a subscription, or is one that was not accepted.
    pub fn end_subscription(&mut self, serving: ServingId) -> Result<(), Misuse> {
        self.with(serving, |config, request| request.end_by_application(config))
    }

    /// Ends every subscription that was accepted, with a response that says so: at the end of input, of everything, or when
    /// the application wants to.
    pub fn end_subscriptions(&mut self) {
        self.each_listening(|serving, _, config| serving.close_subscription(config));
    }

    fn each_listening(&mut self, mut tell: impl FnMut(&mut Serving, bool, &ServerConfig)) {
        if self.listening.is_empty() {
            return;
        }
        let all: Vec<Key> = self.listening.iter().copied().collect();
        for at in all {
            let full = self.unsent_bytes() >= self.config.limits.outgoing_bytes;
            let told = self.with_key(at, |config, serving| {
                tell(serving, full, config);
                Ok(())
            });
            debug_assert!(told.is_ok());
        }
    }
}

impl Exchange {
    /// Whether it is a subscription that has not ended.
    pub fn is_subscription(&self) -> bool {
        self.being_served().is_some_and(Serving::is_subscription) && !self.is_finished()
    }

    /// As [`Server::acknowledge`].
    ///
    /// # Errors
    /// The request is over, was accepted already, or is not a subscription.
    pub fn acknowledge(&mut self, filter: &SubscriptionFilter) -> Result<(), Misuse> {
        let config = self.config();
        let most = config.limits.named_resources;
        self.serving_mut()?.acknowledge(filter.honoured_within(&config.capabilities, most))
    }

    /// As [`Server::publish`].
    pub fn publish(&mut self, change: Change<'_>) {
        let config = self.config();
        if let Ok(serving) = self.serving_mut() {
            serving.changed(change, false, &config);
        }
    }

    /// As [`Server::publish_resources`].
    pub fn publish_resources(&mut self, matches: &dyn Fn(&str) -> bool) {
        let config = self.config();
        if let Ok(serving) = self.serving_mut() {
            serving.changed_resources(matches, false, &config);
        }
    }

    /// As [`Server::end_subscription`].
    ///
    /// # Errors
    /// The request is over, is not a subscription, or is one that was not accepted.
    pub fn end_subscription(&mut self) -> Result<(), Misuse> {
        let config = self.config();
        self.serving_mut()?.end_by_application(&config)
    }
}

//! Subscriptions among the calls of a client: what is asked for, and what comes.

use alloc::boxed::Box;
use alloc::string::String;
use core::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call::State as CallState;
use super::calls::Client;
use super::event::{ClientEvent, StreamId};
use super::listen::{Effect, Input, State, step};
use super::spec::{CallSpec, Refused};
use crate::id::{CallId, RequestId};
use crate::model::SubscriptionFilter;
use crate::subscription::{Change, Changed, Interest};
use crate::time::Now;
use crate::violation::PeerViolation;

/// How long a server may take to acknowledge a subscription unless told otherwise.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_mins(1);

/// What a subscription asks for (basic/patterns/subscriptions, "Notification Filter").
#[derive(Clone, Debug)]
pub struct ListenSpec {
    filter: SubscriptionFilter,
    within: Option<Duration>,
}

impl Default for ListenSpec {
    fn default() -> Self {
        Self::new()
    }
}

impl ListenSpec {
    /// Asks for nothing yet.
    pub fn new() -> Self {
        Self { filter: SubscriptionFilter::default(), within: Some(ACKNOWLEDGED_WITHIN) }
    }

    /// Changes of the list of tools.
    #[must_use]
    pub fn tools(mut self) -> Self {
        self.filter.tools_list_changed = Some(true);
        self
    }

    /// Changes of the list of prompts.
    #[must_use]
    pub fn prompts(mut self) -> Self {
        self.filter.prompts_list_changed = Some(true);
        self
    }

    /// Changes of the list of resources.
    #[must_use]
    pub fn resources(mut self) -> Self {
        self.filter.resources_list_changed = Some(true);
        self
    }

    /// Updates of the resource of this URI and of its parts, which are told as updates of it.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.filter.resource_subscriptions.get_or_insert_default().push(uri.into());
        self
    }

    /// Gives up when the server has not acknowledged the subscription after this long; `None`: never. The default is
    /// one minute. A subscription that was acknowledged has no deadline.
    #[must_use]
    pub fn acknowledged_within(mut self, within: Option<Duration>) -> Self {
        self.within = within;
        self
    }

    /// Everything it asks for.
    pub fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        let filter = &self.filter;
        let kinds = [
            (filter.tools_list_changed, Change::Tools),
            (filter.prompts_list_changed, Change::Prompts),
            (filter.resources_list_changed, Change::Resources),
        ];
        let kinds = kinds.into_iter().filter(|(asked, _)| *asked == Some(true)).map(|(_, change)| change);
        kinds.chain(filter.resource_subscriptions.iter().flatten().map(|uri| Change::Resource(uri)))
    }
}

/// A call that is a subscription.
#[derive(Debug)]
pub(super) struct Listening {
    state: State,
    interest: Interest,
}

impl Listening {
    /// An event of this kind was collected.
    pub(super) fn taken(&mut self, change: Change<'_>) {
        if let Some(topic) = self.interest.topic(change) {
            self.interest.taken(topic);
        }
    }

    /// The server has acknowledged it.
    pub(super) fn is_active(&self) -> bool {
        self.state == State::Active
    }

    /// Its call has finished.
    pub(super) fn end(&mut self) {
        self.state = step(self.state, Input::Ended).0;
    }
}

/// What a notification tells a subscription.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Acknowledged,
    Tools,
    Prompts,
    Resources,
    Resource,
}

/// The notifications that belong to subscriptions.
pub(super) fn what(method: &str) -> Option<What> {
    Some(match method {
        "notifications/subscriptions/acknowledged" => What::Acknowledged,
        "notifications/tools/list_changed" => What::Tools,
        "notifications/prompts/list_changed" => What::Prompts,
        "notifications/resources/list_changed" => What::Resources,
        "notifications/resources/updated" => What::Resource,
        _ => return None,
    })
}

/// The params of all of them.
#[derive(Deserialize)]
struct Told<'a> {
    #[serde(rename = "_meta")]
    meta: Named,
    #[serde(default, borrow)]
    uri: Option<alloc::borrow::Cow<'a, str>>,
    #[serde(default, borrow)]
    notifications: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: RequestId,
}

impl Client {
    /// Subscribes (basic/patterns/subscriptions). The subscription is a call: it is cancelled like one, and ends with
    /// an outcome. A result is the server's graceful end, whatever the subscription told before; `Lost` and
    /// `Cancelled` are what they say, `TimedOut` that the server did not acknowledge it in time.
    ///
    /// # Errors
    /// A limit is reached or the channel has ended; nothing was sent.
    pub fn listen(&mut self, now: Now, spec: &ListenSpec) -> Result<CallId, Refused> {
        let call = CallSpec::listen(&spec.filter).total_timeout(spec.within);
        let interest = Interest::of(&spec.filter);
        self.begin(now, call, Some(Box::new(Listening { state: State::AwaitingAck, interest })))
    }

    /// Whether a subscription was acknowledged and has not ended.
    pub fn is_listening(&self, call: CallId) -> bool {
        let call = self.calls.get(call.key()).and_then(|call| call.listening.as_ref());
        call.is_some_and(|listening| listening.is_active())
    }

    /// A notification of a subscription was read.
    pub(super) fn told(&mut self, stream: StreamId, line: &str, what: What) {
        #[derive(Deserialize)]
        struct Whole<'a> {
            #[serde(borrow)]
            params: Told<'a>,
        }
        let Ok(Whole { params }) = serde_json::from_str::<Whole<'_>>(line) else {
            return self.violation(PeerViolation::NotSubscribed);
        };
        let RequestId::Int(id) = params.meta.subscription else {
            return self.violation(PeerViolation::NotSubscribed);
        };
        let at = match self.owner(stream, id) {
            Ok(at) => at,
            // What comes late for a subscription that is over is dropped silently.
            Err(None) => return,
            Err(Some(PeerViolation::WrongStream)) => return self.violation(PeerViolation::WrongStream),
            Err(Some(_)) => return self.violation(PeerViolation::NotSubscribed),
        };
        let Some(call) = self.calls.get_mut(at) else { return };
        let in_flight = matches!(call.state, CallState::InFlight(_));
        let Some(listening) = call.listening.as_mut().filter(|_| in_flight) else {
            return self.violation(PeerViolation::NotSubscribed);
        };
        let change = match (what, params.uri.as_deref()) {
            (What::Acknowledged, _) => None,
            (What::Tools, _) => Some(Change::Tools),
            (What::Prompts, _) => Some(Change::Prompts),
            (What::Resources, _) => Some(Change::Resources),
            (What::Resource, Some(uri)) => Some(Change::Resource(uri)),
            (What::Resource, None) => return self.violation(PeerViolation::NotSubscribed),
        };
        // A part of a resource counts as the one that was asked for: so what waits is bounded by that.
        let topic = change.and_then(|change| match change {
            Change::Resource(uri) => {
                listening.interest.topic(change).or_else(|| listening.interest.whole(uri))
            }
            _ => listening.interest.topic(change),
        });
        let input = match (change, topic) {
            (None, _) => Input::Acknowledged,
            (Some(_), Some(_)) => Input::Change,
            (Some(_), None) => Input::NotAsked,
        };
        let (state, effect) = step(listening.state, input);
        listening.state = state;
        match effect {
            Effect::None => {}
            Effect::Violation => self.violation(PeerViolation::NotSubscribed),
            Effect::Tell => {
                let acknowledged = params.notifications.map_or("{}", RawValue::get);
                // It may last for ever from here on.
                call.deadlines.total = None;
                let acknowledged = String::from(acknowledged).into_boxed_str();
                self.events.push_back(ClientEvent::Listening { call: CallId::of(at), acknowledged });
                self.settle();
            }
            Effect::PassOn => {
                if let Some(topic) = topic.filter(|topic| !listening.interest.waits(*topic))
                    && let Some(change) = listening.interest.change(topic).map(Changed::from)
                {
                    listening.interest.wait(topic);
                    self.events.push_back(ClientEvent::Changed { call: CallId::of(at), change });
                }
            }
        }
    }
}

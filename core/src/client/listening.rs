//! Subscriptions among the calls of a client: what is asked for, and what comes.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call::State as CallState;
use super::calls::{Client, call_id};
use super::event::{ClientEvent, StreamId};
use super::listen::{Effect, Input, State, step};
use super::spec::{CallSpec, Refused};
use crate::id::{CallId, RequestId};
use crate::subscription::{Change, Interest};
use crate::time::Now;
use crate::violation::PeerViolation;
use crate::wire::write;

/// How long a server may take to acknowledge a subscription unless told otherwise.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_mins(1);

/// What a subscription asks for (basic/patterns/subscriptions, "Notification Filter").
#[derive(Clone, Debug, Default)]
pub struct ListenSpec {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: Vec<Box<str>>,
    within: Option<Duration>,
}

impl ListenSpec {
    /// Asks for nothing yet.
    pub fn new() -> Self {
        Self { within: Some(ACKNOWLEDGED_WITHIN), ..Self::default() }
    }

    /// Changes of the list of tools.
    #[must_use]
    pub fn tools(mut self) -> Self {
        self.tools = true;
        self
    }

    /// Changes of the list of prompts.
    #[must_use]
    pub fn prompts(mut self) -> Self {
        self.prompts = true;
        self
    }

    /// Changes of the list of resources.
    #[must_use]
    pub fn resources(mut self) -> Self {
        self.resources = true;
        self
    }

    /// Updates of the resource of this URI.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<Box<str>>) -> Self {
        self.uris.push(uri.into());
        self
    }

    /// Gives up when the server has not acknowledged the subscription after this long; `None`: never. The default is
    /// one minute. A subscription that was acknowledged has no deadline.
    #[must_use]
    pub fn acknowledged_within(mut self, within: Option<Duration>) -> Self {
        self.within = within;
        self
    }

    /// The filter as JSON.
    fn filter(&self) -> Vec<u8> {
        let mut out = Vec::from([b'{']);
        let kinds = [
            (self.tools, "\"toolsListChanged\":true,"),
            (self.prompts, "\"promptsListChanged\":true,"),
            (self.resources, "\"resourcesListChanged\":true,"),
        ];
        for (_, member) in kinds.iter().filter(|(asked, _)| *asked) {
            out.extend_from_slice(member.as_bytes());
        }
        if !self.uris.is_empty() {
            out.extend_from_slice(b"\"resourceSubscriptions\":[");
            for (n, uri) in self.uris.iter().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                write::string(&mut out, uri);
            }
            out.extend_from_slice(b"],");
        }
        if out.last() == Some(&b',') {
            out.pop();
        }
        out.push(b'}');
        out
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
    pub fn listen(&mut self, now: Now, spec: ListenSpec) -> Result<CallId, Refused> {
        let call = CallSpec::listen(&spec.filter()).total_timeout(spec.within);
        let ListenSpec { tools, prompts, resources, uris, .. } = spec;
        let interest = Interest::new(tools, prompts, resources, uris.into_iter());
        self.begin(now, call, Some(Box::new(Listening { state: State::AwaitingAck, interest })))
    }

    /// Whether a subscription was acknowledged and has not ended.
    pub fn is_listening(&self, call: CallId) -> bool {
        let call = self.calls.get(super::calls::key(call)).and_then(|call| call.listening.as_ref());
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
        let topic = change.and_then(|change| listening.interest.topic(change));
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
                self.events.push_back(ClientEvent::Listening { call: call_id(at), acknowledged });
                self.settle();
            }
            Effect::PassOn => {
                if let (Some(topic), Some(change)) = (topic, change)
                    && !listening.interest.waits(topic)
                {
                    listening.interest.wait(topic);
                    self.events.push_back(ClientEvent::Changed { call: call_id(at), change: change.into() });
                }
            }
        }
    }
}

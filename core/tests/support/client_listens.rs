//! Subscriptions of a client, as naively as they can be said: what is asked for, what is told, and what becomes of that.

use sansio_mcp::client::ListenSpec;
use sansio_mcp::subscription::Changed;
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};

use crate::client_model::{At, Command, Event, Model};
use crate::client_ops::{Message, WireId};

/// What a subscription asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Filter {
    lists: [bool; 3],
    uris: Vec<&'static str>,
}

/// URIs that may be asked for; some are parts of others.
const WHOLES: [&str; 6] = ["a://x", "a://x/y", "a://x", "b/", "\u{e9}", ""];

/// URIs that may be told of, parts and lookalikes of those among them.
const TOLD: [&str; 12] = [
    "a://x",
    "a://x/y",
    "a://x/y/z",
    "a://x/yy",
    "a://x?q",
    "a://xx",
    "b/",
    "b/1",
    "b",
    "\u{e9}",
    "\u{e9}#f",
    "",
];

impl Filter {
    pub(crate) fn of(byte: u8) -> Self {
        let lists = [byte & 1 > 0, byte & 2 > 0, byte & 4 > 0];
        let (from, step) = (usize::from(byte / 8 % 6), 1 + usize::from(byte / 48 % 3));
        let uris =
            if byte < 208 { WHOLES.iter().skip(from).step_by(step).copied().collect() } else { vec![] };
        Self { lists, uris }
    }

    pub(crate) fn spec(&self) -> ListenSpec {
        let mut spec = ListenSpec::new();
        let [tools, prompts, resources] = self.lists;
        if tools {
            spec = spec.tools();
        }
        if prompts {
            spec = spec.prompts();
        }
        if resources {
            spec = spec.resources();
        }
        self.uris.iter().fold(spec, |spec, uri| spec.resource(*uri))
    }

    /// As it is written.
    pub(crate) fn json(&self) -> Value {
        let mut filter = json!({});
        for (asked, list) in self.lists.iter().zip(["tools", "prompts", "resources"]) {
            if *asked {
                filter[format!("{list}ListChanged")] = json!(true);
            }
        }
        if !self.uris.is_empty() {
            filter["resourceSubscriptions"] = json!(self.uris);
        }
        filter
    }

    /// What a notification of this tells: a part of a resource is told as the innermost one that was asked for.
    fn topic(&self, what: Told) -> Option<Topic> {
        match what {
            Told::Acknowledged(_) => None,
            Told::List(list) => self.lists[usize::from(list)].then_some(Topic::List(list)),
            Told::Updated(uri) => {
                let uri = uri?;
                let within = |whole: &&&'static str| {
                    let ends = whole.ends_with('/');
                    uri == **whole
                        || !whole.is_empty()
                            && uri
                                .strip_prefix(**whole)
                                .is_some_and(|rest| ends || rest.starts_with(['/', '?', '#']))
                };
                let innermost = self.uris.iter().filter(within).max_by_key(|whole| whole.len());
                innermost.map(|whole| Topic::Resource((*whole).into()))
            }
        }
    }
}

/// What the application is told has changed: a list by its number, or a resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Topic {
    List(u8),
    Resource(String),
}

impl Topic {
    pub(crate) fn of(change: &Changed) -> Self {
        match change {
            Changed::Tools => Self::List(0),
            Changed::Prompts => Self::List(1),
            Changed::Resources => Self::List(2),
            Changed::Resource(uri) => Self::Resource(uri.to_string()),
            other => panic!("{other:?}"),
        }
    }
}

/// What a notification tells a subscription. An update without a URI is malformed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    Acknowledged(u8),
    List(u8),
    Updated(Option<&'static str>),
}

impl Told {
    /// Mostly what is due: the acknowledgement first, then changes.
    pub(crate) fn of(byte: u8, acknowledged: bool) -> Self {
        match byte % 16 {
            0..=11 if !acknowledged => Self::Acknowledged(byte / 16),
            0 => Self::Acknowledged(byte / 16),
            1..=6 => Self::List(byte % 3),
            7 if byte >= 128 => Self::Updated(None),
            _ => Self::Updated(Some(TOLD[usize::from(byte / 2) % TOLD.len()])),
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Acknowledged(_) => "notifications/subscriptions/acknowledged",
            Self::List(0) => "notifications/tools/list_changed",
            Self::List(1) => "notifications/prompts/list_changed",
            Self::List(_) => "notifications/resources/list_changed",
            Self::Updated(_) => "notifications/resources/updated",
        }
    }

    pub(crate) fn params(self, subscription: &Value) -> Value {
        let mut params = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": subscription}});
        match self {
            // Whatever is acknowledged is told, and decides nothing: what was asked for does.
            Self::Acknowledged(n) if n % 4 == 0 => {}
            Self::Acknowledged(_) => params["notifications"] = self.acknowledged(),
            Self::List(_) | Self::Updated(None) => {}
            Self::Updated(Some(uri)) => params["uri"] = json!(uri),
        }
        params
    }

    /// What the application is told was acknowledged.
    fn acknowledged(self) -> Value {
        match self {
            Self::Acknowledged(n) if n % 4 > 0 => json!({"toolsListChanged": n % 2 == 0, "n": n}),
            _ => json!({}),
        }
    }
}

impl Model {
    /// A notification that names a subscription; now and then a call that is none, or that is over.
    pub(crate) fn tells(&self, pick: u8, what: u8, aside: bool) -> Command {
        let listens = |nth: &usize| self.calls[*nth].listens.is_some();
        let open: Vec<usize> = self.open().into_iter().filter(listens).collect();
        let nth = open.get(usize::from(pick) % open.len().max(1)).copied();
        let nth = if pick >= 250 { self.calls.len().checked_sub(1) } else { nth };
        nth.map_or(Command::Nothing, |nth| {
            let call = &self.calls[nth];
            let acknowledged = call.listens.as_ref().is_some_and(|(_, active)| *active);
            let what = Told::of(what, acknowledged);
            self.message(call.id, aside, Message::Told { subscription: WireId::Int(call.id), what })
        })
    }

    /// A notification names this call, which is in flight.
    pub(crate) fn told(&mut self, nth: usize, what: Told) {
        let call = &mut self.calls[nth];
        assert_eq!(call.at, At::InFlight);
        let topic = match (&mut call.listens, what) {
            (Some((_, active)), Told::Acknowledged(_)) if !*active => {
                *active = true;
                // It may last for ever from here on.
                call.total = None;
                self.events.push_back(Event::Listening(nth, what.acknowledged()));
                return;
            }
            (Some((filter, true)), what) => filter.topic(what),
            _ => None,
        };
        let Some(topic) = topic else { return self.violation(PeerViolation::NotSubscribed) };
        // One that waits stands for its equals.
        let event = Event::Changed(nth, topic);
        if !self.events.contains(&event) {
            self.events.push_back(event);
        }
    }
}

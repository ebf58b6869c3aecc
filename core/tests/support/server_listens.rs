//! Subscriptions of a server, as naively as they can be said: what is asked for, what is told, and what waits.

use sansio_mcp::misuse::Misuse;
use sansio_mcp::server::{Kind, Status};
use sansio_mcp::subscription::Change;
use serde_json::{Value, json};

use crate::server_model::{At, Model, Reading, Request, Seen};
use crate::server_ops::Ask;

/// Bytes of one request that wait to be sent before less important ones are dropped, or a subscription ends.
pub(crate) const UNSENT: usize = 64 * 1024;

/// Something that a server tells of, or does not offer to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Topic {
    Tools,
    Prompts,
    Resources,
    Resource(&'static str),
    /// A resource whose URI is so long that two of them are too much to wait: by its letter.
    Long(char),
}

pub(crate) const TOPICS: [Topic; 13] = [
    Topic::Tools,
    Topic::Tools,
    Topic::Prompts,
    Topic::Resources,
    Topic::Resource("a"),
    Topic::Resource("a/b"),
    Topic::Resource("a/c"),
    Topic::Resource("\u{e9}\"\n"),
    Topic::Resource(""),
    Topic::Resource("nobody's"),
    Topic::Long('L'),
    Topic::Long('M'),
    Topic::Long('N'),
];

/// The long URIs.
static LONG: std::sync::LazyLock<[String; 3]> =
    std::sync::LazyLock::new(|| ["L", "M", "N"].map(|letter| letter.repeat(40_000)));

impl Topic {
    fn uri(self) -> Option<&'static str> {
        match self {
            Self::Tools | Self::Prompts | Self::Resources => None,
            Self::Resource(uri) => Some(uri),
            Self::Long(letter) => LONG.iter().map(String::as_str).find(|uri| uri.starts_with(letter)),
        }
    }

    pub(crate) fn begins_with(self, prefix: &str) -> bool {
        self.uri().is_some_and(|uri| uri.starts_with(prefix))
    }

    pub(crate) fn change(self) -> Change<'static> {
        match self {
            Self::Tools => Change::Tools,
            Self::Prompts => Change::Prompts,
            Self::Resources => Change::Resources,
            Self::Resource(_) | Self::Long(_) => Change::Resource(self.uri().unwrap()),
        }
    }

    fn message(self, subscription: &Value) -> (Kind, Value) {
        let mut params = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": subscription}});
        if let Some(uri) = self.uri() {
            params["uri"] = json!(uri);
        }
        let method = match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) | Self::Long(_) => "notifications/resources/updated",
        };
        (Kind::Notification, json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }
}

/// What a subscription asks for.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    topics: Vec<Topic>,
    /// Says so where it asks for nothing.
    refuses: bool,
}

impl Filter {
    /// One of eight, no two alike.
    pub(crate) fn of(which: u8) -> Self {
        use Topic::{Long, Prompts, Resource, Resources, Tools};
        let topics = match which {
            0 => vec![Tools],
            1 => vec![Tools, Prompts, Resource("a/b"), Resource("a"), Resource("a/b")],
            2 => vec![],
            3 => vec![Resource("a"), Resource("a/b")],
            4 => vec![Resources],
            5 => vec![Long('N'), Long('M'), Long('L'), Resource("a")],
            6 => vec![Tools, Long('M'), Long('N'), Resource("")],
            _ => vec![Tools, Resource("\u{e9}\"\n"), Resource("a/c"), Resource("a"), Resource("")],
        };
        Self { topics, refuses: which == 4 }
    }

    /// As it is written.
    pub(crate) fn json(&self) -> Value {
        let mut filter = if self.refuses { json!({"promptsListChanged": false}) } else { json!({}) };
        for (topic, name) in
            [(Topic::Tools, "tools"), (Topic::Prompts, "prompts"), (Topic::Resources, "resources")]
        {
            if self.topics.contains(&topic) {
                filter[format!("{name}ListChanged")] = json!(true);
            }
        }
        let uris: Vec<&str> = self.topics.iter().filter_map(|topic| topic.uri()).collect();
        if !uris.is_empty() {
            filter["resourceSubscriptions"] = json!(uris);
        }
        filter
    }

    /// What the server offers of it: tools and resources, each once.
    fn honoured(&self, less: bool) -> Self {
        let mut topics = Vec::new();
        for topic in &self.topics {
            let offered = !matches!(topic, Topic::Prompts | Topic::Resources);
            if offered && !topics.contains(topic) && !(less && *topic == Topic::Tools) {
                topics.push(*topic);
            }
        }
        Self { topics, refuses: false }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Opening,
    Listening,
    Done,
}

/// A request that is a subscription.
#[derive(Clone, Debug)]
pub(crate) struct Listens {
    pub(crate) phase: Phase,
    /// What was asked for, then what is granted.
    filter: Filter,
}

impl Listens {
    pub(crate) fn of(ask: Ask) -> Option<Self> {
        match ask {
            Ask::Listen(which) => Some(Self { phase: Phase::Opening, filter: Filter::of(which) }),
            _ => None,
        }
    }
}

impl Request {
    /// Bytes that wait to be sent.
    pub(crate) fn unsent(&self) -> usize {
        self.queue.iter().map(|(_, message)| length(message)).sum()
    }

    fn acknowledgement(&self) -> (Kind, Value) {
        let granted = self.listens.as_ref().unwrap().filter.json();
        let params =
            json!({"_meta": {"io.modelcontextprotocol/subscriptionId": self.id}, "notifications": granted});
        let method = "notifications/subscriptions/acknowledged";
        (Kind::Notification, json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }
}

/// Bytes of a message as it is written, in which a whole number has no decimals.
fn length(message: &Value) -> usize {
    if message.pointer("/params/progress").is_none() {
        return message.to_string().len();
    }
    let mut message = message.clone();
    for at in ["/params/progress", "/params/total"] {
        if let Some(number) =
            message.pointer_mut(at).filter(|number| number.as_f64().is_some_and(|n| n.fract() == 0.0))
        {
            *number = json!(format!("{}", number.as_f64().unwrap()).parse::<i64>().unwrap());
        }
    }
    message.to_string().len()
}

impl Model {
    pub(crate) fn acknowledge(&mut self, nth: usize, less: bool) -> Seen {
        let request = &mut self.requests[nth];
        if request.gone {
            return Seen::Misuse(Misuse::Over);
        }
        let Some(listens) = &mut request.listens else { return Seen::Misuse(Misuse::NotASubscription) };
        if listens.phase != Phase::Opening {
            return Seen::Misuse(Misuse::Over);
        }
        listens.phase = Phase::Listening;
        listens.filter = listens.filter.honoured(less);
        let (kind, message) = request.acknowledgement();
        self.queue(nth, kind, message);
        // A peer that says nothing more cannot say that it has heard enough.
        if self.reading > Reading::Open {
            self.end_listening(nth);
        }
        Seen::Ok
    }

    /// Everybody who listens for one of these topics is told, those at the first places first.
    pub(crate) fn publish(&mut self, what: &dyn Fn(&Topic) -> bool) {
        for nth in self.listening() {
            let mut topics = self.requests[nth].listens.as_ref().unwrap().filter.topics.clone();
            topics.retain(|topic| what(topic));
            topics.sort_by_key(|topic| topic.uri());
            let behind = self.is_behind(nth);
            for topic in topics {
                self.tell(nth, topic, behind);
            }
        }
    }

    /// Whether its reader is too far behind for another change.
    fn is_behind(&self, nth: usize) -> bool {
        let request = &self.requests[nth];
        let changes = request.queue.iter().filter(|(kind, message)| {
            *kind == Kind::Notification && message.pointer("/params/_meta").is_some()
        });
        let unacknowledged = request.queue.contains(&request.acknowledgement());
        changes.count() > usize::from(unacknowledged) && request.unsent() >= UNSENT
    }

    fn tell(&mut self, nth: usize, topic: Topic, behind: bool) {
        let request = &mut self.requests[nth];
        if request.listens.as_ref().unwrap().phase != Phase::Listening {
            return;
        }
        let message = topic.message(&request.id);
        // One that waits stands for its equals.
        if request.queue.contains(&message) {
            return;
        }
        let acknowledgement = request.acknowledgement();
        let unacknowledged = request.queue.contains(&acknowledgement);
        if behind {
            // What waits is withdrawn, but not the acknowledgement.
            request.queue.clear();
            request.queue.extend(unacknowledged.then_some(acknowledgement));
            self.met.insert("overflow");
            self.end_listening(nth);
        } else {
            self.queue(nth, message.0, message.1);
        }
    }

    pub(crate) fn end_subscription(&mut self, nth: usize) -> Seen {
        let request = &self.requests[nth];
        if request.gone {
            return Seen::Misuse(Misuse::Over);
        }
        match &request.listens {
            None => Seen::Misuse(Misuse::NotASubscription),
            Some(listens) if listens.phase == Phase::Opening => Seen::Misuse(Misuse::NotAccepted),
            Some(_) => {
                self.end_listening(nth);
                Seen::Ok
            }
        }
    }

    /// Nothing more is read, or everything closes: who listens is told that this is the end.
    pub(crate) fn end_subscriptions(&mut self) {
        for nth in self.listening() {
            self.end_listening(nth);
        }
    }

    /// Those that are listening, by their places.
    fn listening(&self) -> Vec<usize> {
        let mut all = self.live();
        all.retain(|nth| self.requests[*nth].listens.as_ref().is_some_and(|l| l.phase == Phase::Listening));
        all.sort_by_key(|nth| self.requests[*nth].place);
        all
    }

    fn end_listening(&mut self, nth: usize) {
        let request = &mut self.requests[nth];
        let listens = request.listens.as_mut().unwrap();
        if std::mem::replace(&mut listens.phase, Phase::Done) != Phase::Listening {
            return;
        }
        assert_eq!(request.at, At::Running);
        request.at = At::Answered;
        let id = request.id.clone();
        let meta = json!({
            "io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"},
            "io.modelcontextprotocol/subscriptionId": id,
        });
        let result = json!({"resultType": "complete", "_meta": meta});
        let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.queue(nth, Kind::Response(Status::Ok), message);
    }
}

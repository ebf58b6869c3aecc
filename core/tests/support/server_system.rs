//! The real server or exchange under the model's commands.

use std::sync::Arc;

use sansio_mcp::id::ServingId;
use sansio_mcp::limits::ServerLimits;
use sansio_mcp::model::{
    Implementation, InputRequests, InputRequiredResult, RawJson, ResourcesCapability, ServerCapabilities,
    SubscriptionFilter, ToolsCapability,
};
use sansio_mcp::server::{
    EncodeError, ErrorReply, Exchange, Method, Progress, Request, ResultBody, Server, ServerConfig,
    ServerEvent, Status, WrittenBody,
};
use sansio_mcp::time::{Mono, Now};
use sansio_mcp::wire::Malformed;
use serde_json::Value;

use crate::frame::{self, Engine};
use crate::server_listens::Filter;
use crate::server_model::{Answer, Asks, At, Command, Event, Model, Reading, Seen, Setup};
use crate::server_ops::{Ask, ODD, STATE, answers};

#[allow(clippy::large_enum_variant)] // a handful in all
enum Real {
    Channel(Server),
    Single(Exchange),
}

pub(crate) struct System {
    real: Real,
    ids: Vec<ServingId>,
    /// What each subscription asked for.
    filters: Vec<Option<SubscriptionFilter>>,
    /// Events collected, in order.
    pub(crate) events: Vec<Event>,
}

/// Calls the same method of either.
macro_rules! either {
    ($real:expr, $it:ident => $channel:expr, $single:expr) => {
        match $real {
            Real::Channel($it) => $channel,
            Real::Single($it) => $single,
        }
    };
}

struct NotEncodable;

impl ResultBody for NotEncodable {
    fn write_members(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(b"\"half");
        Err(EncodeError("no".into()))
    }
}

pub(crate) fn config(in_flight: usize, subscriptions: usize) -> Arc<ServerConfig> {
    let mut limits = ServerLimits::default();
    limits.in_flight = in_flight;
    limits.subscriptions = subscriptions;
    let capabilities = ServerCapabilities::default()
        .with_tools(ToolsCapability::default().with_list_changed(true))
        .with_resources(ResourcesCapability::default().with_subscribe(true));
    let config = ServerConfig::builder(Implementation::new("s", "1"), capabilities).limits(limits);
    Arc::new(config.build().unwrap())
}

impl Engine for System {
    type Model = Model;

    fn of(setup: Setup) -> Self {
        let config = config(setup.in_flight, setup.subscriptions);
        Self {
            real: if setup.single {
                Real::Single(Exchange::new(config))
            } else {
                Real::Channel(Server::new(config))
            },
            ids: Vec::new(),
            filters: Vec::new(),
            events: Vec::new(),
        }
    }

    fn run(&mut self, told: u64, command: &Command) -> Seen {
        let now = Now::at(Mono::from_nanos(told));
        match command {
            Command::Request { id, token, ask, client } => {
                self.message(now, ask.request(id, token.as_ref(), *client).to_string().as_bytes());
            }
            Command::Cancel { id, reason } => {
                let mut cancel = serde_json::json!({
                    "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}
                });
                if *reason {
                    cancel["params"]["reason"] = "enough".into();
                }
                self.message(now, cancel.to_string().as_bytes());
            }
            Command::Odd(which) => self.message(now, ODD[*which].0),
            Command::Oversized => {
                let why = Malformed::NotJson;
                either!(&mut self.real, it => it.handle_malformed(now, why), it.handle_malformed(why));
            }
            Command::Progress { nth, value } => {
                let report = Progress::new(*value).of(100.0).message("m");
                let serving = self.ids[*nth];
                let done = either!(&mut self.real, it => it.progress(serving, &report), it.progress(&report));
                return done.map_or_else(Seen::Misuse, Seen::Reported);
            }
            Command::Respond { nth, how } => return self.respond(*nth, *how),
            Command::Ask { nth, how } => {
                let (serving, asks) = (self.ids[*nth], asks(*how));
                let done = either!(&mut self.real, it => it.ask(serving, &asks), it.ask(&asks));
                return done.map_or_else(Seen::Misuse, |()| Seen::Ok);
            }
            Command::Notify { nth } => {
                let (serving, method) = (self.ids[*nth], "notifications/message");
                let params = "\"level\":\"info\",\"data\":\"\u{e9}\\\"\\n\"".as_bytes();
                let done = either!(&mut self.real, it => it.notify(serving, method, params), it.notify(method, params));
                return done.map_or_else(Seen::Misuse, Seen::Notified);
            }
            Command::Acknowledge { nth, less } => {
                let serving = self.ids[*nth];
                let mut filter = self.filters[*nth].clone().unwrap_or_default();
                if *less {
                    filter.tools_list_changed = None;
                }
                let done =
                    either!(&mut self.real, it => it.acknowledge(serving, &filter), it.acknowledge(&filter));
                return done.map_or_else(Seen::Misuse, |()| Seen::Ok);
            }
            Command::Publish(topic) => {
                let change = topic.change();
                either!(&mut self.real, it => it.publish(change), it.publish(change));
            }
            Command::PublishResources(prefix) => {
                let matches = |uri: &str| uri.starts_with(prefix);
                either!(&mut self.real, it => it.publish_resources(&matches), it.publish_resources(&matches));
            }
            Command::EndSubscription { nth } => {
                let serving = self.ids[*nth];
                let done = either!(&mut self.real, it => it.end_subscription(serving), it.end_subscription());
                return done.map_or_else(Seen::Misuse, |()| Seen::Ok);
            }
            Command::Transmit => return self.transmit(),
            Command::Timeout => either!(&mut self.real, it => it.handle_timeout(now), { let _ = it; }),
            Command::InputEnd => either!(&mut self.real, it => it.handle_input_end(now), { let _ = it; }),
            Command::StreamEnd => {
                either!(&mut self.real, it => it.handle_stream_end(now), it.handle_stream_end());
            }
            Command::Close => either!(&mut self.real, it => it.close(now), it.close()),
            Command::Poll => return self.poll(),
            Command::Nothing => {}
        }
        Seen::Nothing
    }

    fn check(&self, model: &Model) {
        let unsent = either!(&self.real, it => it.unsent_bytes(), it.unsent_bytes());
        assert_eq!(unsent > 0, model.has_output(), "7: bytes of nobody");
        let finished = either!(&self.real, it => it.is_finished(), it.is_finished());
        assert_eq!(finished, model.is_finished());
        for (nth, request) in model.requests.iter().enumerate() {
            let Some(serving) = self.ids.get(nth) else { continue };
            let running = either!(&self.real, it => it.is_running(*serving), it.is_running());
            assert_eq!(running, request.at == At::Running, "request {nth}");
            if running && !model.setup.single {
                assert_eq!(serving.index() as usize, request.place);
            }
        }
        if let Real::Single(exchange) = &self.real {
            assert_eq!(exchange.is_subscription(), model.subscriptions() > 0);
        }
        if let Real::Channel(server) = &self.real {
            assert_eq!(server.in_flight(), model.in_flight());
            assert_eq!(server.subscriptions(), model.subscriptions());
            // 8: the limits hold.
            assert!(server.in_flight() <= model.setup.in_flight);
            assert!(server.subscriptions() <= model.setup.subscriptions);
            assert_eq!(server.has_output(), model.has_output());
            assert_eq!(server.wants_input(), model.reading == Reading::Open);
            // 4, 7: a deadline exactly while there is something for it to stop.
            let deadline = server.poll_timeout().map(|deadline| deadline.at().as_nanos());
            assert_eq!(deadline, model.deadline());
        }
    }

    /// Answers what is running and takes what waits: nothing is left (7). Then the channel goes: nothing is possible any more
    /// (13).
    fn end(mut self, mut model: Model) {
        // Every other run loses its channel in the middle of things.
        if self.ids.len().is_multiple_of(2) {
            frame::both(&mut self, &mut model, &Command::StreamEnd);
        }
        while frame::both(&mut self, &mut model, &Command::Poll) != Seen::Nothing {}
        for nth in 0..model.told_of {
            frame::both(&mut self, &mut model, &Command::Respond { nth, how: Answer::Result });
            frame::both(&mut self, &mut model, &Command::Respond { nth, how: Answer::Refusal });
            frame::both(&mut self, &mut model, &Command::EndSubscription { nth });
        }
        while frame::both(&mut self, &mut model, &Command::Transmit) != Seen::Nothing {}
        self.check_empty();
        for command in [
            Command::StreamEnd,
            Command::Odd(0),
            Command::Oversized,
            Command::Timeout,
            Command::Close,
            Command::InputEnd,
        ] {
            frame::both(&mut self, &mut model, &command);
            self.check_empty();
        }
    }
}

/// Whose a request is, read off the request.
fn client_of(request: &Request) -> u8 {
    let info: Value = serde_json::from_str(request.client_info().unwrap()).unwrap();
    let client = info["version"].as_str().unwrap().parse().unwrap();
    assert_eq!(request.client_capabilities(), if client == 3 { r#"{"roots":{}}"# } else { "{}" });
    client
}

/// What a request asked, read off the request.
fn asked(request: &Request) -> Ask {
    let carried = (request.input_responses(), request.request_state());
    match request.method() {
        Method::ToolsList => Ask::List,
        Method::SubscriptionsListen => {
            let filter = serde_json::to_value(request.subscription_filter().unwrap()).unwrap();
            Ask::Listen((0..8).find(|which| Filter::of(*which).json() == filter).unwrap())
        }
        Method::ToolsCall => {
            assert_eq!(request.name(), Some("tool"));
            let (Some(responses), Some(state)) = carried else {
                assert_eq!(carried, (None, None));
                return Ask::Call;
            };
            assert_eq!(serde_json::from_str::<Value>(responses).unwrap(), answers());
            assert_eq!(state, STATE);
            Ask::Again
        }
        other => panic!("{other:?}"),
    }
}

fn asks(how: Asks) -> InputRequiredResult {
    let mut asks = InputRequiredResult::default();
    if matches!(how, Asks::Questions | Asks::Both) {
        let roots: InputRequests = serde_json::from_str("{\"k\u{e9}\":{\"method\":\"roots/list\"}}").unwrap();
        asks = asks.with_input_requests(roots);
    }
    if matches!(how, Asks::State | Asks::Both) {
        asks = asks.with_request_state(STATE);
    }
    asks
}

impl System {
    fn message(&mut self, now: Now, bytes: &[u8]) {
        either!(&mut self.real, it => it.handle_message(now, bytes), it.handle_message(bytes));
    }

    pub(crate) fn poll(&mut self) -> Seen {
        let event = self.collect();
        self.events.extend(event.clone());
        event.map_or(Seen::Nothing, Seen::Event)
    }

    fn collect(&mut self) -> Option<Event> {
        let nth = |ids: &[ServingId], serving| ids.iter().position(|id| *id == serving).unwrap();
        Some(match either!(&mut self.real, it => it.poll_event(), it.poll_event())? {
            ServerEvent::Request { serving, request } => {
                assert!(!self.ids.contains(&serving), "an id was reused");
                assert_eq!(request.protocol_version(), "2026-07-28");
                self.ids.push(serving);
                self.filters.push(request.subscription_filter());
                Event::Request(self.ids.len() - 1, asked(&request), client_of(&request))
            }
            ServerEvent::Stopped { serving, why } => Event::Stopped(nth(&self.ids, serving), why.code()),
            ServerEvent::Violation(rule) => Event::Violation(rule),
            other => panic!("{other:?}"),
        })
    }

    fn respond(&mut self, nth: usize, how: Answer) -> Seen {
        let serving = self.ids[nth];
        let n = format!("\"n\":{nth}");
        let members = WrittenBody { members: n.as_bytes(), meta: None };
        let data = RawJson::from_text("[1]").unwrap();
        let refusal = ErrorReply { code: -32602, message: "no", data: Some(data.as_raw()) };
        let done = match how {
            Answer::Result => {
                either!(&mut self.real, it => it.respond(serving, &members), it.respond(&members))
            }
            Answer::NotEncodable => {
                either!(&mut self.real, it => it.respond(serving, &NotEncodable), it.respond(&NotEncodable))
            }
            Answer::Refusal => {
                let status = Status::Ok;
                either!(&mut self.real, it => it.refuse(serving, status, &refusal), it.refuse(status, &refusal))
                    .map(Ok)
            }
        };
        done.map_or_else(Seen::Misuse, |encoded| Seen::Answered { encoded: encoded.is_ok() })
    }

    fn transmit(&mut self) -> Seen {
        let mut out = b"before".to_vec();
        let Some(transmit) =
            either!(&mut self.real, it => it.poll_transmit(&mut out), it.poll_transmit(&mut out))
        else {
            assert_eq!(out, b"before");
            return Seen::Nothing;
        };
        let line = out.strip_prefix(b"before").unwrap();
        assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
        let mut json: Value = serde_json::from_slice(line).unwrap();
        if let Some(message) = json.pointer_mut("/error/message") {
            assert!(!message.as_str().unwrap().is_empty());
            *message = "...".into();
        }
        // Whole numbers read as integers.
        for at in ["/params/progress", "/params/total"] {
            if let Some(number) = json.pointer_mut(at) {
                *number = number.as_f64().into();
            }
        }
        Seen::Sent { kind: transmit.kind, last: transmit.last, json }
    }

    /// Nothing is left.
    fn check_empty(&mut self) {
        assert_eq!(self.poll(), Seen::Nothing);
        assert_eq!(self.transmit(), Seen::Nothing);
        if let Real::Channel(server) = &self.real {
            assert_eq!((server.in_flight(), server.unsent_bytes()), (0, 0));
            assert_eq!(server.poll_timeout(), None);
            assert!(!server.has_output());
        }
    }

    /// Requests collected.
    pub(crate) fn collected(&self) -> usize {
        self.ids.len()
    }

    /// Violations dropped because nobody collected.
    pub(crate) fn dropped(&self) -> u64 {
        either!(&self.real, it => it.dropped_violations(), { let _ = it; 0 })
    }
}

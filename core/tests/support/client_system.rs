//! The real client under the model's commands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::client::call::State;
use sansio_mcp::client::{
    Abandon, CallSpec, Client, ClientConfig, ClientEvent, ClientKind, InputAnswer, Outcome, Refused, Routing,
    StreamId,
};
use sansio_mcp::id::CallId;
use sansio_mcp::limits::ClientLimits;
use sansio_mcp::model::RawJson;
use sansio_mcp::model::{ClientCapabilities, Implementation};
use sansio_mcp::time::{Mono, Now};
use serde_json::Value;

use crate::client_listens::Topic;
use crate::client_model::{At, Binding, Command, Event, Model, Seen, Setup, arguments};
use crate::client_ops::{Message, NEWER, OLDER};
use crate::frame::{self, Engine};

pub(crate) struct System {
    pub(crate) client: Client,
    ids: Vec<CallId>,
    names: BTreeMap<CallId, usize>,
    streams: Vec<StreamId>,
    finished: BTreeSet<usize>,
    /// The largest deadline that was handled, and whether it was just now.
    handled: Option<u64>,
    /// Events collected, in order.
    pub(crate) events: Vec<Event>,
}

impl Engine for System {
    type Model = Model;

    fn of(setup: Setup) -> Self {
        let (routing, abandon) = match setup.binding {
            Binding::Shared => (Routing::Shared, Abandon::Notify),
            Binding::StreamsThatClose => (Routing::PerRequest, Abandon::CloseStream),
            Binding::StreamsThatNotify => (Routing::PerRequest, Abandon::Notify),
        };
        let mut limits = ClientLimits::default();
        limits.calls = setup.calls;
        let config = ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default())
            .binding(routing, abandon)
            .limits(limits)
            .versions([NEWER, OLDER])
            .build()
            .unwrap();
        Self {
            client: Client::new(Arc::new(config)),
            ids: Vec::new(),
            names: BTreeMap::new(),
            streams: vec![StreamId::SHARED],
            finished: BTreeSet::new(),
            handled: None,
            events: Vec::new(),
        }
    }

    fn run(&mut self, told: u64, command: &Command) -> Seen {
        let now = Now::at(Mono::from_nanos(told));
        self.handled = None;
        let misuse = |done: Result<(), _>| done.map_or_else(Seen::Misuse, |()| Seen::Ok);
        match command {
            Command::Call(spec) => {
                let nth = self.ids.len();
                let mut call = if spec.tool {
                    CallSpec::tool("tool", &arguments(nth)["arguments"]).unwrap()
                } else {
                    CallSpec::list_tools(None)
                };
                if spec.progress {
                    call = call.progress();
                }
                if let Some(idle) = spec.idle {
                    call = call.idle_timeout(Duration::from_nanos(idle));
                }
                let meta = serde_json::json!({"traceparent": format!("00-{nth}")});
                let call = call.total_timeout(spec.total.map(Duration::from_nanos)).meta(&meta).unwrap();
                let called = self.client.call(now, call);
                self.called(called)
            }
            Command::Listen(filter, within) => {
                let spec = filter.spec().acknowledged_within(within.map(Duration::from_nanos));
                let called = self.client.listen(now, &spec);
                self.called(called)
            }
            Command::Ready => self.ready(),
            Command::Transmit(stream) => self.transmit(*stream),
            Command::Message { stream, message } => {
                self.client.handle_message(now, self.streams[*stream], &message.bytes());
                Seen::Nothing
            }
            Command::Answer { call, answers } => {
                let raw: Vec<_> =
                    answers.iter().map(|(_, answer)| RawJson::from_value(answer).unwrap()).collect();
                let answers: Vec<InputAnswer<'_>> = answers
                    .iter()
                    .zip(&raw)
                    .map(|((key, _), result)| InputAnswer { key, result: result.as_raw() })
                    .collect();
                misuse(self.client.answer(now, self.ids[*call], &answers))
            }
            Command::Cancel { call, reason } => {
                let reason = reason.then_some("changed my mind");
                misuse(self.client.cancel(now, self.ids[*call], reason))
            }
            Command::StreamEnd(stream) => {
                self.client.handle_stream_end(now, self.streams[*stream], "reset");
                Seen::Nothing
            }
            Command::Timeout => {
                self.client.handle_timeout(now);
                self.handled = Some(told);
                Seen::Nothing
            }
            Command::Poll => self.poll(),
            Command::Close => {
                self.client.close(now);
                Seen::Nothing
            }
            Command::Nothing => Seen::Nothing,
        }
    }

    fn check(&self, model: &Model) {
        let client = &self.client;
        assert_eq!(client.open_calls(), model.open().len());
        assert_eq!(client.has_output(), model.has_output());
        assert_eq!(client.is_closed(), model.closed);
        // 8: the limit holds.
        assert!(client.open_calls() <= model.setup.calls);
        for (nth, call) in model.calls.iter().enumerate() {
            let state = client.state(self.ids[nth]);
            let (at, round) = match state {
                None => (At::Over, call.round),
                Some(State::Queued(count)) => (At::Queued, count.round),
                Some(State::InFlight(count)) => (At::InFlight, count.round),
                Some(State::AwaitingInput(count)) => (At::Asked, count.round),
                Some(State::BackingOff(count)) => (At::Pausing, count.round),
                Some(other) => panic!("{other:?} is never seen from outside"),
            };
            assert_eq!((at, round), (call.at, call.round), "call {nth}");
            // 12: never more than eight rounds.
            assert!(round <= 8);
            let active = call.at != At::Over && call.listens.as_ref().is_some_and(|(_, active)| *active);
            assert_eq!(client.is_listening(self.ids[nth]), active, "call {nth}");
            if state.is_some() {
                assert_eq!(self.ids[nth].index() as usize, call.place);
            }
        }
        // 4: what is told is never later than what is due; once handled, the next is later.
        let told = client.poll_timeout().map(|deadline| deadline.at().as_nanos());
        assert_eq!(told.is_some(), model.next_deadline().is_some(), "7: a deadline of nobody");
        if let (Some(told), Some(due)) = (told, model.next_deadline()) {
            assert!(told <= due, "told {told}, due {due}");
            assert!(self.handled.is_none_or(|handled| told > handled), "not later than what was handled");
        }
    }

    /// Cancels what is open and takes what waits: nothing is left (7). Then closes: nothing is possible any more (13). Every
    /// other run closes in the middle of things.
    fn end(mut self, mut model: Model) {
        let mut both = |system: &mut Self, command: Command| frame::both(system, &mut model, &command);
        let calls = self.ids.len();
        let closes_at_once = calls.is_multiple_of(2);
        for call in 0..calls {
            if closes_at_once && call > 0 {
                break;
            }
            both(&mut self, Command::Cancel { call, reason: true });
        }
        if closes_at_once {
            both(&mut self, Command::Close);
        }
        // Some were named before and not taken.
        while let Seen::Ready(1..) = both(&mut self, Command::Ready) {}
        for stream in 0..self.streams.len() {
            while both(&mut self, Command::Transmit(stream)) != Seen::Nothing {}
        }
        while both(&mut self, Command::Poll) != Seen::Nothing {}
        self.check_empty();
        both(&mut self, Command::Close);
        both(&mut self, Command::Message { stream: 0, message: Message::Junk(0) });
        both(&mut self, Command::Timeout);
        self.check_empty();
        assert!(self.client.is_closed());
    }
}

impl System {
    fn called(&mut self, called: Result<CallId, Refused>) -> Seen {
        let nth = self.ids.len();
        match called {
            Err(refused) => Seen::Refused(refused),
            Ok(id) => {
                assert_eq!(self.names.insert(id, nth), None, "an id was reused");
                self.ids.push(id);
                Seen::Called(nth)
            }
        }
    }

    fn ready(&mut self) -> Seen {
        let Some(stream) = self.client.poll_ready_stream() else {
            return Seen::Nothing;
        };
        let known = self.streams.iter().position(|known| *known == stream);
        Seen::Ready(known.unwrap_or_else(|| {
            self.streams.push(stream);
            self.streams.len() - 1
        }))
    }

    fn transmit(&mut self, stream: usize) -> Seen {
        let mut out = b"before".to_vec();
        let Some(transmit) = self.client.poll_transmit(self.streams[stream], &mut out) else {
            assert_eq!(out, b"before");
            return Seen::Nothing;
        };
        let line = out.strip_prefix(b"before").unwrap();
        assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
        let call = match transmit.kind {
            ClientKind::Request(id) => {
                // 1: nothing is sent for what has finished.
                assert!(self.client.state(id).is_some());
                assert!(self.client.method(id).is_some());
                Some(self.names[&id])
            }
            ClientKind::Notification => None,
            ClientKind::CloseStream => {
                assert!(line.is_empty() && transmit.last);
                return Seen::CloseStream;
            }
            other => panic!("{other:?}"),
        };
        Seen::Sent { call, last: transmit.last, json: serde_json::from_slice::<Value>(line).unwrap() }
    }

    pub(crate) fn poll(&mut self) -> Seen {
        let Some(event) = self.client.poll_event() else {
            return Seen::Nothing;
        };
        let event = match event {
            ClientEvent::Progress { call, progress, .. } => Event::Progress(self.names[&call], progress),
            ClientEvent::InputRequired { call, round, questions } => Event::Asked {
                call: self.names[&call],
                round,
                keys: questions.iter().map(|question| question.key.to_string()).collect(),
            },
            ClientEvent::Listening { call, acknowledged } => {
                Event::Listening(self.names[&call], serde_json::from_str(&acknowledged).unwrap())
            }
            ClientEvent::Changed { call, change } => Event::Changed(self.names[&call], Topic::of(&change)),
            ClientEvent::Finished { call, outcome } => {
                // 1: exactly once, and nothing follows.
                assert!(self.finished.insert(self.names[&call]), "finished twice");
                assert_eq!(self.client.state(call), None);
                match outcome {
                    Outcome::BadPeer(rule) => Event::BadPeer(self.names[&call], rule),
                    outcome => Event::Finished(self.names[&call], outcome.code()),
                }
            }
            ClientEvent::Violation(rule) => Event::Violation(rule),
            other => panic!("{other:?}"),
        };
        if let Event::Progress(call, _)
        | Event::Asked { call, .. }
        | Event::Listening(call, _)
        | Event::Changed(call, _) = &event
        {
            assert!(!self.finished.contains(call), "something follows the end");
        }
        self.events.push(event.clone());
        Seen::Event(event)
    }

    /// Nothing is left.
    fn check_empty(&mut self) {
        assert_eq!(self.client.open_calls(), 0);
        assert!(!self.client.has_output());
        assert_eq!(self.client.poll_timeout(), None);
        assert_eq!(self.client.poll_event(), None);
        assert_eq!(self.client.poll_ready_stream(), None);
        for stream in &self.streams {
            assert_eq!(self.client.poll_transmit(*stream, &mut Vec::new()), None);
        }
        assert_eq!(self.finished.len(), self.ids.len(), "1: every call finished");
    }
}

//! What a client must do, as naively as it can be said. The state is that of the model.

use sansio_mcp::client::Refused;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};

use crate::client_listens::Filter;
use crate::client_model::{At, Attempt, Binding, Call, Command, Event, MS, Model, Seen, Spec, arguments};
use crate::client_ops::{JUNK, Message, NEWER, OLDER, Reply, STATE, WireId};

impl Model {
    pub(crate) fn obey(&mut self, command: &Command) -> Seen {
        match command {
            Command::Call(spec) => self.call(*spec, None),
            Command::Listen(filter, within) => {
                let spec = Spec { tool: false, progress: false, idle: None, total: *within };
                self.call(spec, Some(filter.clone()))
            }
            Command::Ready => self.ready(),
            Command::Transmit(stream) => self.transmit(*stream),
            Command::Message { stream, message } => {
                if !self.closed {
                    self.received(*stream, *message);
                }
                Seen::Nothing
            }
            Command::Answer { call, answers } => self.answer(*call, answers),
            Command::Cancel { call, .. } if self.calls[*call].at == At::Over => Seen::Misuse(Misuse::Over),
            Command::Cancel { call, reason } => {
                self.abandon(*call, reason.then_some("changed my mind"));
                self.over(*call, Event::Finished(*call, "CANCELLED"));
                Seen::Ok
            }
            Command::StreamEnd(0) => self.end("LOST"),
            Command::Close => self.end("CLOSED"),
            Command::StreamEnd(stream) => {
                let id = self.streams[*stream];
                self.farewells.retain(|(other, _)| *other != id);
                if let Some(call) = self.attempted(id) {
                    self.over(call, Event::Finished(call, "LOST"));
                }
                Seen::Nothing
            }
            Command::Timeout => {
                while let Some((at, _, why, call)) = self.due().filter(|due| due.0 <= self.clock) {
                    assert!(at <= self.clock);
                    if why == "RETRY" {
                        self.send(call);
                    } else {
                        self.abandon(call, Some("timed out"));
                        self.over(call, Event::Finished(call, why));
                    }
                }
                Seen::Nothing
            }
            Command::Poll => self.events.pop_front().map_or(Seen::Nothing, Seen::Event),
            Command::Nothing => Seen::Nothing,
        }
    }

    fn call(&mut self, spec: Spec, listens: Option<Filter>) -> Seen {
        let unread =
            self.events.iter().filter(|event| matches!(event, Event::Finished(..) | Event::BadPeer(..)));
        if self.closed {
            return Seen::Refused(Refused::Closed);
        }
        if self.open().len() + unread.count() >= self.setup.calls {
            return Seen::Refused(Refused::TooManyCalls);
        }
        self.calls.push(Call {
            place: self.places.pop().unwrap(),
            at: At::Over,
            spec,
            id: 0,
            round: 0,
            corrected: false,
            older: self.older,
            state: false,
            answers: None,
            last: None,
            idle: None,
            total: None,
            total_left: spec.total,
            retry: None,
            listens: listens.map(|filter| (filter, false)),
        });
        self.send(self.calls.len() - 1);
        Seen::Called(self.calls.len() - 1)
    }

    fn send(&mut self, nth: usize) {
        self.attempts.push(Attempt { call: nth, stream: None, unnamed: true });
        let call = &mut self.calls[nth];
        call.at = At::Queued;
        call.id = i64::try_from(self.attempts.len()).unwrap();
        call.last = None;
        call.retry = None;
        call.idle = call.spec.idle.map(|idle| self.clock + idle);
        call.total = call.total_left.take().map(|left| self.clock + left).or(call.total);
    }

    /// The earliest deadline; of equal ones that of the lower place.
    pub(crate) fn due(&self) -> Option<(u64, (usize, usize), &'static str, usize)> {
        let open = self.calls.iter().enumerate().filter(|(_, call)| call.at != At::Over);
        let all = open.flat_map(|(nth, call)| {
            let each =
                [(call.idle, "TIMED_OUT_IDLE"), (call.total, "TIMED_OUT_TOTAL"), (call.retry, "RETRY")];
            (0..3).filter_map(move |n| Some((each[n].0?, (call.place, n), each[n].1, nth)))
        });
        all.min()
    }

    /// The call whose attempt this is, unless that is over.
    pub(crate) fn attempted(&self, id: i64) -> Option<usize> {
        self.open().into_iter().find(|nth| {
            let call = &self.calls[*nth];
            call.id == id && matches!(call.at, At::Queued | At::InFlight)
        })
    }

    fn abandon(&mut self, nth: usize, reason: Option<&'static str>) {
        let call = &self.calls[nth];
        if call.at == At::InFlight {
            self.farewells.push((call.id, reason));
            self.attempts[usize::try_from(call.id - 1).unwrap()].unnamed = true;
        }
    }

    fn over(&mut self, nth: usize, event: Event) {
        self.calls[nth].at = At::Over;
        self.places.push(self.calls[nth].place);
        self.events.push_back(event);
    }

    fn end(&mut self, how: &'static str) -> Seen {
        let mut open = self.open();
        open.sort_by_key(|nth| self.calls[*nth].place);
        for nth in open {
            if how == "CLOSED" {
                self.abandon(nth, None);
            }
            self.over(nth, Event::Finished(nth, how));
        }
        if how == "LOST" {
            self.farewells.clear();
        }
        self.closed = true;
        Seen::Nothing
    }

    fn ready(&mut self) -> Seen {
        if self.shared() {
            return if self.has_output() { Seen::Ready(0) } else { Seen::Nothing };
        }
        let queued = (1..).zip(&self.attempts).filter(|(id, attempt)| {
            let call = &self.calls[attempt.call];
            call.at == At::Queued && call.id == *id
        });
        let candidates = self.farewells.iter().map(|(id, _)| *id).chain(queued.map(|(id, _)| id));
        let mut unnamed = candidates.filter(|id| self.attempts[usize::try_from(*id - 1).unwrap()].unnamed);
        let Some(id) = unnamed.next() else {
            return Seen::Nothing;
        };
        let attempt = &mut self.attempts[usize::try_from(id - 1).unwrap()];
        attempt.unnamed = false;
        if attempt.stream.is_none() {
            attempt.stream = Some(self.streams.len());
            self.streams.push(id);
        }
        Seen::Ready(attempt.stream.unwrap())
    }

    fn transmit(&mut self, stream: usize) -> Seen {
        if self.shared() != (stream == 0) {
            return Seen::Nothing;
        }
        let id = self.streams[stream];
        let matches = |other: i64| self.shared() || other == id;
        if let Some(at) = self.farewells.iter().position(|(other, _)| matches(*other)) {
            let (id, reason) = self.farewells.remove(at);
            if self.setup.binding == Binding::StreamsThatClose {
                return Seen::CloseStream;
            }
            let mut json =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
            if let Some(reason) = reason {
                json["params"]["reason"] = json!(reason);
            }
            let last = !self.shared();
            return Seen::Sent { call: None, last, json };
        }
        let queued = self.open().into_iter().filter(|nth| {
            let call = &self.calls[*nth];
            call.at == At::Queued && matches(call.id)
        });
        let Some(nth) = queued.min_by_key(|nth| self.calls[*nth].id) else {
            return Seen::Nothing;
        };
        self.calls[nth].at = At::InFlight;
        Seen::Sent {
            call: Some(nth),
            last: self.setup.binding == Binding::StreamsThatClose,
            json: self.request(nth),
        }
    }

    fn request(&self, nth: usize) -> Value {
        let call = &self.calls[nth];
        let (method, mut params) = match &call.listens {
            Some((filter, _)) => ("subscriptions/listen", json!({"notifications": filter.json()})),
            None if call.spec.tool => ("tools/call", arguments(nth)),
            None => ("tools/list", json!({})),
        };
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": if call.older { OLDER } else { NEWER },
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        if call.listens.is_none() {
            params["_meta"]["traceparent"] = json!(format!("00-{nth}"));
        }
        if call.spec.progress || call.spec.idle.is_some() {
            params["_meta"]["progressToken"] = json!(call.id);
        }
        if let Some(answers) = &call.answers {
            params["inputResponses"] = answers.clone();
        }
        if call.state {
            params["requestState"] = json!(STATE);
        }
        json!({"jsonrpc": "2.0", "id": call.id, "method": method, "params": params})
    }

    pub(crate) fn violation(&mut self, violation: PeerViolation) {
        let waiting = self.events.iter().filter(|event| matches!(event, Event::Violation(_)));
        if waiting.count() < 64 {
            self.events.push_back(Event::Violation(violation));
        }
    }

    fn received(&mut self, stream: usize, message: Message) {
        let (id, unknown) = match message {
            Message::Junk(which) => return JUNK[which].1.into_iter().for_each(|rule| self.violation(rule)),
            Message::Progress { value: None, .. } => return self.violation(PeerViolation::MalformedProgress),
            Message::Progress { token, .. } => (token, PeerViolation::UnknownToken),
            Message::Response { id, .. } => (id, PeerViolation::UnknownResponse),
            Message::Told { subscription, .. } => (subscription, PeerViolation::NotSubscribed),
        };
        let WireId::Int(id) = id else {
            return self.violation(unknown);
        };
        if !self.shared() && (stream == 0 || self.streams[stream] != id) {
            return self.violation(PeerViolation::WrongStream);
        }
        if !(1..=i64::try_from(self.attempts.len()).unwrap()).contains(&id) {
            return self.violation(unknown);
        }
        match (self.attempted(id), message) {
            // Late: of an attempt that is over.
            (None, _) => {}
            (Some(nth), _) if self.calls[nth].at == At::Queued => self.violation(unknown),
            (Some(nth), Message::Response { reply, .. }) => self.replied(nth, reply),
            (Some(nth), Message::Progress { value, .. }) => self.progressed(nth, value.unwrap()),
            (Some(nth), Message::Told { what, .. }) => self.told(nth, what),
            (Some(_), Message::Junk(_)) => unreachable!(),
        }
    }

    fn progressed(&mut self, nth: usize, value: f64) {
        let call = &mut self.calls[nth];
        if !call.spec.progress && call.spec.idle.is_none() {
            return self.violation(PeerViolation::UnknownToken);
        }
        if call.last.is_some_and(|last| value <= last) {
            return self.violation(PeerViolation::ProgressNotIncreasing);
        }
        let first_of_attempt = call.last.is_none();
        call.last = Some(value);
        call.idle = call.spec.idle.map(|idle| self.clock + idle);
        let mine = |event: &Event| matches!(event, Event::Progress(call, _) if *call == nth);
        let full = self.events.iter().filter(|event| mine(event)).count() >= 16;
        match self.events.iter_mut().rfind(|event| mine(event)) {
            Some(newest) if full && !first_of_attempt => *newest = Event::Progress(nth, value),
            _ => self.events.push_back(Event::Progress(nth, value)),
        }
    }

    fn replied(&mut self, nth: usize, reply: Reply) {
        let call = &mut self.calls[nth];
        if call.corrected && !matches!(reply, Reply::Version { .. }) {
            self.older = call.older;
        }
        let bad = |rule| Event::BadPeer(nth, rule);
        let ends = match reply {
            Reply::Complete { .. } => Some(Event::Finished(nth, "COMPLETE")),
            Reply::Error => Some(Event::Finished(nth, "PEER_ERROR")),
            Reply::Version { supported } => {
                let other = if call.older { NEWER } else { OLDER };
                // A subscription that was acknowledged is past correcting.
                let active = call.listens.as_ref().is_some_and(|(_, active)| *active);
                let same = if call.older { OLDER } else { NEWER };
                let mutual = supported.contains(&other) || supported.contains(&same);
                if mutual && !call.corrected && !active {
                    call.corrected = true;
                    call.older ^= supported.contains(&other);
                    return self.send(nth);
                }
                Some(Event::Finished(nth, "PEER_ERROR"))
            }
            Reply::UnknownType => Some(bad(PeerViolation::UnknownResultType)),
            Reply::Malformed(_) => Some(bad(PeerViolation::MalformedResult)),
            Reply::Ask { .. } | Reply::State | Reply::Neither { .. } if !call.spec.tool => {
                Some(bad(PeerViolation::InputNotAllowed))
            }
            Reply::Neither { .. } => Some(bad(PeerViolation::InputWithoutContent)),
            Reply::Ask { .. } | Reply::State if call.round == 8 => {
                Some(Event::Finished(nth, "ROUNDS_EXCEEDED"))
            }
            Reply::Ask { .. } | Reply::State => None,
        };
        if let Some(event) = ends {
            return self.over(nth, event);
        }
        call.round += 1;
        call.state = reply.has_state();
        call.answers = None;
        call.idle = None;
        if reply == Reply::State {
            call.at = At::Pausing;
            let pause = [50, 100, 200, 250][usize::from(call.round.min(4) - 1)];
            call.retry = Some(self.clock + pause * MS);
        } else {
            call.at = At::Asked;
            call.total_left = call.total.take().map(|total| total.saturating_sub(self.clock));
            self.events.push_back(Event::Asked { call: nth, round: call.round, keys: reply.keys() });
        }
    }

    fn answer(&mut self, nth: usize, answers: &[(String, Value)]) -> Seen {
        match self.calls[nth].at {
            At::Over => Seen::Misuse(Misuse::Over),
            At::Queued | At::InFlight | At::Pausing => Seen::Misuse(Misuse::NotAsked),
            At::Asked if answers.iter().any(|(_, answer)| !answer.is_object()) => {
                Seen::Misuse(Misuse::NotAnObject)
            }
            At::Asked => {
                self.calls[nth].answers = Some(Value::Object(answers.iter().cloned().collect()));
                self.send(nth);
                Seen::Ok
            }
        }
    }
}

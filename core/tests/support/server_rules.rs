//! What a server must do, as naively as it can be said. The state is that of the model.

use std::collections::VecDeque;

use sansio_mcp::misuse::Misuse;
use sansio_mcp::server::{Kind, Reported, Status};
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};

use crate::server_listens::{Listens, Phase, UNSENT};
use crate::server_model::{Answer, Asks, At, Command, Event, MS, Model, Own, Reading, Request, Seen};
use crate::server_ops::{Ask, ODD, Odd, STATE, error};

impl Model {
    pub(crate) fn obey(&mut self, command: &Command) -> Seen {
        match command {
            Command::Request { .. } | Command::Cancel { .. } | Command::Odd(_) | Command::Oversized => {
                if self.setup.single {
                    self.read_one(command);
                } else if self.reading == Reading::Open {
                    self.read(command);
                }
                Seen::Nothing
            }
            Command::Progress { nth, value } => self.progress(*nth, *value),
            Command::Respond { nth, how } => self.respond(*nth, *how),
            Command::Ask { nth, how } => self.ask(*nth, *how),
            Command::Notify { nth } => self.notify(*nth),
            Command::Acknowledge { nth, less } => self.acknowledge(*nth, *less),
            Command::Publish(topic) => {
                self.publish(&|other| other == topic);
                Seen::Nothing
            }
            Command::PublishResources(prefix) => {
                self.publish(&|topic| topic.begins_with(prefix));
                Seen::Nothing
            }
            Command::EndSubscription { nth } => self.end_subscription(*nth),
            Command::Transmit => self.transmit(),
            Command::Timeout => {
                if self.grace.is_some_and(|grace| grace <= self.clock) {
                    self.grace = None;
                    self.stop_all("CLOSING");
                }
                Seen::Nothing
            }
            Command::InputEnd => {
                if !self.setup.single && self.reading == Reading::Open {
                    self.reading = Reading::Ended;
                    self.grace = Some(self.clock + 1500 * MS);
                    self.end_subscriptions();
                }
                Seen::Nothing
            }
            Command::Close => {
                self.end_subscriptions();
                self.reading = self.reading.max(Reading::Ended);
                self.grace = None;
                self.stop_all("CLOSING");
                Seen::Nothing
            }
            Command::StreamEnd => {
                self.reading = Reading::Closed;
                self.grace = None;
                self.stop_all("LOST");
                for nth in 0..self.requests.len() {
                    self.over(nth);
                    self.requests[nth].gone = true;
                }
                self.control.clear();
                self.own.clear();
                Seen::Nothing
            }
            Command::Poll => {
                let event = self.events.pop_front();
                self.told_of += usize::from(matches!(event, Some(Event::Request(..))));
                event.map_or(Seen::Nothing, Seen::Event)
            }
            Command::Nothing => Seen::Nothing,
        }
    }

    /// A message on a channel.
    fn read(&mut self, command: &Command) {
        match command {
            Command::Request { id, token, ask, client } => {
                if self.ids_in_use().contains(id) {
                    if self.own.iter().any(|own| own.id == *id) {
                        self.met.insert("duplicate of an own answer");
                    }
                    self.violation(PeerViolation::DuplicateId);
                } else if !ask.is_served() {
                    if *ask == Ask::StrayState {
                        self.violation(PeerViolation::StateNotAllowed);
                    }
                    self.answer(id, ask.answer(id));
                } else if self.has_room() && !self.listens_enough(*ask) {
                    self.accept(id, token.as_ref(), *ask, *client);
                } else {
                    let data = json!({"code": "SERVER_BUSY", "retryAfterMs": 100 + self.in_flight()});
                    let busy = error(Some(id), 1001, Some(data));
                    self.answer(id, (Kind::Response(Status::Unavailable), busy));
                    self.violation(PeerViolation::TooManyRequests);
                }
            }
            Command::Cancel { id, .. } => {
                if let Some(nth) = self.live().into_iter().find(|nth| self.requests[*nth].id == *id) {
                    self.stop(nth, "CANCELLED");
                }
                if let Some(at) = self.own.iter().position(|own| own.id == *id) {
                    self.places.extend(self.own.remove(at).map(|own| own.place));
                    self.met.insert("own answer withdrawn");
                }
            }
            Command::Odd(which) => match ODD[*which].1 {
                Odd::Ignored => {}
                Odd::Noted(rule) => self.violation(rule),
                Odd::NotAMessage(code) => self.not_a_message(code),
            },
            _ => self.not_a_message(-32700),
        }
    }

    /// A message on the stream of an exchange: the first is all there is.
    fn read_one(&mut self, command: &Command) {
        let note = |model: &mut Self, rule| {
            // The newest violation is kept, behind what concerns the request.
            model.events.retain(|event| !matches!(event, Event::Violation(_)));
            model.events.push_back(Event::Violation(rule));
        };
        if self.reading > Reading::Open {
            return;
        }
        let is_message = match command {
            Command::Odd(which) => !matches!(ODD[*which].1, Odd::NotAMessage(_)),
            command => *command != Command::Oversized,
        };
        if std::mem::replace(&mut self.read, true) {
            let rule = if is_message { PeerViolation::SecondRequest } else { PeerViolation::NotAMessage };
            return note(self, rule);
        }
        match command {
            Command::Request { id, token, ask, client } if ask.is_served() => {
                self.accept(id, token.as_ref(), *ask, *client);
            }
            Command::Odd(which) if matches!(ODD[*which].1, Odd::Noted(_)) => {
                self.not_a_message(-32600);
                note(self, PeerViolation::ResponseToServer);
            }
            // A notification: nothing to answer.
            Command::Cancel { .. } => {}
            other => self.read(other),
        }
    }

    /// The ids of requests whose answer was not taken.
    pub(crate) fn ids_in_use(&self) -> Vec<Value> {
        let live = self.live().into_iter().map(|nth| &self.requests[nth].id);
        live.chain(self.own.iter().map(|own| &own.id)).cloned().collect()
    }

    fn has_room(&self) -> bool {
        let stops = self.events.iter().filter(|event| matches!(event, Event::Stopped(..)));
        self.in_flight() + stops.count() < self.setup.in_flight
    }

    /// The engine answers by itself.
    fn answer(&mut self, id: &Value, answer: (Kind, Value)) {
        // The id of an exchange is nobody else's, and it reads no cancel.
        if self.setup.single || !self.has_room() {
            self.met.insert("own answer without room");
            self.control.push_back(answer);
        } else {
            let place = self.places.pop().unwrap();
            self.own.push_back(Own { place, id: id.clone(), answer });
        }
    }

    fn accept(&mut self, id: &Value, token: Option<&Value>, ask: Ask, client: u8) {
        self.requests.push(Request {
            place: self.places.pop().unwrap(),
            at: At::Running,
            gone: false,
            ask,
            listens: Listens::of(ask),
            id: id.clone(),
            token: token.cloned(),
            last: None,
            queue: VecDeque::new(),
        });
        self.events.push_back(Event::Request(self.requests.len() - 1, ask, client));
    }

    fn not_a_message(&mut self, code: i64) {
        self.control.push_back((Kind::Response(Status::BadRequest), error(None, code, None)));
        self.violation(PeerViolation::NotAMessage);
    }

    /// As many subscriptions as may be.
    fn listens_enough(&mut self, ask: Ask) -> bool {
        let enough = matches!(ask, Ask::Listen(_)) && self.subscriptions() >= self.setup.subscriptions;
        self.met.extend(enough.then_some("too many subscriptions"));
        enough
    }

    fn violation(&mut self, rule: PeerViolation) {
        let waiting = self.events.iter().filter(|event| matches!(event, Event::Violation(_)));
        if waiting.count() < 64 {
            self.events.push_back(Event::Violation(rule));
        }
    }

    /// Ends a request, whatever is queued for it; tells of it if it was running.
    fn stop(&mut self, nth: usize, why: &'static str) {
        let running = self.requests[nth].at == At::Running;
        self.over(nth);
        self.requests[nth].gone = true;
        if running {
            let behind =
                self.setup.single.then(|| self.events.iter().position(|e| matches!(e, Event::Violation(_))));
            let at = behind.flatten().unwrap_or(self.events.len());
            self.events.insert(at, Event::Stopped(nth, why));
        }
    }

    fn stop_all(&mut self, why: &'static str) {
        let mut running = self.live();
        running.retain(|nth| self.requests[*nth].at == At::Running);
        running.sort_by_key(|nth| self.requests[*nth].place);
        for nth in running {
            self.stop(nth, why);
        }
    }

    fn over(&mut self, nth: usize) {
        let request = &mut self.requests[nth];
        request.gone |= !self.setup.single;
        request.queue.clear();
        if std::mem::replace(&mut request.at, At::Over) == At::Over {
            return;
        }
        self.places.push(request.place);
        self.turns.retain(|other| *other != nth);
    }

    pub(crate) fn queue(&mut self, nth: usize, kind: Kind, json: Value) {
        self.requests[nth].queue.push_back((kind, json));
        if !self.turns.contains(&nth) {
            self.turns.push_back(nth);
        }
    }

    fn progress(&mut self, nth: usize, value: f64) -> Seen {
        let request = &mut self.requests[nth];
        if request.at != At::Running {
            return Seen::Misuse(Misuse::Over);
        }
        if !value.is_finite() {
            return Seen::Misuse(Misuse::NotFinite);
        }
        let Some(token) = &request.token else {
            return Seen::Reported(Reported::NotAsked);
        };
        if request.last.is_some_and(|last| value <= last) {
            return Seen::Reported(Reported::NotIncreasing);
        }
        request.last = Some(value);
        let params = json!({"progressToken": token, "progress": value, "total": 100.0, "message": "m"});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        // 16 may wait; then the newest gives its place to the next, if nothing else stands behind it.
        let progress = request.queue.iter().filter(|(kind, _)| *kind == Kind::Progress).count();
        let behind_progress = request.queue.back().is_some_and(|(kind, _)| *kind == Kind::Progress);
        if behind_progress && (progress >= 16 || request.unsent() >= UNSENT) {
            *request.queue.back_mut().unwrap() = (Kind::Progress, message);
            return Seen::Reported(Reported::Replaced);
        }
        self.queue(nth, Kind::Progress, message);
        Seen::Reported(Reported::Queued)
    }

    /// A line of the log, dropped if too much waits.
    fn notify(&mut self, nth: usize) -> Seen {
        if self.requests[nth].at != At::Running {
            return Seen::Misuse(Misuse::Over);
        }
        let room = self.requests[nth].unsent() < UNSENT;
        if room {
            let params = json!({"level": "info", "data": "\u{e9}\"\n"});
            let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
            self.queue(nth, Kind::Notification, message);
        }
        Seen::Notified(room)
    }

    fn ask(&mut self, nth: usize, how: Asks) -> Seen {
        let request = &mut self.requests[nth];
        if request.at != At::Running {
            return Seen::Misuse(Misuse::Over);
        }
        if how == Asks::Neither || !matches!(request.ask, Ask::Call | Ask::Again) {
            return Seen::Misuse(Misuse::CannotAsk);
        }
        request.at = At::Answered;
        let mut result = json!({
            "resultType": "input_required",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
        });
        if matches!(how, Asks::Questions | Asks::Both) {
            result["inputRequests"] = json!({"k\u{e9}": {"method": "roots/list"}});
        }
        if matches!(how, Asks::State | Asks::Both) {
            result["requestState"] = json!(STATE);
        }
        let message = json!({"jsonrpc": "2.0", "id": request.id, "result": result});
        self.queue(nth, Kind::Response(Status::Ok), message);
        Seen::Ok
    }

    fn respond(&mut self, nth: usize, how: Answer) -> Seen {
        let request = &mut self.requests[nth];
        if request.gone {
            return Seen::Misuse(Misuse::Over);
        }
        // A subscription has no answer but a refusal, before it is accepted.
        if let Some(listens) = &mut request.listens {
            if how != Answer::Refusal || listens.phase != Phase::Opening {
                return Seen::Misuse(Misuse::Subscription);
            }
            listens.phase = Phase::Done;
        }
        if request.at != At::Running {
            return Seen::Misuse(Misuse::Over);
        }
        request.at = At::Answered;
        let id = request.id.clone();
        let message = match how {
            Answer::Result => json!({"jsonrpc": "2.0", "id": id, "result": {
                "resultType": "complete",
                "n": nth,
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
            }}),
            Answer::NotEncodable => error(Some(&id), -32603, None),
            Answer::Refusal => error(Some(&id), -32602, Some(json!([1]))),
        };
        self.queue(nth, Kind::Response(Status::Ok), message);
        Seen::Answered { encoded: how != Answer::NotEncodable }
    }

    fn transmit(&mut self) -> Seen {
        if let Some((kind, json)) = self.control.pop_front() {
            return Seen::Sent { kind, last: true, json };
        }
        if let Some(Own { place, answer: (kind, json), .. }) = self.own.pop_front() {
            self.places.push(place);
            return Seen::Sent { kind, last: true, json };
        }
        let Some(nth) = self.turns.pop_front() else {
            return Seen::Nothing;
        };
        let (kind, json) = self.requests[nth].queue.pop_front().unwrap();
        let last = matches!(kind, Kind::Response(_));
        if last {
            self.over(nth);
        } else if !self.requests[nth].queue.is_empty() {
            self.turns.push_back(nth);
        }
        Seen::Sent { kind, last, json }
    }
}

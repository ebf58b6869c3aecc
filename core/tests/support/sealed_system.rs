//! Calls over many rounds with sealed state, and a plain reference that remembers what each sealed text must mean.

use std::collections::BTreeMap;

use sansio_mcp::limits::MAX_ROUNDS;
use sansio_mcp::model::RawJson;
use sansio_mcp::server::continuation::{Bound, Continuation, Digest, Reason, open_state, seal_state};
use sansio_mcp::time::Now;
use serde_json::{Map, Value, json};

use crate::bytes::Bytes;
use crate::sealing::{Ring, asking, call, day, digest, key, request, ring};

const KEYS: [&str; 3] = ["a", "b", "c"];
/// Amounts of a question, which make it another one.
const AMOUNTS: u32 = 2;

/// What a continuation must hold.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Expected {
    pub(crate) round: u8,
    /// By key: the amount that was asked, and the answer.
    answers: BTreeMap<&'static str, (u32, Value)>,
    pending: BTreeMap<&'static str, u32>,
    own: Option<Value>,
}

/// A text that was handed out.
pub(crate) struct Issued {
    text: String,
    pub(crate) expected: Expected,
    bound: usize,
    at: i64,
    life: i64,
    key: u8,
}

pub(crate) struct System {
    /// Of every key with every amount.
    digests: Vec<Vec<Digest>>,
    ring: Ring,
    /// The keys on the ring, the sealing one first.
    keys: Vec<u8>,
    next_key: u8,
    bounds: Vec<Bound>,
    pub(crate) issued: Vec<Issued>,
    clock: i64,
    answers: u32,
    pub(crate) opened: u32,
}

impl System {
    fn new() -> Self {
        let method = Bound::of(&request("x/ask", r#""name":"t","arguments":{"x":1}"#), b"alice");
        let caller = Bound::of(&request("tools/call", r#""name":"t","arguments":{"x":1}"#), b"bob");
        let tools = [
            r#""name":"t","arguments":{"x":1}"#,
            r#""name":"t","arguments":{"x":2}"#,
            r#""name":"u","arguments":{"x":1}"#,
        ];
        let bounds = tools.into_iter().map(call).chain([method, caller]).collect();
        let amounts = |key: &&str| (0..AMOUNTS).map(|amount| digest(key, amount)).collect();
        Self {
            digests: KEYS.iter().map(amounts).collect(),
            ring: ring(0),
            keys: vec![0],
            next_key: 1,
            bounds,
            issued: Vec::new(),
            clock: 0,
            answers: 0,
            opened: 0,
        }
    }

    fn now(&self) -> Now {
        day(self.clock)
    }

    /// What opening must say.
    fn refusal(&self, issued: &Issued, bound: usize) -> Option<Reason> {
        if !self.keys.contains(&issued.key) {
            return Some(Reason::UnknownKey);
        }
        let (of, with) = (&self.bounds[issued.bound], &self.bounds[bound]);
        Some(match (issued.bound, bound) {
            _ if of == with && issued.at > self.clock + 60 => Reason::FromTheFuture,
            _ if of == with && self.clock >= issued.at + issued.life => Reason::Expired,
            _ if of == with => return None,
            (3, _) | (_, 3) => Reason::OtherMethod,
            (0, 4) | (4, 0) => Reason::OtherCaller,
            _ => Reason::OtherRequest,
        })
    }

    /// One attempt of a call, with the state at `pick` or without; asks again unless it must not.
    fn attempt(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        let (pick, how) = (bytes.next()?, bytes.next()?);
        let count = self.issued.len();
        let place = usize::from(pick) % (count + 1);
        let own_bound = self.issued.get(place).map(|issued| issued.bound);
        // Mostly the request that the state belongs to.
        let bound = match own_bound {
            Some(bound) if how % 8 > 0 => bound,
            _ => usize::from(how / 8) % self.bounds.len(),
        };
        let (mut continuation, mut expected) = match self.issued.get(place) {
            None => (Continuation::first(), Expected::default()),
            Some(issued) => {
                let opened = open_state(&self.ring, &issued.text, &self.bounds[bound], self.now());
                let refusal = self.refusal(issued, bound);
                assert_eq!(opened.as_ref().err().map(|refused| refused.reason()), refusal);
                let Ok(continuation) = opened else { return Some(()) };
                self.opened += 1;
                (continuation, issued.expected.clone())
            }
        };
        self.check(&continuation, &expected);
        self.answer(&mut continuation, &mut expected, bytes)?;
        self.check(&continuation, &expected);
        self.ask(continuation, expected, bound, bytes)
    }

    /// Answers of a client that may leave out, add and spoil some.
    fn answer(
        &mut self,
        continuation: &mut Continuation,
        expected: &mut Expected,
        bytes: &mut Bytes<'_>,
    ) -> Option<()> {
        let mut responses = Map::new();
        for key in KEYS {
            self.answers += 1;
            let good = json!({"action": "accept", "n": self.answers});
            let response = match bytes.next()? % 8 {
                0..=4 => good.clone(),
                5 => Value::Null,
                6 => json!(self.answers),
                _ => continue,
            };
            if let Some(amount) = expected.pending.get(key).filter(|_| response == good) {
                expected.answers.insert(key, (*amount, good));
            }
            responses.insert(key.into(), response);
        }
        responses.insert("extra".into(), json!({}));
        continuation.absorb(&Value::Object(responses).to_string());
        Some(())
    }

    fn ask(
        &mut self,
        continuation: Continuation,
        mut expected: Expected,
        bound: usize,
        bytes: &mut Bytes<'_>,
    ) -> Option<()> {
        let (which, own, life) = (bytes.next()?, bytes.next()?, bytes.next()?);
        let asked: Vec<(&'static str, u32)> = KEYS
            .into_iter()
            .enumerate()
            .filter(|(at, _)| which >> at & 1 == 1)
            .map(|(at, key)| (key, u32::from(which >> (at + 3)) % AMOUNTS))
            .collect();
        let own = (own % 3 > 0).then(|| json!({"own": own}));
        let raw = own.as_ref().map(|own| RawJson::from_value(own).unwrap());
        let next = continuation.next_round(asking(&asked), raw);
        if expected.round == MAX_ROUNDS {
            assert!(next.is_err());
            return Some(());
        }
        let next = next.unwrap();
        expected.round += 1;
        expected.pending = asked.into_iter().collect();
        expected.own = own;
        expected.answers.retain(|key, _| !expected.pending.contains_key(key));
        self.check(&next, &expected);
        let life = i64::from(life) + 1;
        let text = seal_state(
            &self.ring,
            &self.bounds[bound],
            &next,
            self.now(),
            std::time::Duration::from_secs(life.unsigned_abs()),
        );
        let (at, key) = (self.clock, self.keys[0]);
        self.issued.push(Issued { text: text.unwrap(), expected, bound, at, life, key });
        Some(())
    }

    /// Everything that can be asked of a continuation.
    fn check(&self, continuation: &Continuation, expected: &Expected) {
        assert_eq!(continuation.round(), expected.round);
        let own = continuation.own().map(|own| own.parse::<Value>().unwrap());
        assert_eq!(own, expected.own);
        let mut unanswered = Vec::new();
        for (key, digests) in KEYS.into_iter().zip(&self.digests) {
            for (amount, digest) in (0..AMOUNTS).zip(digests) {
                let answer = continuation.answer(key, digest);
                let answer = answer.map(|answer| answer.parse::<Value>().unwrap());
                let of_this = expected.answers.get(key).filter(|(of, _)| *of == amount);
                assert_eq!(answer.as_ref(), of_this.map(|(_, value)| value));
                if expected.pending.get(key) == Some(&amount) && of_this.is_none() {
                    unanswered.push(key);
                }
            }
        }
        assert_eq!(continuation.unanswered().collect::<Vec<_>>(), unanswered);
    }

    /// A character changed anywhere.
    fn tamper(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        let (pick, at, to) = (bytes.next()?, bytes.next()?, bytes.next()?);
        let Some(issued) = self.issued.get(usize::from(pick) % self.issued.len().max(1)) else {
            return Some(());
        };
        let at = usize::from(at) * issued.text.len() / 256;
        let mut text = issued.text.clone();
        text.replace_range(at..=at, &char::from(b'0' + to % 64).to_string());
        if text != issued.text {
            let opened = open_state(&self.ring, &text, &self.bounds[issued.bound], self.now());
            assert!(opened.is_err());
        }
        Some(())
    }

    fn keys(&mut self, how: u8) {
        if how.is_multiple_of(2) {
            self.ring.rotate(key(self.next_key));
            self.keys.insert(0, self.next_key);
            self.next_key += 1;
        } else if self.keys.len() > 1 {
            let oldest = self.keys.pop().unwrap();
            assert!(self.ring.remove(key(oldest).id()));
        }
    }

    fn step(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        match bytes.next()? {
            0..=179 => self.attempt(bytes)?,
            180..=209 => self.tamper(bytes)?,
            210..=219 => self.keys(bytes.next()?),
            // Another replica's clock may be behind.
            220..=225 => self.clock -= i64::from(bytes.next()?),
            226..=255 => self.clock += i64::from(bytes.next()?) / 4,
        }
        Some(())
    }
}

pub(crate) fn run(bytes: &[u8]) -> System {
    let mut system = System::new();
    let mut bytes = Bytes(bytes);
    while system.step(&mut bytes).is_some() && system.keys.len() < 100 {}
    system
}

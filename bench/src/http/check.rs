//! Checking what a response holds.

use std::cmp::Ordering;

use memchr::{memchr, memmem};
use serde::Deserialize;

use super::wire::Whole;
use crate::answers::Learned;
use crate::harness::Wrong;
use crate::load::{PROGRESS_MESSAGE, PROGRESS_STEPS};

/// Checks responses to calls of `echo` and `echo_progress`.
pub(super) struct Check<'a> {
    texts: &'a [String],
    events: bool,
    progress: u32,
    learned: Learned,
    /// How this server's right notifications look around the token, one for each step.
    notifications: Vec<(Vec<u8>, Vec<u8>)>,
}

impl<'a> Check<'a> {
    /// For servers that answer with events, or with JSON.
    pub(super) fn new(texts: &'a [String], events: bool, progress: u32) -> Self {
        Self {
            texts,
            events,
            progress,
            learned: Learned::of(texts.len()),
            notifications: vec![<(Vec<u8>, Vec<u8>)>::default(); PROGRESS_STEPS as usize],
        }
    }

    /// Whether this is the answer to the call of this id, with all of its notifications.
    pub(super) fn response(&mut self, id: u64, whole: &Whole<'_>) -> Result<(), Wrong> {
        if whole.events != self.events {
            return Err(Wrong("an answer of the other form".into()));
        }
        if !whole.events {
            return self.answer(id, whole.body);
        }
        let mut seen = 0;
        for message in messages(whole.body) {
            match seen.cmp(&self.progress) {
                Ordering::Less => self.notification(seen, id, message)?,
                Ordering::Equal => self.answer(id, message)?,
                Ordering::Greater => return Err(Wrong("something behind an answer".into())),
            }
            seen += 1;
        }
        if seen == self.progress + 1 {
            Ok(())
        } else {
            Err(Wrong(format!("{seen} events for a call")))
        }
    }

    fn answer(&mut self, id: u64, message: &[u8]) -> Result<(), Wrong> {
        match self.learned.check(message, self.texts)? {
            answered if answered == id => Ok(()),
            other => Err(Wrong(format!("{other} was answered, not {id}"))),
        }
    }

    fn notification(&mut self, at: u32, id: u64, message: &[u8]) -> Result<(), Wrong> {
        let mut digits = itoa::Buffer::new();
        let token = digits.format(id).as_bytes();
        let (before, after) = &mut self.notifications[at as usize];
        let known = message
            .strip_prefix(&before[..])
            .and_then(|rest| rest.strip_prefix(token));
        if !before.is_empty() && known == Some(after) {
            return Ok(());
        }
        let wrong = || {
            Wrong(format!(
                "not a good notification: {}",
                String::from_utf8_lossy(message)
            ))
        };
        let read: Notification = serde_json::from_slice(message).map_err(|_| wrong())?;
        let params = read.params;
        if read.method != "notifications/progress"
            || params.token != id
            || params.step.to_bits() != f64::from(at + 1).to_bits()
            || params.total.to_bits() != f64::from(PROGRESS_STEPS).to_bits()
            || params.message != PROGRESS_MESSAGE
        {
            return Err(wrong());
        }
        let key = b"\"progressToken\":";
        if let Some(begin) = memmem::find(message, key) {
            let begin = begin + key.len();
            *before = message[..begin].to_vec();
            *after = message[begin + token.len()..].to_vec();
        }
        Ok(())
    }
}

/// The data of events that have some. Only what servers here send: one line of data an event.
pub(super) fn messages(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = body;
    std::iter::from_fn(move || {
        loop {
            let end = memchr(b'\n', rest)?;
            let line = &rest[..end];
            rest = &rest[end + 1..];
            let Some(data) = line.strip_prefix(b"data:") else {
                continue;
            };
            let data = data.trim_ascii();
            if !data.is_empty() {
                return Some(data);
            }
        }
    })
}

#[derive(Deserialize)]
struct Notification {
    method: String,
    params: Progress,
}

#[derive(Deserialize)]
struct Progress {
    #[serde(rename = "progressToken")]
    token: u64,
    #[serde(rename = "progress")]
    step: f64,
    total: f64,
    message: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::modern_response;

    fn step(id: u64, step: u32) -> String {
        format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{id},\
             \"progress\":{step},\"total\":10,\"message\":\"working\"}}}}\n\n"
        )
    }

    fn events(id: u64, steps: &[u32]) -> String {
        let steps: String = steps.iter().map(|at| step(id, *at)).collect();
        format!(": hi\n\n{steps}data: {}\n\n", modern_response(id, "zero"))
    }

    #[test]
    fn every_event_is_checked_before_and_after_learning() {
        let texts = vec!["zero".to_string()];
        let all: Vec<u32> = (1..=PROGRESS_STEPS).collect();
        let mut check = Check::new(&texts, true, PROGRESS_STEPS);
        let mut good = |id, body: &str| {
            let whole = Whole {
                events: true,
                body: body.as_bytes(),
            };
            check.response(id, &whole).is_ok()
        };
        for id in [5, 6, 700] {
            assert!(good(id, &events(id, &all)));
            let mut swapped = all.clone();
            swapped.swap(3, 4);
            assert!(!good(id, &events(id, &swapped)));
            assert!(!good(id, &events(id, &all[1..])));
            assert!(!good(id, &events(id + 1, &all)));
            assert!(!good(id, &(events(id, &all) + &step(id, 11))));
            assert!(!good(id, &events(id, &all).replace("working", "woking")));
        }
    }

    #[test]
    fn an_answer_of_the_other_form_is_wrong() {
        let texts = vec!["zero".to_string()];
        let body = modern_response(0, "zero");
        let whole = |events| Whole {
            events,
            body: body.as_bytes(),
        };
        assert!(Check::new(&texts, false, 0).response(0, &whole(false)).is_ok());
        assert!(Check::new(&texts, false, 0).response(1, &whole(false)).is_err());
        assert!(Check::new(&texts, true, 0).response(0, &whole(false)).is_err());
        assert!(Check::new(&texts, false, 0).response(0, &whole(true)).is_err());
    }
}

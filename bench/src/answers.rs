//! Checking answers to calls of `echo`, all of them and fast.

use memchr::memmem;
use serde::Deserialize;

use crate::harness::Wrong;

/// How this server's right answers look. The first to each text is parsed and checked; later ones have to be the same
/// bytes around their id, or are parsed again. So every answer is checked in full, and fast.
pub(crate) struct Learned {
    head: Vec<u8>,
    tails: Vec<Vec<u8>>,
}

impl Learned {
    /// For so many texts.
    pub(crate) fn of(texts: usize) -> Self {
        Self {
            head: Vec::new(),
            tails: vec![Vec::new(); texts],
        }
    }

    /// The id `line` answers, if the text echoed is the one that id was sent with.
    pub(crate) fn check(&mut self, line: &[u8], texts: &[String]) -> Result<u64, Wrong> {
        if let Some(rest) = line.strip_prefix(&self.head[..]) {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let id = rest[..digits].iter().fold(0u64, |id, digit| {
                id.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))
            });
            let tail = &self.tails[id as usize % texts.len()];
            if digits > 0 && digits < 20 && !tail.is_empty() && rest[digits..] == tail[..] {
                return Ok(id);
            }
        }
        self.check_in_full(line, texts)
    }

    fn check_in_full(&mut self, line: &[u8], texts: &[String]) -> Result<u64, Wrong> {
        let wrong = |why: &str| Wrong(format!("{why}: {}", String::from_utf8_lossy(line)));
        let response: Response = serde_json::from_slice(line).map_err(|error| wrong(&error.to_string()))?;
        let which = response.id as usize % texts.len();
        match &response.result.content[..] {
            [Content { kind, text }] if kind == "text" && *text == texts[which] => {}
            _ => return Err(wrong("not what was sent")),
        }
        if response.jsonrpc != "2.0" || response.result.is_error {
            return Err(wrong("not a good answer"));
        }
        let id = format!("\"id\":{}", response.id);
        if let Some(at) = memmem::find(line, id.as_bytes()) {
            let head = &line[..at + "\"id\":".len()];
            if self.head.is_empty() {
                self.head = head.to_vec();
            }
            if self.head == head {
                self.tails[which] = line[at + id.len()..].to_vec();
            }
        }
        Ok(response.id)
    }
}

#[derive(Deserialize)]
struct Response {
    jsonrpc: String,
    id: u64,
    result: CallResult,
}

#[derive(Deserialize)]
struct CallResult {
    content: Vec<Content>,
    #[serde(default, rename = "isError")]
    is_error: bool,
}

#[derive(Deserialize)]
struct Content {
    #[serde(rename = "type")]
    kind: String,
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::modern_response;

    #[test]
    fn wrong_answers_are_seen_before_and_after_learning() {
        let texts = vec!["zero".to_string(), "one".to_string()];
        let mut learned = Learned::of(2);
        for (id, text) in [(0, "zero"), (1, "one"), (10, "zero"), (101, "one")] {
            assert_eq!(
                learned
                    .check(modern_response(id, text).as_bytes(), &texts)
                    .unwrap(),
                id
            );
        }
        assert!(learned.tails.iter().all(|tail| !tail.is_empty()));
        assert!(
            learned
                .check(modern_response(2, "one").as_bytes(), &texts)
                .is_err()
        );
        assert!(
            learned
                .check(modern_response(3, "onf").as_bytes(), &texts)
                .is_err()
        );
        let error = br#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"one"}}"#;
        assert!(learned.check(error, &texts).is_err());
    }
}

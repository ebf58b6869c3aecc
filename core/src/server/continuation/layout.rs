//! The bytes inside a seal.
//!
//! | part | bytes |
//! | --- | --- |
//! | version | 1 |
//! | round | 1 |
//! | issued, expires | 8 each, milliseconds since 1970 |
//! | method | text |
//! | digest of the request, digest of the caller | 32 each |
//! | the handler's own | 0, or 1 and a text |
//! | questions pending | count, and for each key (text), digest (32) |
//! | answers | count, and for each key (text), digest (32), result (text) |
//!
//! A text is its length and its bytes, lengths and counts have 4 bytes, all numbers are big-endian, and keys stand in
//! ascending order: what one [`Record`] is written as, no other bytes are read as.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::bound::Bound;
use super::digest::{self, Digest};
use super::rounds::{Answer, Continuation, Questions};
use crate::limits::MAX_ROUNDS;
use crate::model::RawJson;

/// The version that is written, and the only one that is read.
const VERSION: u8 = 1;

/// A continuation with what is needed to judge whether it may go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// When it was sealed, in milliseconds since 1970-01-01 UTC.
    pub issued: u64,
    /// When it ends, in the same unit.
    pub expires: u64,
    /// The request that it belongs to.
    pub bound: Bound,
    /// What it carries.
    pub continuation: Continuation,
}

/// Why bytes are not a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// Another version than this one writes.
    #[error("it has another version")]
    Version,
    /// A round that is never sealed.
    #[error("it is of a round that there is not")]
    Round,
    /// Too short, too long, or a part has not the form it must have.
    #[error("it is not of the form of a state")]
    Form,
}

impl Record {
    /// The bytes of this record. `None` if a text or a count is beyond what a length of 4 bytes can say.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(512);
        let Continuation { round, answers, pending, own } = &self.continuation;
        out.extend_from_slice(&[VERSION, *round]);
        out.extend_from_slice(&self.issued.to_be_bytes());
        out.extend_from_slice(&self.expires.to_be_bytes());
        put_text(&mut out, &self.bound.method)?;
        out.extend_from_slice(self.bound.request.as_bytes());
        out.extend_from_slice(self.bound.caller.as_bytes());
        match own {
            None => out.push(0),
            Some(own) => {
                out.push(1);
                put_text(&mut out, own.get())?;
            }
        }
        put_length(&mut out, pending.len())?;
        for (key, question) in pending {
            put_text(&mut out, key)?;
            out.extend_from_slice(question.as_bytes());
        }
        put_length(&mut out, answers.len())?;
        for (key, Answer { question, result }) in answers {
            put_text(&mut out, key)?;
            out.extend_from_slice(question.as_bytes());
            put_text(&mut out, result.get())?;
        }
        Some(out)
    }

    /// Reads a record. Any bytes will do; what is allocated is no more than a small multiple of them.
    ///
    /// # Errors
    /// The bytes are not what [`encode`](Self::encode) writes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut bytes = Cursor(bytes);
        if bytes.byte()? != VERSION {
            return Err(DecodeError::Version);
        }
        let round = bytes.byte()?;
        if !(1..=MAX_ROUNDS).contains(&round) {
            return Err(DecodeError::Round);
        }
        let (issued, expires) = (bytes.number()?, bytes.number()?);
        let bound =
            Bound { method: bytes.text()?.to_owned(), request: bytes.digest()?, caller: bytes.digest()? };
        let own = match bytes.byte()? {
            0 => None,
            1 => Some(bytes.json()?),
            _ => return Err(DecodeError::Form),
        };
        let mut pending = Questions::new();
        for _ in 0..bytes.length()? {
            let key = bytes.key(pending.last_key_value().map(|(key, _)| &**key))?;
            pending.insert(key, bytes.digest()?);
        }
        let mut answers = alloc::collections::BTreeMap::<String, Answer>::new();
        for _ in 0..bytes.length()? {
            let key = bytes.key(answers.last_key_value().map(|(key, _)| &**key))?;
            let (question, result) = (bytes.digest()?, bytes.json()?);
            if !result.is_object() {
                return Err(DecodeError::Form);
            }
            answers.insert(key, Answer { question, result });
        }
        if !bytes.0.is_empty() {
            return Err(DecodeError::Form);
        }
        Ok(Self { issued, expires, bound, continuation: Continuation { round, answers, pending, own } })
    }
}

fn put_length(out: &mut Vec<u8>, length: usize) -> Option<()> {
    out.extend_from_slice(&u32::try_from(length).ok()?.to_be_bytes());
    Some(())
}

fn put_text(out: &mut Vec<u8>, text: &str) -> Option<()> {
    put_length(out, text.len())?;
    out.extend_from_slice(text.as_bytes());
    Some(())
}

/// Takes parts off the front.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn part(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (part, rest) = self.0.split_at_checked(len).ok_or(DecodeError::Form)?;
        self.0 = rest;
        Ok(part)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (part, rest) = self.0.split_first_chunk().ok_or(DecodeError::Form)?;
        self.0 = rest;
        Ok(*part)
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        self.array().map(|[byte]| byte)
    }

    fn number(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_be_bytes)
    }

    fn length(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_be_bytes)
    }

    fn digest(&mut self) -> Result<Digest, DecodeError> {
        self.array::<{ digest::LEN }>().map(Digest::from_bytes)
    }

    fn text(&mut self) -> Result<&'a str, DecodeError> {
        let len = usize::try_from(self.length()?).map_err(|_| DecodeError::Form)?;
        core::str::from_utf8(self.part(len)?).map_err(|_| DecodeError::Form)
    }

    /// A key that comes after `last`.
    fn key(&mut self, last: Option<&str>) -> Result<String, DecodeError> {
        let key = self.text()?;
        if last.is_some_and(|last| last >= key) {
            return Err(DecodeError::Form);
        }
        Ok(key.to_owned())
    }

    fn json(&mut self) -> Result<RawJson, DecodeError> {
        let text = self.text()?;
        // White space around the value would be lost, and with it the one form.
        RawJson::from_text(text).ok().filter(|json| json.get().len() == text.len()).ok_or(DecodeError::Form)
    }
}

#[cfg(test)]
#[path = "layout_test.rs"]
mod layout_test;

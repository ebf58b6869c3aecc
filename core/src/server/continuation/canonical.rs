//! The digest of a JSON value: one for every way to write it, another for every other value.
//!
//! One pass over the text, without a tree of it. What does not change the value does not change the digest: white
//! space, the order of an object's members, escapes in strings, the spelling of numbers ([`number`](super::number)).
//! Each kind of value begins with a byte of its own and says where it ends, so no two values feed the same bytes; an
//! object feeds its members' digests in the order of their keys. A key that stands twice keeps both values in the
//! order they came: readers differ in which of them they take.
//!
//! What is nested too deeply to be gone into is taken as it is written, which makes the digest only pickier.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use sha2::{Digest as _, Sha256};

use super::number;
use crate::limits::MAX_NESTING;

/// Feeds the value that `text` holds, leaving out those members of an outermost object whose keys are in `without`.
/// Text that is not JSON is fed as it is, marked as such.
pub(super) fn feed(text: &str, without: &[&str], into: &mut Sha256) {
    let mut whole = Sha256::new();
    let mut walk = Walk { text, at: 0 };
    let read = walk.outermost(without, &mut whole).filter(|()| {
        walk.space();
        walk.at == text.len()
    });
    match read {
        Some(()) => {
            into.update(b"j");
            into.update(whole.finalize());
        }
        None => as_written(text, into),
    }
}

fn as_written(text: &str, into: &mut Sha256) {
    into.update(b"w");
    into.update((text.len() as u64).to_be_bytes());
    into.update(text);
}

/// A cursor over JSON. `None` from any of its steps: the text is not JSON here.
struct Walk<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Walk<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes the next byte that is not white space, if it is this one.
    fn take(&mut self, byte: u8) -> Option<()> {
        self.space();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn outermost(&mut self, without: &[&str], into: &mut Sha256) -> Option<()> {
        self.space();
        if self.peek()? == b'{' {
            self.object(without, MAX_NESTING, into)
        } else {
            self.value(MAX_NESTING, into)
        }
    }

    fn value(&mut self, levels: usize, into: &mut Sha256) -> Option<()> {
        self.space();
        match self.peek()? {
            b'{' | b'[' if levels == 0 => {
                let start = self.at;
                self.skip_nested()?;
                as_written(self.text.get(start..self.at)?, into);
                Some(())
            }
            b'{' => self.object(&[], levels, into),
            b'[' => self.array(levels, into),
            b'"' => {
                into.update(b"s");
                self.string(|piece| into.update(piece))?;
                // No byte of UTF-8.
                into.update([0xff]);
                Some(())
            }
            b'-' | b'0'..=b'9' => {
                let rest = self.text.get(self.at..)?;
                let end = rest
                    .find(|c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9'))
                    .unwrap_or(rest.len());
                self.at += end;
                into.update(b"n");
                number::feed(rest.get(..end)?, into)
            }
            _ => {
                let word = ["true", "false", "null"]
                    .into_iter()
                    .find(|word| self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)))?;
                self.at += word.len();
                into.update(word.get(..1)?);
                Some(())
            }
        }
    }

    fn array(&mut self, levels: usize, into: &mut Sha256) -> Option<()> {
        self.take(b'[')?;
        into.update(b"[");
        if self.take(b']').is_none() {
            loop {
                self.value(levels - 1, into)?;
                if self.take(b',').is_none() {
                    break;
                }
            }
            self.take(b']')?;
        }
        into.update(b"]");
        Some(())
    }

    fn object(&mut self, without: &[&str], levels: usize, into: &mut Sha256) -> Option<()> {
        let mut members: Vec<(Cow<'a, [u8]>, [u8; 32])> = Vec::new();
        self.take(b'{')?;
        if self.take(b'}').is_none() {
            loop {
                let key = self.key()?;
                self.take(b':')?;
                let mut member = Sha256::new();
                if without.iter().any(|name| name.as_bytes() == &*key) {
                    self.skip()?;
                } else {
                    member.update(&key);
                    member.update([0xff]);
                    self.value(levels - 1, &mut member)?;
                    members.push((key, member.finalize().into()));
                }
                if self.take(b',').is_none() {
                    break;
                }
            }
            self.take(b'}')?;
        }
        // Stable: values of one key stay as they came.
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        into.update(b"{");
        into.update((members.len() as u64).to_be_bytes());
        for (_, digest) in &members {
            into.update(digest);
        }
        Some(())
    }

    /// The bytes that a key stands for: a piece of the text unless it has escapes.
    fn key(&mut self) -> Option<Cow<'a, [u8]>> {
        self.space();
        let rest = self.text.as_bytes().get(self.at..)?.strip_prefix(b"\"")?;
        let run = memchr::memchr2(b'"', b'\\', rest)?;
        if rest.get(run)? == &b'"' {
            self.at += run + 2;
            return rest.get(..run).map(Cow::Borrowed);
        }
        let mut unescaped = Vec::new();
        self.string(|piece| unescaped.extend_from_slice(piece))?;
        Some(Cow::Owned(unescaped))
    }

    /// Hands on the bytes that a string stands for, piece by piece.
    fn string(&mut self, mut piece: impl FnMut(&[u8])) -> Option<()> {
        self.take(b'"')?;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let run = memchr::memchr2(b'"', b'\\', rest)?;
            if run > 0 {
                piece(rest.get(..run)?);
            }
            self.at += run + 1;
            if rest.get(run)? == &b'"' {
                return Some(());
            }
            let mut buffer = [0; 4];
            let len = self.escape(&mut buffer)?;
            piece(buffer.get(..len)?);
        }
    }

    /// The bytes of what an escape stands for; the backslash is taken already.
    fn escape(&mut self, buffer: &mut [u8; 4]) -> Option<usize> {
        let byte = self.peek()?;
        self.at += 1;
        let plain = match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode(buffer),
            _ => return None,
        };
        buffer[0] = plain;
        Some(1)
    }

    fn unicode(&mut self, buffer: &mut [u8; 4]) -> Option<usize> {
        let first = self.hex()?;
        let after = self.at;
        let point = match first {
            0xd800..0xdc00 if self.text.as_bytes().get(after..)?.starts_with(b"\\u") => {
                self.at += 2;
                let second = self.hex()?;
                if (0xdc00..0xe000).contains(&second) {
                    0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                } else {
                    self.at = after;
                    first
                }
            }
            _ => first,
        };
        if let Some(c) = char::from_u32(point) {
            return Some(c.encode_utf8(buffer).len());
        }
        // Half a surrogate pair has no UTF-8; the bytes that the scheme would give are nobody else's.
        *buffer = [0xed, 0x80 | (point >> 6 & 0x3f) as u8, 0x80 | (point & 0x3f) as u8, 0];
        Some(3)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
    }

    /// Skips a value.
    fn skip(&mut self) -> Option<()> {
        self.space();
        match self.peek()? {
            b'{' | b'[' => self.skip_nested(),
            b'"' => self.string(|_| {}),
            _ => {
                let rest = self.text.get(self.at..)?;
                self.at += rest.find([',', '}', ']', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
                Some(())
            }
        }
    }

    /// Skips an object or array, however deep, by counting brackets.
    fn skip_nested(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string(|_| {})?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
#[path = "canonical_test.rs"]
mod canonical_test;

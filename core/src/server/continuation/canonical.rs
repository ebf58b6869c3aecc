//! The digest of a JSON value: one for every way to write it, another for every other value.
//!
//! One pass over the text, without a tree of it, into a canonical form that is hashed. What does not change the value
//! does not change the form: white space, the order of an object's members, escapes in strings, the spelling of numbers
//! ([`number`](super::number)). Each kind of value begins with a byte of its own and says where it ends, so no two values
//! have the same form; an object's members stand in the order of their keys. A key that stands twice keeps both values
//! in the order they came: readers differ in which of them they take. An object whose form is long stands as its own
//! hash in what surrounds it, so that putting members in order moves each byte a few times and not once a level.
//!
//! What is nested too deeply to be gone into is taken as it is written, which makes the digest only pickier.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

use sha2::{Digest as _, Sha256};

use super::number;
use crate::limits::MAX_NESTING;

/// Longer forms of objects are hashed.
const INLINE: usize = 512;

/// Room for the form of a usual request or question.
const USUAL: usize = 1024;

/// Feeds the value that `text` holds, leaving out those members of an outermost object whose keys are in `without`.
/// Text that is not JSON is fed as it is, marked as such.
pub(super) fn feed(text: &str, without: &[&str], into: &mut Sha256) {
    let mut walk = Walk::new(text);
    let read = walk.outermost(without).filter(|()| {
        walk.space();
        walk.at == text.len()
    });
    walk.end(read, into);
}

/// As [`feed`], of one member of the object that `text` is. What stands behind the member is not looked at.
pub(super) fn feed_member(text: &str, name: &str, without: &[&str], into: &mut Sha256) {
    let mut walk = Walk::new(text);
    let read = walk.enter(name).and_then(|()| walk.outermost(without));
    walk.end(read, into);
}

/// A cursor over JSON, and the form of what it has passed. `None` from any of its steps: the text is not JSON here.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    form: Vec<u8>,
}

/// A member of an object: its key, and where its form stands.
type Member<'a> = (Cow<'a, [u8]>, Range<usize>);

impl<'a> Walk<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, form: Vec::with_capacity(text.len().min(USUAL)) }
    }

    /// Feeds the form of what was read, or the text itself if it could not be.
    fn end(mut self, read: Option<()>, into: &mut Sha256) {
        if read.is_some() {
            into.update(b"j");
        } else {
            self.form.clear();
            self.as_written(self.text);
        }
        into.update(&self.form);
    }

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

    fn as_written(&mut self, text: &str) {
        self.form.push(b'w');
        self.form.extend_from_slice(&(text.len() as u64).to_be_bytes());
        self.form.extend_from_slice(text.as_bytes());
    }

    /// Goes to the value of a member.
    fn enter(&mut self, name: &str) -> Option<()> {
        self.take(b'{')?;
        loop {
            let key = self.key()?;
            self.take(b':')?;
            if *key == *name.as_bytes() {
                self.space();
                return Some(());
            }
            self.skip()?;
            self.take(b',')?;
        }
    }

    fn outermost(&mut self, without: &[&str]) -> Option<()> {
        self.space();
        if self.peek()? == b'{' { self.object(without, MAX_NESTING) } else { self.value(MAX_NESTING) }
    }

    fn value(&mut self, levels: usize) -> Option<()> {
        self.space();
        match self.peek()? {
            b'{' | b'[' if levels == 0 => {
                let start = self.at;
                self.skip_nested()?;
                self.as_written(self.text.get(start..self.at)?);
            }
            b'{' => self.object(&[], levels)?,
            b'[' => self.array(levels)?,
            b'"' => {
                self.form.push(b's');
                let mut form = core::mem::take(&mut self.form);
                let read = self.string(|piece| form.extend_from_slice(piece));
                self.form = form;
                read?;
                // No byte of UTF-8.
                self.form.push(0xff);
            }
            b'-' | b'0'..=b'9' => {
                let rest = self.text.get(self.at..)?;
                let end = rest
                    .find(|c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9'))
                    .unwrap_or(rest.len());
                self.at += end;
                self.form.push(b'd');
                number::write(rest.get(..end)?, &mut self.form)?;
            }
            first => {
                let word = match first {
                    b't' => "true",
                    b'f' => "false",
                    _ => "null",
                };
                if !self.text.get(self.at..)?.starts_with(word) {
                    return None;
                }
                self.at += word.len();
                self.form.push(first);
            }
        }
        Some(())
    }

    fn array(&mut self, levels: usize) -> Option<()> {
        self.take(b'[')?;
        self.form.push(b'[');
        if self.take(b']').is_none() {
            loop {
                self.value(levels - 1)?;
                if self.take(b',').is_none() {
                    break;
                }
            }
            self.take(b']')?;
        }
        self.form.push(b']');
        Some(())
    }

    fn object(&mut self, without: &[&str], levels: usize) -> Option<()> {
        let start = self.form.len();
        self.form.push(b'{');
        let mut members: Vec<Member<'a>> = Vec::with_capacity(4);
        self.take(b'{')?;
        if self.take(b'}').is_none() {
            loop {
                let key = self.key()?;
                self.take(b':')?;
                if without.iter().any(|name| name.as_bytes() == &*key) {
                    self.skip()?;
                } else {
                    let from = self.form.len();
                    self.form.push(b'k');
                    self.form.extend_from_slice(&key);
                    self.form.push(0xff);
                    self.value(levels - 1)?;
                    members.push((key, from..self.form.len()));
                }
                if self.take(b',').is_none() {
                    break;
                }
            }
            self.take(b'}')?;
        }
        self.order(start + 1, members);
        self.form.push(b'}');
        self.shorten(start);
        Some(())
    }

    /// Puts the members of an object, which begin at `start`, in the order of their keys. Values of one key stay as they
    /// came.
    fn order(&mut self, start: usize, mut members: Vec<Member<'a>>) {
        if members.is_sorted_by(|(one, _), (other, _)| one <= other) {
            return;
        }
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        let came = self.form.split_off(start);
        for (_, place) in members {
            let member = came.get(place.start - start..place.end - start);
            self.form.extend_from_slice(member.unwrap_or_default());
        }
    }

    /// Puts its hash in the place of a long form.
    fn shorten(&mut self, start: usize) {
        let form = self.form.get(start..).unwrap_or_default();
        if form.len() > INLINE {
            let hash = Sha256::digest(form);
            self.form.truncate(start);
            self.form.push(b'h');
            self.form.extend_from_slice(&hash);
        }
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

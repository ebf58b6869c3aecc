//! Patterns of text fields: the regular expressions of ECMA 262 that need no going back.
//!
//! They are put into the dialect of `regex-automata`, which takes time linear in the text, and mean what they mean in a
//! browser: `\d`, `\w` and `\b` know ASCII alone, `$` is the end. What that dialect does not have (looking around,
//! references back to a group, properties of Unicode) and what two engines read differently is refused.

use alloc::string::String;
use core::fmt::Write as _;
use core::iter::Peekable;
use core::str::Chars;

use regex_automata::nfa::thompson::{self, WhichCaptures, pikevm::PikeVM};
use regex_automata::util::syntax;

/// Bytes of a pattern. Longer ones are refused: the forms are for people.
const MAX_PATTERN: usize = 1024;

/// Bytes of a text that a pattern is tried on. Longer ones do not match: what a person fills in stays far below, and
/// the time for one is the product of both sizes.
const MAX_TEXT: usize = 16 * 1024;

/// Bytes that a pattern may take when it is compiled, which `{1000}` and the like multiply.
const MAX_COMPILED: usize = 64 * 1024;

/// What the patterns of one form may cost a client, each the bytes of its text times its own when compiled. Far beyond
/// what a person fills in; a form of a peer's making has room for a thousand times as much.
const MAX_WORK: usize = 64 * 1024 * 1024;

/// What a pattern costs at least, which is for compiling it.
const LEAST_WORK: usize = 256 * 1024;

/// Groups within groups.
const MAX_NESTING: u32 = 50;

/// What trying patterns may still cost.
pub(super) struct Work(usize);

impl Work {
    /// Whoever checks a form that a peer has made.
    pub(super) fn of_a_form() -> Self {
        Self(MAX_WORK)
    }

    /// Whoever has made the form.
    pub(super) fn without_end() -> Self {
        Self(usize::MAX)
    }

    /// Whether a pattern is found in a text; `None` if it cannot be compiled, or would cost too much.
    pub(super) fn finds(&mut self, pattern: &str, text: &str) -> Option<bool> {
        if self.0 < LEAST_WORK {
            return None;
        }
        let compiled = Pattern::compile(pattern);
        let size = compiled.as_ref().map_or(0, Pattern::size);
        let cost = size.saturating_mul(text.len().min(MAX_TEXT)).max(LEAST_WORK);
        let enough = cost <= self.0;
        // Nothing cheaper is tried after that: what came first is what counts, however the rest is put.
        self.0 = self.0.saturating_sub(cost);
        compiled.ok().filter(|_| enough).map(|pattern| pattern.is_match(text))
    }
}

/// A compiled pattern.
pub(super) struct Pattern(PikeVM);

impl Pattern {
    /// Compiles a pattern; the error says what is wrong with it.
    pub(super) fn compile(pattern: &str) -> Result<Self, &'static str> {
        if pattern.len() > MAX_PATTERN {
            return Err("is longer than 1024 bytes");
        }
        let translated = Translator { rest: pattern.chars().peekable(), out: String::new() }.translate()?;
        PikeVM::builder()
            .syntax(syntax::Config::new().nest_limit(MAX_NESTING))
            .thompson(
                thompson::Config::new()
                    .nfa_size_limit(Some(MAX_COMPILED))
                    .which_captures(WhichCaptures::None),
            )
            .build(&translated)
            .map(Self)
            .map_err(|_| "is not a regular expression, or too large a one")
    }

    /// Its bytes.
    fn size(&self) -> usize {
        self.0.get_nfa().memory_usage()
    }

    /// Whether it is found in a text.
    pub(super) fn is_match(&self, text: &str) -> bool {
        text.len() <= MAX_TEXT && self.0.is_match(&mut self.0.create_cache(), text)
    }
}

const DIGITS: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACE: &str =
    r"\t\n\x0B\x0C\r\x20\xA0\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";

/// What a backslash and the character after it stand for.
enum Escape {
    One(char),
    Set(&'static str, bool),
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
}

impl Translator<'_> {
    fn translate(mut self) -> Result<String, &'static str> {
        while let Some(next) = self.rest.next() {
            match next {
                '\\' => match self.rest.peek() {
                    Some('b') => self.boundary(r"(?-u:\b)"),
                    Some('B') => self.boundary(r"(?-u:\B)"),
                    _ => match self.escape()? {
                        Escape::One(one) => self.literal(one),
                        Escape::Set(set, negated) => self.set(set, negated),
                    },
                },
                '[' => self.class()?,
                '(' => self.group()?,
                '{' => self.repetition()?,
                '.' => self.out.push_str(r"[^\n\r\x{2028}\x{2029}]"),
                '^' | '$' | ')' | '|' | '*' | '+' | '?' => self.out.push(next),
                ']' | '}' => return Err("has a closing bracket that nothing opens"),
                other => self.literal(other),
            }
        }
        Ok(self.out)
    }

    fn boundary(&mut self, assertion: &str) {
        self.rest.next();
        self.out.push_str(assertion);
    }

    /// Spelled as a number, a character is never taken for syntax.
    fn literal(&mut self, one: char) {
        let _ = write!(self.out, "\\x{{{:X}}}", u32::from(one));
    }

    fn set(&mut self, set: &str, negated: bool) {
        self.out.push_str(if negated { "[^" } else { "[" });
        self.out.push_str(set);
        self.out.push(']');
    }

    fn escape(&mut self) -> Result<Escape, &'static str> {
        Ok(match self.rest.next() {
            Some('d') => Escape::Set(DIGITS, false),
            Some('D') => Escape::Set(DIGITS, true),
            Some('w') => Escape::Set(WORD, false),
            Some('W') => Escape::Set(WORD, true),
            Some('s') => Escape::Set(SPACE, false),
            Some('S') => Escape::Set(SPACE, true),
            Some('t') => Escape::One('\t'),
            Some('n') => Escape::One('\n'),
            Some('v') => Escape::One('\u{b}'),
            Some('f') => Escape::One('\u{c}'),
            Some('r') => Escape::One('\r'),
            Some('0') if !self.rest.peek().is_some_and(char::is_ascii_digit) => Escape::One('\0'),
            Some('c') => match self.rest.next() {
                Some(letter) if letter.is_ascii_alphabetic() => Escape::One(char::from(letter as u8 & 0x1f)),
                _ => return Err("has \\c without a letter"),
            },
            Some('x') => Escape::One(self.hex(2).and_then(char::from_u32).ok_or("has a malformed \\x")?),
            Some('u') => Escape::One(self.unicode()?),
            Some('p' | 'P') => return Err("uses properties of Unicode, which are not supported"),
            Some('k' | '1'..='9') => return Err("refers back to a group, which is not supported"),
            Some(other) if other.is_ascii_punctuation() || other == ' ' => Escape::One(other),
            Some(_) => return Err("has an unknown escape"),
            None => return Err("ends in a backslash"),
        })
    }

    /// So many hexadecimal digits; `None` if there are fewer.
    fn hex(&mut self, digits: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..digits {
            value = value * 16 + self.rest.next()?.to_digit(16)?;
        }
        Some(value)
    }

    /// What follows `\u`: four digits, twice that for a surrogate pair, or any number in braces.
    fn unicode(&mut self) -> Result<char, &'static str> {
        const WRONG: &str = "has a malformed \\u";
        if self.rest.next_if_eq(&'{').is_some() {
            let mut value = 0_u32;
            let mut digits = 0;
            while let Some(digit) = self.rest.peek().and_then(|digit| digit.to_digit(16)) {
                self.rest.next();
                value = value.checked_mul(16).ok_or(WRONG)? + digit;
                digits += 1;
            }
            let closed = self.rest.next_if_eq(&'}').is_some() && digits > 0;
            return char::from_u32(value).filter(|_| closed).ok_or(WRONG);
        }
        let first = self.hex(4).ok_or(WRONG)?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first).ok_or(WRONG);
        }
        if self.rest.next() != Some('\\') || self.rest.next() != Some('u') {
            return Err(WRONG);
        }
        match self.hex(4) {
            Some(second @ 0xdc00..0xe000) => {
                char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or(WRONG)
            }
            _ => Err(WRONG),
        }
    }

    /// What follows `(`. Groups are never referred to, so all become plain ones.
    fn group(&mut self) -> Result<(), &'static str> {
        self.out.push_str("(?:");
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        match self.rest.next() {
            Some(':') => Ok(()),
            Some('=' | '!') => Err("looks ahead, which is not supported"),
            Some('<') if matches!(self.rest.peek(), Some('=' | '!')) => {
                Err("looks behind, which is not supported")
            }
            Some('<') => {
                let mut name = self.rest.by_ref().take_while(|next| *next != '>');
                let word = |next: &char| next.is_alphanumeric() || matches!(next, '_' | '$');
                let first = name.next().is_some_and(|first| word(&first) && !first.is_numeric());
                if first && name.all(|next| word(&next)) {
                    Ok(())
                } else {
                    Err("has a group of a malformed name")
                }
            }
            _ => Err("has a group of an unknown kind"),
        }
    }

    /// What follows `{`.
    fn repetition(&mut self) -> Result<(), &'static str> {
        self.out.push('{');
        let mut comma = false;
        let mut digit = false;
        loop {
            match self.rest.next() {
                Some(next) if next.is_ascii_digit() => {
                    digit = true;
                    self.out.push(next);
                }
                Some(',') if digit && !comma => {
                    comma = true;
                    self.out.push(',');
                }
                Some('}') if digit => break,
                _ => return Err("has a brace that is no repetition"),
            }
        }
        self.out.push('}');
        Ok(())
    }

    /// What follows `[`.
    fn class(&mut self) -> Result<(), &'static str> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        if self.rest.next_if_eq(&']').is_some() {
            self.set(r"\x00-\x{10FFFF}", !negated);
            return Ok(());
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        while let Some(from) = self.member()? {
            match from {
                Escape::One(one) => self.literal(one),
                Escape::Set(set, negated) => self.set(set, negated),
            }
            // A hyphen at the end stands for itself.
            let mut ahead = self.rest.clone();
            if ahead.next() != Some('-') || ahead.next() == Some(']') {
                continue;
            }
            self.rest.next();
            let (Escape::One(_), Some(Escape::One(to))) = (from, self.member()?) else {
                return Err("has a range that does not go from character to character");
            };
            self.out.push('-');
            self.literal(to);
        }
        self.out.push(']');
        Ok(())
    }

    /// One thing between brackets; `None` at their end.
    fn member(&mut self) -> Result<Option<Escape>, &'static str> {
        Ok(Some(match self.rest.next() {
            None => return Err("has a bracket that nothing closes"),
            Some(']') => return Ok(None),
            Some('\\') if self.rest.next_if_eq(&'b').is_some() => Escape::One('\u{8}'),
            Some('\\') => self.escape()?,
            Some(other) => Escape::One(other),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> bool {
        Pattern::compile(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}")).is_match(text)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_a_browser() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("", &["", "a"], &[]),
            ("b", &["abc"], &["ac"]),
            ("^[A-Z]{2}-\\d{4}$", &["AB-1234"], &["AB-123", "AB-12345", "ab-1234", "AB-१२३४", "AB-1234\n"]),
            ("^\\w+$", &["a_1"], &["é", "", "a b"]),
            ("^\\W$", &["é", " "], &["a", "_"]),
            ("^\\s\\S$", &["\u{a0}a", "\u{feff}é", "\u{2028}x"], &["aa", "\u{85}a"]),
            ("^[^\\D5]$", &["4"], &["5", "a"]),
            ("^.$", &["a", "😀", "\u{85}"], &["\n", "\r", "\u{2028}", "\u{2029}", ""]),
            ("^(?:a|(b)|(?<n1>c))+?$", &["abc"], &["d"]),
            ("^[[a&&b~~-]$", &["[", "a", "&", "b", "~", "-"], &["c", "[a"]),
            ("^[a-]$", &["a", "-"], &["b"]),
            ("^[-a]$", &["a", "-"], &["b"]),
            ("^[\\]\\-\\\\]$", &["]", "-", "\\"], &["a"]),
            ("^[+--]$", &["+", ",", "-"], &["."]),
            ("^[\\b]$", &["\u{8}"], &["b"]),
            ("[]", &[], &["", "a"]),
            ("^[^]$", &["\n", "a"], &["", "ab"]),
            ("^\\x41\\u0042\\u{43}\\uD83D\\uDE00\\0\\cJ$", &["ABC😀\0\n"], &["ABC"]),
            ("^\\/\\.\\-\\@\\<\\ $", &["/.-@< "], &["x"]),
            ("^a#b $", &["a#b "], &["a"]),
            ("\\ba\\b", &["a", "b a c", "éaé"], &["ba", "aa"]),
            ("^a{2}b{1,}c{0,1}$", &["aab", "aabbc"], &["ab", "aabcc"]),
            ("a\\Bb", &["ab"], &["a b"]),
        ];
        for (pattern, good, bad) in table {
            for text in *good {
                assert!(found(pattern, text), "{pattern} in {text:?}");
            }
            for text in *bad {
                assert!(!found(pattern, text), "{pattern} in {text:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_compiled_is_refused() {
        let patterns = [
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "a{",
            "a{,2}",
            "a{1,2,3}",
            "a{x}",
            "a{2,1}",
            "*",
            "(?=a)",
            "(?!a)",
            "(?<=a)",
            "(?<!a)",
            "(a)\\1",
            "(?<n>a)\\k<n>",
            "\\p{L}",
            "\\",
            "\\x4",
            "\\u12",
            "\\uD83D",
            "\\uD83Da",
            "\\u{}",
            "\\u{110000}",
            "\\q",
            "\\c1",
            "\\01",
            "[b-a]",
            "[a-\\d]",
            "[\\d-a]",
            "[\\B]",
            "(?i:a)",
            "(?i)a",
            "(?P<n>a)",
            "(?<1>a)",
            "(?<>a)",
            "(?<n",
            "(?",
            "\\A",
            "\\z",
            "\\u{FFFFFFFFFF}",
            "a{99999}",
            "(((a{99}){99}){99}){99}",
        ];
        for pattern in patterns {
            assert!(Pattern::compile(pattern).is_err(), "{pattern}");
        }
        // Whether or not it is one, it takes no time to say so.
        let _ = Pattern::compile("((|a*){4000000000}){4000000000}");
        assert!(Pattern::compile(&"a".repeat(MAX_PATTERN)).is_ok());
        assert!(Pattern::compile(&"a".repeat(MAX_PATTERN + 1)).is_err());
        assert!(Pattern::compile(&"(".repeat(MAX_PATTERN)).is_err());
    }

    #[test]
    fn a_text_that_nobody_typed_does_not_match() {
        assert!(found("a", &"a".repeat(MAX_TEXT)));
        assert!(!found("a", &"a".repeat(MAX_TEXT + 1)));
    }

    #[test]
    fn classes_do_not_become_each_other() {
        for byte in 0..0x80_u8 {
            let one = char::from(byte);
            let text = alloc::string::String::from(one);
            assert_eq!(found("^\\d$", &text), one.is_ascii_digit(), "{one:?}");
            assert_eq!(found("^\\w$", &text), one.is_ascii_alphanumeric() || one == '_', "{one:?}");
            assert_eq!(found("^\\s$", &text), one.is_ascii_whitespace() || one == '\u{b}', "{one:?}");
        }
    }
}

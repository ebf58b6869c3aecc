//! Where a JSON value ends, found without reading what it says.
//!
//! Accepts what `serde_json` accepts when it ignores a value, up to a depth; what is nested deeper has to go the
//! long way.

use super::write::clean_run;

/// The end of the value that begins at `at`, where white space was skipped already. `None`: not JSON, or too deep.
pub(super) fn value(bytes: &[u8], mut at: usize) -> Option<usize> {
    // Objects and arrays that are open, a bit each, one for an object; above them a bit that marks the bottom.
    let mut open: u64 = 1;
    loop {
        at = match *bytes.get(at)? {
            b'"' => string(bytes, at + 1)?,
            b'-' => number(bytes, at + 1)?,
            b'0'..=b'9' => number(bytes, at)?,
            b'{' => {
                let first = space(bytes, at + 1);
                if bytes.get(first) != Some(&b'}') {
                    open = deeper(open, 1)?;
                    at = key(bytes, first)?;
                    continue;
                }
                first + 1
            }
            b'[' => {
                let first = space(bytes, at + 1);
                if bytes.get(first) != Some(&b']') {
                    open = deeper(open, 0)?;
                    at = first;
                    continue;
                }
                first + 1
            }
            b't' => word(bytes, at, b"true")?,
            b'f' => word(bytes, at, b"false")?,
            b'n' => word(bytes, at, b"null")?,
            _ => return None,
        };
        // A value has ended, and perhaps what it was the last of.
        loop {
            if open == 1 {
                return Some(at);
            }
            at = space(bytes, at);
            match (*bytes.get(at)?, open & 1) {
                (b',', 1) => {
                    at = key(bytes, space(bytes, at + 1))?;
                    break;
                }
                (b',', _) => {
                    at = space(bytes, at + 1);
                    break;
                }
                (b'}', 1) | (b']', 0) => {
                    open >>= 1;
                    at += 1;
                }
                _ => return None,
            }
        }
    }
}

fn deeper(open: u64, kind: u64) -> Option<u64> {
    (open >> 63 == 0).then_some(open << 1 | kind)
}

/// The first place from `at` that is not white space.
#[inline]
pub(super) fn space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at)
        && *byte <= b' '
        && matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
    {
        at += 1;
    }
    at
}

/// From a key to its value.
fn key(bytes: &[u8], at: usize) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let at = space(bytes, string(bytes, at + 1)?);
    (*bytes.get(at)? == b':').then(|| space(bytes, at + 1))
}

/// From behind the opening quotation mark to behind the closing one.
fn string(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += clean_run(bytes.get(at..)?);
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match *bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' => {
                    let digits = bytes.get(at + 2..at + 6)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    at += 6;
                }
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// From behind the sign to the end.
fn number(bytes: &[u8], mut at: usize) -> Option<usize> {
    at = match *bytes.get(at)? {
        b'0' => at + 1,
        _ => digits(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = digits(bytes, at)?;
    }
    Some(at)
}

/// Over at least one digit.
fn digits(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    (count > 0).then_some(at + count)
}

fn word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    /// What `serde_json` says of the same text.
    fn judged(text: &str) -> Option<usize> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        Some(values.byte_offset())
    }

    fn agree(text: &str) {
        let start = super::space(text.as_bytes(), 0);
        let whole = super::value(text.as_bytes(), start).filter(|end| text[*end..].trim_start().is_empty());
        let json = judged(text).filter(|end| text[*end..].trim_start().is_empty());
        assert_eq!(whole, json, "{text}");
    }

    const TEXTS: [&str; 4] = [
        r#"{"a":[1,-0.5e+3,{"b":"c\u00e9\n\"d"},[],{}],"":null,"t":[true,false]}"#,
        r#" [ { } , [ [ ] ] , "\\" , 10.25E-7 , 0 ] "#,
        r#""plain and long enough to be read in words \/ and in blocks of many bytes at once \ud800""#,
        "-12",
    ];

    #[test]
    fn every_cut_and_every_byte_left_out_or_replaced() {
        for text in TEXTS {
            agree(text);
            for at in 0..=text.len() {
                agree(&text[..at]);
                for with in "{}[]:,\"\\ 0129.-+eEtnu\u{1}\t\u{7f}a".chars() {
                    let (head, tail) = (&text[..at], text.get(at + 1..).unwrap_or_default());
                    agree(&[head, tail].concat());
                    agree(&[head, with.encode_utf8(&mut [0; 4]), tail].concat());
                }
            }
        }
    }

    #[test]
    fn what_is_too_deep_is_not_read() {
        let nested = |depth: usize| [["["].repeat(depth).concat(), ["]"].repeat(depth).concat()].concat();
        assert_eq!(super::value(nested(63).as_bytes(), 0), Some(126));
        assert_eq!(super::value(nested(65).as_bytes(), 0), None);
    }

    proptest! {
        #[test]
        fn any_tokens(tokens in proptest::collection::vec(0..16_usize, 0..12)) {
            const TOKENS: [&str; 16] = [
                "{", "}", "[", "]", ",", ":", "\"a\"", "\"\"", "1", "-", "0", ".5", "null", " ", "1e3", "\"\\",
            ];
            let text: String = tokens.iter().map(|at| TOKENS[*at]).collect::<Vec<_>>().concat();
            agree(&text);
        }
    }
}

//! JSON pieces appended to a buffer: strings, numbers, and text that is JSON already.
//!
//! Long texts are the cost of a message, so [`string`] looks for the next byte that needs an escape eight bytes at
//! a time and copies everything before it in one go. The output is what `serde_json` would write, except that
//! [`number`] gives whole numbers no fraction.

use alloc::vec::Vec;

/// One in every byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The top bit of every byte of a word.
const TOPS: u64 = 0x8080_8080_8080_8080;

/// Further words of a string that are looked at one by one: most keys end there.
const FEW: usize = 2;

/// Whole numbers of a smaller magnitude are exact in a double: two to the 53rd.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Appends `text` as a JSON string, quotes included.
pub fn string(out: &mut Vec<u8>, text: &str) {
    // For the text, some escapes, and what comes behind it.
    out.reserve(text.len() + text.len() / 16 + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (clean, tail) = rest.split_at(clean_run(rest));
        out.extend_from_slice(clean);
        let Some((&byte, tail)) = tail.split_first() else {
            break;
        };
        escape(out, byte);
        rest = tail;
    }
    out.push(b'"');
}

/// Appends an integer.
pub fn int(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends an integer without a sign.
pub fn uint(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a number. Whole numbers below two to the 53rd are written without a fraction, `50` and not `50.0`.
///
/// The value is finite by contract; JSON has no other numbers, and what is not finite is written as `null`.
pub fn number(out: &mut Vec<u8>, value: f64) {
    if let Some(whole) = whole(value) {
        return int(out, whole);
    }
    match serde_json::to_vec(&value) {
        Ok(text) => out.extend_from_slice(&text),
        Err(_) => out.extend_from_slice(b"null"),
    }
}

/// Appends JSON text as it is, but on one line: CR and LF can only be white space there, and become spaces.
pub fn raw(out: &mut Vec<u8>, json: &str) {
    let mut rest = json.as_bytes();
    out.reserve(rest.len());
    while let Some(at) = memchr::memchr2(b'\r', b'\n', rest) {
        let (line, tail) = rest.split_at(at);
        out.extend_from_slice(line);
        out.push(b' ');
        rest = tail.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// The integer that `value` is exactly, if it is one that a double represents without gaps. Minus zero is not.
#[allow(clippy::float_cmp)] // Exactness is the question.
#[allow(clippy::cast_precision_loss)] // Below two to the 53rd there is none.
pub(crate) fn whole(value: f64) -> Option<i64> {
    if !(-EXACT < value && value < EXACT) {
        return None;
    }
    let whole = value as i64;
    (whole as f64 == value && !(whole == 0 && value.is_sign_negative())).then_some(whole)
}

/// Length of the longest prefix without a byte that needs an escape.
#[allow(clippy::inline_always)] // a call costs more than the first word, where most strings end
#[inline(always)]
pub(super) fn clean_run(bytes: &[u8]) -> usize {
    if let Some(word) = bytes.first_chunk::<8>() {
        let marks = needs_escape_mask(u64::from_le_bytes(*word));
        if marks != 0 {
            return (marks.trailing_zeros() / 8) as usize;
        }
        return long_run(bytes, 8);
    }
    long_run(bytes, 0)
}

/// As [`clean_run`], where the first `at` bytes are known to need none.
#[inline(never)]
fn long_run(bytes: &[u8], mut at: usize) -> usize {
    let (words, _) = bytes.get(at..).unwrap_or_default().as_chunks::<8>();
    for word in words.iter().take(FEW) {
        let marks = needs_escape_mask(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    // A block has one question to answer, which the compiler can put to many bytes at once.
    let (blocks, _) = bytes.get(at..).unwrap_or_default().as_chunks::<32>();
    for block in blocks {
        if block.iter().fold(false, |found, &byte| found | needs_escape(byte)) {
            break;
        }
        at += 32;
    }
    let (words, tail) = bytes.get(at..).unwrap_or_default().as_chunks::<8>();
    for word in words {
        let marks = needs_escape_mask(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    // The last word once more, of which the first bytes are known to need none.
    if !tail.is_empty()
        && let Some(word) = bytes.last_chunk::<8>()
    {
        let marks = needs_escape_mask(u64::from_le_bytes(*word));
        return if marks == 0 {
            bytes.len()
        } else {
            bytes.len() - 8 + (marks.trailing_zeros() / 8) as usize
        };
    }
    at + tail.iter().position(|&byte| needs_escape(byte)).unwrap_or(tail.len())
}

const fn needs_escape(byte: u8) -> bool {
    byte ^ 2 < 0x21 || byte == b'\\'
}

/// Marks the top bit of bytes that need an escape. The lowest mark is always right; a borrow can set wrong ones
/// above it, which is of no interest to who looks for the first.
const fn needs_escape_mask(word: u64) -> u64 {
    // This flip leaves the controls below 0x20, and puts the quotation mark right behind them.
    let low = word ^ (ONES * 2);
    let low = low.wrapping_sub(ONES * 0x21) & !low;
    let slash = word ^ (ONES * b'\\' as u64);
    let slash = slash.wrapping_sub(ONES) & !slash;
    (low | slash) & TOPS
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: [u8; 16] = *b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xf)]);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Raw JSON may hold line breaks between its tokens, and only there; a message is one line.
pub(crate) fn one_line(json: &mut [u8]) {
    let mut rest = json;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        let Some((byte, tail)) = rest.get_mut(at..).and_then(<[u8]>::split_first_mut) else {
            return;
        };
        *byte = b' ';
        rest = tail;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use proptest::prelude::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = b">".to_vec();
        write(&mut out);
        String::from_utf8(out).unwrap().split_off(1)
    }

    /// Text where every byte class meets every position in a word: mostly plain, with escapes strewn in.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-zA-Z ]{1,20}",
            1 => "[\u{0}-\u{20}\"\\\\/\u{7f}]{1,3}",
            1 => "[\u{80}-\u{ffff}😀]{1,4}",
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn strings_are_written_as_serde_json_writes_them(text in text()) {
            prop_assert_eq!(written(|out| string(out, &text)), serde_json::to_string(&text).unwrap());
        }

        #[test]
        fn any_string_is_written_as_serde_json_writes_it(text in any::<String>()) {
            prop_assert_eq!(written(|out| string(out, &text)), serde_json::to_string(&text).unwrap());
        }

        #[test]
        fn integers_are_written_as_serde_json_writes_them(signed in any::<i64>(), unsigned in any::<u64>()) {
            prop_assert_eq!(written(|out| int(out, signed)), serde_json::to_string(&signed).unwrap());
            prop_assert_eq!(written(|out| uint(out, unsigned)), serde_json::to_string(&unsigned).unwrap());
        }

        #[test]
        fn numbers_read_back_as_they_were(value in any::<f64>()) {
            let text = written(|out| number(out, value));
            if value.is_finite() {
                prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
            } else {
                prop_assert_eq!(text, "null");
            }
        }

        #[test]
        fn whole_numbers_have_no_fraction(value in -(1_i64 << 53) + 1..1_i64 << 53) {
            #[allow(clippy::cast_precision_loss)]
            let text = written(|out| number(out, value as f64));
            prop_assert_eq!(text, value.to_string());
        }

        #[test]
        fn other_numbers_are_written_as_serde_json_writes_them(value in any::<f64>()) {
            prop_assume!(value.is_finite() && whole(value).is_none());
            prop_assert_eq!(written(|out| number(out, value)), serde_json::to_string(&value).unwrap());
        }

        #[test]
        fn raw_text_stays_equal_and_on_one_line(text in text(), before in "[ \t\r\n]{0,4}", after in "[ \t\r\n]{0,4}") {
            let quoted = serde_json::to_string(&text).unwrap();
            let json = alloc::format!("[{before}{quoted}{after}]");
            let line = written(|out| raw(out, &json));
            prop_assert!(!line.contains(['\r', '\n']));
            prop_assert_eq!(line.len(), json.len());
            prop_assert_eq!(serde_json::from_str::<[String; 1]>(&line).unwrap(), [text]);
        }
    }

    #[test]
    fn every_byte_at_every_place_of_a_word() {
        for at in 0..70 {
            for byte in 0..0x80_u8 {
                let mut bytes = alloc::vec![b'x'; 75];
                bytes[at] = byte;
                bytes[at + 1] = byte.wrapping_add(1) & 0x7f;
                let text = String::from_utf8(bytes).unwrap();
                assert_eq!(written(|out| string(out, &text)), serde_json::to_string(&text).unwrap());
            }
        }
    }

    #[test]
    fn the_edges_of_numbers() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0.0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (0.5, "0.5"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
            (f64::NEG_INFINITY, "null"),
        ];
        for (value, text) in cases {
            assert_eq!(written(|out| number(out, value)), text);
        }
    }
}

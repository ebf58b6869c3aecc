//! Base64 for URLs, without padding (RFC 4648 section 5), in its one canonical form: of the characters that decode to
//! the same bytes, one is accepted.

use alloc::string::String;
use alloc::vec::Vec;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// No character of the alphabet.
const NONE: u8 = 0xff;

/// The value of every byte.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut at = 0;
    while at < 64 {
        values[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    values
};

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity((bytes.len() * 4).div_ceil(3));
    for group in bytes.chunks(3) {
        let word =
            group.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for at in 0..=group.len() {
            let index = word >> (18 - 6 * at) & 0x3f;
            out.push(ALPHABET.get(index as usize).copied().map_or('A', char::from));
        }
    }
    out
}

/// All of the text is read whatever is wrong with it. `None`: a character of another alphabet, a length that no bytes have, or bits beyond the last byte.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let mut wrong = 0;
    for group in text.as_bytes().chunks(4) {
        let mut word = 0_u32;
        for byte in group {
            let value = VALUES.get(usize::from(*byte)).copied().unwrap_or(NONE);
            wrong |= value & 0xc0;
            word = word << 6 | u32::from(value & 0x3f);
        }
        let bytes = group.len() * 6 / 8;
        let spare = group.len() * 6 % 8;
        if bytes == 0 || word & ((1 << spare) - 1) != 0 {
            wrong = NONE;
        }
        let [_, three @ ..] = (word >> spare).to_be_bytes();
        out.extend_from_slice(three.get(3 - bytes..)?);
    }
    (wrong == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_vectors_of_the_rfc_without_padding() {
        let pairs = [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in pairs {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xbf]), "-_-_");
    }

    #[test]
    fn what_is_not_canonical_is_refused() {
        for text in ["A", "AAAAA", "Zh", "Zm9", "Zg==", "Zg=", "Zm 9", "Zm9v\n", "+/+/", "Zm9vYé"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back_and_text_is_the_only_one(bytes: Vec<u8>, text in "[A-Za-z0-9_-]{0,12}") {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
            if let Some(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }

        #[test]
        fn any_text_is_fine(text: String) {
            let again = decode(&text).map(|bytes| encode(&bytes));
            prop_assert!(again.is_none_or(|again| again == text));
        }
    }
}

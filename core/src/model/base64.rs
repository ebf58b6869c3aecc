//! Bytes as base64 (RFC 4648, section 4), as blobs, images and sounds are carried.

use alloc::string::String;
use alloc::vec::Vec;

/// Text that is not base64: a character that is none of the alphabet, or padding that is missing or out of place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not base64")]
pub struct Base64Error;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Where each byte stands in the alphabet; 0xff for those that do not.
const PLACES: [u8; 256] = {
    let mut places = [0xff; 256];
    let mut at = 0;
    while at < ALPHABET.len() {
        places[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    places
};

/// The base64 of bytes, with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    let place = |bits: u32| char::from(ALPHABET[(bits & 0x3f) as usize]);
    let (groups, rest) = bytes.as_chunks::<3>();
    for &[a, b, c] in groups {
        let bits = u32::from_be_bytes([0, a, b, c]);
        out.extend([place(bits >> 18), place(bits >> 12), place(bits >> 6), place(bits)]);
    }
    match *rest {
        [a] => out.extend([place(u32::from(a) >> 2), place(u32::from(a) << 4), '=', '=']),
        [a, b] => {
            let bits = u32::from_be_bytes([0, 0, a, b]);
            out.extend([place(bits >> 10), place(bits >> 4), place(bits << 2), '=']);
        }
        _ => {}
    }
    out
}

/// The bytes of base64. There is one way to write them, so that no two texts mean the same: padded, and without stray
/// bits at the end.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, Base64Error> {
    let (groups, []) = text.as_bytes().as_chunks::<4>() else { return Err(Base64Error) };
    let mut out = Vec::with_capacity(groups.len() * 3);
    let place = |byte: u8| PLACES[usize::from(byte)];
    let Some((&last, groups)) = groups.split_last() else { return Ok(out) };
    for group in groups {
        let [a, b, c, d] = group.map(place);
        if (a | b | c | d) & 0xc0 != 0 {
            return Err(Base64Error);
        }
        out.extend([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
    }
    let padding = last.iter().rev().take_while(|byte| **byte == b'=').count();
    let [a, b, c, d] = last.map(|byte| if byte == b'=' { 0 } else { place(byte) });
    let unused = match padding {
        0 => 0,
        1 => c & 0x03,
        2 => b & 0x0f,
        _ => return Err(Base64Error),
    };
    // Padding in the middle leaves its sign as a character that is none.
    let inner = last.iter().take(4 - padding).any(|byte| *byte == b'=');
    if inner || unused != 0 || (a | b | c | d) & 0xc0 != 0 {
        return Err(Base64Error);
    }
    out.extend([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d].into_iter().take(3 - padding));
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn as_the_rfc_has_it() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in pairs {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in [
            "Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zh==", "Zm9=", "Zg=g", "=Zg=", "Zg==Zg==",
            "Zm9v\n", "Zm9-", "Zm9_", " Zm9", "Zm9é", "Zm 9", "Zm9v====",
        ] {
            assert!(decode(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn there_and_back(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(decode(&encode(&bytes)).unwrap(), bytes);
        }

        /// Whatever is taken is what would be written.
        #[test]
        fn one_way_to_write(text in "[A-Da-d0-1+/=]{0,12}") {
            if let Ok(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }
}

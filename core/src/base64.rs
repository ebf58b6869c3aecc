//! Bytes as base64 (RFC 4648): with padding as blobs, images and sounds are carried, or without it and of characters that
//! URLs may hold.
//!
//! Of the texts that would mean the same bytes one is accepted: padded as it should be, and without stray bits at the end.

use alloc::string::String;
use alloc::vec::Vec;

/// Text that is not base64: a character that is none of the alphabet, or padding that is missing or out of place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not base64")]
pub struct Base64Error;

/// Bytes as base64 with padding.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of base64 with padding.
///
/// # Errors
/// When the text is not what [`encode`] would write.
pub fn decode(text: &str) -> Result<Vec<u8>, Base64Error> {
    STANDARD.decode(text).ok_or(Base64Error)
}

/// One way to write base64.
pub(crate) struct Base64 {
    digits: [u8; 64],
    /// The value of each byte; 0xff for those that are no digit.
    values: [u8; 256],
    padded: bool,
}

/// RFC 4648, section 4.
static STANDARD: Base64 = Base64::new(*b"+/", true);

/// RFC 4648, section 5, without padding.
#[cfg(feature = "seal")]
pub(crate) static URL: Base64 = Base64::new(*b"-_", false);

const COMMON: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

impl Base64 {
    const fn new(last: [u8; 2], padded: bool) -> Self {
        let (mut digits, mut values) = ([0; 64], [0xff; 256]);
        let mut at = 0;
        while at < 64 {
            let digit = if at < 62 { COMMON[at] } else { last[at - 62] };
            digits[at] = digit;
            values[digit as usize] = at as u8;
            at += 1;
        }
        Self { digits, values, padded }
    }

    pub(crate) fn encode(&self, bytes: &[u8]) -> String {
        let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
        let digit = |bits: u32| char::from(self.digits[(bits & 0x3f) as usize]);
        let (groups, rest) = bytes.as_chunks::<3>();
        for &[a, b, c] in groups {
            let bits = u32::from_be_bytes([0, a, b, c]);
            out.extend([digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits)]);
        }
        let padding = match *rest {
            [a] => {
                out.extend([digit(u32::from(a) >> 2), digit(u32::from(a) << 4)]);
                "=="
            }
            [a, b] => {
                let bits = u32::from_be_bytes([0, 0, a, b]);
                out.extend([digit(bits >> 10), digit(bits >> 4), digit(bits << 2)]);
                "="
            }
            _ => "",
        };
        if self.padded {
            out.push_str(padding);
        }
        out
    }

    /// All of the text is read whatever is wrong with it. `None`: a character that is no digit, padding that is missing or out of
    /// place, a length that no bytes have, or bits beyond the last byte.
    pub(crate) fn decode(&self, text: &str) -> Option<Vec<u8>> {
        let mut digits = text.as_bytes();
        let mut wrong = 0;
        if self.padded {
            if !digits.len().is_multiple_of(4) {
                wrong = 0xff;
            }
            // What stands further inside is no digit.
            for _ in 0..2 {
                digits = digits.strip_suffix(b"=").unwrap_or(digits);
            }
        }
        let value = |byte: u8| self.values[usize::from(byte)];
        let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
        let (groups, rest) = digits.as_chunks::<4>();
        for group in groups {
            let [a, b, c, d] = group.map(value);
            wrong |= a | b | c | d;
            out.extend([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
        }
        let stray = match *rest {
            [] => 0,
            [a, b] => {
                let [a, b] = [a, b].map(value);
                wrong |= a | b;
                out.push(a << 2 | b >> 4);
                b & 0x0f
            }
            [a, b, c] => {
                let [a, b, c] = [a, b, c].map(value);
                wrong |= a | b | c;
                out.extend([a << 2 | b >> 4, b << 4 | c >> 2]);
                c & 0x03
            }
            _ => 0xff,
        };
        (wrong & 0xc0 == 0 && stray == 0).then_some(out)
    }
}

#[cfg(test)]
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
            assert_eq!(STANDARD.encode(bytes.as_bytes()), text);
            assert_eq!(STANDARD.decode(text).as_deref(), Some(bytes.as_bytes()));
            #[cfg(feature = "seal")]
            {
                let bare = text.trim_end_matches('=');
                assert_eq!(URL.encode(bytes.as_bytes()), bare);
                assert_eq!(URL.decode(bare).as_deref(), Some(bytes.as_bytes()));
            }
        }
        assert_eq!(STANDARD.encode(&[0xfb, 0xff, 0xfe]), "+//+");
        #[cfg(feature = "seal")]
        assert_eq!(URL.encode(&[0xfb, 0xff, 0xfe]), "-__-");
    }

    #[test]
    fn what_is_not_in_its_one_form_is_refused() {
        for text in [
            "Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zh==", "Zm9=", "Zg=g", "=Zg=", "Zg==Zg==",
            "Zm9v\n", "Zm9-", "Zm9_", " Zm9", "Zm9é", "Zm 9", "Zm9v====",
        ] {
            assert_eq!(STANDARD.decode(text), None, "{text:?}");
        }
        #[cfg(feature = "seal")]
        for text in ["A", "AAAAA", "Zh", "Zm9", "Zg==", "Zg=", "Zm 9", "Zm9v\n", "+/+/", "Zm9vYé"] {
            assert_eq!(URL.decode(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn there_and_back(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            #[cfg(feature = "seal")]
            prop_assert_eq!(URL.decode(&URL.encode(&bytes)), Some(bytes.clone()));
            prop_assert_eq!(STANDARD.decode(&STANDARD.encode(&bytes)), Some(bytes));
        }

        /// Whatever is taken is what would be written.
        #[test]
        fn one_way_to_write(standard in "[A-Da-d0-1+/=]{0,12}", url in "[A-Za-z0-9_-]{0,12}", any: String) {
            for text in [&standard, &any] {
                if let Some(bytes) = STANDARD.decode(text) {
                    prop_assert_eq!(&STANDARD.encode(&bytes), text);
                }
            }
            #[cfg(feature = "seal")]
            for text in [&url, &any] {
                if let Some(bytes) = URL.decode(text) {
                    prop_assert_eq!(&URL.encode(&bytes), text);
                }
            }
            let _ = url;
        }
    }
}

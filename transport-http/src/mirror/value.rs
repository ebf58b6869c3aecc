//! Text as the value of a header (basic/transports/streamable-http, "Value Encoding").

use std::borrow::Cow;

use http::HeaderValue;
use sansio_mcp::base64;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// Why the value of a header says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A character that is neither visible ASCII nor a space or tab.
    #[error("holds characters that a header may not hold")]
    Characters,
    /// Between the marks of base64 stands something else, or what is not UTF-8.
    #[error("is not the base64 of a text")]
    Base64,
}

/// The value that carries `text`: the text itself where it is visible ASCII with spaces inside, otherwise its base64 between
/// marks. So is a text that looks like such a value. Line ends never come out as they are.
pub fn encode(text: &str) -> HeaderValue {
    if is_plain(text)
        && let Ok(value) = HeaderValue::from_str(text)
    {
        return value;
    }
    let encoded = format!("{PREFIX}{}{SUFFIX}", base64::encode(text.as_bytes()));
    // Base64 is ASCII: this never falls back, and an empty value would be refused by the server.
    HeaderValue::try_from(encoded).unwrap_or(HeaderValue::from_static(""))
}

/// The text that a value carries; white space around it does not count. A value that has only one of the marks is plain text.
///
/// # Errors
/// Characters that may not stand there, or base64 that is none.
pub fn decode(value: &HeaderValue) -> Result<Cow<'_, str>, ValueError> {
    let text = plain(value)?;
    let Some(encoded) = text.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = base64::decode(encoded).map_err(|_| ValueError::Base64)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| ValueError::Base64)
}

/// The value as it stands, of a header that knows no base64.
pub(super) fn plain(value: &HeaderValue) -> Result<&str, ValueError> {
    // Neither bytes beyond ASCII nor DEL pass; tabs do.
    let text = value.to_str().map_err(|_| ValueError::Characters)?;
    Ok(text.trim_matches([' ', '\t']))
}

fn is_plain(text: &str) -> bool {
    // A tab may stand in a header, but not every proxy leaves it alone.
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim_matches(' ') == text
        && !(text.starts_with(PREFIX) && text.ends_with(SUFFIX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn as_the_page_has_it() {
        for (text, value) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("us west 1", "us west 1"),
            ("", ""),
            ("\tindented", "=?base64?CWluZGVudGVk?="),
            ("\u{7f}", "=?base64?fw==?="),
            // The marks overlap: written as what starts and ends so.
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("=?BASE64?x?=", "=?BASE64?x?="),
            ("=?base64?x", "=?base64?x"),
        ] {
            assert_eq!(encode(text).to_str().unwrap(), value, "{text:?}");
            assert_eq!(decode(&encode(text)).unwrap(), text, "{text:?}");
        }
    }

    #[test]
    fn values_as_they_are_read() {
        for (value, text) in [
            (&b"=?base64?SGVsbG8=?="[..], Ok("Hello")),
            (b" \t=?base64?SGVsbG8=?= ", Ok("Hello")),
            (b" a b\tc ", Ok("a b\tc")),
            (b"=?base64??=", Ok("")),
            (b"SGVsbG8=", Ok("SGVsbG8=")),
            (b"=?base64?SGVsbG8=", Ok("=?base64?SGVsbG8=")),
            (b"SGVsbG8=?=", Ok("SGVsbG8=?=")),
            (b"=?Base64?SGVsbG8=?=", Ok("=?Base64?SGVsbG8=?=")),
            (b"=?base64?=", Ok("=?base64?=")),
            (b"=?base64?SGVsbG8?=", Err(ValueError::Base64)),
            (b"=?base64?SGVs!bG8=?=", Err(ValueError::Base64)),
            (b"=?base64? SGVsbG8=?=", Err(ValueError::Base64)),
            (b"=?base64?/w==?=", Err(ValueError::Base64)),
            (b"caf\xc3\xa9", Err(ValueError::Characters)),
            (b"\xff", Err(ValueError::Characters)),
        ] {
            let value = HeaderValue::from_bytes(value).unwrap();
            assert_eq!(decode(&value).as_deref(), text.as_ref().copied(), "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn there_and_back(text: String, marks in "(=\\?base64\\?)?[ a=?\t\r\n]{0,4}(\\?=)?") {
            for text in [&text, &marks] {
                let value = encode(text);
                prop_assert!(value.as_bytes().iter().all(|byte| matches!(byte, b' '..=b'~')));
                prop_assert_eq!(&*decode(&value).unwrap(), text.as_str());
            }
        }

        #[test]
        fn any_value_is_read(bytes: Vec<u8>) {
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let _ = decode(&value);
            }
        }
    }
}

//! Templates for URIs, of the simplest level (RFC 6570, level 1): literal text and `{variable}`.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::members::Members;

/// Bytes of a template at most.
const MAX_TEMPLATE: usize = 8 * 1024;

/// A template for URIs that is made of literal text and variables (RFC 6570, level 1).
///
/// ```
/// use sansio_mcp::model::UriTemplate;
///
/// let template: UriTemplate = "invoice://{year}/{number}.json".parse()?;
/// assert_eq!(template.variables().collect::<Vec<_>>(), ["year", "number"]);
/// let uri = template.expand(|name| Some(if name == "year" { "2026" } else { "no 7/b" }));
/// assert_eq!(uri, "invoice://2026/no%207%2Fb.json");
/// let values = template.matches(&uri).unwrap();
/// assert_eq!(values.get("number").map(String::as_str), Some("no 7/b"));
/// assert!(template.matches("invoice://2026/7/b.json").is_none());
/// # Ok::<(), sansio_mcp::model::TemplateError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UriTemplate {
    text: String,
    /// The literal text before the first variable.
    head: String,
    /// Each variable and the literal text behind it, which is empty only at the end.
    parts: Vec<(String, String)>,
}

/// Why a text is not a template of level 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A character that no URI has, or a `%` that encodes nothing.
    #[error("the template has a character that a URI cannot have")]
    Literal,
    /// A brace without its other half.
    #[error("the template has a brace without its other half")]
    Brace,
    /// Not one plain name between braces: an operator, a modifier, several names, or none. Those are of higher levels.
    #[error("the template is not of level 1: there must be one plain name between braces")]
    Expression,
    /// Nothing between two variables, which could not be told apart.
    #[error("the template has nothing between two variables")]
    Adjacent,
    /// One variable twice, which could have two values.
    #[error("the template has one variable twice")]
    Twice,
    /// Longer than 8 KiB.
    #[error("the template is longer than 8192 bytes")]
    TooLong,
}

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// It is not one of level 1.
    pub fn new(text: impl Into<String>) -> Result<Self, TemplateError> {
        let text = text.into();
        if text.len() > MAX_TEMPLATE {
            return Err(TemplateError::TooLong);
        }
        let mut pieces = text.split('{');
        let head = literal(pieces.next().unwrap_or_default())?;
        let mut parts: Vec<(String, String)> = Vec::new();
        let mut names = BTreeSet::new();
        for piece in pieces {
            if parts.last().is_some_and(|(_, behind)| behind.is_empty()) {
                return Err(TemplateError::Adjacent);
            }
            let (name, behind) = piece.split_once('}').ok_or(TemplateError::Brace)?;
            if !is_name(name) {
                return Err(TemplateError::Expression);
            }
            if !names.insert(name) {
                return Err(TemplateError::Twice);
            }
            parts.push((name.into(), literal(behind)?));
        }
        Ok(Self { text, head, parts })
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables, in order.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parts.iter().map(|(name, _)| name.as_str())
    }

    /// Fills in the variables; one without a value becomes nothing (RFC 6570, section 3.2.2).
    pub fn expand<'a>(&self, value: impl Fn(&str) -> Option<&'a str>) -> String {
        let mut out = self.head.clone();
        for (name, behind) in &self.parts {
            for byte in value(name).unwrap_or_default().bytes() {
                encode(&mut out, byte);
            }
            out.push_str(behind);
        }
        out
    }

    /// What the variables must have been for this URI, percent-decoded; `None` if it is not one of the template's.
    ///
    /// A variable takes at least one character and none of `/`, `?` and `#`, and the earlier of two takes as few as it
    /// can, so there is one result at most, found in time linear in the URI. A value is the peer's word: `%2F` and
    /// `%00` become what they encode, and `..` is not looked at.
    pub fn matches(&self, uri: &str) -> Option<Members<String>> {
        let mut rest = uri.strip_prefix(self.head.as_str())?;
        let mut values = Members::new();
        let last = self.parts.len().saturating_sub(1);
        for (n, (name, behind)) in self.parts.iter().enumerate() {
            let first = rest.chars().next()?.len_utf8();
            let end = if n == last {
                rest.len()
                    .checked_sub(behind.len())
                    .filter(|end| *end >= first && rest.ends_with(behind.as_str()))?
            } else {
                rest.get(first..)?.find(behind.as_str())? + first
            };
            let (value, tail) = rest.split_at_checked(end)?;
            if value.contains(['/', '?', '#']) {
                return None;
            }
            values.push(name.clone(), decode(value)?);
            rest = tail.get(behind.len()..)?;
        }
        rest.is_empty().then_some(values)
    }
}

impl FromStr for UriTemplate {
    type Err = TemplateError;
    fn from_str(text: &str) -> Result<Self, TemplateError> {
        Self::new(text)
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A literal as it stands in the URI: what is not of ASCII is encoded.
fn literal(text: &str) -> Result<String, TemplateError> {
    let mut out = String::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'}' => return Err(TemplateError::Brace),
            b'%' => {
                let (high, low) = (bytes.next(), bytes.next());
                let digit = |byte: Option<u8>| byte.filter(u8::is_ascii_hexdigit).map(char::from);
                let (Some(high), Some(low)) = (digit(high), digit(low)) else {
                    return Err(TemplateError::Literal);
                };
                out.extend(['%', high, low]);
            }
            0..=b' ' | 0x7f | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' => {
                return Err(TemplateError::Literal);
            }
            0x80.. => encode(&mut out, byte),
            other => out.push(char::from(other)),
        }
    }
    Ok(out)
}

/// The name of a variable (RFC 6570, section 2.3): letters, digits and underscores, single dots between them, and
/// percent-encoded bytes.
fn is_name(name: &str) -> bool {
    name.split('.').all(|label| {
        let mut bytes = label.bytes();
        let mut fine = !label.is_empty();
        while let Some(byte) = bytes.next() {
            fine &= match byte {
                b'%' => {
                    let hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
                    hex(bytes.next()) && hex(bytes.next())
                }
                byte => byte.is_ascii_alphanumeric() || byte == b'_',
            };
        }
        fine
    })
}

fn encode(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        return out.push(char::from(byte));
    }
    let digit = |digit: u8| char::from(HEX[usize::from(digit & 0xf)]);
    out.extend(['%', digit(byte >> 4), digit(byte)]);
}

fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
        out.push((high * 16 + low) as u8);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn found(template: &str, uri: &str) -> Option<String> {
        let values = UriTemplate::new(template).unwrap().matches(uri)?;
        Some(values.iter().flat_map(|(name, value)| [name, "=", value, ";"]).collect())
    }

    #[test]
    fn other_levels_are_refused() {
        use TemplateError::{Adjacent, Brace, Expression, Literal, Twice};
        let table = [
            ("{+a}", Expression),
            ("{#a}", Expression),
            ("{.a}", Expression),
            ("{/a}", Expression),
            ("{;a}", Expression),
            ("{?a}", Expression),
            ("{&a}", Expression),
            ("{a,b}", Expression),
            ("{a:3}", Expression),
            ("{a*}", Expression),
            ("{}", Expression),
            ("{ a}", Expression),
            ("{a-b}", Expression),
            ("{a..b}", Expression),
            ("{a.}", Expression),
            ("{%4}", Expression),
            ("{ä}", Expression),
            ("{=a}", Expression),
            ("{|a}", Expression),
            ("{a", Brace),
            ("a}", Brace),
            ("{a}}", Brace),
            ("{{a}}", Brace),
            ("{a}{b}", Adjacent),
            ("{a}/{a}", Twice),
            ("a b", Literal),
            ("a\n", Literal),
            ("%4", Literal),
            ("%zz", Literal),
            ("<{a}>", Literal),
            ("a\\b", Literal),
        ];
        for (text, error) in table {
            assert_eq!(UriTemplate::new(text), Err(error), "{text}");
        }
        assert_eq!(UriTemplate::new("a".repeat(8193)), Err(TemplateError::TooLong));
        for text in ["", "a", "{a}", "{a.b_1}", "{%41}", "x:{a}?b={c}#{d}", "http://é/{a}", "it's/{a}"] {
            assert_eq!(UriTemplate::new(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn expansion_is_that_of_the_rfc() {
        let table = [
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("O{undef}X", "OX"),
            ("{half}", "50%25"),
            ("/map?{x}", "/map?1024"),
            ("{path}/here", "%2Ffoo%2Fbar/here"),
            ("é{u}%c3", "%C3%A9%C3%BC%c3"),
        ];
        let value = |name: &str| {
            Some(match name {
                "var" => "value",
                "hello" => "Hello World!",
                "half" => "50%",
                "x" => "1024",
                "path" => "/foo/bar",
                "u" => "ü",
                _ => return None,
            })
        };
        for (template, expected) in table {
            assert_eq!(UriTemplate::new(template).unwrap().expand(value), expected, "{template}");
        }
    }

    #[test]
    fn what_matches_and_what_does_not() {
        let table = [
            ("a://{x}", "a://b", Some("x=b;")),
            ("a://{x}", "a://", None),
            ("a://{x}", "a://b/c", None),
            ("a://{x}", "a://b?c", None),
            ("a://{x}", "a://b#c", None),
            ("a://{x}", "A://b", None),
            ("a://{x}", "a://b%2Fc%20%C3%A9", Some("x=b/c é;")),
            ("a://{x}", "a://%zz", None),
            ("a://{x}", "a://%4", None),
            ("a://{x}", "a://%ff", None),
            ("a://{x}", "a://é:@!", Some("x=é:@!;")),
            ("{x}-{y}", "a-b-c", Some("x=a;y=b-c;")),
            ("{x}-{y}", "--b", Some("x=-;y=b;")),
            ("{x}-{y}", "-b", None),
            ("{x}-{y}", "a-", None),
            ("{x}.json", "a.json.json", Some("x=a.json;")),
            ("{x}.json", ".json", None),
            ("{x}é", "éé", None),
            ("{x}é", "é%C3%A9", Some("x=é;")),
            ("{x}/b/{y}", "a/b/b/c", None),
            ("{x}/b/{y}", "b/b/c", Some("x=b;y=c;")),
            ("a/{x}/c?q={y}#z", "a/b/c?q=d#z", Some("x=b;y=d;")),
            ("a", "a", Some("")),
            ("a", "ab", None),
            ("", "", Some("")),
            ("", "a", None),
        ];
        for (template, uri, expected) in table {
            assert_eq!(found(template, uri).as_deref(), expected, "{template} {uri}");
        }
    }

    #[test]
    fn a_long_uri_takes_no_time() {
        // Every way to split it tried, this would not end.
        let parts: Vec<String> = (0..200).map(|n| format!("{{v{n}}}-a")).collect();
        let template = UriTemplate::new(parts.concat()).unwrap();
        assert!(template.matches(&"-a".repeat(1_000_000)).is_none_or(|values| values.len() == 200));
        assert!(template.matches(&"-".repeat(4_000_000)).is_none());
    }

    proptest! {
        #[test]
        fn what_was_filled_in_is_found(values in proptest::collection::vec("[^\u{0}]{1,8}", 3)) {
            let template = UriTemplate::new("x://{a}/{b}/c/{d}").unwrap();
            let uri = template.expand(|name| Some(match name { "a" => &values[0], "b" => &values[1], _ => &values[2] }));
            prop_assert!(super::super::form::is_uri(&uri), "{}", uri);
            let found: Vec<String> = template.matches(&uri).unwrap().into_iter().map(|(_, value)| value).collect();
            prop_assert_eq!(found, values);
        }

        /// What is found gives the same URI, up to how bytes are encoded.
        #[test]
        fn what_is_found_fills_in(uri in "[ab/.%2-]{0,12}") {
            let template = UriTemplate::new("{a}.{b}-a").unwrap();
            if let Some(values) = template.matches(&uri) {
                let again = template.expand(|name| values.get(name).map(String::as_str));
                prop_assert_eq!(template.matches(&again).is_some(), true);
                prop_assert_eq!(decode(&again), decode(&uri));
            }
        }
    }
}

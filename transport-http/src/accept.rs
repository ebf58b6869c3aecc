//! Which form a body has, and which forms a client takes (basic/transports/streamable-http, "Sending Messages"; RFC 9110,
//! sections 8.3 and 12.5.1).

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use crate::headers::single;
use crate::status::Rejection;

/// `Accept` of a client's POST: it takes both forms of answer.
pub const CLIENT_ACCEPTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// `Content-Type` of a message.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// `Content-Type` of a stream of events.
pub const EVENTS: HeaderValue = HeaderValue::from_static(crate::sse::MEDIA_TYPE);

/// The two forms of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One JSON object.
    Json,
    /// A stream of events whose last is the answer.
    Events,
}

/// The forms that a client takes; at least one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Accepted {
    /// `application/json`.
    pub json: bool,
    /// `text/event-stream`.
    pub events: bool,
}

impl Accepted {
    /// Whether this form is taken.
    pub fn takes(self, form: Form) -> bool {
        match form {
            Form::Json => self.json,
            Form::Events => self.events,
        }
    }
}

/// Reads `Accept` of a request.
///
/// A client has to list both forms; the page does not say what becomes of one that does not. It gets the form that it takes,
/// and 406 if it takes neither. Wildcards count, a quality of 0 excludes, the most specific range decides, and no `Accept`
/// at all means that anything is taken. A range that cannot be read is passed over.
///
/// # Errors
/// [`Rejection::NotAcceptable`].
pub fn accepted(headers: &HeaderMap) -> Result<Accepted, Rejection> {
    let mut values = headers.get_all(ACCEPT).iter();
    match (values.next(), values.next()) {
        (None, _) => return Ok(Accepted { json: true, events: true }),
        // As clients of this protocol send it.
        (Some(value), None) if *value == CLIENT_ACCEPTS => return Ok(Accepted { json: true, events: true }),
        _ => {}
    }
    let (mut json, mut events) = ((0, false), (0, false));
    let ranges = headers.get_all(ACCEPT).iter().flat_map(|value| split(value.as_bytes(), b','));
    for range in ranges.filter_map(range) {
        // Of two that say it equally exactly, the one that allows it counts.
        json = json.max((range.specific(b"application", b"json"), range.allowed));
        events = events.max((range.specific(b"text", b"event-stream"), range.allowed));
    }
    let takes = |(specific, allowed)| specific > 0 && allowed;
    match (takes(json), takes(events)) {
        (false, false) => Err(Rejection::NotAcceptable),
        (json, events) => Ok(Accepted { json, events }),
    }
}

/// Checks that a request says its body is JSON. Parameters such as a charset of UTF-8 are allowed, another charset is not.
///
/// A body that claims to be anything else is refused, also without `Content-Type`: what a browser may send to another site
/// without asking first is such a body.
///
/// # Errors
/// [`Rejection::UnsupportedMediaType`].
pub fn require_json(headers: &HeaderMap) -> Result<(), Rejection> {
    match form(headers) {
        Some(Form::Json) => Ok(()),
        Some(Form::Events) | None => Err(Rejection::UnsupportedMediaType),
    }
}

/// The form of a body by its `Content-Type`; `None` for any other, two of them, or none.
pub fn form(headers: &HeaderMap) -> Option<Form> {
    let value = single(headers, &CONTENT_TYPE).ok()??;
    let mut parts = split(value.as_bytes(), b';');
    let media_type = parts.next()?;
    let utf8 = parts.all(|parameter| {
        let (name, value) = pair(parameter);
        !name.eq_ignore_ascii_case(b"charset")
            || [&b"utf-8"[..], b"utf8", b"us-ascii"]
                .iter()
                .any(|charset| unquoted(value).eq_ignore_ascii_case(charset))
    });
    if !utf8 {
        None
    } else if media_type.eq_ignore_ascii_case(b"application/json") {
        Some(Form::Json)
    } else if media_type.eq_ignore_ascii_case(crate::sse::MEDIA_TYPE.as_bytes()) {
        Some(Form::Events)
    } else {
        None
    }
}

struct Range<'v> {
    kind: &'v [u8],
    subtype: &'v [u8],
    /// Its quality is not 0.
    allowed: bool,
}

impl Range<'_> {
    /// 0: it says nothing about this type.
    fn specific(&self, kind: &[u8], subtype: &[u8]) -> u8 {
        match (self.kind, self.subtype) {
            (b"*", b"*") => 1,
            (own, b"*") if own.eq_ignore_ascii_case(kind) => 2,
            (own, part) if own.eq_ignore_ascii_case(kind) && part.eq_ignore_ascii_case(subtype) => 3,
            _ => 0,
        }
    }
}

fn range(text: &[u8]) -> Option<Range<'_>> {
    let mut parts = split(text, b';');
    let mut media = parts.next()?.splitn(2, |byte| *byte == b'/');
    let (kind, subtype) = (media.next()?, media.next()?);
    let mut allowed = true;
    for parameter in parts {
        let (name, value) = pair(parameter);
        if name.eq_ignore_ascii_case(b"q") {
            allowed = quality(value)?;
        }
    }
    Some(Range { kind, subtype, allowed })
}

/// Whether a quality is above 0: "0", "1", or one of these with at most three decimals. `None` for what is none.
fn quality(text: &[u8]) -> Option<bool> {
    let (whole, decimals) = match text {
        [whole] => (whole, &[][..]),
        [whole, b'.', decimals @ ..] if decimals.len() <= 3 => (whole, decimals),
        _ => return None,
    };
    let zeros = decimals.iter().all(|digit| *digit == b'0');
    match whole {
        b'0' if decimals.iter().all(u8::is_ascii_digit) => Some(!zeros),
        b'1' if zeros => Some(true),
        _ => None,
    }
}

/// A parameter's name and value.
fn pair(parameter: &[u8]) -> (&[u8], &[u8]) {
    match parameter.iter().position(|byte| *byte == b'=') {
        Some(at) => (&parameter[..at], &parameter[at + 1..]),
        None => (parameter, &[]),
    }
}

fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value)
}

/// The parts between separators that do not stand in quotes, without the white space around them.
fn split(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            byte => return *byte == separator && !quoted,
        }
        false
    })
    .map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use http::HeaderName;

    use super::*;

    fn with(name: &HeaderName, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    #[test]
    fn what_clients_accept() {
        for (values, json, events) in [
            (&[][..], true, true),
            (&["application/json, text/event-stream"][..], true, true),
            (&["application/json", "text/event-stream"], true, true),
            (&["TEXT/Event-Stream ; q=0.5 , Application/JSON"], true, true),
            (&["application/json"], true, false),
            (&["text/event-stream"], false, true),
            (&["*/*"], true, true),
            (&["application/*"], true, false),
            (&["text/*;q=0.001"], false, true),
            (&["*/*;q=0, application/json"], true, false),
            (&["*/*, text/event-stream;q=0"], true, false),
            (&["*/*, text/*;Q=0.000"], true, false),
            (&["text/*;q=0, text/event-stream"], false, true),
            (&["application/json;q=1.000;level=1"], true, false),
            (&["application/json;x=\"a,b;q=0\\\", */*;q=0\""], true, false),
            (&["application/json;x=\"a, text/event-stream, b\""], true, false),
            // Unreadable parts are passed over, the rest counts.
            (&["json, application/json;q=2, text/event-stream;q=1.0"], false, true),
            (&[",, application/json ,"], true, false),
            (&["application/json;q=0.1234, text/event-stream"], false, true),
            (&["text/html, application/xml"], false, false),
            (&["application/json;q=0"], false, false),
            (&[""], false, false),
            (&["*"], false, false),
            (&["*/json"], false, false),
        ] {
            let wanted =
                if json || events { Ok(Accepted { json, events }) } else { Err(Rejection::NotAcceptable) };
            assert_eq!(accepted(&with(&ACCEPT, values)), wanted, "{values:?}");
        }
        let mut ours = HeaderMap::new();
        ours.insert(ACCEPT, CLIENT_ACCEPTS);
        let ours = accepted(&ours).unwrap();
        assert!(ours.takes(Form::Json) && ours.takes(Form::Events));
    }

    #[test]
    fn what_a_body_is() {
        for (values, wanted) in [
            (&["application/json"][..], Some(Form::Json)),
            (&[" Application/Json ; Charset=UTF-8 "], Some(Form::Json)),
            (&["application/json;charset=\"utf-8\";x=y"], Some(Form::Json)),
            (&["text/event-stream;charset=utf-8"], Some(Form::Events)),
            (&["application/json; charset=utf-16"], None),
            (&["application/json, text/plain"], None),
            (&["application/json", "application/json"], None),
            (&["application/jsonx"], None),
            (&["application/vnd.x+json"], None),
            (&["text/plain"], None),
            (&["application/x-www-form-urlencoded"], None),
            (&["text/plain; application/json"], None),
            (&[""], None),
            (&[], None),
        ] {
            let headers = with(&CONTENT_TYPE, values);
            assert_eq!(form(&headers), wanted, "{values:?}");
            assert_eq!(require_json(&headers).is_ok(), wanted == Some(Form::Json), "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn any_value_is_read(bytes: Vec<u8>, text in "[a-z*/,;=\"\\\\q01. ]{0,40}") {
            for value in [&bytes[..], text.as_bytes()] {
                let Ok(value) = HeaderValue::from_bytes(value) else { continue };
                let mut headers = HeaderMap::new();
                headers.insert(ACCEPT, value.clone());
                headers.insert(CONTENT_TYPE, value);
                let _ = (accepted(&headers), form(&headers));
            }
        }
    }
}

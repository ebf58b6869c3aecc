//! The rules of the HTTP binding that look at the head of a request or response alone.

use sansio_mcp_http::accept::{Form, accepted, form, require_json};
use sansio_mcp_http::http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use sansio_mcp_http::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sansio_mcp_http::origin::Policy;
use sansio_mcp_http::status::{Arrived, Rejection, arrived, speaks_modern};

fn with(name: &HeaderName, values: &[&[u8]]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(name, HeaderValue::from_bytes(value).ok()?);
    }
    Some(headers)
}

/// Two lines: an `Accept` and a `Content-Type`. Neither the order of ranges, nor how they are spread over headers, nor case
/// matters; a range that is added takes nothing away; a type that stands twice is none.
pub fn http_accept(bytes: &[u8]) {
    let mut lines = bytes.splitn(2, |byte| *byte == b'\n');
    let (accept, content) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    if let Some(headers) = with(&ACCEPT, &[accept]) {
        let taken = accepted(&headers);
        let upper = accept.to_ascii_uppercase();
        assert_eq!(with(&ACCEPT, &[&upper]).map(|headers| accepted(&headers)), Some(taken), "case");
        if !accept.contains(&b'"') {
            let mut ranges: Vec<_> = accept.split(|byte| *byte == b',').collect();
            assert_eq!(with(&ACCEPT, &ranges).map(|headers| accepted(&headers)), Some(taken), "spread");
            ranges.reverse();
            let turned = ranges.join(&b","[..]);
            assert_eq!(with(&ACCEPT, &[&turned]).map(|headers| accepted(&headers)), Some(taken), "order");
        }
        let more = with(&ACCEPT, &[accept, b"application/json"]).map(|headers| accepted(&headers));
        if let Some(more) = more {
            let more = more.expect("JSON is taken");
            assert!(more.takes(Form::Json));
            assert_eq!(more.events, taken.is_ok_and(|taken| taken.events), "the other form is as it was");
        }
    }
    let Some(mut headers) = with(&CONTENT_TYPE, &[content]) else { return };
    let found = form(&headers);
    assert_eq!(require_json(&headers).is_ok(), found == Some(Form::Json));
    let upper = with(&CONTENT_TYPE, &[&content.to_ascii_uppercase()]).map(|headers| form(&headers));
    assert_eq!(upper, Some(found), "case");
    headers.append(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    assert_eq!(form(&headers), None, "two types");
}

/// Lines: a host, an origin, a host that is listed, an origin that is listed. Who is listed is served; listing more refuses
/// nobody; what stands twice is refused; what browsers are told names the origin that asked and no other.
pub fn http_origin(bytes: &[u8]) {
    let mut lines = bytes.splitn(4, |byte| *byte == b'\n');
    let mut line = || String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let (host, origin, listed_host, listed_origin) = (line(), line(), line(), line());
    let (Ok(host), Ok(origin)) = (HeaderValue::from_str(&host), HeaderValue::from_str(&origin)) else {
        return;
    };
    let headers = HeaderMap::from_iter([(HOST, host.clone()), (ORIGIN, origin.clone())]);
    let own = Policy::default().admit(&headers, None);

    let mut policy = Policy::default();
    if let Ok(more) = policy.clone().allow_host(&listed_host) {
        policy = more;
        let strict = policy.clone().without_loopback();
        if let Ok(listed) = HeaderValue::from_str(&listed_host) {
            let served = strict.admit(&HeaderMap::from_iter([(HOST, listed)]), None);
            assert!(served.is_ok(), "a listed host is served");
        }
    }
    let known = policy.clone().allow_origin(&listed_origin);
    if let (Ok(known), Ok(listed)) = (&known, HeaderValue::from_str(&listed_origin)) {
        let asks =
            HeaderMap::from_iter([(HOST, HeaderValue::from_static("localhost")), (ORIGIN, listed.clone())]);
        let admitted = known.admit(&asks, None).expect("a listed origin is served");
        assert!(admitted.is_listed());
        let mut marked = HeaderMap::new();
        known.mark(Some(&admitted), &mut marked);
        assert_eq!(marked["access-control-allow-origin"], listed);
    }
    let policy = known.unwrap_or(policy);
    let admitted = policy.admit(&headers, None);
    assert!(own.is_err() || admitted.is_ok(), "listing more refuses nobody");
    match &admitted {
        Ok(admitted) => {
            let preflight = admitted.preflight(&headers);
            assert_eq!(preflight.is_ok(), admitted.is_listed());
            if let Ok(answer) = preflight {
                assert_eq!(answer["access-control-allow-origin"], origin);
            }
        }
        Err(why) => assert!(matches!(why, Rejection::Host | Rejection::Origin)),
    }
    for name in [HOST, ORIGIN] {
        let mut twice = headers.clone();
        twice.append(&name, headers[&name].clone());
        assert!(policy.admit(&twice, None).is_err(), "{name} stands twice");
    }
}

/// Two bytes of a status, a line with a type, and a body: what a client makes of a response is one of five things, and only an
/// error that is a message tells of this era.
pub fn http_status(bytes: &[u8]) {
    let [high, low, rest @ ..] = bytes else { return };
    let Ok(status) = StatusCode::from_u16(u16::from_be_bytes([*high, *low]) % 1000) else { return };
    let mut parts = rest.splitn(2, |byte| *byte == b'\n');
    let (kind, body) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let headers = with(&CONTENT_TYPE, &[kind]).unwrap_or_default();
    match arrived(status, &headers) {
        Arrived::Json => assert_eq!(form(&headers), Some(Form::Json)),
        Arrived::Events => assert!(status.is_success() && form(&headers) == Some(Form::Events)),
        Arrived::NoAnswer => assert!(status.is_success()),
        Arrived::Redirected => assert!(status.is_redirection()),
        Arrived::Failed => assert!(!status.is_success() && !status.is_redirection()),
        other => panic!("{other:?}"),
    }
    if speaks_modern(status, body) {
        let value: serde_json::Value = serde_json::from_slice(body).expect("it is a message");
        assert!(value["error"]["code"].is_i64(), "it is an error: {value}");
    }
}

//! Who is served.

use proptest::prelude::*;

use super::*;

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

fn host(policy: &Policy, host: &str) -> bool {
    policy.admit(&headers(&[("host", host)]), None).is_ok()
}

/// `None`: refused; otherwise whether it may read the answer.
fn origin(policy: &Policy, origin: &str) -> Option<bool> {
    match policy.admit(&headers(&[("host", "localhost"), ("origin", origin)]), None) {
        Ok(admitted) => Some(admitted.is_listed()),
        Err(why) => {
            assert_eq!(why, Rejection::Origin);
            None
        }
    }
}

#[test]
fn hosts() {
    let own = Policy::default();
    let listed = Policy::default().allow_host("MCP.example.com").unwrap().allow_host("other:8443").unwrap();
    let strict = listed.clone().without_loopback().allow_host("[2001:DB8::1]").unwrap();
    for (name, by_default, when_listed, when_strict) in [
        ("localhost", true, true, false),
        ("LocalHost:3000", true, true, false),
        ("localhost.", true, true, false),
        ("127.0.0.1", true, true, false),
        ("127.1.2.3:80", true, true, false),
        ("[::1]:8080", true, true, false),
        ("[0:0:0:0:0:0:0:1]", true, true, false),
        ("mcp.example.com", false, true, true),
        ("mcp.EXAMPLE.com:81", false, true, true),
        ("other:8443", false, true, true),
        ("other", false, false, false),
        ("other:8444", false, false, false),
        ("[2001:db8:0::1]:1", false, false, true),
        ("evil.example", false, false, false),
        ("mcp.example.com.evil.example", false, false, false),
        ("evil.mcp.example.com", false, false, false),
        ("localhost.evil.example", false, false, false),
        ("evil@localhost", false, false, false),
        ("localhost@evil", false, false, false),
        ("0.0.0.0", false, false, false),
        ("127.1", false, false, false),
        ("::1", false, false, false),
        ("[::1", false, false, false),
        ("[::1]x", false, false, false),
        ("[::1]x:80", false, false, false),
        ("localhost:", false, false, false),
        ("localhost:99999", false, false, false),
        ("localhost:+1", false, false, false),
        ("localhost:80:80", false, false, false),
        ("localhost/", false, false, false),
        ("local host", false, false, false),
        ("", false, false, false),
    ] {
        assert_eq!(host(&own, name), by_default, "{name}");
        assert_eq!(host(&listed, name), when_listed, "{name}");
        assert_eq!(host(&strict, name), when_strict, "{name}");
        assert!(host(&Policy::default().allow_any_host(), name), "{name}");
    }
}

#[test]
fn where_the_host_stands() {
    let own = Policy::default();
    let (good, bad) = (Authority::from_static("localhost:1"), Authority::from_static("evil.example"));
    for (pairs, authority, served) in [
        (&[][..], None, false),
        (&[], Some(&good), true),
        (&[], Some(&bad), false),
        (&[("host", "localhost")], Some(&good), true),
        (&[("host", "localhost")], Some(&bad), false),
        (&[("host", "evil.example")], Some(&good), false),
        (&[("host", "localhost"), ("host", "localhost")], None, false),
        (&[("host", "localhost\u{e9}")], None, false),
    ] {
        let wanted = if served { Ok(()) } else { Err(Rejection::Host) };
        assert_eq!(own.admit(&headers(pairs), authority).map(drop), wanted, "{pairs:?} {authority:?}");
    }
    let any = Policy::default().allow_any_host();
    assert!(any.admit(&headers(&[]), None).is_ok());
}

#[test]
fn origins() {
    let own = Policy::default();
    let listed = Policy::default().allow_origin("https://App.example.com").unwrap();
    let listed =
        listed.allow_origin("http://localhost:3000").unwrap().allow_origin("vscode-webview://abc").unwrap();
    for (text, by_default, when_listed) in [
        ("http://localhost", Some(false), Some(false)),
        ("http://localhost:3000", Some(false), Some(true)),
        ("https://127.0.0.1:5173", Some(false), Some(false)),
        ("HTTP://[::1]:1", Some(false), Some(false)),
        ("https://app.example.com", None, Some(true)),
        ("HTTPS://APP.EXAMPLE.COM:443", None, Some(true)),
        ("https://app.example.com:444", None, None),
        ("http://app.example.com", None, None),
        ("https://app.example.com.evil.example", None, None),
        ("https://evil-app.example.com", None, None),
        ("https://app.example.com/", None, None),
        ("https://user@app.example.com", None, None),
        ("vscode-webview://abc", None, Some(true)),
        ("ftp://localhost", None, None),
        ("localhost", None, None),
        ("null", None, None),
        ("", None, None),
        ("*", None, None),
        ("http://localhost, http://localhost", None, None),
    ] {
        assert_eq!(origin(&own, text), by_default, "{text}");
        assert_eq!(origin(&listed, text), when_listed, "{text}");
    }
    let null = Policy::default().allow_origin("null").unwrap();
    assert_eq!(origin(&null, "null"), Some(true));
    assert_eq!(origin(&null, "NULL"), None);
    assert_eq!(
        origin(&listed.without_loopback().allow_host("localhost").unwrap(), "http://localhost:1"),
        None
    );
    let twice =
        headers(&[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://localhost")]);
    assert_eq!(own.admit(&twice, None), Err(Rejection::Origin));
}

#[test]
fn entries_that_are_none() {
    for text in ["", "http://a", "a/b", "a:b", "*", "*.example.com", "a b"] {
        assert_eq!(Policy::default().allow_host(text), Err(EntryError::Host(text.to_owned())));
    }
    for text in ["", "a", "*", "https://", "https://a/", "https://*.example.com", "1http://a", "https://a:x"]
    {
        assert_eq!(Policy::default().allow_origin(text), Err(EntryError::Origin(text.to_owned())));
    }
}

fn sorted(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let mut all: Vec<_> =
        headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    all.sort_unstable();
    all
}

#[test]
fn preflights() {
    use http::Method;
    let policy = Policy::default().allow_origin("https://a").unwrap();
    let asked = [
        ("host", "localhost"),
        ("origin", "https://a"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type, Mcp-Param-Region ,mcp method,\u{e9},"),
    ];
    let request = headers(&asked);
    assert!(is_preflight(&Method::OPTIONS, &request));
    assert!(!is_preflight(&Method::POST, &request));
    assert!(!is_preflight(&Method::OPTIONS, &headers(&asked[..2])));
    assert!(!is_preflight(&Method::OPTIONS, &headers(&asked[2..])));
    assert_eq!(
        sorted(&policy.admit(&request, None).unwrap().preflight(&request).unwrap()),
        [
            ("access-control-allow-headers", "content-type, mcp-param-region"),
            ("access-control-allow-methods", "POST"),
            ("access-control-allow-origin", "https://a"),
            ("access-control-max-age", "600"),
            ("vary", "Origin, Access-Control-Request-Headers"),
        ]
    );
    // Served, but not listed.
    let loopback = headers(&[("host", "localhost"), ("origin", "http://localhost")]);
    assert_eq!(policy.admit(&loopback, None).unwrap().preflight(&loopback), Err(Rejection::Origin));

    let many = (0..1000).map(|at| format!("h{at}")).collect::<Vec<_>>().join(",");
    let request = headers(&[asked[0], asked[1], ("access-control-request-headers", &many)]);
    let answer = policy.admit(&request, None).unwrap().preflight(&request).unwrap();
    assert_eq!(
        answer["access-control-allow-headers"].to_str().unwrap().split(", ").count(),
        MAX_ASKED_HEADERS
    );
}

#[test]
fn what_a_response_says() {
    let policy = Policy::default().allow_origin("https://a").unwrap();
    let admitted = |policy: &Policy, origin| {
        policy.admit(&headers(&[("host", "localhost"), ("origin", origin)]), None).unwrap()
    };
    let marked = |policy: &Policy, admitted: Option<&Admitted>| {
        let mut response = headers(&[("vary", "Accept")]);
        policy.mark(admitted, &mut response);
        sorted(&response).into_iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
    };
    assert_eq!(
        marked(&policy, Some(&admitted(&policy, "https://a"))),
        [
            "access-control-allow-origin: https://a",
            "access-control-expose-headers: WWW-Authenticate, Retry-After",
            "vary: Accept",
            "vary: Origin"
        ]
    );
    assert_eq!(
        marked(&policy, Some(&admitted(&policy, "http://localhost"))),
        ["vary: Accept", "vary: Origin"]
    );
    assert_eq!(marked(&policy, None), ["vary: Accept", "vary: Origin"]);
    let own = Policy::default();
    assert_eq!(marked(&own, Some(&admitted(&own, "http://localhost"))), ["vary: Accept"]);
}

proptest! {
    #[test]
    fn any_value_is_judged(bytes: Vec<u8>, text in "(http://)?[\\[\\]:.a1@/é]{0,12}") {
        for value in [&bytes[..], text.as_bytes()] {
            let Ok(value) = HeaderValue::from_bytes(value) else { continue };
            let mut headers = HeaderMap::new();
            headers.insert(HOST, value.clone());
            headers.insert(ORIGIN, value);
            let _ = Policy::default().admit(&headers, None);
            let _ = Policy::default().allow_host(&text);
        }
    }
}

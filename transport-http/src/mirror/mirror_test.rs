//! What a client writes, a server takes; what is changed on the way, it refuses.

use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use sansio_mcp::wire::Envelope;

use super::*;

const SCHEMA: &str = r#"{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "priority":{"type":"integer","x-mcp-header":"Priority"},
    "debug":{"type":"boolean","x-mcp-header":"Debug"},
    "deep":{"type":"object","properties":{"er":{"type":"string","x-mcp-header":"Deeper"}}},
    "query":{"type":"string"}}}"#;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn request(method: &str, params: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{comma}{META}}}}}"#)
}

fn call(arguments: &str) -> String {
    request("tools/call", &format!(r#""name":"sql","arguments":{arguments}"#))
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

fn refused(headers: &HeaderMap, message: &str) -> Option<(i64, String)> {
    let rules = ParamHeaders::from_json(SCHEMA).unwrap();
    let envelope = Envelope::parse(message.as_bytes()).unwrap();
    let refusal = validate(headers, &envelope, |name| (name == "sql").then_some(&rules)).err()?;
    assert_eq!(refusal.status(), 400);
    Some((refusal.code(), refusal.to_string()))
}

fn produced(message: &str) -> Result<Vec<(String, String)>, ProduceError> {
    let rules = ParamHeaders::from_json(SCHEMA).unwrap();
    let mut headers = HeaderMap::new();
    produce(&Envelope::parse(message.as_bytes()).unwrap(), Some(&rules), &mut headers)?;
    assert_eq!(refused(&headers, message), None, "what is produced is valid: {message}");
    Ok(headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect())
}

#[test]
fn what_a_client_writes() {
    for (message, more) in [
        (request("tools/list", ""), vec![]),
        (request("prompts/get", r#""name":"greet""#), vec![("mcp-name", "greet")]),
        (
            request("resources/read", r#""uri":"file:///projects/a%20b.json?x=1""#),
            vec![("mcp-name", "file:///projects/a%20b.json?x=1")],
        ),
        (
            request("resources/read", r#""uri":"file:///é""#),
            vec![("mcp-name", "=?base64?ZmlsZTovLy/DqQ==?=")],
        ),
        (
            call(r#"{"region":"us-west1","priority":42,"debug":false,"query":"select","deep":{"er":""}}"#),
            vec![
                ("mcp-name", "sql"),
                ("mcp-param-region", "us-west1"),
                ("mcp-param-priority", "42"),
                ("mcp-param-debug", "false"),
                ("mcp-param-deeper", ""),
            ],
        ),
        (
            call(r#"{"region":"a\r\nMcp-Name: b","priority":-7.0,"debug":true}"#),
            vec![
                ("mcp-name", "sql"),
                ("mcp-param-region", "=?base64?YQ0KTWNwLU5hbWU6IGI=?="),
                ("mcp-param-priority", "-7"),
                ("mcp-param-debug", "true"),
            ],
        ),
        (
            call(r#"{"region":null,"deep":null,"other":{"region":"x","region":"y"}}"#),
            vec![("mcp-name", "sql")],
        ),
        (
            call(r#"{"deep":["er"],"priority":9007199254740991}"#),
            vec![("mcp-name", "sql"), ("mcp-param-priority", "9007199254740991")],
        ),
        (request("tools/call", r#""name":"sql""#), vec![("mcp-name", "sql")]),
    ] {
        let method = message.split('"').nth(9).unwrap().to_owned();
        let mut wanted = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method.as_str())];
        wanted.extend(more);
        let mut wanted: Vec<_> =
            wanted.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut found = produced(&message).unwrap();
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted, "{message}");
    }
}

#[test]
fn what_a_client_cannot_write() {
    let unfit = |label: &str| ProduceError::Unfit(format!("Mcp-Param-{label}"));
    for (message, why) in [
        (call(r#"{"region":["a"]}"#), unfit("Region")),
        (call(r#"{"region":{"a":1}}"#), unfit("Region")),
        (call(r#"{"priority":1.5}"#), unfit("Priority")),
        (call(r#"{"priority":9007199254740992}"#), unfit("Priority")),
        (call(r#"{"priority":-9007199254740992}"#), unfit("Priority")),
        (call(r#"{"priority":1e300}"#), unfit("Priority")),
        (call(r#"{"priority":18446744073709551615}"#), unfit("Priority")),
        (call(r#"{"region":"a","region":"b"}"#), ProduceError::Ambiguous),
        (call(r#"{"region":"a","re\u0067ion":"b"}"#), ProduceError::Ambiguous),
        (call(r#"{"deep":{"er":"a","er":"a"}}"#), ProduceError::Ambiguous),
        (request("tools/call", ""), ProduceError::NoName),
        (request("tools/call", r#""name":7"#), ProduceError::Params),
        (request("a b", ""), ProduceError::NotPlain("Mcp-Method")),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(), ProduceError::Response),
    ] {
        assert_eq!(produced(&message), Err(why), "{message}");
    }
}

const VERSION: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");
const CALL: (&str, &str) = ("Mcp-Method", "tools/call");
const SQL: (&str, &str) = ("Mcp-Name", "sql");

#[test]
fn what_a_server_takes() {
    let region = call(r#"{"region":"Hello"}"#);
    let three = call(r#"{"priority":3}"#);
    for (message, pairs) in [
        (&region, vec![VERSION, CALL, SQL, ("MCP-PARAM-REGION", "=?base64?SGVsbG8=?=")]),
        (
            &region,
            vec![
                ("mcp-protocol-version", " 2026-07-28\t"),
                CALL,
                ("mcp-name", "  sql "),
                ("mcp-param-region", " Hello "),
            ],
        ),
        (&region, vec![VERSION, CALL, ("Mcp-Name", "=?base64?c3Fs?="), ("Mcp-Param-Region", "Hello")]),
        // A header that the tool does not know is nobody's business.
        (
            &region,
            vec![
                VERSION,
                CALL,
                SQL,
                ("Mcp-Param-Region", "Hello"),
                ("Mcp-Param-X", "\u{e9}"),
                ("Mcp-Param-X", "2"),
            ],
        ),
        (&three, vec![VERSION, CALL, SQL, ("Mcp-Param-Priority", "3.0")]),
        (&three, vec![VERSION, CALL, SQL, ("Mcp-Param-Priority", "3")]),
        (
            &request("tools/list", ""),
            vec![VERSION, ("Mcp-Method", "tools/list"), ("Mcp-Name", "nothing to compare")],
        ),
        // Left to the engine: there is no version in the body, the params are of the wrong form, the tool is unknown.
        (
            &r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#.to_owned(),
            vec![VERSION, ("Mcp-Method", "server/discover")],
        ),
        (
            &request("tools/call", r#""name":"other","arguments":{"region":"x"}"#),
            vec![VERSION, CALL, ("Mcp-Name", "other")],
        ),
        (&call("7"), vec![VERSION, CALL, SQL]),
        (&request("tools/call", r#""name":7"#), vec![VERSION, CALL, SQL]),
        (&request("tools/call", r#""name":7"#), vec![VERSION, CALL]),
        (&r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(), vec![]),
        // Nothing is said about notifications, so nothing is required.
        (&r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#.to_owned(), vec![]),
    ] {
        assert_eq!(refused(&headers(&pairs), message), None, "{message} {pairs:?}");
    }
}

#[test]
#[allow(clippy::too_many_lines)] // one table
fn what_a_server_refuses() {
    let plain = call("{}");
    let region = call(r#"{"region":"Hello"}"#);
    let old = r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#
        .to_owned();
    let future = plain.replace("2026-07-28", "v999.0.0");
    let with = |more: &[(&'static str, &'static str)]| [&[VERSION, CALL, SQL], more].concat();
    for (message, pairs, code, says) in [
        (&plain, vec![CALL, SQL], -32020, "MCP-Protocol-Version is missing; this server speaks 2026-07-28"),
        (&old, vec![], -32020, "MCP-Protocol-Version is missing; this server speaks 2026-07-28"),
        (&plain, vec![VERSION, SQL], -32020, "Mcp-Method is missing"),
        (&plain, vec![VERSION, CALL], -32020, "Mcp-Name is missing"),
        (&request("tools/call", ""), vec![VERSION, CALL], -32020, "Mcp-Name is missing"),
        (&request("tools/call", ""), with(&[]), -32020, "Mcp-Name repeats what the body does not have"),
        (
            &plain,
            vec![VERSION, ("Mcp-Method", "tools/list"), SQL],
            -32020,
            "Mcp-Method header value 'tools/list' does not match body value 'tools/call'",
        ),
        (&plain, vec![VERSION, ("Mcp-Method", "TOOLS/CALL"), SQL], -32020, "'TOOLS/CALL' does not match"),
        // Base64 is for names and params alone.
        (
            &plain,
            vec![VERSION, ("Mcp-Method", "=?base64?dG9vbHMvY2FsbA==?="), SQL],
            -32020,
            "does not match body value 'tools/call'",
        ),
        (
            &plain,
            vec![VERSION, CALL, ("Mcp-Name", "foo")],
            -32020,
            "Header mismatch: Mcp-Name header value 'foo' does not match body value 'sql'",
        ),
        (&plain, vec![VERSION, CALL, ("Mcp-Name", "SQL")], -32020, "'SQL' does not match"),
        (&plain, vec![VERSION, CALL, ("Mcp-Name", "sq\u{e9}")], -32020, "Mcp-Name holds characters"),
        (
            &plain,
            vec![("MCP-Protocol-Version", "2025-11-25"), CALL, SQL],
            -32020,
            "'2025-11-25' does not match body value '2026-07-28'",
        ),
        (&future, vec![VERSION, CALL, SQL], -32020, "does not match body value 'v999.0.0'"),
        (&future, vec![("MCP-Protocol-Version", "v999.0.0")], -32022, "this server speaks 2026-07-28"),
        (&old, vec![("MCP-Protocol-Version", "2025-11-25")], -32022, "this server speaks 2026-07-28"),
        (&plain, vec![VERSION, VERSION, CALL, SQL], -32020, "MCP-Protocol-Version stands twice"),
        (&plain, vec![VERSION, CALL, CALL, SQL], -32020, "Mcp-Method stands twice"),
        (&plain, vec![VERSION, CALL, SQL, ("mcp-name", "other")], -32020, "Mcp-Name stands twice"),
        (&region, with(&[]), -32020, "Mcp-Param-Region is missing"),
        (
            &region,
            with(&[("Mcp-Param-Region", "hello")]),
            -32020,
            "'hello' does not match body value 'Hello'",
        ),
        (
            &region,
            with(&[("Mcp-Param-Region", "=?base64?SGVsbG8?=")]),
            -32020,
            "Mcp-Param-Region is not the base64 of a text",
        ),
        (&region, with(&[("Mcp-Param-Region", "SGVsbG8=?=")]), -32020, "'SGVsbG8=?=' does not match"),
        (&region, with(&[("Mcp-Param-Region", "=?base64?SGVsbG8=")]), -32020, "does not match"),
        (
            &region,
            with(&[("Mcp-Param-Region", "Hello"), ("Mcp-Param-Region", "Hello")]),
            -32020,
            "Mcp-Param-Region stands twice",
        ),
        (
            &plain,
            with(&[("Mcp-Param-Region", "")]),
            -32020,
            "Mcp-Param-Region repeats what the body does not have",
        ),
        (
            &call(r#"{"region":null}"#),
            with(&[("Mcp-Param-Region", "null")]),
            -32020,
            "repeats what the body does not have",
        ),
        (&call(r#"{"region":""}"#), with(&[]), -32020, "Mcp-Param-Region is missing"),
        (
            &call(r#"{"debug":true}"#),
            with(&[("Mcp-Param-Debug", "True")]),
            -32020,
            "'True' does not match body value 'true'",
        ),
        (
            &call(r#"{"priority":3}"#),
            with(&[("Mcp-Param-Priority", "3.5")]),
            -32020,
            "does not match body value '3'",
        ),
        (
            &call(r#"{"priority":3}"#),
            with(&[("Mcp-Param-Priority", "+3")]),
            -32020,
            "does not match body value '3'",
        ),
        (
            &call(r#"{"priority":3}"#),
            with(&[("Mcp-Param-Priority", "")]),
            -32020,
            "does not match body value '3'",
        ),
        // A string is not a number.
        (
            &call(r#"{"priority":"3"}"#),
            with(&[("Mcp-Param-Priority", "3.0")]),
            -32020,
            "does not match body value '3'",
        ),
        (
            &call(r#"{"priority":9007199254740993}"#),
            with(&[("Mcp-Param-Priority", "9007199254740993")]),
            -32020,
            "is none that a header can repeat",
        ),
        (
            &call(r#"{"region":["Hello"]}"#),
            with(&[("Mcp-Param-Region", "Hello")]),
            -32020,
            "is none that a header can repeat",
        ),
        (
            &call(r#"{"region":"a","region":"Hello"}"#),
            with(&[("Mcp-Param-Region", "Hello")]),
            -32020,
            "stands twice",
        ),
        (
            &r#"{"jsonrpc":"2.0","method":"notifications/x"}"#.to_owned(),
            vec![("Mcp-Method", "notifications/y")],
            -32020,
            "does not match body value 'notifications/x'",
        ),
    ] {
        let (found, text) =
            refused(&headers(&pairs), message).unwrap_or_else(|| panic!("{message} {pairs:?}"));
        assert_eq!(found, code, "{message} {pairs:?}");
        assert!(text.contains(says), "{text:?} and not {says:?}");
    }
}

#[test]
fn the_body_of_a_refusal() {
    let body = |pairs: &[(&str, &str)], message: &str| {
        let envelope = Envelope::parse(message.as_bytes()).unwrap();
        let mut out = Vec::new();
        validate(&headers(pairs), &envelope, |_| None::<&ParamHeaders>).unwrap_err().write(&mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        body(&[VERSION, CALL, ("Mcp-Name", "f'\"o")], &call("{}")),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch: Mcp-Name header value 'f'\"o' does not match body value 'sql'"}}"#
    );
    assert_eq!(
        body(&[("MCP-Protocol-Version", "1900-01-01")], r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#),
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32022,"message":"unsupported protocol version; this server speaks 2026-07-28","data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}}"#
    );
    assert_eq!(
        body(&[("Mcp-Method", "a")], r#"{"jsonrpc":"2.0","method":"b"}"#),
        r#"{"jsonrpc":"2.0","error":{"code":-32020,"message":"Header mismatch: Mcp-Method header value 'a' does not match body value 'b'"}}"#
    );
    let long = "é".repeat(10_000);
    let body = body(&[VERSION, CALL, SQL], &call("{}").replace("sql", &long));
    assert!(body.len() < 500, "{body}");
}

proptest! {
    #[test]
    fn what_is_produced_is_valid(name: String, region: Option<String>, priority in -9_007_199_254_740_991_i64..=9_007_199_254_740_991) {
        let arguments = serde_json::json!({ "region": region, "priority": priority, "deep": { "er": region } });
        let name = serde_json::to_string(&name).unwrap();
        let message = request("tools/call", &format!(r#""name":{name},"arguments":{arguments}"#));
        let rules = ParamHeaders::from_json(SCHEMA).unwrap();
        let envelope = Envelope::parse(message.as_bytes()).unwrap();
        let mut headers = HeaderMap::new();
        produce(&envelope, Some(&rules), &mut headers).unwrap();
        prop_assert_eq!(headers.contains_key("mcp-param-region"), region.is_some());
        prop_assert_eq!(validate(&headers, &envelope, |_| Some(&rules)), Ok(()));
    }
}

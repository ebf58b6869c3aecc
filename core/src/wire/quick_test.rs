//! The short way against the long one.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Envelope, quick};
use crate::wire::JsonText;
use crate::wire::known::{Known, KnownMeta};
use crate::wire::params::Meta;

/// The `_meta` of [`RESULT`].
const RESULT_META: &str = r#"{"io.modelcontextprotocol/serverInfo":{"name":"n"}}"#;

/// What the short way reads, and what it reads with the metadata of [`REQUEST`] and [`RESULT`] known, agrees with the
/// long way. False where the short way does not know.
fn agree(text: &str) -> bool {
    let long = format!("{:?}", Envelope::parse_any(text).map_err(|why| format!("{why:?}")));
    let known = known(REQUEST);
    let all = Known { meta: known.as_ref(), result_meta: RESULT_META };
    let [short, knowing] = [Known::default(), all].map(|known| {
        let Envelope { mut message, mut result, .. } = Envelope::unread();
        let read = quick::read(text, known, &mut message, &mut result);
        read.map(|()| (format!("{:?}", Ok::<_, ()>(message)), result))
    });
    assert_eq!(format!("{short:?}"), format!("{knowing:?}"), "{text}");
    if let Some((short, result)) = &short {
        assert_eq!(*short, long, "{text}");
        let meta = result.and_then(|result| result.meta);
        assert!(meta.is_none_or(JsonText::is_object), "{text}");
    }
    short.is_some()
}

fn known(line: &str) -> Option<KnownMeta> {
    KnownMeta::learn(&Envelope { text: line, message: Envelope::parse_any(line).ok()?, result: None })
}

/// Reads the metadata that `line` begins with as that of [`REQUEST`].
fn recognised(first: &str, line: &str) -> Option<(usize, String)> {
    let mut meta = Meta::default();
    let length = known(first)?.read(line, &mut meta)?;
    Some((length, format!("{meta:?}")))
}

const REQUEST: &str = concat!(
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"a":[1,"\u00e9"]},"#,
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"progressToken":"t","traceparent":"00-1"}}}"#
);
const RESULT: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"x","result":{"resultType":"complete","content":[{"type":"text","text":"a\"b"}],"#,
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n"}},"structuredContent":[[{"n":-1.5e3}]]}}"#
);
const PROGRESS: &str = concat!(
    r#"{"jsonrpc":"2.0","method":"notifications/progress","#,
    r#""params":{"progressToken":3,"progress":0.5,"total":10,"message":"é"}}"#
);
const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r","reason":"no"}}"#;
const LIST: &str =
    r#"{ "id" : 0 , "jsonrpc" : "2.0" , "method" : "tools/list" , "params" : { "cursor" : "c" } }"#;
const READ: &str = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"é","_meta":{}}}"#;

const RETRY: &str = concat!(
    r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"echo","inputResponses":{"a":{"action":"accept"}},"#,
    r#""requestState":"AbC-_","_meta":{}}}"#
);
const ASKED: &str = concat!(
    r#"{"jsonrpc":"2.0","id":8,"result":{"resultType":"input_required","requestState":"AbC-_","#,
    r#""inputRequests":{"a":{"method":"roots/list"}}}}"#
);

const USUAL: [&str; 8] = [REQUEST, RESULT, PROGRESS, CANCEL, LIST, READ, RETRY, ASKED];

#[test]
fn the_usual_forms_take_the_short_way() {
    for text in USUAL {
        assert!(agree(text), "{text}");
        assert!(agree(&format!(" \t{}\r\n", text.replace(':', " :\n").replace(',', ",\r "))), "{text}");
    }
}

const SELF: &str = concat!(
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}"#
);

#[test]
fn metadata_that_stands_there_again_is_recognised() {
    let meta = |protocol: &str, info: &str| {
        format!(
            "Meta {{ progress_token: None, protocol_version: {protocol}, client_info: {info}, \
             client_capabilities: Some({{}}), other: [] }}"
        )
    };
    let version = "Some(Borrowed(\"2026-07-28\"))";
    let whole = (SELF.len(), meta(version, "Some({\"name\":\"n\",\"version\":\"1\"})"));
    assert_eq!(recognised(REQUEST, SELF), Some(whole.clone()));
    assert_eq!(recognised(REQUEST, &format!("{SELF},\"progressToken\":1}}")), Some(whole));
    agree(&REQUEST.replace(SELF, &format!("{SELF},{SELF}")));
    // Any order, and without a name.
    for members in [
        r#""io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":"2026-07-28""#,
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#,
    ] {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{{"a":1,{members}}}}}}}"#);
        assert_eq!(recognised(&line, members), Some((members.len(), meta(version, "None"))));
    }
}

#[test]
fn only_what_stands_together_in_our_revision_is_learnt() {
    for (what, with) in [
        ("2026-07-28", "2025-11-25"),
        ("2026-07-28", "2026\\u002d07-28"),
        (":{}", ": {}"),
        ("\"io.modelcontextprotocol/clientInfo\"", "\"a\":1,\"io.modelcontextprotocol/clientInfo\""),
        (",\"id\":7", ""),
        ("\"n\"", &format!("\"{}\"", "n".repeat(4096))),
    ] {
        let line = REQUEST.replace(what, with);
        assert_ne!(line, REQUEST);
        let learnt =
            known(&line).and_then(|known| known.read(&SELF.replace(what, with), &mut Meta::default()));
        assert_eq!(learnt, None, "{line}");
    }
    // The same text, before, in the arguments.
    let quoted = REQUEST.replace("[1,\"\\u00e9\"]", &format!("{{{SELF}}}"));
    assert_ne!(quoted, REQUEST);
    assert_eq!(recognised(&quoted, SELF), None);
}

#[test]
fn every_end_and_every_byte_left_out_or_doubled() {
    for text in USUAL {
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let rest = text[at..].chars().next().unwrap_or_default().len_utf8() + at;
            agree(&text[..at]);
            agree(&format!("{}{}", &text[..at], &text[rest..]));
            agree(&format!("{}{}", &text[..rest], &text[at..]));
        }
    }
}

#[test]
fn values_that_are_almost_right() {
    let values = [
        "0",
        "-0",
        "00",
        "01",
        "-1",
        "1.0",
        "1.",
        ".5",
        "1e2",
        "1E+2",
        "1e999",
        "-1e999",
        "0.1",
        "1.5e-3",
        "+1",
        "1 2",
        "999999999999999999",
        "1000000000000000000",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "9007199254740993",
        "NaN",
        "null",
        "true",
        "tru",
        "\"\"",
        "\"a\\nb\"",
        "\"\\ud800\"",
        "\"a\tb\"",
        "\"\u{7f}\"",
        "{}",
        "[]",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,}",
        "[1,]",
        "{\"a\":{\"b\":[{}]}}",
        "1}",
        "\"2.0\"",
        "\"complete\"",
        "{",
        "}",
    ];
    let long = format!("\"{}\"", "x".repeat(256));
    let longer = format!("\"{}\"", "x".repeat(257));
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let values = values.into_iter().chain([long.as_str(), longer.as_str(), deep.as_str()]);
    let keys = [
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "name",
        "arguments",
        "cursor",
        "uri",
        "requestId",
        "reason",
        "progressToken",
        "progress",
        "total",
        "message",
        "inputResponses",
        "requestState",
        "inputRequests",
        "resultType",
        "content",
        "_meta",
        "traceparent",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/clientCapabilities",
        "x",
        "\\u0069d",
        "",
    ];
    for value in values {
        for key in keys {
            let member = format!("\"{key}\":{value}");
            for text in [
                format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",{member}}}"),
                format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{member}}}"),
                format!("{{{member},\"jsonrpc\":\"2.0\",\"method\":\"m\"}}"),
                format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{{{member}}}}}"),
                format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{{{member},{member}}}}}"),
                format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{{\"_meta\":{{{member}}}}}}}"
                ),
                REQUEST.replace(SELF, &format!("{SELF},{member}")),
                REQUEST.replace(SELF, &format!("{member},{SELF}")),
                format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{{member}}}}}"),
                format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{{member},{member}}}}}"),
            ] {
                agree(&text);
            }
        }
    }
}

proptest! {
    /// Usual messages with bytes replaced, and pieces of one put into another.
    #[test]
    fn broken_messages(
        which in 0..USUAL.len(),
        other in 0..USUAL.len(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        const BYTES: &[u8] = b"{}[]:,\"\\ 0129.-+eEtnul\x01\ta";
        let mut text: Vec<u8> = USUAL[which].bytes().collect();
        for (at, with) in edits {
            let at = at.index(text.len());
            text[at] = BYTES[with.index(BYTES.len())];
        }
        if let Ok(text) = core::str::from_utf8(&text) {
            agree(text);
            let cut = cut.index(text.len());
            if let (Some(head), Some(tail)) = (text.get(..cut), USUAL[other].get(cut..)) {
                agree(&(head.to_string() + tail));
            }
        }
    }
}

//! The checks that every request passes, their order, and what they answer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use sansio_mcp::model::CacheScope;
use sansio_mcp::server::{Kind, Method, Server, Status};
use serde_json::{Value, json};
use short::{META, ServerExt, builder, call, code, exchange, request, server, single};

#[path = "support/short.rs"]
mod short;

/// The status of the answer, its code, and its data.
fn refusal(line: &str) -> (Status, i64, Value) {
    // A channel and an exchange answer alike.
    let answer = server().answers(line);
    let mut exchange = exchange();
    exchange.handle_message(line.as_bytes());
    let (kind, same) = single(&mut exchange).unwrap();
    assert_eq!(same, answer);
    assert!(exchange.is_finished() && !answer["error"]["message"].as_str().unwrap().is_empty());
    let Kind::Response(status) = kind else { panic!("{kind:?}") };
    (status, code(&answer), answer["error"]["data"].clone())
}

/// A request with this `_meta`.
fn with_meta(method: &str, meta: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"t","_meta":{meta}}}}}"#)
}

fn version(version: &str) -> String {
    let meta = META.strip_prefix("\"_meta\":").unwrap();
    meta.replace("\"2026-07-28\"", version) + "}"
}

#[test]
fn discover_answers_what_was_configured() {
    let config = builder()
        .instructions("Ask \"nicely\".\n")
        .discover_cache(60_000, CacheScope::Private)
        .build()
        .unwrap();
    let mut server = Server::new(Arc::new(config));
    let answer = server.answers(request("\"d\"", "server/discover", ""));
    let info = json!({"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}});
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": "d", "result": {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "instructions": "Ask \"nicely\".\n",
            "ttlMs": 60_000,
            "cacheScope": "private",
            "_meta": info,
        }})
    );
    // A probe leaves no state, however often it is sent.
    for _ in 0..3 {
        server.answers(request("1", "server/discover", ""));
    }
    assert_eq!((server.in_flight(), server.unsent_bytes()), (0, 0));
}

#[test]
fn another_version_is_refused_with_what_is_supported_and_what_was_asked() {
    for method in ["tools/call", "server/discover", "no/such", "initialize", "ping"] {
        let (status, code, data) = refusal(&with_meta(method, &version("\"2025-11-25\"")));
        assert_eq!((status, code), (Status::BadRequest, -32022), "{method}");
        if method != "initialize" {
            assert_eq!(data, json!({"supported": ["2026-07-28"], "requested": "2025-11-25"}));
        }
    }
    let (_, code, data) =
        refusal(&with_meta("tools/list", &version(&format!("\"x{}\"", "\u{e9}".repeat(1000)))));
    assert_eq!(code, -32022);
    assert_eq!(data["requested"].as_str().unwrap().len(), 99, "a peer's text is not repeated without end");
}

#[test]
fn initialize_of_any_form_is_refused_as_a_request_for_another_version() {
    for params in [
        r#","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
        r#","params":{"protocolVersion":5}"#,
        r#","params":[]"#,
        "",
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize"{params}}}"#);
        let (status, code, data) = refusal(&line);
        assert_eq!((status, code), (Status::BadRequest, -32022), "{params}");
        let requested = if params.contains("2025-06-18") { "2025-06-18" } else { "" };
        assert_eq!(data, json!({"supported": ["2026-07-28"], "requested": requested}));
    }
}

#[test]
fn metadata_that_is_missing_or_wrong_is_refused() {
    let full = version("\"2026-07-28\"");
    for meta in [
        "5",
        "null",
        "[]",
        "{}",
        &version("5"),
        &version("null"),
        &full.replace("/protocolVersion", "/ProtocolVersion"),
        &full.replace("/clientCapabilities\":{}", "/clientCapabilities\":[]"),
        &full.replace("/clientCapabilities\":{}", "/clientCapabilities\":null"),
        &full.replace("/clientCapabilities\":{}", "/other\":{}"),
        &full.replace("{\"name\":\"c\",\"version\":\"1\"}", "\"c\""),
        &full.replacen('{', "{\"progressToken\":null,", 1),
        &full.replacen('{', "{\"progressToken\":true,", 1),
        &full.replacen('{', "{\"progressToken\":1.5,", 1),
        &full.replacen('{', "{\"progressToken\":1,\"progressToken\":1,", 1),
    ] {
        for method in ["tools/call", "tools/list", "server/discover"] {
            let (status, code, _) = refusal(&with_meta(method, meta));
            assert_eq!((status, code), (Status::BadRequest, -32602), "{method} {meta}");
        }
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}"#,
    ] {
        assert_eq!(refusal(line).1, -32602, "{line}");
    }
    // The client's own name may be left out.
    let anonymous = full.replace(r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"#, "");
    assert_eq!(server().asked(with_meta("tools/call", &anonymous)).1.client_info(), None);
}

#[test]
fn an_unknown_method_is_refused_by_name() {
    for method in
        ["no/such", "", "Tools/call", "tools/call ", "ping", "resources/list", "notifications/cancelled"]
    {
        let (status, code, _) = refusal(&request("1", method, ""));
        assert_eq!((status, code), (Status::NotFound, -32601), "{method}");
    }
    let answer = server().answers(request("1", &"x".repeat(10_000), ""));
    assert!(answer["error"]["message"].as_str().unwrap().len() < 200);
}

#[test]
fn what_a_tool_call_needs_of_its_params() {
    let named = |rest: &str| refusal(&request("1", "tools/call", rest));
    assert_eq!(named("").1, -32602);
    for name in ["5", "null", "{}"] {
        assert_eq!(named(&format!("\"name\":{name}")).1, -32602);
    }
    for arguments in ["[]", "5", "\"{}\"", "null"] {
        let (status, code, _) = named(&format!("\"name\":\"t\",\"arguments\":{arguments}"));
        // An error of the tool call, not of the message: HTTP answers 200.
        assert_eq!((status, code), (Status::Ok, -32602), "{arguments}");
    }
    let mut server = server();
    assert_eq!(server.asked(request("1", "tools/call", "\"name\":\"\"")).1.arguments(), None);
    let (_, asked) = server.asked(request("2", "tools/call", "\"name\":\"t\",\"arguments\": {\"a\" : 1} "));
    assert_eq!(asked.arguments(), Some("{\"a\" : 1}"));
    // What only notifications have may be anything here.
    server.asked(request("3", "tools/call", r#""name":"t","message":{},"total":"x","requestId":true"#));
}

#[test]
fn the_checks_come_in_their_order() {
    let other = version("\"2024-11-05\"");
    let line = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
    };
    // Not a message before anything; the version before the method; the method before the metadata; the metadata before
    // what the method requires.
    assert_eq!(
        refusal(&line("no/such", &format!("{{\"_meta\":{other}}}")).replace("\"id\":1", "\"id\":null")).1,
        -32600
    );
    assert_eq!(refusal(&line("no/such", &format!("{{\"_meta\":{other}}}"))).1, -32022);
    assert_eq!(refusal(&line("no/such", "{\"_meta\":{}}")).1, -32601);
    assert_eq!(refusal(&line("no/such", "[]")).1, -32601);
    assert_eq!(refusal(&line("tools/call", "{\"_meta\":{},\"arguments\":[]}")).0, Status::BadRequest);
    assert_eq!(refusal(&line("tools/call", &format!("{{\"_meta\":{other},\"arguments\":[]}}"))).1, -32022);
}

#[test]
fn the_params_of_an_extension_are_its_own() {
    let config = builder().method("x/report").build().unwrap();
    let mut server = Server::new(Arc::new(config));
    let members = r#""message":{"a":1},"total":"many","name":5,"cursor":[],"reason":false"#;
    let (_, asked) = server.asked(request("1", "x/report", members));
    assert_eq!(*asked.method(), Method::Other("x/report".into()));
    assert_eq!(asked.name(), None);
    let params: Value = asked.params().unwrap();
    assert_eq!((&params["message"], &params["name"]), (&json!({"a": 1}), &json!(5)));
    // What the engine reads of them it still reads.
    assert_eq!(code(&server.answers(request("2", "x/report", "").replace("\"2026-07-28\"", "5"))), -32602);
    let (_, asked) = server.asked(request("3", "x/report", r#""name":"n","message":1"#));
    assert_eq!(asked.name(), Some("n"));
    assert_eq!(code(&server.answers(call("4").replace("\"t\"", "5"))), -32602);
}

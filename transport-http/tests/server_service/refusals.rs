//! Every status that is no answer of a handler, and every check before one.

use std::sync::Arc;

use http::Request;
use sansio_mcp_http::origin::Policy;
use sansio_mcp_http::server::{Caller, Config, Mode, Service};
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::server::{Context, NoArguments, Server};
use sansio_mcp_sdk::{Engine, Local};
use serde_json::{Value, json};

use crate::rig::{Parts, Rig, listen, message, post, tool, whole, with};
use crate::shop::{Badge, annotated, dynamic, region, shop};

/// Another value of a header, or none.
type Change = (&'static str, Option<&'static str>);

fn rig() -> Rig {
    Rig::new(shop().0, Config::new())
}

fn listed() -> Config {
    Config::new().policy(Policy::default().allow_origin("https://app.example.com").unwrap())
}

#[test]
fn what_the_head_of_a_request_is_refused_for() {
    let call = tool("add");
    let table: [(Change, u16, i64); 14] = [
        (("host", Some("evil.example.com")), 403, -32600),
        (("host", None), 403, -32600),
        (("origin", Some("https://evil.example.com")), 403, -32600),
        (("accept", Some("text/html")), 406, -32600),
        (("content-type", Some("text/plain")), 415, -32600),
        (("content-type", None), 415, -32600),
        (("mcp-protocol-version", None), 400, -32020),
        (("mcp-protocol-version", Some("2025-11-25")), 400, -32020),
        (("mcp-method", None), 400, -32020),
        (("mcp-method", Some("tools/list")), 400, -32020),
        (("mcp-name", None), 400, -32020),
        (("mcp-name", Some("subtract")), 400, -32020),
        (("mcp-name", Some("=?base64?YWRk?=")), 200, 0),
        (("mcp-session-id", Some("old")), 200, 0),
    ];
    for ((name, value), status, code) in table {
        let rig = rig();
        let sent = rig.send(with(post(&call), name, value));
        let found = sent.json()["error"]["code"].as_i64().unwrap_or(0);
        assert_eq!((sent.status(), found), (status, code), "{name}: {value:?}");
        rig.assert_free();
    }
}

#[test]
fn what_a_body_is_refused_for() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let unknown = message("unknown/method", json!({}), &json!({}));
    let no_meta = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list"});
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let legacy =
        message("tools/list", json!({}), &json!({"io.modelcontextprotocol/protocolVersion": "2020-01-01"}));
    let no_tool = tool("nothing");
    for (body, status, code, id) in [
        ("{".to_owned(), 400, -32700, json!(null)),
        (String::new(), 400, -32700, json!(null)),
        ("\u{feff}{}".to_owned(), 400, -32700, json!(null)),
        (deep, 400, -32600, json!(null)),
        ("[]".to_owned(), 400, -32600, json!(null)),
        ("{}".to_owned(), 400, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#.to_owned(), 400, -32600, json!(null)),
        (response.to_string(), 400, -32600, json!(null)),
        (unknown.to_string(), 404, -32601, json!(1)),
        (no_meta.to_string(), 400, -32602, json!("a")),
        (no_tool.to_string(), 200, -32602, json!(1)),
        (legacy.to_string(), 400, -32022, json!(1)),
    ] {
        for mode in [Mode::Auto, Mode::JsonOnly, Mode::SseOnly] {
            let rig = Rig::new(shop().0, Config::new().mode(mode));
            let value: Value = serde_json::from_str(&body).unwrap_or_default();
            let (head, _) = post(&value).into_parts();
            let mut request = Request::from_parts(head, whole(body.clone()));
            if code == -32022 {
                request = with(request, "mcp-protocol-version", Some("2020-01-01"));
            }
            let sent = rig.send(request);
            // With a status other than 200 it is JSON, whatever the mode.
            let answer =
                if status == 200 && mode == Mode::SseOnly { sent.events().remove(0) } else { sent.json() };
            let found = (sent.status(), answer["error"]["code"].as_i64().unwrap(), &answer["id"]);
            assert_eq!(found, (status, code, &id), "{mode:?} {}", &body[..body.len().min(60)]);
            rig.assert_free();
        }
    }
}

#[test]
fn the_version_in_header_or_meta_outranks_the_name_of_a_method() {
    let rig = rig();
    let modern = message("initialize", json!({"protocolVersion": "2025-11-25"}), &json!({}));
    let sent = rig.post(&modern);
    assert_eq!((sent.status(), sent.code(), &sent.json()["id"]), (404, -32601, &json!(1)));
    // The header alone.
    let bare = json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}});
    let sent = rig.post(&bare);
    assert_eq!((sent.status(), sent.code(), &sent.json()["id"]), (404, -32601, &json!(7)));
    // A client of an earlier revision has neither, and is told what is spoken here.
    let sent = rig.send(with(post(&bare), "mcp-protocol-version", None));
    assert_eq!((sent.status(), sent.code()), (400, -32020));
    assert!(sent.text().contains("2026-07-28"));
    rig.assert_free();
}

#[test]
fn notifications_and_posted_cancels_are_noted_and_do_nothing() {
    let (server, log) = shop();
    let rig = Rig::new(server, Config::new());
    let call = rig.post(&tool("sleep"));
    for (method, params) in
        [("notifications/cancelled", json!({"requestId": 1})), ("notifications/unknown", json!({}))]
    {
        let note = json!({"jsonrpc": "2.0", "method": method, "params": params});
        for request in
            [post(&note), with(with(post(&note), "mcp-method", None), "mcp-protocol-version", None)]
        {
            let sent = rig.send(request);
            assert_eq!((sent.status(), sent.text().len(), sent.ended()), (202, 0, true));
        }
        let wrong = rig.send(with(post(&note), "mcp-method", Some("tools/call")));
        assert_eq!((wrong.status(), wrong.code(), &wrong.json()["id"]), (400, -32020, &Value::Null));
    }
    assert_eq!((rig.engine.facts().running, log.cleaned.get()), (1, 0));
    call.disconnect();
    assert_eq!(log.cleaned.get(), 1);
    rig.assert_free();
}

#[test]
fn other_methods_are_not_allowed() {
    for method in ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"] {
        let rig = rig();
        let request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "127.0.0.1:3000")
            .header("last-event-id", "7")
            .body(Parts::default())
            .unwrap();
        let sent = rig.send(request);
        assert_eq!((sent.status(), &*sent.header("allow")), (405, "POST"), "{method}");
        rig.assert_free();
    }
}

#[test]
fn pages_of_listed_origins_may_ask_first_and_read() {
    let preflight = |origin: &str| {
        Request::options("/mcp")
            .header("host", "localhost")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "mcp-method, mcp-param-region")
            .body(Parts::default())
            .unwrap()
    };
    let rig = Rig::new(shop().0, listed());
    let asked = rig.send(preflight("https://app.example.com"));
    assert_eq!((asked.status(), &*asked.header("access-control-allow-methods")), (204, "POST"));
    assert_eq!(asked.header("access-control-allow-headers"), "mcp-method, mcp-param-region");
    assert_eq!(rig.send(preflight("https://evil.example.com")).status(), 403);
    for (call, status) in [(tool("add"), 200), (tool("ten"), 200), (message("x", json!({}), &json!({})), 404)]
    {
        let sent = rig.send(with(post(&call), "origin", Some("https://app.example.com")));
        assert_eq!(sent.status(), status);
        assert_eq!(sent.header("access-control-allow-origin"), "https://app.example.com");
        assert_eq!(sent.header("vary"), "Origin");
    }
    let refused = rig.send(with(
        with(post(&tool("add")), "origin", Some("https://app.example.com")),
        "accept",
        Some("a/b"),
    ));
    assert_eq!(
        (refused.status(), &*refused.header("access-control-allow-origin")),
        (406, "https://app.example.com")
    );
    // A page of this machine is served, and not told that it may read.
    let sent = rig.send(with(post(&tool("add")), "origin", Some("http://localhost:8080")));
    assert_eq!((sent.status(), &*sent.header("access-control-allow-origin")), (200, ""));
    rig.assert_free();
}

#[test]
fn arguments_that_stand_in_headers_are_compared() {
    let rig = rig();
    let call = |region: &str| {
        message("tools/call", json!({"name": "region", "arguments": {"region": region}}), &json!({}))
    };
    for (header, status) in
        [(Some("eu"), 200), (Some("us"), 400), (None, 400), (Some("=?base64?ZXU=?="), 200)]
    {
        let sent = rig.send(with(post(&call("eu")), "mcp-param-region", header));
        assert_eq!(sent.status(), status, "{header:?}");
        assert!(status == 200 || sent.code() == -32020);
    }
    rig.assert_free();
}

#[test]
fn rules_follow_the_catalog() {
    let (server, catalog) = dynamic();
    let rig = Rig::new(server, Config::new());
    let call = message("tools/call", json!({"name": "region", "arguments": {"region": "eu"}}), &json!({}));
    assert_eq!(rig.post(&call).status(), 400);
    let there = async |_: sansio_mcp_sdk::server::RawArguments, _: Context<_, Local>| Ok("there");
    catalog.update(|shop| shop.remove_tool("region").tool(annotated("region", "Place"), there)).unwrap();
    assert_eq!(rig.send(with(post(&call), "mcp-param-place", Some("eu"))).status(), 200);
    // One whose rules are broken has none; clients leave it out.
    catalog.update(|shop| shop.remove_tool("region").tool(annotated("region", "a b"), there)).unwrap();
    assert_eq!(rig.post(&call).status(), 200);
    catalog.update(|shop| shop.remove_tool("region").tool(region(), there)).unwrap();
    assert_eq!(rig.post(&call).status(), 400);
}

#[test]
fn a_tool_that_no_client_would_call_is_refused_where_the_service_is_built() {
    let (server, _) = shop();
    let server =
        server.tool(annotated("broken", "a b"), async |_: NoArguments, _: Context<_, Local>| Ok("no"));
    let (engine, _driver) = Engine::new(server.build().unwrap(), Arc::new(Lab::new().clock()));
    let error = Service::new(engine, Config::new()).unwrap_err();
    assert_eq!(error.field, "tool.input_schema");
    assert!(error.why.contains("\"broken\"") && error.why.contains("token"), "{error}");
}

#[test]
fn handlers_find_the_caller_and_the_head_that_a_middleware_left() {
    let rig = rig();
    let mut request = with(post(&tool("who")), "user-agent", Some("test"));
    request.extensions_mut().insert(Caller::new("alice"));
    request.extensions_mut().insert(Badge(7));
    let sent = rig.send(request);
    assert_eq!(sent.json()["result"]["content"][0]["text"], r#"Some("alice") Some("test") Some(7) /mcp"#);
    let sent = rig.post(&tool("who"));
    assert_eq!(sent.json()["result"]["content"][0]["text"], "None None None /mcp");
    rig.assert_free();
}

#[test]
fn the_head_is_let_go_when_the_request_is_answered() {
    let rig = rig();
    for (call, held) in [(listen(), 0), (tool("sleep"), 1)] {
        let left = Arc::new(());
        let mut request = post(&call);
        request.extensions_mut().insert(Arc::clone(&left));
        let sent = rig.send(request);
        assert_eq!(Arc::strong_count(&left) - 1, held, "an open listen holds no head, a call does");
        sent.disconnect();
        assert_eq!(Arc::strong_count(&left), 1);
    }
    rig.assert_free();
}

#[test]
fn busy_is_503_and_says_when_to_come_back() {
    for mode in [Mode::Auto, Mode::JsonOnly, Mode::SseOnly] {
        let (server, _) = shop();
        let rig = Rig::new(server.slots(1).queue(0), Config::new().mode(mode));
        let first = rig.post(&tool("sleep"));
        let sent = rig.post(&tool("add"));
        assert_eq!((sent.status(), sent.code(), &*sent.header("retry-after")), (503, 1001, "1"));
        assert_eq!(sent.json()["error"]["data"]["code"], "SERVER_BUSY");
        first.disconnect();
        assert_eq!(rig.post(&tool("add")).status(), 200);
        rig.assert_free();
    }
}

#[test]
fn a_server_without_a_state_serves_too() {
    let server =
        Server::local("plain", "1").tool("add", async |_: NoArguments, _: Context<(), Local>| Ok("two"));
    let rig = Rig::new(server, Config::new());
    assert_eq!(rig.post(&message("server/discover", json!({}), &json!({}))).status(), 200);
    assert_eq!(rig.post(&tool("add")).status(), 200);
}

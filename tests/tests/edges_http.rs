//! What went wrong elsewhere, on the server's side over HTTP, as far as the rows that run on every target do not have it.
#![allow(missing_docs, clippy::unused_async)]

use std::collections::BTreeMap;
use std::future::pending;
use std::time::Duration;

use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server};
use sansio_mcp_tests::{
    Bench, Gate, Http, Rig, Sent, Trace, cancel, check, request, response, responses, rows, said, tool,
};
use serde_json::{Value, json};

rows! {
    e1_malformed_bodies_have_code_and_message: http;
    edge_01_odd_ids_are_ids_and_what_is_none_is_an_invalid_request: http;
    edge_02_a_posted_cancel_of_true_cancels_nothing: http;
    edge_05_a_posted_response_is_refused_and_disturbs_nothing: http;
    edge_06_keys_are_matched_exactly_and_none_stands_twice: http;
    edge_08_hostile_bodies_are_answered: http;
    edge_14_an_answer_and_a_closed_stream_in_one_turn_are_one_end: http;
    edge_17_initialize_is_no_method_here_and_its_cancel_does_nothing: http;
    edge_47_what_looks_like_the_end_of_a_line_splits_no_event: http;
    edge_53_header_values_are_decoded_trimmed_and_unique: http;
}

type Arguments = BTreeMap<String, Value>;

/// A tool that says its argument, one that waits for the gate, and one that never ends.
fn shop(b: &Bench, gate: &Gate, trace: &Trace) -> Rig {
    let (go, one, two) = (gate.clone(), trace.clone(), trace.clone());
    let server = Server::shared("t", "1")
        .tool("echo", async |all: Arguments, _: Context| {
            Ok(all.get("text").and_then(Value::as_str).unwrap_or("none").to_owned())
        })
        .tool("gated", move |_: NoArguments, cx: Context| {
            let (go, trace) = (go.clone(), one.clone());
            cx.on_exit(async move { trace.note("cleaned up") });
            async move {
                go.passed().await;
                Ok("through")
            }
        })
        .tool("endless", move |_: NoArguments, cx: Context| {
            let trace = two.clone();
            cx.on_exit(async move { trace.note("cleaned up") });
            pending::<Result<&str, Exit>>()
        });
    b.serve(server.build().unwrap())
}

fn plain(b: &Bench) -> Rig {
    shop(b, &Gate::new(), &Trace::new())
}

/// The head of a call, and any body.
async fn posted(rig: &Rig, body: impl Into<String>) -> Sent {
    Http::new(rig).post(&tool(1, "echo", &json!({})), body.into()).await
}

fn code(sent: &Sent) -> i64 {
    assert_eq!(sent.messages.len(), 1, "{sent:?}");
    sent.messages[0]["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {sent:?}"))
}

async fn is_well(rig: &Rig) {
    let sent = Http::new(rig).send(&tool(1, "echo", &json!({"text": "well"})), &[]).await;
    assert_eq!((sent.status, said(response(&sent.messages, 1))), (200, "well"));
}

fn assert_free(rig: &Rig) {
    let (facts, http) = (rig.facts().unwrap(), rig.service().unwrap().facts());
    assert_eq!((facts.running, facts.waiting, facts.channels), (0, 0, 0));
    assert_eq!((http.streams, http.held_bytes), (0, 0));
}

async fn e1_malformed_bodies_have_code_and_message(b: Bench) {
    let rig = plain(&b);
    for (body, code, says) in [
        ("", -32700, "JSON"),
        ("{", -32700, "JSON"),
        ("{}{}", -32700, "JSON"),
        ("7", -32600, "message"),
        ("[]", -32600, "atch"),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}]", -32600, "atch"),
        ("{\"id\":1}", -32600, "message"),
    ] {
        let sent = posted(&rig, body).await;
        assert_eq!(
            (sent.status, sent.messages.len(), sent.header("content-type")),
            (400, 1, "application/json")
        );
        assert_eq!(sent.messages[0].get("id"), None, "the id is left out, not null: {body}");
        check(&sent.messages[0]["error"], code, says);
        // Once: whatever was wrong with it, the next is served.
        is_well(&rig).await;
    }
    assert_free(&rig);
}

async fn edge_01_odd_ids_are_ids_and_what_is_none_is_an_invalid_request(b: Bench) {
    let rig = plain(&b);
    for id in [json!(0), json!(""), json!(-1), json!("1"), json!(1), json!(i64::MAX)] {
        let sent = Http::new(&rig).send(&tool(id.clone(), "echo", &json!({})), &[]).await;
        assert_eq!((sent.status, &sent.messages[0]["id"]), (200, &id));
        assert!(sent.messages[0]["result"].is_object(), "{sent:?}");
    }
    for id in [json!(true), json!(1.5), Value::Null, json!({}), json!([1])] {
        let sent = Http::new(&rig).send(&tool(id.clone(), "echo", &json!({})), &[]).await;
        assert_eq!((sent.status, code(&sent)), (400, -32600), "{id}: no notification, which would be 202");
    }
    assert_free(&rig);
}

async fn edge_02_a_posted_cancel_of_true_cancels_nothing(b: Bench) {
    let trace = Trace::new();
    let rig = shop(&b, &Gate::new(), &trace);
    let mut wire = rig.wire();
    wire.send(&tool(1, "endless", &json!({}))).await;
    b.settle().await;
    for id in [json!(true), json!(1), json!("1"), Value::Null, json!({})] {
        let sent = Http::new(&rig).send(&cancel(id), &[]).await;
        assert_eq!((sent.status, sent.messages.len()), (202, 0));
    }
    b.pass(Duration::from_secs(1)).await;
    assert_eq!((trace.all().len(), rig.facts().unwrap().running), (0, 1));
}

async fn edge_05_a_posted_response_is_refused_and_disturbs_nothing(b: Bench) {
    let gate = Gate::new();
    let rig = shop(&b, &gate, &Trace::new());
    let mut wire = rig.wire();
    wire.send(&tool(1, "gated", &json!({}))).await;
    b.settle().await;
    for id in [json!(1), json!("1"), json!(77), Value::Null] {
        let result = json!({"jsonrpc": "2.0", "id": id, "result": {}});
        let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "no"}});
        for stray in [result, error] {
            assert_eq!((posted(&rig, stray.to_string()).await.status, b.log.has("PANIC")), (400, false));
        }
    }
    assert_eq!(rig.facts().unwrap().running, 1);
    gate.open();
    assert_eq!(said(&wire.answer(1).await), "through");
}

async fn edge_06_keys_are_matched_exactly_and_none_stands_twice(b: Bench) {
    let rig = plain(&b);
    let body = tool(1, "echo", &json!({"text": "x"})).to_string();
    for (from, to) in [
        ("\"method\"", "\"Method\""),
        ("\"id\"", "\"ID\""),
        ("\"jsonrpc\"", "\"JSONRPC\""),
        ("\"id\":1", "\"id\":1,\"id\":1"),
        ("\"id\":1", "\"id\":1,\"method\":\"tools/call\""),
        ("\"id\":1", "\"id\":1,\"\\u0069d\":2"),
    ] {
        assert!(body.contains(from));
        let sent = posted(&rig, body.replacen(from, to, 1)).await;
        // Without an id it is a notification, which needs no answer; everything else is refused.
        let is_note = to == "\"ID\"";
        assert_eq!(sent.status, if is_note { 202 } else { 400 }, "{to}: {sent:?}");
        assert!(is_note || code(&sent) == -32600, "{to}: {sent:?}");
    }
    assert_free(&rig);
}

async fn edge_08_hostile_bodies_are_answered(b: Bench) {
    let rig = plain(&b);
    let call = |arguments: &str| {
        tool(1, "echo", &json!({})).to_string().replacen(
            "\"arguments\":{}",
            &format!("\"arguments\":{arguments}"),
            1,
        )
    };
    let deep = |n: usize| format!("{{\"text\":{}{}}}", "[".repeat(n), "]".repeat(n));
    let wide = format!("{{\"text\":[{}0]}}", "0,".repeat(100_000));
    for (what, arguments, statuses) in [
        ("nesting", deep(100_000), &[200, 400][..]),
        ("numbers", "{\"text\":123456789012345678901234567890}".to_owned(), &[200]),
        ("a float of many digits", format!("{{\"text\":1e{}}}", "9".repeat(1000)), &[200, 400]),
        ("half a surrogate pair", "{\"text\":\"\\ud800\"}".to_owned(), &[200, 400]),
        ("the end of a string in C", "{\"text\":\"\\u0000\"}".to_owned(), &[200]),
        ("many members", wide, &[200]),
    ] {
        let sent = posted(&rig, call(&arguments)).await;
        assert!(
            statuses.contains(&sent.status),
            "{what}: {} {:.300}",
            sent.status,
            sent.messages[0].to_string()
        );
        is_well(&rig).await;
    }
    assert_free(&rig);
}

async fn edge_14_an_answer_and_a_closed_stream_in_one_turn_are_one_end(b: Bench) {
    for closes_first in [false, true] {
        let (gate, trace) = (Gate::new(), Trace::new());
        let rig = shop(&b, &gate, &trace);
        let mut wire = rig.wire();
        wire.send(&tool(1, "gated", &json!({}))).await;
        b.settle().await;
        if closes_first {
            wire.cancel(1).await;
            gate.open();
        } else {
            gate.open();
            wire.cancel(1).await;
        }
        assert!(responses(&wire.drain().await, 1).is_empty());
        assert_eq!(trace.all(), ["cleaned up"], "once, whoever was first");
        is_well(&rig).await;
        assert_free(&rig);
    }
    assert!(!b.log.has("PANIC"));
}

async fn edge_17_initialize_is_no_method_here_and_its_cancel_does_nothing(b: Bench) {
    let rig = plain(&b);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    let sent = Http::new(&rig).send(&request(1, "initialize", params, &json!({})), &[]).await;
    assert_eq!((sent.status, code(&sent)), (404, -32601));
    assert_eq!(Http::new(&rig).send(&cancel(1), &[]).await.status, 202);
    is_well(&rig).await;
    assert_free(&rig);
}

async fn edge_47_what_looks_like_the_end_of_a_line_splits_no_event(b: Bench) {
    let rig = plain(&b);
    let text = "a\u{2028}b\u{2029}c\u{85}d\r\ne\rf\n\ndata: g\u{b}\u{c}\0";
    // The wire checks that an event is one line; the client of the sdk reads it back.
    let mut wire = rig.wire();
    wire.send(&tool(1, "echo", &json!({"text": text}))).await;
    assert_eq!(said(&wire.answer(1).await), text);
    let result = rig.client().call_tool("echo", &json!({"text": text})).await.unwrap();
    assert_eq!(result.first_text(), Some(text));
}

async fn edge_53_header_values_are_decoded_trimmed_and_unique(b: Bench) {
    let rig = plain(&b);
    let http = Http::new(&rig);
    let call = tool(1, "echo", &json!({}));
    for (name, value) in [
        ("mcp-name", "=?base64?ZWNobw==?="),
        ("mcp-name", "echo"),
        ("MCP-NAME", "echo"),
        ("mcp-name", " \techo "),
        ("mcp-method", " tools/call\t"),
        ("content-type", "Application/JSON; charset=utf-8"),
        ("accept", "*/*"),
    ] {
        let sent = http.send(&call, &[(name, value)]).await;
        assert_eq!((sent.status, said(response(&sent.messages, 1))), (200, "none"), "{name}: {value:?}");
    }
    for (name, value) in [
        ("mcp-name", "Echo"),
        ("mcp-name", "=?base64?RWNobw==?="),
        ("mcp-name", "=?base64?not base64?="),
        ("mcp-method", "Tools/Call"),
        ("mcp-method", "=?base64?dG9vbHMvY2FsbA==?="),
        ("mcp-protocol-version", "2026-07-28, 2026-07-28"),
    ] {
        let sent = http.send(&call, &[(name, value)]).await;
        assert_eq!((sent.status, code(&sent)), (400, -32020), "{name}: {value:?}");
    }
    for name in ["mcp-name", "mcp-method", "mcp-protocol-version"] {
        let sent = http.send_twice(&call, name).await;
        assert_eq!((sent.status, code(&sent)), (400, -32020), "{name} twice, equal as they are");
    }
    assert_free(&rig);
}

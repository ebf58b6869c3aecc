//! What went wrong elsewhere, on the client's side: the peer is nothing but lines.
#![allow(missing_docs)]

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use sansio_mcp::model::CallToolResult;
use sansio_mcp::violation::PeerViolation;
use sansio_mcp_sdk::client::{CallError, ToolCall};
use sansio_mcp_tests::{Bench, Trace, rows};
use serde_json::{Value, json};

rows! {
    edge_05_late_unknown_and_null_responses_are_dropped: [memory stdio];
    edge_09_a_client_answers_nothing_that_it_cannot_parse: [memory stdio];
    edge_16_given_up_before_it_was_written_nothing_is_sent: [memory stdio];
    edge_16_given_up_while_it_was_written_a_cancel_follows: [memory];
    edge_18_giving_up_on_a_wedged_transport_returns_at_once: [memory];
    edge_18_closing_a_client_on_a_wedged_transport_ends_within_a_bound: [memory];
    edge_20_a_lost_connection_fails_every_call_with_its_cause: [memory stdio];
    edge_20_timers_die_with_the_connection: [memory stdio];
    edge_21_the_total_deadline_holds_without_progress: [memory stdio];
    edge_22_an_idle_deadline_asks_for_progress: [memory stdio];
    edge_26_a_progress_callback_that_panics_is_contained: [memory stdio];
    edge_27_progress_after_the_response_is_dropped_without_an_error: [memory stdio];
    edge_34_a_round_of_nothing_or_where_none_is_allowed_ends_the_call: [memory stdio];
    edge_36_a_client_reads_crlf_bom_blank_and_split_lines: [memory stdio];
}

async fn poll_once(call: &mut ToolCall) -> Poll<Result<CallToolResult, CallError>> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *call).poll(cx))).await
}

fn answer(id: &Value, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "content": content}})
}

fn progress(token: &Value, value: i64) -> Value {
    let params = json!({"progressToken": token, "progress": value});
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
}

/// The only line that has come: a request; its id.
fn only_request(lines: &[Value]) -> Value {
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0]["method"].is_string());
    lines[0]["id"].clone()
}

async fn edge_05_late_unknown_and_null_responses_are_dropped(b: Bench) {
    let (client, pump, mut peer) = b.peer();
    let mut given_up = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut given_up).await.is_pending());
    let late = only_request(&peer.drain().await);
    drop(given_up);
    let mut call = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    let lines = peer.drain().await;
    assert_eq!(lines.len(), 2, "a cancel and a request: {lines:?}");
    let id = lines[1]["id"].clone();
    for stray in [late, json!(null), json!(999), json!("1"), json!(id.to_string()), json!(-1)] {
        peer.send(&answer(&stray, "stray")).await;
    }
    b.settle().await;
    assert!(poll_once(&mut call).await.is_pending());
    peer.send(&answer(&id, "mine")).await;
    assert_eq!(call.await.unwrap().first_text(), Some("mine"));
    assert!(!pump.is_done() && peer.drain().await.is_empty());
}

async fn edge_09_a_client_answers_nothing_that_it_cannot_parse(b: Bench) {
    let (client, pump, mut peer) = b.peer();
    for junk in [
        "{",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"?\"}}",
        "\u{feff}x",
    ] {
        peer.bytes(format!("{junk}\n")).await;
    }
    peer.bytes(b"\xff\xfe\n").await;
    peer.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})).await;
    assert!(peer.drain().await.is_empty(), "not one byte");
    let mut call = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    let id = only_request(&peer.drain().await);
    peer.send(&answer(&id, "well")).await;
    assert_eq!(call.await.unwrap().first_text(), Some("well"));
    assert!(!pump.is_done());
}

async fn edge_16_given_up_before_it_was_written_nothing_is_sent(b: Bench) {
    let (client, _pump, mut peer) = b.peer();
    b.settle().await;
    let mut call = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    drop(call);
    let mut timed_out = client.call_tool("t", &json!({})).total_timeout(Some(Duration::ZERO));
    assert!(poll_once(&mut timed_out).await.is_pending());
    timed_out.cancel("never mind");
    assert_eq!(timed_out.await.unwrap_err().code(), "CANCELLED");
    assert!(peer.drain().await.is_empty(), "no request, no cancel");
}

async fn edge_16_given_up_while_it_was_written_a_cancel_follows(mut b: Bench) {
    b.capacity = 16;
    let (client, _pump, mut peer) = b.peer();
    let mut call = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    b.settle().await; // sixteen bytes of it are written
    drop(call);
    let lines = peer.drain().await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0]["method"], "tools/call");
    assert_eq!(lines[1]["method"], "notifications/cancelled");
    assert_eq!(lines[1]["params"]["requestId"], lines[0]["id"]);
}

async fn edge_18_giving_up_on_a_wedged_transport_returns_at_once(mut b: Bench) {
    b.capacity = 16;
    let (client, _pump, _peer) = b.peer();
    let error =
        client.call_tool("t", &json!({})).total_timeout(Some(Duration::from_secs(3))).await.unwrap_err();
    assert_eq!((error.code(), b.clock().elapsed().as_secs()), ("TIMED_OUT_TOTAL", 3));
    let mut call = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    b.settle().await;
    let before = b.clock().elapsed();
    call.cancel("enough");
    assert_eq!(call.await.unwrap_err().code(), "CANCELLED");
    assert_eq!(b.clock().elapsed(), before);
}

async fn edge_18_closing_a_client_on_a_wedged_transport_ends_within_a_bound(mut b: Bench) {
    b.capacity = 16;
    let (client, pump, _peer) = b.peer();
    let mut call = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    b.settle().await;
    // A second call wakes the stuck transport, for nothing.
    let mut second = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut second).await.is_pending());
    b.settle().await;
    client.close();
    assert_eq!(call.await.unwrap_err().code(), "CLOSED");
    b.pass(Duration::from_secs(2)).await;
    assert!(pump.is_done(), "the transport has given up on the bytes that nobody takes");
}

async fn edge_20_a_lost_connection_fails_every_call_with_its_cause(b: Bench) {
    let (client, pump, mut peer) = b.peer();
    let mut calls: Vec<ToolCall> = (0..3).map(|_| client.call_tool("t", &json!({}))).collect();
    for call in &mut calls {
        assert!(poll_once(call).await.is_pending());
    }
    assert_eq!(peer.drain().await.len(), 3);
    drop(peer);
    for call in calls {
        let error = call.await.unwrap_err();
        assert_eq!(error.code(), "LOST");
        assert!(error.to_string().contains("closed"), "{error}");
    }
    assert_eq!(b.clock().elapsed().as_millis(), 0, "at once");
    b.settle().await;
    assert!(pump.is_done() && client.is_closed());
    let later = client.call_tool("t", &json!({})).await.unwrap_err();
    assert_eq!(later.code(), "LOST");
    assert!(later.to_string().contains("closed"), "{later}");

    // A write that fails says so.
    let (client, _pump, mut peer) = b.peer();
    peer.break_reading();
    let error = client.call_tool("t", &json!({})).await.unwrap_err();
    assert_eq!(error.code(), "LOST");
    assert!(error.to_string().contains("write failed: "), "{error}");
}

async fn edge_20_timers_die_with_the_connection(b: Bench) {
    let (client, _pump, peer) = b.peer();
    let mut call = client.call_tool("t", &json!({})).idle_timeout(Duration::from_secs(9));
    assert!(poll_once(&mut call).await.is_pending());
    b.settle().await;
    assert!(b.clock().next_alarm().is_some());
    drop(peer);
    assert_eq!(call.await.unwrap_err().code(), "LOST");
    b.settle().await;
    assert_eq!(b.clock().next_alarm(), None);
}

async fn edge_21_the_total_deadline_holds_without_progress(b: Bench) {
    let (client, _pump, mut peer) = b.peer();
    let call = client.call_tool("t", &json!({})).total_timeout(Some(Duration::from_secs(4)));
    assert_eq!(call.await.unwrap_err().code(), "TIMED_OUT_TOTAL");
    assert_eq!(b.clock().elapsed().as_secs(), 4);
    let lines = peer.drain().await;
    assert_eq!(lines[1]["method"], "notifications/cancelled");
    // Without a word it is five minutes.
    assert_eq!(client.call_tool("t", &json!({})).await.unwrap_err().code(), "TIMED_OUT_TOTAL");
    assert_eq!(b.clock().elapsed().as_secs(), 304);
}

async fn edge_22_an_idle_deadline_asks_for_progress(b: Bench) {
    let (client, _pump, mut peer) = b.peer();
    let mut plain = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut plain).await.is_pending());
    let lines = peer.drain().await;
    assert_eq!(lines[0]["params"]["_meta"].get("progressToken"), None);
    let mut call = client
        .call_tool("t", &json!({}))
        .meta(&json!({"com.example/mine": 7}))
        .idle_timeout(Duration::from_secs(9));
    assert!(poll_once(&mut call).await.is_pending());
    let lines = peer.drain().await;
    let meta = &lines[0]["params"]["_meta"];
    assert!(meta["progressToken"].is_i64() && meta["com.example/mine"] == 7, "{meta}");
}

async fn edge_26_a_progress_callback_that_panics_is_contained(b: Bench) {
    let (client, pump, mut peer) = b.peer();
    let seen = Trace::new();
    let note = seen.clone();
    let mut call = client.call_tool("t", &json!({})).on_progress(move |progress| {
        note.note(progress.progress.to_string());
        assert!(progress.progress > 1.5, "on purpose");
    });
    assert!(poll_once(&mut call).await.is_pending());
    let id = only_request(&peer.drain().await);
    for value in [1, 2] {
        peer.send(&progress(&id, value)).await;
    }
    peer.send(&answer(&id, "done")).await;
    assert_eq!(call.await.unwrap().first_text(), Some("done"));
    assert_eq!(seen.all(), ["1", "2"]);
    assert!(!pump.is_done());
}

async fn edge_27_progress_after_the_response_is_dropped_without_an_error(b: Bench) {
    let (client, pump, mut peer) = b.peer();
    let seen = Trace::new();
    let note = seen.clone();
    let mut call = client
        .call_tool("t", &json!({}))
        .on_progress(move |progress| note.note(progress.progress.to_string()));
    assert!(poll_once(&mut call).await.is_pending());
    let id = only_request(&peer.drain().await);
    // In one write: progress, the response, and more progress.
    let lines = [progress(&id, 1), progress(&id, 2), answer(&id, "done"), progress(&id, 3)];
    peer.bytes(lines.map(|line| format!("{line}\n")).concat()).await;
    assert_eq!(call.await.unwrap().first_text(), Some("done"));
    assert_eq!(seen.all(), ["1", "2"], "in order and before the result");
    b.settle().await;
    assert!(!pump.is_done() && peer.drain().await.is_empty());
    assert!(!b.log.mentions("broke a rule") && !b.log.mentions("token"), "{:?}", b.log.events());
}

async fn edge_36_a_client_reads_crlf_bom_blank_and_split_lines(b: Bench) {
    let (client, _pump, mut peer) = b.peer();
    for (before, size) in [("\u{feff}", 1), ("\r\n\n \t\n", 1), ("\r\n\n \t\n", 1000)] {
        let mut call = client.call_tool("t", &json!({}));
        assert!(poll_once(&mut call).await.is_pending());
        let id = only_request(&peer.drain().await);
        let bytes = format!("{before}{}\r\n", answer(&id, "gr\u{fc}\u{df}e"));
        for piece in bytes.as_bytes().chunks(size) {
            peer.bytes(piece).await;
            b.settle().await;
        }
        assert_eq!(call.await.unwrap().first_text(), Some("gr\u{fc}\u{df}e"));
    }
    assert!(!b.log.mentions("broke a rule"), "a blank line is no bad line: {:?}", b.log.events());
}

async fn edge_34_a_round_of_nothing_or_where_none_is_allowed_ends_the_call(b: Bench) {
    let (client, pump, mut peer) = b.peer();
    let asks = |id: &Value, more: &Value| {
        let mut result = json!({"resultType": "input_required", "content": []});
        for (key, value) in more.as_object().unwrap() {
            result[key] = value.clone();
        }
        json!({"jsonrpc": "2.0", "id": id, "result": result})
    };
    let question = json!({"inputRequests": {"k": {"method": "roots/list"}}, "requestState": "s"});
    for nothing in [json!({}), json!({"inputRequests": {}}), json!({"requestState": null})] {
        let mut call = client.call_tool("t", &json!({}));
        assert!(poll_once(&mut call).await.is_pending());
        let id = only_request(&peer.drain().await);
        peer.send(&asks(&id, &nothing)).await;
        assert_eq!(call.await, Err(CallError::BadPeer(PeerViolation::InputWithoutContent)), "{nothing}");
    }
    let mut list = Box::pin(std::future::IntoFuture::into_future(client.list_tools_page(None)));
    assert!(poll_fn(|cx| Poll::Ready(list.as_mut().poll(cx))).await.is_pending());
    let id = only_request(&peer.drain().await);
    peer.send(&asks(&id, &question)).await;
    assert_eq!(list.await.err(), Some(CallError::BadPeer(PeerViolation::InputNotAllowed)));
    // Nothing goes out for any of them, and the session lives.
    assert!(peer.drain().await.is_empty() && !pump.is_done());
    let mut call = client.call_tool("t", &json!({}));
    assert!(poll_once(&mut call).await.is_pending());
    let id = only_request(&peer.drain().await);
    peer.send(&answer(&id, "well")).await;
    assert_eq!(call.await.unwrap().first_text(), Some("well"));
}

//! Calls against a server that the test writes byte by byte.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use sansio_mcp::client::{CallSpec, Refused};
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{CallError, CallEvent, Progress};
use serde_json::{Value, json};
use support::{answer, error, progress, settle, start};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_call_gives_its_result() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    let server = lab.spawn(async move {
        let request = peer.line().await.unwrap();
        peer.send(answer(1, "four")).await;
        (request, peer)
    });
    let result =
        lab.run(async { client.call_tool("add", &json!({"a": 2, "b": 2})).meta(&json!({"x": 1})).await });
    assert_eq!(result.unwrap().first_text(), Some("four"));
    let (request, _peer) = server.take().unwrap();
    assert_eq!(request["method"], "tools/call");
    assert_eq!(request["params"]["name"], "add");
    assert_eq!(request["params"]["arguments"], json!({"a": 2, "b": 2}));
    assert_eq!(request["params"]["_meta"]["x"], 1);
    assert_eq!(request["params"]["_meta"].get("progressToken"), None);
    assert_eq!(client.open_calls(), 0);
}

#[test]
fn any_method_gives_its_answer_raw_or_typed() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.spawn(async move {
        for id in 1..=2 {
            peer.request().await;
            peer.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"n\":{id}}}}}\n")).await;
        }
        peer.line().await
    });
    let raw = lab.run(client.call(CallSpec::new("x/y", &json!({})).unwrap())).unwrap();
    assert_eq!(raw.result::<Value>().unwrap(), json!({"n": 1}));
    let typed = client.call(CallSpec::new("x/y", &json!({})).unwrap()).typed::<Vec<u8>>();
    assert_eq!(lab.run(typed).unwrap_err().code(), "DECODE");
}

#[test]
fn an_error_has_its_code_message_and_data() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.spawn(async move {
        peer.request().await;
        peer.send(error(1, -32602, &json!({"field": "a"}))).await;
        peer.request().await;
        peer.send(error(2, 1001, &json!({"code": "SERVER_BUSY", "retryAfterMs": 250}))).await;
        peer.request().await;
        peer.send(error(3, 1001, &json!({"code": "BOOKED_OUT", "retryAfterMs": 250}))).await;
        peer.line().await
    });
    let failed = lab.run(client.call_tool("a", &json!({}))).unwrap_err();
    let CallError::Peer(peer) = &failed else { panic!("{failed:?}") };
    assert_eq!((peer.code, &*peer.message, peer.data.as_deref()), (-32602, "no", Some("{\"field\":\"a\"}")));
    assert_eq!((failed.code(), failed.retry_after_ms()), ("PEER_ERROR", None));
    let busy = lab.run(client.call_tool("a", &json!({}))).unwrap_err();
    assert_eq!((busy.code(), busy.is_busy(), busy.retry_after_ms()), ("SERVER_BUSY", true, Some(250)));
    let other = lab.run(client.call_tool("a", &json!({}))).unwrap_err();
    assert_eq!((other.code(), other.retry_after_ms()), ("PEER_ERROR", None));
}

#[test]
fn progress_comes_in_order_before_the_result_and_a_panicking_callback_harms_nothing() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.spawn(async move {
        let id = peer.request().await;
        let lines: String = (1..=5).map(|n| progress(id, n)).collect();
        peer.send(lines + &answer(id, "done") + &progress(id, 6)).await;
        peer.line().await
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let call = client.call_tool("slow", &json!({})).on_progress(move |progress: Progress| {
        assert!(progress.message.as_deref() != Some("at 2"), "contained: two is bad luck");
        log.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(progress);
    });
    let result = lab.run(call);
    assert_eq!(result.unwrap().first_text(), Some("done"));
    let seen = seen.lock().unwrap();
    let values: Vec<_> = seen.iter().map(Progress::percent).collect();
    assert_eq!(values, [Some(10.0), Some(30.0), Some(40.0), Some(50.0)]);
    assert_eq!(seen.first().unwrap().message.as_deref(), Some("at 1"));
}

#[test]
fn events_are_progress_and_then_the_result() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.spawn(async move {
        let id = peer.request().await;
        for n in 1..=40 {
            peer.send(progress(id, n)).await;
        }
        peer.send(answer(id, "done")).await;
        peer.line().await
    });
    let (values, text) = lab.run(async {
        let mut events = client.call_tool("slow", &json!({})).events();
        let mut values = Vec::new();
        let Some(CallEvent::Progress(first)) = events.next().await else { panic!("no progress") };
        values.push(first.progress);
        // While nobody looks, the newest replaces the one before it.
        lab.sleep(SECOND).await;
        loop {
            match events.next().await {
                Some(CallEvent::Progress(progress)) => values.push(progress.progress),
                Some(CallEvent::Result(result)) => {
                    assert!(events.next().await.is_none());
                    break (values, result.unwrap().first_text().map(str::to_owned));
                }
                None => panic!("no result"),
            }
        }
    });
    assert_eq!(text.as_deref(), Some("done"));
    assert_eq!(values.last(), Some(&40.0));
    assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    assert!(values.len() <= 1 + 16 + 16, "{values:?}");
}

#[test]
fn the_idle_deadline_is_moved_on_by_progress_and_the_total_is_not() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    let lab_inside = lab.clone();
    let server = lab.spawn(async move {
        let id = peer.request().await;
        for n in 1..=3 {
            lab_inside.sleep(2 * SECOND).await;
            peer.send(progress(id, n)).await;
        }
        let cancelled = [peer.line().await.unwrap()];
        let id = peer.request().await;
        for n in 1.. {
            lab_inside.sleep(2 * SECOND).await;
            peer.send(progress(id, n)).await;
            if let Some(line) = peer.ready_line().await {
                return (cancelled, line, peer);
            }
        }
        unreachable!()
    });
    let idle = lab.run(client.call_tool("a", &json!({})).idle_timeout(3 * SECOND)).unwrap_err();
    assert_eq!(idle.code(), "TIMED_OUT_IDLE");
    assert_eq!(lab.clock().elapsed(), 9 * SECOND);
    let total = client.call_tool("a", &json!({})).idle_timeout(3 * SECOND).total_timeout(Some(7 * SECOND));
    assert_eq!(lab.run(total).unwrap_err().code(), "TIMED_OUT_TOTAL");
    assert_eq!(lab.clock().elapsed(), 16 * SECOND);
    let ([first], second, _peer) = lab.run(server);
    assert_eq!(
        (&first["method"], &first["params"]["requestId"]),
        (&json!("notifications/cancelled"), &json!(1))
    );
    assert_eq!(
        (&second["method"], &second["params"]["requestId"]),
        (&json!("notifications/cancelled"), &json!(2))
    );
}

#[test]
fn dropping_call_and_client_together_still_tells_the_server() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let mut call = Box::pin(client.call_tool("a", &json!({})));
        assert!(std::future::poll_fn(|cx| std::task::Poll::Ready(call.as_mut().poll(cx).is_pending())).await);
        assert_eq!(peer.request().await, 1);
        drop(call);
        drop(client);
        let cancelled = peer.line().await.unwrap();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"], json!({"requestId": 1}));
        assert_eq!(peer.line().await, None, "then the connection ends");
    });
}

#[test]
fn a_canceller_gives_the_call_up_from_elsewhere() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        // Before it is made: nothing of it is sent.
        let mut early = client.call_tool("early", &json!({}));
        early.canceller().cancel("never mind");
        assert_eq!(early.await.unwrap_err(), CallError::Cancelled);
        // While it is awaited, from another thread.
        let mut call = client.call_tool("a", &json!({}));
        let canceller = call.canceller();
        let task = lab.spawn(call);
        assert_eq!(peer.request().await, 1);
        let other = canceller.clone();
        std::thread::spawn(move || other.cancel("a button")).join().unwrap();
        assert_eq!(task.await.unwrap_err(), CallError::Cancelled);
        let cancelled = peer.line().await.unwrap();
        assert_eq!(cancelled["params"], json!({"requestId": 1, "reason": "a button"}));
        canceller.cancel("again");
        // One that has ended by itself: its slot belongs to another call now, which is none of its business.
        let mut call = client.call_tool("b", &json!({}));
        let canceller = call.canceller();
        let task = lab.spawn(call);
        assert_eq!(peer.request().await, 2);
        peer.send(answer(2, "b")).await;
        assert_eq!(task.await.unwrap().first_text(), Some("b"));
        let next = lab.spawn(client.call_tool("c", &json!({})));
        assert_eq!(peer.request().await, 3);
        canceller.cancel("none of its business");
        peer.send(answer(3, "c")).await;
        assert_eq!(next.await.unwrap().first_text(), Some("c"));
        // Asked for when the call was made already, and after it has ended.
        let mut made = client.call_tool("d", &json!({}));
        assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut made).poll(cx).is_pending())).await);
        let (late, too_late) = (made.canceller(), made.canceller());
        assert_eq!(peer.request().await, 4);
        late.cancel("late");
        assert_eq!(made.await.unwrap_err(), CallError::Cancelled);
        too_late.cancel("too late");
        assert_eq!(peer.line().await.unwrap()["params"]["reason"], "late");
        assert!(peer.ready_line().await.is_none());
    });
}

#[test]
fn closing_a_client_abandons_what_is_in_flight() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    let pending = client.call_tool("a", &json!({}));
    let task = lab.spawn(pending);
    lab.run(async {
        assert_eq!(peer.request().await, 1);
        client.close();
        assert_eq!(peer.line().await.unwrap()["params"], json!({"requestId": 1}));
        assert_eq!(peer.line().await, None);
    });
    assert_eq!(lab.run(task).unwrap_err().code(), "CLOSED");
}

#[test]
fn dropping_a_written_call_cancels_it_and_its_late_answer_is_dropped() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let mut call = Box::pin(client.call_tool("a", &json!({})));
        let other = client.call_tool("b", &json!({}));
        assert!(std::future::poll_fn(|cx| std::task::Poll::Ready(call.as_mut().poll(cx).is_pending())).await);
        assert_eq!(peer.request().await, 1);
        drop(call);
        let cancelled = peer.line().await.unwrap();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"], json!({"requestId": 1}));
        assert_eq!(client.open_calls(), 0);
        peer.send(answer(1, "late") + &progress(1, 5)).await;
        let task = lab.spawn(other);
        assert_eq!(peer.request().await, 2);
        peer.send(answer(2, "other")).await;
        assert_eq!(task.await.unwrap().first_text(), Some("other"));
        assert!(!client.is_closed());
    });
}

#[test]
fn a_call_given_up_before_it_was_written_leaves_nothing_on_the_wire() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        settle().await;
        let mut call = Box::pin(client.call_tool("a", &json!({})));
        // In one turn: the pump has no chance.
        std::future::poll_fn(|cx| {
            assert!(call.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
        drop(call);
        settle().await;
        assert_eq!(peer.ready_line().await, None);
        let task = lab.spawn(client.call_tool("b", &json!({})));
        assert_eq!(peer.line().await.unwrap()["params"]["name"], "b");
        peer.send(answer(2, "b")).await;
        assert!(task.await.is_ok());
    });
}

#[test]
fn cancelling_with_a_reason_tells_the_server_and_the_caller() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let mut call = client.call_tool("a", &json!({}));
        let started =
            std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut call).poll(cx)));
        assert!(started.await.is_pending());
        peer.request().await;
        call.cancel("the user changed his mind");
        assert_eq!(peer.line().await.unwrap()["params"]["reason"], "the user changed his mind");
        assert_eq!(call.await.unwrap_err().code(), "CANCELLED");
        let mut call = client.call_tool("a", &json!({}));
        call.cancel("never made");
        assert_eq!(call.await.unwrap_err(), CallError::Cancelled);
        settle().await;
        assert_eq!(peer.ready_line().await, None);
    });
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let lab = Lab::new();
    let (client, _peer) = start(&lab);
    let refused = lab.run(client.call_tool("a", &[1, 2])).unwrap_err();
    assert_eq!(refused, CallError::Refused(Refused::NotAnObject("arguments")));
    assert_eq!(refused.code(), "REFUSED");
    let refused = lab.run(client.call_tool("a", &json!({})).meta(&json!({"progressToken": 1}))).unwrap_err();
    assert_eq!(refused.code(), "REFUSED");
}

#[test]
fn a_question_ends_the_call_without_a_trace() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let call = lab.spawn(client.call_tool("a", &json!({})));
        peer.request().await;
        let question = json!({"method": "elicitation/create", "params": {"message": "?"}});
        let result = json!({"resultType": "input_required", "inputRequests": {"q": question}});
        peer.send(format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "result": result}))).await;
        assert_eq!(call.await.unwrap_err().code(), "INPUT_UNSUPPORTED");
        settle().await;
        assert_eq!(peer.ready_line().await, None);
        assert_eq!(client.open_calls(), 0);
    });
}

//! Questions while they are open: asked at once, withdrawn, timed, contained. The server is lines written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use sansio_mcp::model::ElicitAction;
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{CallError, ClientSetup, InputFailure};
use serde_json::json;
use support::questions::{anything, script, url};
use support::{answer, ask, builder, settle, start_setup};

const SECOND: Duration = Duration::from_secs(1);

/// Counts those that live.
struct Living(Arc<AtomicUsize>);

impl Living {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers the question `fast` after a second as `fail` says and never another.
fn slow(lab: &Lab, living: &Arc<AtomicUsize>, fail: bool) -> ClientSetup {
    let (clock, living) = (lab.clock(), Arc::clone(living));
    builder()
        .on_form(move |form| {
            let (clock, living) = (clock.clone(), Living::new(&living));
            async move {
                if &*form.key == "fast" {
                    sansio_mcp_sdk::clock::Clock::sleep(&clock, SECOND).await;
                    if fail {
                        return Err(InputFailure::new("the printer is on fire"));
                    }
                    return form.accept(&json!({}));
                }
                pending::<()>().await;
                drop(living);
                unreachable!()
            }
        })
        .build()
        .unwrap()
}

#[test]
fn edge_29_questions_are_asked_at_once_and_the_first_failure_withdraws_the_others() {
    let lab = Lab::new();
    let living = Arc::new(AtomicUsize::new(0));
    let (client, peer) = start_setup(&lab, slow(&lab, &living, true));
    let questions = json!({"one": anything(), "fast": anything(), "two": anything()});
    let server = script(&lab, peer, vec![ask(1, &questions, Some("s"))]);
    let call = lab.spawn(client.call_tool("t", &json!({})));
    lab.advance(SECOND / 2);
    assert_eq!((living.load(Ordering::Relaxed), call.is_done()), (3, false));
    lab.advance(SECOND);
    let failed = call.take().unwrap().unwrap_err();
    assert_eq!((living.load(Ordering::Relaxed), failed.code()), (0, "INPUT_FAILED"));
    assert_eq!(failed, CallError::InputFailed("the printer is on fire".into()));
    assert_eq!(client.open_calls(), 0);
    drop(client);
    assert_eq!(lab.run(server).len(), 1, "neither a retry nor a cancel");
}

#[test]
fn dropping_cancelling_or_losing_the_call_withdraws_its_questions_and_says_nothing() {
    let lab = Lab::new();
    let living = Arc::new(AtomicUsize::new(0));
    for how in ["drop", "cancel", "close", "lose"] {
        let (client, mut peer) = start_setup(&lab, slow(&lab, &living, false));
        lab.run(async {
            let mut call = client.call_tool("t", &json!({}));
            let mut poll = async || poll_fn(|cx| Poll::Ready(Pin::new(&mut call).poll(cx))).await;
            assert!(poll().await.is_pending());
            peer.request().await;
            peer.send(ask(1, &json!({"one": anything(), "two": anything()}), None)).await;
            settle().await;
            assert!(poll().await.is_pending());
            assert_eq!(living.load(Ordering::Relaxed), 2, "{how}");
            match how {
                "drop" => drop(call),
                "cancel" => {
                    call.cancel("never mind");
                    assert_eq!(call.await.unwrap_err().code(), "CANCELLED");
                }
                "close" => {
                    client.close();
                    assert_eq!(call.await.unwrap_err().code(), "CLOSED");
                }
                _ => {
                    drop(peer);
                    assert_eq!(call.await.unwrap_err().code(), "LOST");
                    assert_eq!(living.load(Ordering::Relaxed), 0);
                    return;
                }
            }
            assert_eq!((living.load(Ordering::Relaxed), client.open_calls()), (0, 0), "{how}");
            settle().await;
            assert_eq!(peer.ready_line().await, None, "{how}: nothing on the wire");
        });
    }
}

#[test]
fn a_question_has_a_deadline_of_its_own_and_those_of_the_call_stand_still() {
    let lab = Lab::new();
    let living = Arc::new(AtomicUsize::new(0));
    let (client, peer) = start_setup(&lab, slow(&lab, &living, false));
    let questions = json!({"fast": anything(), "never": anything()});
    let lines =
        vec![ask(1, &questions, None), ask(2, &json!({"fast": anything()}), None), answer(3, "in time")];
    let server = script(&lab, peer, lines);
    let call = client.call_tool("t", &json!({})).total_timeout(Some(SECOND)).answer_within(Some(60 * SECOND));
    assert_eq!(lab.run(call).unwrap_err(), CallError::InputTimedOut);
    assert_eq!((lab.clock().elapsed(), living.load(Ordering::Relaxed)), (60 * SECOND, 0));
    // A second of answering does not count against a total of a second.
    let call = client.call_tool("t", &json!({})).total_timeout(Some(SECOND)).answer_within(Some(2 * SECOND));
    assert_eq!(lab.run(call).unwrap().first_text(), Some("in time"));
    drop(client);
    assert_eq!(lab.run(server).len(), 3);
}

#[test]
fn the_deadline_of_the_client_holds_unless_the_call_says_otherwise() {
    let lab = Lab::new();
    let setup = builder().answer_within(SECOND).on_form(async |_| pending().await).build().unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let questions = json!({"k": anything()});
    script(&lab, peer, vec![ask(1, &questions, None), ask(2, &questions, None)]);
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err().code(), "INPUT_TIMED_OUT");
    assert_eq!(lab.clock().elapsed(), SECOND);
    let call = lab.spawn(client.call_tool("t", &json!({})).answer_within(None));
    lab.advance(3600 * SECOND);
    assert!(!call.is_done());
}

#[test]
fn a_panicking_handler_fails_its_call_alone() {
    let lab = Lab::new();
    let setup = builder()
        .on_form(async |form| match &*form.key {
            "ok" => form.accept(&json!({})),
            _ => panic!("contained: the handler of a question panics"),
        })
        .on_url(|_| -> std::future::Ready<Result<ElicitAction, InputFailure>> {
            panic!("contained: it does not even begin")
        })
        .build()
        .unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let lines = vec![
        ask(1, &json!({"bad": anything(), "ok": anything()}), None),
        ask(2, &json!({"ok": anything(), "u": url()}), None),
        ask(3, &json!({"ok": anything()}), None),
        answer(4, "fine"),
    ];
    script(&lab, peer, lines);
    for _ in 0..2 {
        let failed = lab.run(client.call_tool("t", &json!({}))).unwrap_err();
        assert!(failed.to_string().contains("panicked"), "{failed}");
    }
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap().first_text(), Some("fine"));
}

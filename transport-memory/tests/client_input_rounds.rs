//! Rounds of questions: how many, how fast, and what survives them. The server is lines written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sansio_mcp::client::{Abandon, Routing};
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::CallError;
use serde_json::json;
use support::questions::{anything, script, willing};
use support::{answer, ask, builder, error, progress, result, start_setup};

#[test]
fn eight_rounds_are_answered_and_at_the_ninth_nobody_is_asked() {
    let lab = Lab::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let setup = builder()
        .on_form(move |form| {
            count.fetch_add(1, Ordering::Relaxed);
            async move { form.accept(&json!({})) }
        })
        .build()
        .unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let lines = (1..=9).map(|id| ask(id, &json!({"k": anything()}), Some(&id.to_string()))).collect();
    let server = script(&lab, peer, lines);
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err(), CallError::RoundsExceeded);
    assert_eq!(asked.load(Ordering::Relaxed), 8);
    drop(client);
    let heard = lab.run(server);
    let states: Vec<_> = heard.iter().map(|line| line["params"]["requestState"].as_str()).collect();
    assert_eq!(states.len(), 9);
    assert_eq!(
        (states[0], states[1], states[8]),
        (None, Some("1"), Some("8")),
        "each retry has the last state"
    );
}

#[test]
fn rounds_of_state_alone_are_paced_and_count() {
    let lab = Lab::new();
    // No handlers: nobody is asked anything.
    let (client, peer) = start_setup(&lab, support::config(Routing::Shared, Abandon::Notify));
    let state = |id| result(id, &json!({"resultType": "input_required", "requestState": ""}));
    let server = script(&lab, peer, (1..=9).map(state).collect());
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err().code(), "ROUNDS_EXCEEDED");
    assert!(lab.clock().elapsed() >= Duration::from_millis(8 * 50), "{:?}", lab.clock().elapsed());
    drop(client);
    let heard = lab.run(server);
    assert!(heard[1..].iter().all(|line| line["params"]["requestState"] == ""));
    assert!(heard.iter().all(|line| line["params"].get("inputResponses").is_none()));
}

#[test]
fn a_version_is_corrected_once_a_call_and_answers_survive_it() {
    let lab = Lab::new();
    let setup = builder()
        .versions(["2027-01-01", "2026-07-28"])
        .on_form(async |form| form.accept(&json!({"a": "kept"})))
        .build()
        .unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let wrong = |id| error(id, -32022, &json!({"supported": ["2026-07-28"], "requested": "2027-01-01"}));
    let back = |id| error(id, -32022, &json!({"supported": ["2027-01-01"], "requested": "2026-07-28"}));
    let lines =
        vec![ask(1, &json!({"k": anything()}), Some("s")), wrong(2), answer(3, "done"), back(4), wrong(5)];
    let server = script(&lab, peer, lines);
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap().first_text(), Some("done"));
    assert_eq!(lab.run(client.call_tool("t", &json!({}))).unwrap_err().code(), "PEER_ERROR");
    drop(client);
    let heard = lab.run(server);
    let version = |n: usize| &heard[n]["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    assert_eq!((version(1), version(2)), (&json!("2027-01-01"), &json!("2026-07-28")));
    // What was found out is kept, and may turn out wrong as well.
    assert_eq!((version(3), version(4)), (&json!("2026-07-28"), &json!("2027-01-01")));
    for retry in [1, 2] {
        assert_eq!(heard[retry]["params"]["inputResponses"]["k"]["content"]["a"], "kept");
        assert_eq!(heard[retry]["params"]["requestState"], "s");
    }
}

#[test]
fn progress_before_and_after_a_question_comes_in_order() {
    let lab = Lab::new();
    let (client, mut peer) = start_setup(&lab, willing());
    lab.spawn(async move {
        peer.request().await;
        peer.send(progress(1, 1) + &progress(1, 2) + &ask(1, &json!({"k": anything()}), None)).await;
        peer.request().await;
        peer.send(progress(2, 1) + &answer(2, "done")).await;
        peer.line().await
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let call =
        client.call_tool("t", &json!({})).on_progress(move |step| log.lock().unwrap().push(step.progress));
    lab.run(call).unwrap();
    assert_eq!(*seen.lock().unwrap(), [1.0, 2.0, 1.0]);
}

#[test]
fn two_calls_that_ask_at_once_are_answered_apart() {
    let lab = Lab::new();
    let setup = builder()
        .on_form(async |form| {
            let target = form.target.clone();
            form.accept(&json!({"a": target}))
        })
        .build()
        .unwrap();
    let (client, mut peer) = start_setup(&lab, setup);
    let server = lab.spawn(async move {
        let (one, two) = (peer.request().await, peer.request().await);
        peer.send(
            ask(one, &json!({"k": anything()}), Some("1")) + &ask(two, &json!({"k": anything()}), Some("2")),
        )
        .await;
        let mut retries = vec![peer.line().await.unwrap(), peer.line().await.unwrap()];
        retries.sort_by_key(|retry| retry["params"]["name"].to_string());
        for retry in &retries {
            peer.send(answer(retry["id"].as_i64().unwrap(), retry["params"]["name"].as_str().unwrap())).await;
        }
        retries
    });
    let one = lab.spawn(client.call_tool("one", &json!({})));
    let two = lab.spawn(client.call_tool("two", &json!({})));
    assert_eq!(lab.run(one).unwrap().first_text(), Some("one"));
    assert_eq!(lab.run(two).unwrap().first_text(), Some("two"));
    for (retry, state) in lab.run(server).iter().zip(["1", "2"]) {
        let params = &retry["params"];
        assert_eq!(params["inputResponses"]["k"]["content"]["a"], params["name"]);
        assert_eq!(params["requestState"], state);
    }
}

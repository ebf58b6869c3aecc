//! What becomes of calls when the connection does this or that.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{CallError, Client, ToolCall};
use serde_json::json;
use support::{Dice, answer, error, progress, settle, start, start_with};

/// Makes a call without waiting for it.
async fn begin(client: &Client, name: &str) -> ToolCall {
    let mut call = client.call_tool(name, &json!({}));
    assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut call).poll(cx).is_pending())).await);
    call
}

#[test]
fn a_lost_connection_fails_every_call_at_once_with_the_cause() {
    let lab = Lab::new();
    let (client, mut peer, pump) = start_with(&lab, 64 * 1024);
    lab.run(async {
        let calls = [begin(&client, "a").await, begin(&client, "b").await, begin(&client, "c").await];
        assert_eq!(peer.request().await, 1);
        drop(peer);
        for call in calls {
            let lost = call.await.unwrap_err();
            assert_eq!(lost.code(), "LOST");
            assert!(lost.to_string().contains("the server closed the connection"), "{lost}");
        }
        assert!(client.is_closed());
        // Whoever comes later hears the same, also once the application has closed what is lost already.
        let cause = CallError::Lost("the server closed the connection".into());
        assert_eq!(client.call_tool("a", &json!({})).await.unwrap_err(), cause);
        client.close();
        assert_eq!(client.discover().await.unwrap_err(), cause);
        pump.await;
        assert_eq!(client.discover().await.unwrap_err(), cause, "the transport's end is not a new cause");
    });
    assert_eq!(lab.clock().elapsed(), Duration::ZERO);
}

#[test]
fn a_write_that_fails_is_a_lost_connection() {
    let lab = Lab::new();
    let (client, peer, pump) = start_with(&lab, 64 * 1024);
    lab.run(async {
        let (reader, writer) = peer.io.split();
        settle().await;
        drop(reader);
        let lost = begin(&client, "a").await.await.unwrap_err();
        assert!(lost.to_string().contains("write failed: broken pipe"), "{lost}");
        pump.await;
        drop(writer);
    });
}

#[test]
fn a_dropped_transport_ends_calls() {
    let lab = Lab::new();
    let (client, _peer, pump) = start_with(&lab, 64 * 1024);
    lab.run(async {
        let call = begin(&client, "a").await;
        settle().await;
        pump.abort();
        assert!(call.await.unwrap_err().to_string().contains("the transport was dropped"));
    });
}

#[test]
fn closing_ends_calls_and_the_connection() {
    let lab = Lab::new();
    let (client, mut peer, pump) = start_with(&lab, 64 * 1024);
    lab.run(async {
        let call = begin(&client, "a").await;
        assert_eq!(peer.request().await, 1);
        client.close();
        assert_eq!(call.await.unwrap_err(), CallError::Closed);
        assert_eq!(peer.line().await.unwrap()["method"], "notifications/cancelled");
        assert_eq!(peer.line().await, None);
        pump.await;
    });
    assert_eq!(lab.clock().elapsed(), Duration::ZERO);
}

#[test]
fn the_connection_lives_as_long_as_somebody_can_use_it() {
    let lab = Lab::new();
    let (client, mut peer, pump) = start_with(&lab, 64 * 1024);
    lab.run(async {
        let call = begin(&client.clone(), "a").await;
        drop(client);
        assert_eq!(peer.request().await, 1);
        peer.send(answer(1, "still there")).await;
        assert_eq!(call.await.unwrap().first_text(), Some("still there"));
        assert_eq!(peer.line().await, None);
        pump.await;
    });
    assert_eq!(lab.clock().elapsed(), Duration::ZERO);
}

#[test]
fn the_last_answer_counts_even_without_a_line_end() {
    let lab = Lab::new();
    let (client, mut peer, pump) = start_with(&lab, 64 * 1024);
    lab.run(async {
        let calls = [begin(&client, "a").await, begin(&client, "b").await, begin(&client, "c").await];
        assert_eq!(peer.request().await, 1);
        peer.send(answer(1, "one") + answer(2, "two").trim_end()).await;
        let (mut reader, writer) = peer.io.split();
        drop(writer);
        let [one, two, three] = calls;
        assert_eq!(one.await.unwrap().first_text(), Some("one"));
        assert_eq!(two.await.unwrap().first_text(), Some("two"));
        assert_eq!(three.await.unwrap_err().code(), "LOST");
        pump.await;
        let mut rest = vec![0; 4096];
        while poll_fn(|cx| futures_io::AsyncRead::poll_read(Pin::new(&mut reader), cx, &mut rest))
            .await
            .unwrap()
            > 0
        {}
    });
}

#[test]
fn junk_costs_its_line_and_is_never_answered() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let call = begin(&client, "a").await;
        assert_eq!(peer.request().await, 1);
        peer.send("\u{feff}\r\n\n{\"jsonrpc\":\"2.0\"\nhello\n[1]\n{}\nnull\n").await;
        peer.send(b"\xff\xfe\n\"\x00\"\n").await;
        peer.send("{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}\n").await;
        peer.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await;
        peer.send("[".repeat(100_000) + "\n").await;
        peer.send(format!("{}\n", "x".repeat(5 * 1024 * 1024))).await;
        peer.send(answer(1, "survived").replace('\n', "\r\n")).await;
        assert_eq!(call.await.unwrap().first_text(), Some("survived"));
        settle().await;
        assert_eq!(peer.ready_line().await, None);
    });
}

#[test]
fn a_server_that_reads_slowly_gets_everything_in_order_and_only_a_batch_is_taken_ahead() {
    let lab = Lab::new();
    let (client, mut peer, _pump) = start_with(&lab, 100);
    lab.run(async {
        let mut calls = Vec::new();
        for n in 0..300 {
            let mut call = client.call_tool(&format!("tool{n}"), &json!({"fill": "x".repeat(1000)}));
            assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut call).poll(cx).is_pending())).await);
            calls.push(call);
        }
        settle().await;
        // What was not taken can still be given up without a trace.
        let last = calls.split_off(100);
        drop(last);
        for id in 1..=100 {
            assert_eq!(peer.request().await, id);
            lab.sleep(Duration::from_millis(1)).await;
        }
        for _ in 0..50 {
            settle().await;
            assert_eq!(peer.ready_line().await, None);
        }
        for (n, call) in calls.into_iter().enumerate() {
            let n = i64::try_from(n).unwrap() + 1;
            peer.send(answer(n, &n.to_string())).await;
            assert_eq!(call.await.unwrap().first_text(), Some(&*n.to_string()));
        }
    });
}

/// Outcomes of four calls whose answers come in pieces of the given sizes.
fn outcomes(mut piece: impl FnMut() -> usize) -> Vec<String> {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let mut calls = Vec::new();
        for n in 0..4 {
            calls.push(begin(&client, &n.to_string()).await);
        }
        assert_eq!(peer.request().await, 1);
        let script = progress(3, 1)
            + &answer(2, "gr\u{fc}\u{df}e \u{1f600}")
            + "junk\r\n\n"
            + &error(1, -32000, &json!(null))
            + &answer(4, "x").replace('\n', "\r\n")
            + answer(3, "last").trim_end();
        let mut rest = script.as_bytes();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
            peer.send(now).await;
            settle().await;
            rest = later;
        }
        drop(peer);
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(match call.await {
                Ok(result) => result.first_text().unwrap_or_default().to_owned(),
                Err(error) => error.to_string(),
            });
        }
        outcomes
    })
}

#[test]
fn how_the_bytes_are_cut_changes_nothing() {
    let whole = outcomes(|| usize::MAX);
    assert_eq!(&whole[1..], ["gr\u{fc}\u{df}e \u{1f600}", "last", "x"]);
    assert_eq!(outcomes(|| 1), whole);
    for seed in 1..30 {
        let mut dice = Dice(seed);
        assert_eq!(outcomes(|| dice.below(90)), whole);
    }
}

/// Slots outlive the core's calls until they are collected: in any order of answering, collecting, dropping and
/// beginning, each owner gets the outcome of its own call, and nothing is left.
#[test]
fn whoever_collects_late_gets_the_answer_of_his_own_call() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let mut dice = Dice(7);
        let mut next = 1;
        let mut open: Vec<(i64, ToolCall)> = Vec::new();
        let mut answered: Vec<(i64, ToolCall)> = Vec::new();
        for _ in 0..3000 {
            match dice.below(5) {
                0 | 1 => {
                    let call = begin(&client, "a").await;
                    while peer.line().await.unwrap().get("id").is_none() {}
                    open.push((next, call));
                    next += 1;
                }
                2 if !open.is_empty() => {
                    let (id, call) = open.swap_remove(dice.below(open.len()));
                    peer.send(answer(id, &id.to_string())).await;
                    settle().await;
                    answered.push((id, call));
                }
                3 if !answered.is_empty() => {
                    let (id, call) = answered.swap_remove(dice.below(answered.len()));
                    assert_eq!(call.await.unwrap().first_text(), Some(&*id.to_string()));
                }
                4 if !open.is_empty() && dice.below(3) == 0 => {
                    let (id, call) = open.swap_remove(dice.below(open.len()));
                    drop(call);
                    assert_eq!(peer.line().await.unwrap()["params"]["requestId"], id);
                }
                _ => {}
            }
            assert_eq!(client.open_calls(), open.len() + answered.len());
        }
        drop((open, answered));
        assert_eq!(client.open_calls(), 0);
    });
}

#[test]
fn whoever_never_collects_is_refused_before_memory_is_full() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let mut calls = Vec::new();
        for n in 1..=65_536 {
            calls.push(begin(&client, "a").await);
            if n % 256 == 0 {
                for id in n - 255..=n {
                    assert_eq!(peer.request().await, id);
                    peer.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n"))
                        .await;
                }
            }
        }
        settle().await;
        assert_eq!(client.call_tool("a", &json!({})).await.unwrap_err().code(), "REFUSED");
        calls.pop().unwrap().await.unwrap();
        drop(begin(&client, "a").await);
    });
}

//! Subscriptions against a server that the test writes by hand.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream;
use sansio_mcp::client::Timeout;
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{
    Agreed, CallError, Changed, Client, ListenEnd, ListenEvent, ListenSpec, Subscription,
};
use serde_json::{Value, json};
use support::{Peer, error, notification, result, settle, start, start_with};

const SECOND: Duration = Duration::from_secs(1);

fn acknowledged(id: i64, filter: &Value) -> String {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
    notification("subscriptions/acknowledged", &json!({"_meta": meta, "notifications": filter}))
}

fn tools(id: i64) -> String {
    notification("tools/list_changed", &json!({"_meta": {"io.modelcontextprotocol/subscriptionId": id}}))
}

fn updated(id: i64, uri: &str) -> String {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
    notification("resources/updated", &json!({"_meta": meta, "uri": uri}))
}

/// What there is of a subscription now.
async fn ready(subscription: &mut Subscription) -> Vec<Option<ListenEvent>> {
    settle().await;
    let mut all = Vec::new();
    poll_fn(|cx| {
        while let Poll::Ready(item) = std::pin::Pin::new(&mut *subscription).poll_next(cx) {
            let end = item.is_none();
            all.push(item);
            if end {
                break;
            }
        }
        Poll::Ready(())
    })
    .await;
    all
}

#[allow(clippy::unnecessary_wraps, reason = "an item of a stream is an option")]
fn changed(change: Changed) -> Option<ListenEvent> {
    Some(ListenEvent::Changed(change))
}

fn everything() -> ListenSpec {
    ListenSpec::new().tools().resource("a://1")
}

/// An acknowledged subscription of id 1.
async fn open(client: &Client, peer: &mut Peer) -> Subscription {
    let mut subscription = client.listen(everything());
    assert_eq!(ready(&mut subscription).await, []);
    assert_eq!(peer.request().await, 1);
    peer.send(acknowledged(1, &json!({"toolsListChanged": true, "resourceSubscriptions": ["a://1"]}))).await;
    subscription.acknowledged().await.unwrap();
    subscription
}

#[test]
fn a_subscription_tells_what_was_agreed_then_changes_then_its_end_and_nothing_more() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let spec = ListenSpec::new().tools().prompts().resource("a://1").resource("a://2");
        let mut subscription = client.listen(spec);
        settle().await;
        assert_eq!(peer.ready_line().await, None, "it opens when it is polled");
        assert_eq!(ready(&mut subscription).await, []);
        let request = peer.line().await.unwrap();
        assert_eq!(request["method"], "subscriptions/listen");
        assert_eq!(
            request["params"]["notifications"],
            json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["a://1", "a://2"]})
        );
        let filter = json!({"toolsListChanged": true, "promptsListChanged": false, "resourcesListChanged": true,
            "resourceSubscriptions": ["a://2", "z://"]});
        peer.send(acknowledged(1, &filter) + &tools(1) + &updated(1, "a://2")).await;
        let items = ready(&mut subscription).await;
        let Some(Some(ListenEvent::Acknowledged(Agreed { granted, declined, .. }))) = items.first() else {
            panic!("{items:?}")
        };
        assert_eq!(*granted, [Changed::Tools, Changed::Resource("a://2".into())]);
        assert_eq!(*declined, [Changed::Prompts, Changed::Resource("a://1".into())]);
        assert_eq!(items[1..], [changed(Changed::Tools), changed(Changed::Resource("a://2".into()))]);
        peer.send(tools(1) + &result(1, &json!({"resultType": "complete"})) + &tools(1)).await;
        let end = Some(ListenEvent::Ended(ListenEnd::Graceful));
        assert_eq!(ready(&mut subscription).await, [changed(Changed::Tools), end, None]);
        assert_eq!(client.open_calls(), 0);
    });
}

#[test]
fn edge_57_a_graceful_end_a_cancel_a_loss_and_a_refusal_are_told_apart() {
    let lab = Lab::new();
    for how in ["graceful", "cancel", "close", "lost", "refused", "failed", "silence"] {
        let (client, mut peer) = start(&lab);
        lab.run(async {
            if how == "refused" || how == "silence" {
                let mut subscription = client.listen(everything());
                assert_eq!(ready(&mut subscription).await, []);
                peer.request().await;
                if how == "refused" {
                    peer.send(error(1, -32601, &json!(null))).await;
                }
                let end = subscription.acknowledged().await.unwrap_err();
                match end {
                    ListenEnd::Refused(CallError::Peer(peer)) if how == "refused" => {
                        assert_eq!(peer.code, -32601);
                    }
                    ListenEnd::Refused(CallError::TimedOut(Timeout::Total)) if how == "silence" => {
                        assert_eq!(lab.clock().elapsed(), 60 * SECOND);
                        let farewell = peer.line().await.unwrap();
                        assert_eq!(farewell["method"], "notifications/cancelled");
                    }
                    other => panic!("{how}: {other:?}"),
                }
                return;
            }
            let mut subscription = open(&client, &mut peer).await;
            match how {
                "graceful" => peer.send(result(1, &json!({}))).await,
                "cancel" => subscription.cancel("enough"),
                "close" => client.close(),
                "failed" => peer.send(error(1, -32603, &json!(null))).await,
                _ => {}
            }
            if how == "cancel" {
                let farewell = peer.line().await.unwrap();
                assert_eq!(farewell["params"], json!({"requestId": 1, "reason": "enough"}));
            }
            if how == "lost" {
                drop(peer);
            }
            let Some(ListenEvent::Ended(end)) = subscription.next().await else { panic!("{how}") };
            let expected = match how {
                "graceful" => "GRACEFUL",
                "cancel" | "close" => "CANCELLED",
                "lost" => "LOST",
                _ => "PEER_ERROR",
            };
            assert_eq!(end.code(), expected, "{how}");
            assert_eq!(subscription.next().await, None);
        });
    }
}

#[test]
fn dropping_a_subscription_cancels_it_and_one_never_polled_was_never_there() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        drop(client.listen(everything()));
        let subscription = open(&client, &mut peer).await;
        drop(subscription);
        let farewell = peer.line().await.unwrap();
        assert_eq!(
            (&farewell["method"], &farewell["params"]),
            (&json!("notifications/cancelled"), &json!({"requestId": 1}))
        );
        assert_eq!(client.open_calls(), 0);
        peer.send(tools(1) + &acknowledged(1, &json!({}))).await;
        settle().await;
        assert_eq!(peer.ready_line().await, None);
        let mut cancelled = client.listen(everything());
        cancelled.cancel("before it was there");
        assert_eq!(cancelled.next().await, None);
    });
}

#[test]
fn edge_56_ten_thousand_changes_that_nobody_looks_at_are_one_of_each() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let mut subscription = open(&client, &mut peer).await;
        for _ in 0..100 {
            peer.send((tools(1) + &updated(1, "a://1")).repeat(100)).await;
            settle().await;
        }
        let both = [changed(Changed::Tools), changed(Changed::Resource("a://1".into()))];
        assert_eq!(ready(&mut subscription).await, both);
        peer.send(updated(1, "a://1") + &tools(1) + &updated(1, "a://1")).await;
        let both = [changed(Changed::Resource("a://1".into())), changed(Changed::Tools)];
        assert_eq!(ready(&mut subscription).await, both, "in the order they came, and again once looked at");
    });
}

#[test]
fn each_subscription_hears_its_own() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let (mut one, mut two) = (client.listen(everything()), client.listen(ListenSpec::new().tools()));
        assert_eq!((ready(&mut one).await, ready(&mut two).await), (vec![], vec![]));
        assert_eq!((peer.request().await, peer.request().await), (1, 2));
        let filter = json!({"toolsListChanged": true});
        peer.send(acknowledged(2, &filter) + &tools(2) + &acknowledged(1, &filter)).await;
        two.acknowledged().await.unwrap();
        let agreed = one.acknowledged().await.unwrap();
        assert_eq!(agreed.declined, [Changed::Resource("a://1".into())]);
        assert_eq!((ready(&mut one).await, ready(&mut two).await), (vec![], vec![changed(Changed::Tools)]));
        // What it did not ask for, or is not named in, is nobody's.
        peer.send(updated(2, "a://1") + &tools(3) + &notification("tools/list_changed", &json!({}))).await;
        assert_eq!((ready(&mut one).await, ready(&mut two).await), (vec![], vec![]));
        peer.send(result(2, &json!({}))).await;
        assert_eq!(two.next().await, Some(ListenEvent::Ended(ListenEnd::Graceful)));
        peer.send(tools(1)).await;
        assert_eq!(ready(&mut one).await, [changed(Changed::Tools)], "it lives on");
    });
}

#[test]
fn an_acknowledgement_that_is_none_ends_the_subscription_and_tells_the_server() {
    let lab = Lab::new();
    for filter in [json!([]), json!({"toolsListChanged": "yes"}), json!({"resourceSubscriptions": "a://1"})] {
        let (client, mut peer) = start(&lab);
        lab.run(async {
            let mut subscription = client.listen(everything());
            assert_eq!(ready(&mut subscription).await, []);
            peer.request().await;
            peer.send(acknowledged(1, &filter)).await;
            let end = subscription.acknowledged().await.unwrap_err();
            assert_eq!(end.code(), "DECODE", "{filter}");
            assert_eq!(peer.line().await.unwrap()["method"], "notifications/cancelled");
        });
    }
}

#[test]
fn what_was_agreed_can_be_asked_for_again_and_takes_no_change_away() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.run(async {
        let mut subscription = open(&client, &mut peer).await;
        peer.send(tools(1)).await;
        settle().await;
        let agreed = subscription.acknowledged().await.unwrap();
        assert_eq!(agreed.granted, [Changed::Tools, Changed::Resource("a://1".into())]);
        assert_eq!(ready(&mut subscription).await, [changed(Changed::Tools)]);
    });
}

#[test]
fn a_change_wakes_whoever_waits() {
    let lab = Lab::new();
    let (client, mut peer, _) = start_with(&lab, 4096);
    lab.run(async {
        let mut subscription = open(&client, &mut peer).await;
        let mut waiting = pin!(subscription.next());
        assert!(poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_pending())).await);
        peer.send(tools(1)).await;
        assert_eq!(waiting.await, changed(Changed::Tools));
    });
}

#[test]
fn on_a_client_that_is_closed_nothing_opens() {
    let lab = Lab::new();
    let (client, _peer) = start(&lab);
    client.close();
    let end = lab.run(async { client.listen(everything()).acknowledged().await }).unwrap_err();
    assert_eq!(end, ListenEnd::Refused(CallError::Closed));
}

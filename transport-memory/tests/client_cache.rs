//! Results that need not be asked for again (server/utilities/caching). Every rule of the page, by name.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::Poll;
use std::time::Duration;

use sansio_mcp::model::LoggingLevel;
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{Cache, CacheLimits, CallSpec, Change, Client, ListenEvent, ListenSpec};
use serde_json::{Value, json};
use support::{ask, builder, notification, result, settle, start_setup};

const SECOND: Duration = Duration::from_secs(1);

/// What the server puts into results beside its content.
type Hints = Value;

/// A client with this cache, and a server that counts: each result holds the number of requests so far.
fn start(lab: &Lab, cache: &Cache, hints: Hints) -> (Client, Arc<AtomicI64>) {
    let setup = builder().cache(cache.clone()).on_roots(async |_| Ok(Vec::new())).build().unwrap();
    let (client, mut peer) = start_setup(lab, setup);
    let served = Arc::new(AtomicI64::new(0));
    let count = Arc::clone(&served);
    lab.spawn(async move {
        while let Some(request) = peer.line().await {
            let Some(id) = request["id"].as_i64() else { continue };
            if request["method"] == "subscriptions/listen" {
                let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
                let filter = &request["params"]["notifications"];
                peer.send(notification(
                    "subscriptions/acknowledged",
                    &json!({"_meta": meta, "notifications": filter}),
                ))
                .await;
                continue;
            }
            let n = count.fetch_add(1, Ordering::Relaxed) + 1;
            let mut answer = hints.clone();
            answer["n"] = json!(n);
            answer["resultType"] = json!("complete");
            if request["params"]["uri"] == "a://asks" && request["params"].get("inputResponses").is_none() {
                peer.send(ask(id, &json!({"k": {"method": "roots/list"}}), None)).await;
                continue;
            }
            peer.send(result(id, &answer)).await;
        }
    });
    (client, served)
}

fn minute() -> Hints {
    json!({"ttlMs": 60_000, "cacheScope": "private"})
}

fn read(uri: &str) -> CallSpec {
    CallSpec::read_resource(uri)
}

/// The number in the result.
fn get(lab: &Lab, client: &Client, spec: CallSpec) -> i64 {
    lab.run(client.call(spec)).unwrap().result::<Value>().unwrap()["n"].as_i64().unwrap()
}

#[test]
fn results_of_the_six_methods_are_kept_and_of_no_others() {
    let lab = Lab::new();
    let (client, _) = start(&lab, &Cache::default(), minute());
    let cacheable = [
        CallSpec::discover(),
        CallSpec::list_tools(None),
        CallSpec::list_prompts(None),
        CallSpec::list_resources(None),
        CallSpec::list_resource_templates(None),
        read("a://1"),
    ];
    for (n, spec) in (1..).zip(cacheable) {
        assert_eq!((get(&lab, &client, spec.clone()), get(&lab, &client, spec)), (n, n));
    }
    for spec in [
        CallSpec::tool("t", &json!({})).unwrap(),
        CallSpec::prompt("p", &json!({})).unwrap(),
        CallSpec::new("x/list", &json!({})).unwrap(),
    ] {
        let first = get(&lab, &client, spec.clone());
        assert_eq!(get(&lab, &client, spec), first + 1);
    }
}

#[test]
fn without_a_cache_nothing_is_kept() {
    let lab = Lab::new();
    let (client, mut peer) = start_setup(&lab, builder().build().unwrap());
    lab.spawn(async move {
        for id in 1..=2 {
            peer.request().await;
            peer.send(result(id, &json!({"n": id, "ttlMs": 60_000}))).await;
        }
        peer.line().await
    });
    assert_eq!((get(&lab, &client, read("a://1")), get(&lab, &client, read("a://1"))), (1, 2));
}

#[test]
fn a_result_is_fresh_while_now_is_before_its_receipt_and_its_ttl() {
    let lab = Lab::new();
    let cache = Cache::default();
    let (client, _) = start(&lab, &cache, json!({"ttlMs": 1000}));
    lab.advance(5 * SECOND);
    assert_eq!(get(&lab, &client, read("a://1")), 1);
    lab.advance(Duration::from_millis(999));
    assert_eq!(get(&lab, &client, read("a://1")), 1);
    lab.advance(Duration::from_millis(1));
    assert_eq!(get(&lab, &client, read("a://1")), 2);
    assert_eq!(cache.entries(), 1, "the stale one is gone");
}

#[test]
fn zero_absent_negative_and_malformed_ttls_are_not_kept_and_large_ones_are_bounded() {
    let lab = Lab::new();
    for ttl in [json!(0), json!(null), json!(-1), json!(-1e300), json!("60000"), json!([]), json!(0.5)] {
        let (client, _) = start(&lab, &Cache::default(), json!({ "ttlMs": ttl }));
        let both = (get(&lab, &client, read("a://1")), get(&lab, &client, read("a://1")));
        assert_eq!(both, (1, 2), "{ttl}");
    }
    let (client, _) = start(&lab, &Cache::default(), json!({}));
    assert_eq!((get(&lab, &client, read("a://1")), get(&lab, &client, read("a://1"))), (1, 2));
    for ttl in [json!(u64::MAX), json!(1e300)] {
        let limits = CacheLimits::default().with_longest(60 * SECOND);
        let (client, _) = start(&lab, &Cache::new(limits), json!({ "ttlMs": ttl }));
        assert_eq!((get(&lab, &client, read("a://1")), get(&lab, &client, read("a://1"))), (1, 1));
        lab.advance(60 * SECOND);
        assert_eq!(get(&lab, &client, read("a://1")), 2, "{ttl}");
    }
}

#[test]
fn other_params_are_another_result_and_a_call_with_metadata_is_none() {
    let lab = Lab::new();
    let (client, _) = start(&lab, &Cache::default(), minute());
    let pages = [None, Some(""), Some("x")].map(CallSpec::list_tools);
    let numbers: Vec<i64> =
        pages.iter().cycle().take(6).map(|page| get(&lab, &client, page.clone())).collect();
    assert_eq!(numbers, [1, 2, 3, 1, 2, 3]);
    assert_eq!((get(&lab, &client, read("a://1")), get(&lab, &client, read("a://2"))), (4, 5));
    let with_meta = || read("a://1").meta(&json!({"tenant": 7})).unwrap();
    assert_eq!((get(&lab, &client, with_meta()), get(&lab, &client, with_meta())), (6, 7));
    assert_eq!(get(&lab, &client, read("a://1").log_level(LoggingLevel::Info)), 8);
    assert_eq!(get(&lab, &client, read("a://1")), 4, "and disturbs nothing");
    let fresh = lab.run(client.call(read("a://1")).fresh()).unwrap().result::<Value>().unwrap();
    assert_eq!((&fresh["n"], get(&lab, &client, read("a://1"))), (&json!(9), 9), "asked anew, and kept");
}

#[test]
fn answers_of_calls_with_input_are_never_kept() {
    let lab = Lab::new();
    let cache = Cache::default();
    let (client, served) = start(&lab, &cache, minute());
    for n in [2, 4] {
        assert_eq!(get(&lab, &client, read("a://asks")), n);
    }
    assert_eq!((served.load(Ordering::Relaxed), cache.entries()), (4, 0));
}

#[test]
fn errors_are_not_kept() {
    let lab = Lab::new();
    let cache = Cache::default();
    let (client, mut peer) = start_setup(&lab, builder().cache(cache.clone()).build().unwrap());
    lab.spawn(async move {
        for id in 1..=2 {
            peer.request().await;
            peer.send(support::error(id, -32603, &json!({"ttlMs": 1000}))).await;
        }
        peer.request().await;
        peer.send(result(3, &json!({"resultType": "odd", "ttlMs": 1000}))).await;
        peer.line().await
    });
    for code in ["PEER_ERROR", "PEER_ERROR", "BAD_PEER"] {
        assert_eq!(lab.run(client.call(read("a://1"))).unwrap_err().code(), code);
    }
    assert_eq!(cache.entries(), 0);
}

#[test]
fn public_results_are_shared_and_private_ones_never() {
    let lab = Lab::new();
    for (scope, shared) in [
        (json!("public"), true),
        (json!("private"), false),
        (json!(null), false),
        (json!("everybody"), false),
    ] {
        let cache = Cache::default();
        let hints = json!({"ttlMs": 60_000, "cacheScope": scope});
        let (one, first) = start(&lab, &cache, hints.clone());
        let (two, second) = start(&lab, &cache, hints);
        assert_eq!((get(&lab, &one, read("a://1")), get(&lab, &one, read("a://1"))), (1, 1));
        assert_eq!(get(&lab, &two, read("a://1")), 1);
        let asked = (first.load(Ordering::Relaxed), second.load(Ordering::Relaxed));
        assert_eq!(asked, (1, i64::from(!shared)), "{scope}");
        // With the client goes what was its own.
        drop(one);
        lab.run_until_idle();
        assert_eq!(cache.entries(), 1, "{scope}");
        drop(two);
        lab.run_until_idle();
        assert_eq!(cache.entries(), usize::from(shared), "{scope}");
        assert_eq!(cache.bytes() > 0, shared);
    }
}

#[test]
fn a_client_that_speaks_for_somebody_else_forgets_what_was_private() {
    let lab = Lab::new();
    let cache = Cache::default();
    let (client, _) = start(&lab, &cache, minute());
    assert_eq!(get(&lab, &client, read("a://1")), 1);
    lab.run(async {
        // Begun for the one, answered for the other.
        let mut fetching = client.call(read("a://2"));
        assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut fetching).poll(cx).is_pending())).await);
        client.forget_private_results();
        fetching.await.unwrap();
    });
    assert_eq!(cache.entries(), 0);
    assert_eq!((get(&lab, &client, read("a://1")), get(&lab, &client, read("a://1"))), (3, 3));
}

/// A server that the test writes by hand, with a subscription to everything that is id 1.
async fn subscribed(client: &Client, peer: &mut support::Peer) -> sansio_mcp_sdk::client::Subscription {
    let mut subscription = client.listen(ListenSpec::new().tools().prompts().resources().resource("a://1"));
    let acknowledged = poll_fn(|cx| {
        use futures_core::Stream;
        Poll::Ready(Pin::new(&mut subscription).poll_next(cx).is_pending())
    });
    assert!(acknowledged.await);
    peer.request().await;
    let meta = json!({"io.modelcontextprotocol/subscriptionId": 1});
    let filter = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["a://1"]});
    peer.send(notification("subscriptions/acknowledged", &json!({"_meta": meta, "notifications": filter})))
        .await;
    subscription.acknowledged().await.unwrap();
    subscription
}

fn told(method: &str) -> String {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": 1});
    notification(method, &json!({"_meta": meta, "uri": "a://1"}))
}

#[test]
fn a_notification_makes_stale_what_it_is_about_and_nothing_else() {
    let lab = Lab::new();
    let all = [
        CallSpec::discover(),
        CallSpec::list_tools(None),
        CallSpec::list_tools(Some("2")),
        CallSpec::list_prompts(None),
        CallSpec::list_resources(None),
        CallSpec::list_resource_templates(None),
        read("a://1"),
        read("a://12"),
        read("a://1/part"),
    ];
    for (method, stale) in [
        ("tools/list_changed", &[1, 2][..]),
        ("prompts/list_changed", &[3]),
        ("resources/list_changed", &[4, 5]),
        ("resources/updated", &[6, 8]),
    ] {
        let cache = Cache::default();
        let (client, mut peer) = start_setup(&lab, builder().cache(cache).build().unwrap());
        lab.run(async {
            let _subscription = subscribed(&client, &mut peer).await;
            let fetch = async |peer: &mut support::Peer, spec: &CallSpec| {
                let mut call = client.call(spec.clone());
                if let Poll::Ready(kept) = poll_fn(|cx| Poll::Ready(Pin::new(&mut call).poll(cx))).await {
                    kept.unwrap();
                    return false;
                }
                let id = peer.request().await;
                peer.send(result(id, &minute())).await;
                call.await.unwrap();
                true
            };
            for spec in &all {
                assert!(fetch(&mut peer, spec).await);
                assert!(!fetch(&mut peer, spec).await);
            }
            // Nobody looks at the subscription, and it works all the same.
            peer.send(told(method)).await;
            settle().await;
            for (n, spec) in all.iter().enumerate() {
                assert_eq!(fetch(&mut peer, spec).await, stale.contains(&n), "{method}, {n}");
            }
        });
    }
}

#[test]
fn an_invalidation_during_a_fetch_discards_that_fetch_and_one_before_or_about_something_else_does_not() {
    let lab = Lab::new();
    for (during, kept) in [(true, false), (false, true)] {
        let cache = Cache::default();
        let (client, mut peer) = start_setup(&lab, builder().cache(cache.clone()).build().unwrap());
        lab.run(async {
            let mut subscription = subscribed(&client, &mut peer).await;
            if !during {
                peer.send(told("tools/list_changed")).await;
                assert!(matches!(subscription.next().await, Some(ListenEvent::Changed(_))));
            }
            let mut call = client.call(CallSpec::list_tools(None));
            assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut call).poll(cx).is_pending())).await);
            let id = peer.request().await;
            let change = told(if during { "tools/list_changed" } else { "prompts/list_changed" });
            peer.send(change + &result(id, &minute())).await;
            call.await.unwrap();
        });
        assert_eq!(cache.entries(), usize::from(kept), "{during}");
    }
}

#[test]
fn a_change_heard_by_one_client_makes_stale_what_all_share() {
    let lab = Lab::new();
    let cache = Cache::default();
    let public = json!({"ttlMs": 60_000, "cacheScope": "public"});
    let (one, _) = start(&lab, &cache, public);
    assert_eq!(get(&lab, &one, CallSpec::list_tools(None)), 1);
    let (two, mut peer) = start_setup(&lab, builder().cache(cache.clone()).build().unwrap());
    lab.run(async {
        let _subscription = subscribed(&two, &mut peer).await;
        peer.send(told("tools/list_changed")).await;
        settle().await;
    });
    assert_eq!(get(&lab, &one, CallSpec::list_tools(None)), 2);
    cache.invalidate(Change::Tools);
    assert_eq!(get(&lab, &one, CallSpec::list_tools(None)), 3);
    cache.clear();
    assert_eq!((cache.entries(), cache.bytes()), (0, 0));
}

#[test]
fn entries_and_bytes_are_bounded_and_the_least_recently_used_goes_first() {
    let lab = Lab::new();
    let cache = Cache::new(CacheLimits::default().with_entries(2));
    let (client, _) = start(&lab, &cache, minute());
    let numbers =
        ["a://1", "a://2", "a://1", "a://3", "a://1", "a://2"].map(|uri| get(&lab, &client, read(uri)));
    assert_eq!(numbers, [1, 2, 1, 3, 1, 4]);
    assert_eq!(cache.entries(), 2);

    let big = json!({"ttlMs": 60_000, "text": "x".repeat(10_000)});
    let cache = Cache::new(CacheLimits::default().with_bytes(25_000));
    let (client, _) = start(&lab, &cache, big.clone());
    for n in 0..100 {
        get(&lab, &client, read(&n.to_string()));
        assert!(cache.bytes() <= 25_000);
    }
    assert_eq!(cache.entries(), 2);
    let (client, _) = start(&lab, &Cache::new(CacheLimits::default().with_bytes(5_000)), big);
    assert_eq!((get(&lab, &client, read("a")), get(&lab, &client, read("a"))), (1, 2), "too long to be kept");
}

#[test]
fn a_call_given_up_keeps_nothing_and_a_closed_client_serves_nothing() {
    let lab = Lab::new();
    let cache = Cache::default();
    let (client, mut peer) = start_setup(&lab, builder().cache(cache.clone()).build().unwrap());
    lab.run(async {
        let mut call = client.call(read("a://1"));
        assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut call).poll(cx).is_pending())).await);
        let id = peer.request().await;
        drop(call);
        peer.send(result(id, &minute())).await;
        settle().await;
        assert_eq!(cache.entries(), 0);
        let mut call = client.call(read("a://1"));
        assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut call).poll(cx).is_pending())).await);
        assert_eq!(peer.line().await.unwrap()["method"], "notifications/cancelled");
        let id = peer.request().await;
        peer.send(result(id, &minute())).await;
        call.await.unwrap();
        assert_eq!(cache.entries(), 1);
    });
    client.close();
    assert_eq!(lab.run(client.call(read("a://1"))).unwrap_err().code(), "CLOSED");
}

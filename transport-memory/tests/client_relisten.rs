//! A subscription that outlives its connections.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::cell::RefCell;
use std::future::ready;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{
    Changed, Client, ListenEnd, ListenSpec, Relisten, RelistenEvent, RelistenLimits,
};
use serde_json::{Value, json};
use support::{Peer, error, notification, result, start};

const SECOND: Duration = Duration::from_secs(1);

fn told(id: &Value, method: &str) -> String {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
    notification(method, &json!({"_meta": meta, "notifications": {"toolsListChanged": true}}))
}

/// Acknowledges, tells of one change, and does with the connection as it likes.
async fn acknowledge(peer: &mut Peer) -> i64 {
    let id = peer.line().await.unwrap()["id"].clone();
    peer.send(told(&id, "subscriptions/acknowledged") + &told(&id, "tools/list_changed")).await;
    id.as_i64().unwrap()
}

/// Connections as they are made; the test's server takes them.
#[derive(Clone, Default)]
struct Connections(Arc<Mutex<Vec<Client>>>);

impl Connections {
    fn relisten(&self, lab: &Lab, limits: RelistenLimits) -> Relisten {
        let clients = self.0.clone();
        Relisten::new(ListenSpec::new().tools(), Arc::new(lab.clock()), limits, move || {
            ready(clients.lock().unwrap().pop().ok_or("no more connections"))
        })
    }
}

fn kinds(events: &[RelistenEvent]) -> Vec<&'static str> {
    let kind = |event: &RelistenEvent| match event {
        RelistenEvent::Opened(_) => "opened",
        RelistenEvent::Changed(Changed::Tools) => "changed",
        RelistenEvent::Interrupted(end) => match end {
            ListenEnd::Lost(_) => "lost",
            ListenEnd::Graceful => "graceful",
            _ => "interrupted",
        },
        RelistenEvent::Ended(_) => "ended",
        other => panic!("{other:?}"),
    };
    events.iter().map(kind).collect()
}

async fn all(mut relisten: Relisten) -> Vec<RelistenEvent> {
    let mut events = Vec::new();
    while let Some(event) = relisten.next().await {
        events.push(event);
    }
    events
}

#[test]
fn it_is_opened_again_on_another_connection_after_a_loss_and_after_a_graceful_end() {
    let lab = Lab::new();
    let connections = Connections::default();
    let peers: Vec<Peer> = (0..3)
        .map(|_| {
            let (client, peer) = start(&lab);
            connections.0.lock().unwrap().insert(0, client);
            peer
        })
        .collect();
    for (n, mut peer) in peers.into_iter().enumerate() {
        lab.spawn(async move {
            let id = acknowledge(&mut peer).await;
            match n {
                0 => drop(peer),
                1 => {
                    peer.send(result(id, &json!({}))).await;
                    peer.line().await;
                }
                _ => {
                    peer.send(error(id, -32603, &json!(null))).await;
                    peer.line().await;
                }
            }
        });
    }
    let events = lab.run(all(connections.relisten(&lab, RelistenLimits::default())));
    assert_eq!(
        kinds(&events),
        ["opened", "changed", "lost", "opened", "changed", "graceful", "opened", "changed", "ended"]
    );
    let RelistenEvent::Ended(ListenEnd::Refused(refused)) = events.last().unwrap() else {
        panic!("{events:?}")
    };
    assert_eq!(refused.code(), "PEER_ERROR", "an error is final");
    assert_eq!(lab.clock().elapsed(), Duration::from_millis(100 + 200), "with pauses in between");
}

#[test]
fn it_goes_on_with_the_same_connection_where_that_is_still_there() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    lab.spawn(async move {
        for _ in 0..3 {
            let id = acknowledge(&mut peer).await;
            peer.send(result(id, &json!({}))).await;
        }
        let id = peer.request().await;
        peer.send(error(id, 1001, &json!({"code": "SERVER_BUSY", "retryAfterMs": 5000}))).await;
        acknowledge(&mut peer).await;
        peer.line().await
    });
    let same = client.clone();
    let relisten = Relisten::new(
        ListenSpec::new().tools(),
        Arc::new(lab.clock()),
        RelistenLimits::default(),
        move || ready(Ok::<_, String>(same.clone())),
    );
    let events = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&events);
    lab.spawn(async move {
        let mut relisten = relisten;
        while let Some(event) = relisten.next().await {
            log.borrow_mut().push(event);
        }
    });
    lab.advance(Duration::from_millis(100 + 200 + 400 + 4999));
    assert_eq!(kinds(&events.borrow()).last(), Some(&"interrupted"));
    lab.advance(Duration::from_millis(1));
    assert_eq!(kinds(&events.borrow())[9..], ["interrupted", "opened", "changed"], "when the server said");
    client.close();
    lab.run_until_idle();
    assert_eq!(events.borrow().last(), Some(&RelistenEvent::Ended(ListenEnd::Cancelled)));
}

#[test]
fn attempts_that_come_to_nothing_are_bounded_and_further_and_further_apart() {
    let lab = Lab::new();
    let events =
        lab.run(all(Connections::default().relisten(&lab, RelistenLimits::default().with_attempts(3))));
    assert_eq!(kinds(&events), ["lost", "lost", "lost", "ended"]);
    let lost = RelistenEvent::Ended(ListenEnd::Lost("no more connections".into()));
    assert_eq!(events.last(), Some(&lost));
    assert_eq!(lab.clock().elapsed(), Duration::from_millis(100 + 200 + 400));
}

#[test]
fn a_server_that_acknowledges_and_ends_at_once_is_not_asked_for_ever_and_one_that_lasts_is() {
    for (lasts, rounds) in [(Duration::ZERO, 4), (30 * SECOND, 40)] {
        let lab = Lab::new();
        let (client, mut peer) = start(&lab);
        let time = lab.clone();
        let served = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&served);
        lab.spawn(async move {
            while count.load(Ordering::Relaxed) < 40 {
                let Some(request) = peer.line().await else { return };
                let id = &request["id"];
                peer.send(told(id, "subscriptions/acknowledged")).await;
                count.fetch_add(1, Ordering::Relaxed);
                time.sleep(lasts).await;
                peer.send(result(id.as_i64().unwrap(), &json!({}))).await;
            }
            peer.line().await;
        });
        let limits = RelistenLimits::default().with_attempts(3);
        let relisten = Relisten::new(ListenSpec::new().tools(), Arc::new(lab.clock()), limits, move || {
            ready(Ok::<_, String>(client.clone()))
        });
        lab.spawn(all(relisten));
        lab.advance(3600 * SECOND);
        assert_eq!(served.load(Ordering::Relaxed), rounds);
    }
}

#[test]
fn dropping_it_cancels_what_is_open() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    let connections = Connections::default();
    connections.0.lock().unwrap().push(client);
    let mut relisten = connections.relisten(&lab, RelistenLimits::default());
    let server = lab.spawn(async move {
        acknowledge(&mut peer).await;
        peer.line().await.unwrap()
    });
    assert!(matches!(lab.run(relisten.next()), Some(RelistenEvent::Opened(_))));
    drop(relisten);
    assert_eq!(lab.run(server)["method"], "notifications/cancelled");
}

//! Subscriptions over HTTP: a stream that lasts, opened again when it is lost.
#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use sansio_mcp_sdk::client::{ListenEnd, ListenEvent, ListenSpec, RelistenEvent, RelistenLimits};
use serde_json::json;
use support::{Post, begin, settle, world};

type Finish = fn(&Post);

fn acknowledge(post: &Post) {
    post.stream();
    post.event(&json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
        "_meta": {"io.modelcontextprotocol/subscriptionId": post.id()}, "notifications": {"toolsListChanged": true}
    }}));
}

fn changed(post: &Post) {
    post.event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {
        "_meta": {"io.modelcontextprotocol/subscriptionId": post.id()}
    }}));
}

#[test]
fn three_ends() {
    let world = world();
    world.lab.run(async {
        let ends: [(Finish, ListenEnd); 2] = [
            (|post| post.event_result(&json!({})), ListenEnd::Graceful),
            (Post::end, ListenEnd::Lost("the stream ended before the answer".into())),
        ];
        for (finish, wanted) in ends {
            let mut listen = world.client.listen(ListenSpec::new().tools());
            let mut agreed = Box::pin(listen.acknowledged());
            begin(&mut agreed).await;
            let post = world.fake.next().await;
            assert_eq!(
                (post.header("mcp-method"), post.header("mcp-name")),
                (Some("subscriptions/listen"), None)
            );
            acknowledge(&post);
            agreed.await.unwrap();
            changed(&post);
            assert!(matches!(listen.next().await, Some(ListenEvent::Changed(_))));
            finish(&post);
            assert_eq!(listen.next().await, Some(ListenEvent::Ended(wanted)));
        }
        let mut listen = world.client.listen(ListenSpec::new().tools());
        let mut agreed = Box::pin(listen.acknowledged());
        begin(&mut agreed).await;
        let post = world.fake.next().await;
        acknowledge(&post);
        agreed.await.unwrap();
        listen.cancel("enough");
        assert_eq!(listen.next().await, Some(ListenEvent::Ended(ListenEnd::Cancelled)));
        post.gone().await;
    });
}

#[test]
fn it_is_opened_again_on_the_same_client() {
    let world = world();
    world.lab.run(async {
        let limits =
            RelistenLimits::default().with_pauses(Duration::from_millis(100), Duration::from_secs(30));
        let mut relisten = world.client.relisten(ListenSpec::new().tools(), limits);
        let mut event = Box::pin(relisten.next());
        begin(&mut event).await;
        let post = world.fake.next().await;
        acknowledge(&post);
        assert!(matches!(event.await, Some(RelistenEvent::Opened(_))));
        post.cut("reset");
        assert!(matches!(relisten.next().await, Some(RelistenEvent::Interrupted(ListenEnd::Lost(_)))));
        // The pause, then a server that is starting.
        let mut event = Box::pin(relisten.next());
        begin(&mut event).await;
        world.lab.sleep(Duration::from_millis(100)).await;
        begin(&mut event).await;
        world.fake.next().await.head(502, &[]);
        let Some(RelistenEvent::Interrupted(end)) = event.await else { panic!() };
        assert_eq!(end.code(), "HTTP_STATUS");
        let mut event = Box::pin(relisten.next());
        begin(&mut event).await;
        world.lab.sleep(Duration::from_millis(200)).await;
        begin(&mut event).await;
        let post = world.fake.next().await;
        acknowledge(&post);
        assert!(matches!(event.await, Some(RelistenEvent::Opened(_))));
        settle().await;
        // Closing the client is the end of it.
        world.client.close();
        let Some(RelistenEvent::Ended(end)) = relisten.next().await else { panic!() };
        assert_eq!(end, ListenEnd::Cancelled);
        assert!(relisten.next().await.is_none());
        post.gone().await;
        // And of one that was pausing.
        let mut late = world.client.relisten(ListenSpec::new().tools(), limits);
        let Some(RelistenEvent::Ended(end)) = late.next().await else { panic!() };
        assert_eq!(end.code(), "CLOSED");
    });
}

#[test]
fn what_will_not_go_better_is_final() {
    let world = world();
    world.lab.run(async {
        for (status, code) in [(401, "UNAUTHORIZED"), (404, "HTTP_STATUS"), (307, "REDIRECTED")] {
            let mut relisten = world.client.relisten(ListenSpec::new().tools(), RelistenLimits::default());
            let mut event = Box::pin(relisten.next());
            begin(&mut event).await;
            world.fake.next().await.head(status, &[]);
            let Some(RelistenEvent::Ended(end)) = event.await else { panic!("{status}") };
            assert_eq!(end.code(), code);
        }
    });
}

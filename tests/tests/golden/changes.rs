//! basic/patterns/subscriptions: a request whose answer is its end.

use std::time::Duration;

use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::client::{Changed, ListenEnd, ListenEvent, ListenSpec};
use sansio_mcp_sdk::server::{Builder, Change, Context, Exit, NoArguments, ResourceSpec};
use serde_json::json;

use crate::flows;
use crate::stage::{Stage, client, server};

flows! {
    subscription: [
        "> subscriptions/listen" "< notifications/subscriptions/acknowledged"
        "> tools/call" "< notifications/resources/updated" "< result"
        "> subscriptions/listen" "< notifications/subscriptions/acknowledged"
        "> notifications/cancelled" "< notifications/tools/list_changed"
    ];
    subscription_ends: [
        "> subscriptions/listen" "< notifications/subscriptions/acknowledged" "< notifications/tools/list_changed"
        "< result"
    ];
}

fn piers() -> Builder<Local> {
    server()
        .resource(ResourceSpec::new("pier://1", "pier one"), async |_: Context<(), Local>| Ok("open"))
        .tool("close_pier", async |_: NoArguments, cx: Context<(), Local>| {
            cx.publish(Change::Resource("pier://1")).map_err(Exit::failure)?;
            Ok("closed")
        })
        .list_changes()
        .resource_updates()
}

/// Two subscriptions on one channel, each told of what it asked for under its own id; one of them is cancelled.
async fn subscription(stage: Stage) {
    let (client, engine) = stage.connect_both(piers(), client());
    let mut both = client.listen(ListenSpec::new().tools().resource("pier://1"));
    assert_eq!(both.acknowledged().await.unwrap().declined, []);
    client.call_tool("close_pier", &json!({})).await.unwrap();
    assert_eq!(both.next().await, Some(ListenEvent::Changed(Changed::Resource("pier://1".into()))));
    // Prompts there are none: this one is told of nothing but tools.
    let mut lists = client.listen(ListenSpec::new().tools().prompts());
    let agreed = lists.acknowledged().await.unwrap();
    assert_eq!((agreed.granted, agreed.declined), (vec![Changed::Tools], vec![Changed::Prompts]));
    drop(both);
    stage.lab().sleep(Duration::from_secs(1)).await;
    engine.publish(Change::Tools).unwrap();
    assert_eq!(lists.next().await, Some(ListenEvent::Changed(Changed::Tools)));
    stage.keep(lists);
}

/// The server shuts down: it answers what listens.
async fn subscription_ends(stage: Stage) {
    let (client, engine) = stage.connect_both(piers(), client());
    let mut lists = client.listen(ListenSpec::new().tools());
    lists.acknowledged().await.unwrap();
    engine.publish(Change::Tools).unwrap();
    assert_eq!(lists.next().await, Some(ListenEvent::Changed(Changed::Tools)));
    stage.lab().sleep(Duration::from_hours(2)).await;
    engine.shutdown();
    assert_eq!(lists.next().await, Some(ListenEvent::Ended(ListenEnd::Graceful)));
}

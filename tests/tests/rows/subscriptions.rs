// Subscriptions through the engine: exactly those that asked are told, and their three ends.

use sansio_mcp_sdk::client::{Changed, Client, ListenEnd, ListenEvent, ListenSpec, Subscription};

use sansio_mcp_sdk::server::{Builder, Change, Context, Exit, Misuse, NoArguments, ResourceSpec, Server};

use sansio_mcp_tests::{Bench, rows};
use serde_json::json;

rows! {
    e5_changes_reach_exactly_the_subscriptions_that_asked: live, sockets;
    e5_equal_changes_that_nobody_has_read_are_one: live;
    e5_what_is_not_offered_is_declined_and_cannot_be_published: live;
    edge_57_shutdown_cancel_and_loss_are_three_ends: open_live;
    subscriptions_take_no_slot_and_are_counted: open_live;
    a_layer_may_grant_less_or_refuse: live;
}

/// A shop whose tools change what can be subscribed to.
fn shop() -> Builder<M> {
    Server::<M>::builder("shop", "1")
        .resource(ResourceSpec::new("price://1", "one"), async |_: Context<(), M>| Ok("1"))
        .tool("restock", async |_: NoArguments, cx: Context<(), M>| {
            cx.publish(Change::Resource("price://1")).map_err(Exit::failure)?;
            cx.publish(Change::Tools).map_err(Exit::failure)?;
            Ok("done")
        })
        .tool("reprice", async |_: NoArguments, cx: Context<(), M>| {
            // Whoever looks may publish too: nothing is locked meanwhile.
            let matches = |uri: &str| {
                cx.publish(Change::Resource("price://nobody")).is_ok() && uri.starts_with("price://")
            };
            cx.publish_resources(&matches).map_err(Exit::failure)?;
            Ok("done")
        })
        .list_changes()
        .resource_updates()
}

async fn listen(client: &Client, spec: ListenSpec) -> Subscription {
    let mut subscription = client.listen(spec);
    let agreed = subscription.acknowledged().await.unwrap();
    assert_eq!(agreed.declined, []);
    subscription
}

async fn call(client: &Client, tool: &str) {
    let result = client.call_tool(tool, &json!({})).await.unwrap();
    assert_eq!(result.first_text(), Some("done"));
}

fn resource(uri: &str) -> ListenEvent {
    ListenEvent::Changed(Changed::Resource(uri.into()))
}

async fn e5_changes_reach_exactly_the_subscriptions_that_asked(b: Bench) {
    let rig = b.serve(shop().build().unwrap());
    let client = rig.client();
    let mut tools = listen(&client, ListenSpec::new().tools()).await;
    let mut one = listen(&client, ListenSpec::new().resource("price://1")).await;
    let mut two = listen(&client, ListenSpec::new().resource("price://2")).await;
    call(&client, "restock").await;
    assert_eq!(tools.next().await, Some(ListenEvent::Changed(Changed::Tools)));
    assert_eq!(one.next().await, Some(resource("price://1")));
    call(&client, "reprice").await;
    // What is next of each shows that nothing else came before it.
    assert_eq!(one.next().await, Some(resource("price://1")));
    assert_eq!(two.next().await, Some(resource("price://2")));
    call(&client, "restock").await;
    assert_eq!(tools.next().await, Some(ListenEvent::Changed(Changed::Tools)));
}

async fn e5_equal_changes_that_nobody_has_read_are_one(b: Bench) {
    let rig = b.serve(shop().build().unwrap());
    let client = rig.client();
    let mut one = listen(&client, ListenSpec::new().resource("price://1")).await;
    for _ in 0..100 {
        call(&client, "restock").await;
    }
    b.settle().await;
    assert_eq!(one.next().await, Some(resource("price://1")));
    one.cancel("enough");
    assert_eq!(one.next().await, Some(ListenEvent::Ended(ListenEnd::Cancelled)));
    assert_eq!(one.next().await, None);
}

async fn e5_what_is_not_offered_is_declined_and_cannot_be_published(b: Bench) {
    let server = Server::<M>::builder("t", "1")
        .resource(ResourceSpec::new("price://1", "one"), async |_: Context<(), M>| Ok("1"))
        .tool("t", async |_: NoArguments, cx: Context<(), M>| {
            assert_eq!(cx.publish(Change::Tools), Err(Misuse::NotOffered));
            cx.publish(Change::Resource("price://1")).map_err(Exit::failure)?;
            Ok("done")
        })
        .resource_updates();
    let rig = b.serve(server.build().unwrap());
    let client = rig.client();
    let mut subscription = client.listen(ListenSpec::new().tools().resource("price://1"));
    let agreed = subscription.acknowledged().await.unwrap();
    assert_eq!(agreed.granted, [Changed::Resource("price://1".into())]);
    assert_eq!(agreed.declined, [Changed::Tools]);
    call(&client, "t").await;
    assert_eq!(subscription.next().await, Some(resource("price://1")));
    let why = Server::<M>::builder("t", "1").list_changes().build().err().map(|error| error.field);
    assert_eq!(why, Some("list_changes"));
    let why = Server::<M>::builder("t", "1").resource_updates().build().err().map(|error| error.field);
    assert_eq!(why, Some("resource_updates"));
}

async fn edge_57_shutdown_cancel_and_loss_are_three_ends(b: Bench) {
    let rig = b.serve(shop().build().unwrap());
    let (client, task) = rig.client_and_task();
    let mut lost = listen(&client, ListenSpec::new().tools()).await;
    task.abort();
    b.settle().await;
    assert_eq!(rig.facts().unwrap().subscriptions, 0, "the server forgot it");
    if b.is_shared() {
        assert!(matches!(lost.next().await, Some(ListenEvent::Ended(ListenEnd::Lost(_)))));
    }
    let client = rig.client();
    let mut cancelled = listen(&client, ListenSpec::new().tools()).await;
    cancelled.cancel("enough");
    assert_eq!(cancelled.next().await, Some(ListenEvent::Ended(ListenEnd::Cancelled)));
    b.settle().await;
    assert_eq!(rig.facts().unwrap().subscriptions, 0);
    let mut graceful = listen(&client, ListenSpec::new().tools()).await;
    rig.engine().unwrap().shutdown();
    assert_eq!(graceful.next().await, Some(ListenEvent::Ended(ListenEnd::Graceful)));
}

async fn subscriptions_take_no_slot_and_are_counted(b: Bench) {
    let rig = b.serve(shop().slots(1).queue(0).build().unwrap());
    let client = rig.client();
    let mut open = Vec::new();
    for _ in 0..50 {
        open.push(listen(&client, ListenSpec::new().tools()).await);
    }
    assert_eq!(rig.facts().unwrap().subscriptions, 50);
    call(&client, "restock").await;
    for subscription in &mut open {
        assert_eq!(subscription.next().await, Some(ListenEvent::Changed(Changed::Tools)));
    }
    drop(open);
    b.settle().await;
    assert_eq!(rig.facts().unwrap().subscriptions, 0);
}

async fn a_layer_may_grant_less_or_refuse(b: Bench) {
    use sansio_mcp_sdk::server::{Answer, Next, Reply};
    let server = shop().layer(async |_: Context<(), M>, next: Next<M>| match next.run().await {
        Reply::Answer(Answer::Subscribed(filter)) if filter.tools_list_changed == Some(true) => {
            Reply::error(-32602, "tools are secret")
        }
        Reply::Answer(Answer::Subscribed(mut filter)) => {
            filter.resource_subscriptions.iter_mut().for_each(|uris| uris.retain(|uri| uri != "price://1"));
            Reply::Answer(Answer::Subscribed(filter))
        }
        reply => reply,
    });
    let rig = b.serve(server.build().unwrap());
    let client = rig.client();
    let mut refused = client.listen(ListenSpec::new().tools());
    assert_eq!(refused.acknowledged().await.map_err(|end| end.code()), Err("PEER_ERROR"));
    let mut less = client.listen(ListenSpec::new().resource("price://1").resource("price://2"));
    let agreed = less.acknowledged().await.unwrap();
    assert_eq!(agreed.granted, [Changed::Resource("price://2".into())]);
    call(&client, "reprice").await;
    assert_eq!(less.next().await, Some(resource("price://2")));
}

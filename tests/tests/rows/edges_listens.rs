// Edge cases 55 to 57 as they are on the wire. What the sdk's client makes of them: `subscriptions`.

use sansio_mcp_sdk::server::{Builder, Change, Context, Exit, NoArguments, ResourceSpec, Server};
use sansio_mcp_tests::{Bench, Gate, request, rows, tool};
use serde_json::{Value, json};

rows! {
    edge_55_the_acknowledgement_is_first_and_nothing_follows_that_was_not_asked_for: live;
    edge_56_a_subscriber_that_reads_nothing_costs_one_notification_a_topic: open_live;
    edge_56_a_subscriber_too_far_behind_is_ended_alone_and_its_place_is_free: live;
    edge_57_the_end_of_input_answers_what_listens: [memory stdio];
    edge_57_a_cancelled_subscription_is_silent_for_ever: live;
}

/// Tells of what it has and of what nobody asks for.
fn shop() -> Builder<M> {
    Server::<M>::builder("shop", "1")
        .resource(ResourceSpec::new("price://1", "one"), async |_: Context<(), M>| Ok("1"))
        .tool("restock", async |_: NoArguments, cx: Context<(), M>| {
            for change in [Change::Resource("price://2"), Change::Tools, Change::Resource("price://1")] {
                cx.publish(change).map_err(Exit::failure)?;
            }
            Ok("done")
        })
        .tool("everything", async |_: NoArguments, cx: Context<(), M>| {
            cx.publish_resources(&|_| true).map_err(Exit::failure)?;
            Ok("done")
        })
        .list_changes()
        .resource_updates()
}

fn listen(id: u32, filter: &Value) -> Value {
    request(id, "subscriptions/listen", json!({ "notifications": filter }), &json!({}))
}

/// What concerns the subscription of this id, in short; everything names it.
fn of(lines: &[Value], id: u32) -> Vec<String> {
    let named = |line: &&Value| {
        let meta =
            if line.get("method").is_some() { &line["params"]["_meta"] } else { &line["result"]["_meta"] };
        meta["io.modelcontextprotocol/subscriptionId"] == id
    };
    let short = |line: &Value| match (&line["method"], &line["params"]["uri"]) {
        (Value::String(method), Value::String(uri)) => format!("{method} {uri}"),
        (Value::String(method), _) => method.clone(),
        _ => {
            assert_eq!((&line["id"], &line["result"]["resultType"]), (&json!(id), &json!("complete")));
            "end".to_owned()
        }
    };
    lines.iter().filter(named).map(short).collect()
}

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const TOOLS: &str = "notifications/tools/list_changed";
const PRICE: &str = "notifications/resources/updated price://1";

async fn edge_55_the_acknowledgement_is_first_and_nothing_follows_that_was_not_asked_for(b: Bench) {
    let gate = Gate::new();
    let held = gate.clone();
    let server = shop().layer(move |cx, next| {
        let held = held.clone();
        let listens = cx.request().method().name() == "subscriptions/listen";
        async move {
            if listens {
                held.passed().await;
            }
            next.run().await
        }
    });
    let mut wire = b.serve(server.build().unwrap()).wire();
    wire.send(&listen(1, &json!({"resourceSubscriptions": ["price://1"]}))).await;
    wire.send(&tool(2, "restock", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!((lines.len(), of(&lines, 1).len()), (1, 0), "it is not acknowledged yet: {lines:?}");
    gate.open();
    assert_eq!(of(&wire.drain().await, 1), [ACKNOWLEDGED], "what was before is not told");
    wire.send(&tool(3, "restock", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 2, "the answer, and one change: {lines:?}");
    assert_eq!(of(&lines, 1), [PRICE]);
}

async fn edge_56_a_subscriber_that_reads_nothing_costs_one_notification_a_topic(mut b: Bench) {
    b.capacity = 16;
    let rig = b.serve(shop().build().unwrap());
    let mut wire = rig.wire();
    wire.send(&listen(1, &json!({"toolsListChanged": true, "resourceSubscriptions": ["price://1"]}))).await;
    b.settle().await;
    let engine = rig.engine().unwrap();
    for _ in 0..10_000 {
        engine.publish(Change::Tools).unwrap();
        engine.publish(Change::Resource("price://1")).unwrap();
    }
    assert_eq!(of(&wire.drain().await, 1), [ACKNOWLEDGED, TOOLS, PRICE]);
    engine.publish(Change::Tools).unwrap();
    assert_eq!(of(&wire.drain().await, 1), [TOOLS], "what was read may come again");
}

async fn edge_56_a_subscriber_too_far_behind_is_ended_alone_and_its_place_is_free(b: Bench) {
    let mut limits = sansio_mcp::limits::ServerLimits::default();
    limits.subscriptions = 2;
    let rig = b.serve(shop().limits(limits).build().unwrap());
    let mut wire = rig.wire();
    let uris: Vec<String> = (0..1025).map(|n| format!("r://{n}")).collect();
    wire.send(&listen(1, &json!({ "resourceSubscriptions": uris }))).await;
    wire.send(&listen(2, &json!({"toolsListChanged": true}))).await;
    let lines = wire.drain().await;
    assert_eq!((of(&lines, 1), of(&lines, 2)), (vec![ACKNOWLEDGED.into()], vec![ACKNOWLEDGED.into()]));
    wire.send(&tool(3, "everything", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!((of(&lines, 1), of(&lines, 2).len()), (vec!["end".into()], 0));
    // There is room for another, and the one that kept up goes on.
    wire.send(&listen(4, &json!({"toolsListChanged": true}))).await;
    assert_eq!(of(&wire.drain().await, 4), [ACKNOWLEDGED]);
    wire.send(&tool(5, "restock", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!(
        (of(&lines, 1).len(), of(&lines, 2), of(&lines, 4)),
        (0, vec![TOOLS.into()], vec![TOOLS.into()])
    );
    assert!(rig.facts().is_none_or(|facts| facts.subscriptions == 2));
}

async fn edge_57_the_end_of_input_answers_what_listens(b: Bench) {
    let mut wire = b.serve(shop().build().unwrap()).wire();
    wire.send(&listen(1, &json!({"toolsListChanged": true}))).await;
    assert_eq!(of(&wire.drain().await, 1), [ACKNOWLEDGED]);
    wire.end_input();
    assert_eq!(of(&wire.drain().await, 1), ["end"]);
    assert!(wire.has_ended(), "nobody is left who could say that it has heard enough");
}

async fn edge_57_a_cancelled_subscription_is_silent_for_ever(b: Bench) {
    let rig = b.serve(shop().build().unwrap());
    let mut wire = rig.wire();
    for id in [1, 2] {
        wire.send(&listen(id, &json!({"toolsListChanged": true}))).await;
    }
    assert_eq!(wire.drain().await.len(), 2);
    wire.cancel(1).await;
    b.settle().await;
    wire.send(&tool(3, "restock", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!((of(&lines, 1).len(), of(&lines, 2)), (0, vec![TOOLS.into()]), "{lines:?}");
    assert!(rig.facts().is_none_or(|facts| facts.subscriptions == 1));
}

//! Subscriptions by the ten thousand, and readers that never read: limits hold, and everybody else goes on.
#![allow(missing_docs)]

use std::task::{Context as Polling, Poll, Waker};

use sansio_mcp::limits::ServerLimits;
use sansio_mcp_sdk::lines::Port;
use sansio_mcp_sdk::server::{Builder, Catalog, Change, Context, NoArguments, ResourceSpec, Server};
use sansio_mcp_sdk::{Connection, Exchange, Framing, Shared};
use sansio_mcp_tests::{Bench, Rig, request, rows, tool};
use serde_json::{Value, json};

rows! {
    edge_56_ten_thousand_listens_on_ten_channels_all_hear_and_one_more_is_refused: [memory];
    edge_56_ten_thousand_listens_on_streams_of_their_own_all_hear: [memory];
    edge_56_who_never_reads_costs_bounded_memory_and_nobody_else_anything: [memory];
    no_subscription_is_granted_where_none_are_allowed: live;
}

fn shop() -> Builder<Shared> {
    Server::shared("shop", "1")
        .resource(ResourceSpec::new("price://1", "one"), async |_: Context| Ok("1"))
        .tool("order", async |_: NoArguments, _: Context| Ok("ordered"))
        .list_changes()
        .resource_updates()
}

fn listen(id: usize, asked: &Value) -> Vec<u8> {
    request(id, "subscriptions/listen", json!({"notifications": asked}), &json!({})).to_string().into_bytes()
}

/// All lines that wait to be sent, and how many bytes they are.
fn taken(channel: &Connection) -> (Vec<Value>, usize) {
    let mut out = Vec::new();
    let mut cx = Polling::from_waker(Waker::noop());
    while channel.poll_fill(&mut cx, &mut out, 1 << 20).is_ready() {}
    let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    (lines.map(|line| serde_json::from_slice(line).unwrap()).collect(), out.len())
}

fn methods<'a>(lines: &'a [Value], method: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["method"] == method).collect()
}

fn code(lines: &[Value], id: usize) -> Option<i64> {
    lines.iter().find(|line| line["id"] == id)?["error"]["code"].as_i64()
}

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const TOOLS: &str = "notifications/tools/list_changed";

async fn edge_56_ten_thousand_listens_on_ten_channels_all_hear_and_one_more_is_refused(b: Bench) {
    const CHANNELS: usize = 10;
    const EACH: usize = 1000;
    let catalog = Catalog::new();
    let mut limits = ServerLimits::default();
    limits.subscriptions = EACH;
    let server = shop().catalog(&catalog).limits(limits).subscriptions(CHANNELS * EACH);
    let rig = b.serve(server.build().unwrap());
    let engine = rig.engine().unwrap();
    let channels: Vec<Connection> = (0..CHANNELS).map(|_| engine.connect()).collect();
    let tools = json!({"toolsListChanged": true});
    for channel in &channels {
        (0..EACH).for_each(|id| channel.handle_message(&listen(id, &tools)));
    }
    b.settle().await;
    for channel in &channels {
        assert_eq!(methods(&taken(channel).0, ACKNOWLEDGED).len(), EACH);
    }
    assert_eq!(rig.facts().unwrap().subscriptions, CHANNELS * EACH);
    // One over the channel's limit, and one over the engine's.
    let late = engine.connect();
    for channel in [&channels[0], &late] {
        channel.handle_message(&listen(EACH, &tools));
        b.settle().await;
        assert_eq!(code(&taken(channel).0, EACH), Some(1001));
    }
    assert_eq!(rig.facts().unwrap().subscriptions, CHANNELS * EACH);
    // One change, and each of them hears of it once.
    catalog.update(|shop| shop.remove_tool("order")).unwrap();
    for channel in &channels {
        let (lines, _) = taken(channel);
        assert_eq!((lines.len(), methods(&lines, TOOLS).len()), (EACH, EACH));
        let ids = |line: &Value| {
            line["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].as_u64().unwrap()
        };
        let mut all: Vec<u64> = lines.iter().map(ids).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..EACH as u64));
    }
    // A place that is free again is taken again.
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    channels[0].handle_message(cancel.to_string().as_bytes());
    late.handle_message(&listen(1, &tools));
    b.settle().await;
    assert_eq!(methods(&taken(&late).0, ACKNOWLEDGED).len(), 1);
    drop((channels, late));
    b.settle().await;
    assert_eq!(rig.facts().unwrap().subscriptions, 0);
}

fn filled(exchange: &Exchange) -> Vec<Value> {
    let mut out = Vec::new();
    let mut cx = Polling::from_waker(Waker::noop());
    let taken = exchange.poll_fill(&mut cx, &mut out, 1 << 20, Framing::LINES);
    assert!(matches!(taken, Poll::Ready(filled) if !filled.is_last()), "{taken:?}");
    let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

async fn edge_56_ten_thousand_listens_on_streams_of_their_own_all_hear(b: Bench) {
    const ALL: usize = 10_000;
    let catalog = Catalog::new();
    let rig = b.serve(shop().catalog(&catalog).build().unwrap());
    let streams: Vec<Exchange> = (0..ALL).map(|_| rig.engine().unwrap().exchange()).collect();
    for (id, stream) in streams.iter().enumerate() {
        stream.handle_message(&listen(id, &json!({"toolsListChanged": true})));
    }
    b.settle().await;
    for stream in &streams {
        assert_eq!(methods(&filled(stream), ACKNOWLEDGED).len(), 1);
    }
    assert_eq!(rig.facts().unwrap().subscriptions, ALL);
    catalog.update(|shop| shop.remove_tool("order")).unwrap();
    catalog.update(|shop| shop.tool("other", async |_: NoArguments, _: Context| Ok(""))).unwrap();
    for stream in &streams {
        let lines = filled(stream);
        assert_eq!((lines.len(), methods(&lines, TOOLS).len()), (1, 1));
    }
    drop(streams);
    b.settle().await;
    assert_eq!(rig.facts().unwrap().subscriptions, 0);
}

/// A channel that has one subscription, whose acknowledgement was read.
async fn listening(b: &Bench, rig: &Rig, asked: &Value) -> Connection {
    let channel = rig.engine().unwrap().connect();
    channel.handle_message(&listen(0, asked));
    b.settle().await;
    assert_eq!(methods(&taken(&channel).0, ACKNOWLEDGED).len(), 1);
    channel
}

async fn edge_56_who_never_reads_costs_bounded_memory_and_nobody_else_anything(b: Bench) {
    const LISTENS: usize = 1000;
    let rig = b.serve(shop().build().unwrap());
    let engine = rig.engine().unwrap();
    let reads = listening(&b, &rig, &json!({"resourceSubscriptions": ["price://1"]})).await;
    let uris: Vec<String> = (0..200).map(|n| format!("price://{n}")).collect();
    let never_reads = engine.connect();
    for id in 0..LISTENS {
        never_reads
            .handle_message(&listen(id, &json!({"toolsListChanged": true, "resourceSubscriptions": uris})));
    }
    b.settle().await;
    // Two hundred thousand notifications a turn, if all were kept.
    for _ in 0..20 {
        engine.publish_resources(&|uri| uri.starts_with("price://")).unwrap();
        engine.publish(Change::Tools).unwrap();
        let (lines, _) = taken(&reads);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(lines[0]["params"]["uri"], "price://1");
    }
    // Others are served meanwhile, and subscribe.
    reads.handle_message(tool(1, "order", &json!({})).to_string().as_bytes());
    reads.handle_message(&listen(2, &json!({"toolsListChanged": true})));
    b.settle().await;
    let (lines, _) = taken(&reads);
    assert_eq!(lines.len(), 2, "{lines:?}");
    // Its unsent bytes are bounded, though each of its subscriptions may still be told of its end.
    let (lines, bytes) = taken(&never_reads);
    let limit = ServerLimits::default().outgoing_bytes;
    assert!(bytes < limit + LISTENS * 1024, "{bytes}");
    // Equal notifications are one: nobody hears twice of the same. What was past the limit ended with an answer.
    let mut seen = std::collections::BTreeSet::new();
    for line in lines.iter().filter(|line| line["method"] == "notifications/resources/updated") {
        let of = line["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].to_string();
        assert!(seen.insert((of, line["params"]["uri"].to_string())), "{line}");
    }
    let ended = lines.iter().filter(|line| line["result"].is_object()).count();
    assert!(ended > 0);
    b.settle().await;
    assert_eq!(rig.facts().unwrap().subscriptions, LISTENS - ended + 2, "places of what has ended are free");
}

async fn no_subscription_is_granted_where_none_are_allowed(b: Bench) {
    let rig = b.serve(shop().subscriptions(0).build().unwrap());
    let mut wire = rig.wire();
    let asked = json!({"notifications": {"toolsListChanged": true}});
    wire.send(&request(1, "subscriptions/listen", asked, &json!({}))).await;
    let answer = wire.answer(1).await;
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["code"]),
        (&json!(1001), &json!("SERVER_BUSY"))
    );
    assert!(answer["error"]["data"]["retryAfterMs"].is_u64(), "{answer}");
    wire.send(&tool(2, "order", &json!({}))).await;
    assert_eq!(wire.answer(2).await["result"]["content"][0]["text"], "ordered");
}

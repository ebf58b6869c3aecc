//! Arguments in headers: learned from the list of tools, and again when a server refuses.
#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

mod support;

use sansio_mcp_http::client::Options;
use sansio_mcp_sdk::client::{Cache, Client};
use sansio_mcp_sdk::model::Implementation;
use serde_json::{Value, json};
use support::{Post, World, begin, codes, settle, world, world_with};

fn tool(name: &str, annotation: &Value) -> Value {
    let property = json!({"type": "string", "x-mcp-header": annotation});
    json!({"name": name, "inputSchema": {"type": "object", "properties": {"region": property}}})
}

fn plain(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn list(post: &Post, tools: &[Value]) {
    assert_eq!(post.method(), "tools/list");
    post.result(&json!({"tools": tools, "ttlMs": 1000, "x": [1, {"y": 2}]}));
}

async fn names(world: &World, tools: &[Value]) -> Vec<String> {
    let mut listing = world.client.list_tools_page(None);
    begin(&mut listing).await;
    list(&world.fake.next().await, tools);
    listing.await.unwrap().tools.into_iter().map(|tool| tool.name).collect()
}

#[test]
fn arguments_stand_in_headers_once_the_list_was_read() {
    let world = world();
    world.lab.run(async {
        let mut call = world.client.call_tool("a", &json!({"region": "eu"}));
        begin(&mut call).await;
        assert_eq!(world.fake.next().await.header("mcp-param-region"), None, "nobody knows yet");
        names(&world, &[tool("a", &json!("Region")), plain("b")]).await;
        for (name, region, wanted) in [
            ("a", json!("eu"), Some("eu")),
            ("a", json!(" \u{e4}"), Some("=?base64?IMOk?=")),
            ("a", json!(""), Some("")),
            ("a", json!(null), None),
            ("b", json!("eu"), None),
        ] {
            let mut call = world.client.call_tool(name, &json!({"region": region}));
            begin(&mut call).await;
            let post = world.fake.next().await;
            assert_eq!(post.header("mcp-param-region"), wanted, "{name} {region}");
            assert_eq!(post.header("mcp-name"), Some(name));
        }
        let call = world.client.call_tool("a", &json!({"region": [1]}));
        assert_eq!(codes(call.await), "UNSENDABLE");
        // A newer list says otherwise.
        names(&world, &[plain("a")]).await;
        let mut call = world.client.call_tool("a", &json!({"region": "eu"}));
        begin(&mut call).await;
        assert_eq!(world.fake.next().await.header("mcp-param-region"), None);
    });
}

#[test]
fn tools_with_invalid_annotations_are_left_out_everywhere() {
    let tools = [
        tool("first", &json!("")),
        plain("b"),
        tool("spaced", &json!("a b")),
        tool("good", &json!("Region")),
        tool("number", &json!(1)),
    ];
    let cache = Cache::default();
    let setup = Client::builder(Implementation::new("test", "1")).cache(cache).build().unwrap();
    let world = world_with(setup, Options::new());
    world.lab.run(async {
        assert_eq!(names(&world, &tools).await, ["b", "good"]);
        // As the cache has it, and as it is raw; the rest of the result is as it was.
        let cached = world.client.list_tools().await.unwrap();
        assert_eq!(cached.len(), 2);
        let mut raw = world.client.call(sansio_mcp_sdk::client::CallSpec::list_tools(None)).fresh();
        begin(&mut raw).await;
        let post = world.fake.next().await;
        post.stream();
        post.event_result(&json!({"tools": tools, "x": [1, {"y": 2}]}));
        let raw: Value = raw.await.unwrap().result().unwrap();
        assert_eq!(raw, json!({"tools": [tools[1], tools[3]], "x": [1, {"y": 2}]}));
        // All of them are invalid.
        let only = [tool("first", &json!(""))];
        let mut raw = world.client.call(sansio_mcp_sdk::client::CallSpec::list_tools(Some("c")));
        begin(&mut raw).await;
        list(&world.fake.next().await, &only);
        let raw: Value = raw.await.unwrap().result().unwrap();
        assert_eq!(raw["tools"], json!([]));
    });
}

#[test]
fn a_refusal_for_the_headers_is_corrected_once() {
    let world = world();
    world.lab.run(async {
        let arguments = json!({"region": "eu"});
        let mut calls = [world.client.call_tool("a", &arguments), world.client.call_tool("a", &arguments)];
        begin(&mut calls[0]).await;
        begin(&mut calls[1]).await;
        let (one, two) = (world.fake.next().await, world.fake.next().await);
        one.error(400, -32020);
        two.error(400, -32020);
        // One reading of the list, all pages, serves both.
        let page = world.fake.next().await;
        assert_eq!(page.method(), "tools/list");
        page.result(&json!({"tools": [plain("b")], "nextCursor": "2"}));
        let page = world.fake.next().await;
        assert_eq!(page.message["params"]["cursor"], "2");
        list(&page, &[tool("a", &json!("Region"))]);
        let again = [world.fake.next().await, world.fake.next().await];
        for post in &again {
            assert_eq!((post.method(), post.header("mcp-param-region")), ("tools/call", Some("eu")));
            assert!(post.id() > two.id(), "an id of its own");
            assert_eq!(post.message["params"]["arguments"], arguments);
        }
        again[0].text("done");
        again[1].error(400, -32020);
        let [first, second] = calls;
        assert_eq!(first.await.unwrap().first_text(), Some("done"));
        assert_eq!(codes(second.await), "PEER_ERROR");
        settle().await;
        assert!(world.fake.try_next().is_none());
    });
}

#[test]
fn a_list_that_cannot_be_read_leaves_the_refusal() {
    let world = world();
    world.lab.run(async {
        let mut call = world.client.call_tool("a", &json!({}));
        begin(&mut call).await;
        world.fake.next().await.error(400, -32020);
        world.fake.next().await.head(500, &[]);
        let error = call.await.unwrap_err();
        assert!(error.to_string().contains("-32020"), "{error}");
        // Other methods have nothing to be corrected.
        let mut call = world.client.get_prompt("a", &json!({}));
        begin(&mut call).await;
        world.fake.next().await.error(400, -32020);
        assert_eq!(codes(call.await), "PEER_ERROR");
    });
}

#[test]
fn giving_up_while_the_list_is_read_sends_nothing_more() {
    let world = world();
    world.lab.run(async {
        let mut call = world.client.call_tool("a", &json!({}));
        begin(&mut call).await;
        world.fake.next().await.error(400, -32020);
        let page = world.fake.next().await;
        drop(call);
        list(&page, &[]);
        settle().await;
        assert!(world.fake.try_next().is_none());
        assert_eq!(world.client.open_calls(), 0);
    });
}

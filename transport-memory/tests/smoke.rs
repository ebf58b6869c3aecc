//! Everything wired: a server with each form of handler, and a client, over the memory transport.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::client::ClientConfig;
use sansio_mcp::model::{ClientCapabilities, Implementation};
use sansio_mcp_memory::{Lab, pair};
use sansio_mcp_sdk::client::Client;
use sansio_mcp_sdk::lines::pump;
use sansio_mcp_sdk::server::{Context, Exit, Json, Server, generator};
use sansio_mcp_sdk::{Engine, Local};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    sum: i64,
}

#[test]
fn smoke() {
    let lab = Lab::new();
    let server = Server::<Local>::builder("adder", "1.0")
        .tool("add", async |args: Add, _: Context<(), Local>| Ok(Json(Sum { sum: args.a + args.b })))
        .stream_tool("gen", |args: Add, _| {
            generator(async move |y| {
                y.progress(30.0, "rows").await;
                y.progress(90.0, "totals").await;
                Ok::<_, Exit>(format!("{}", args.a))
            })
        })
        .blocking_tool("block", |args: Add, cx| {
            cx.check_cancelled()?;
            Ok(format!("{}", args.a))
        })
        .build()
        .unwrap();
    let clock = Arc::new(lab.clock());
    let (engine, driver) = Engine::new(server, clock.clone());
    let (ours, theirs) = pair();
    let (r, w) = theirs.split();
    lab.spawn(driver);
    lab.spawn(pump(engine.connect(), r, w, clock.clone(), 1 << 20));
    let config =
        ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default()).build().unwrap();
    let (client, connection) = Client::connect(config, clock.clone());
    let (r, w) = ours.split();
    lab.spawn(pump(connection, r, w, clock, 1 << 20));
    let result = lab.run(async {
        let result = client.call_tool("add", &serde_json::json!({"a": 1, "b": 2})).await.unwrap();
        assert_eq!(result.first_text(), Some("{\"sum\":3}"));
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let s2 = seen.clone();
        let r = client
            .call_tool("gen", &serde_json::json!({"a": 1, "b": 2}))
            .on_progress(move |p| s2.lock().unwrap().push(p.progress))
            .await
            .unwrap();
        assert_eq!(r.first_text(), Some("1"));
        assert_eq!(*seen.lock().unwrap(), [30.0, 90.0]);
        let tools = client.list_tools().await.unwrap();
        println!("{tools:?}");
        let d = client.discover().await.unwrap();
        println!("{d:?}");
        let e = client.call_tool("nope", &serde_json::json!({})).await.unwrap_err();
        println!("{e:?}");
        let e = client.call_tool("add", &serde_json::json!({"a": "x"})).await.unwrap();
        println!("{e:?}");
        engine.facts()
    });
    println!("{result:?}");
    let _ = Duration::ZERO;
}

//! A driver that is dropped while handlers run.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use sansio_mcp::client::ClientConfig;
use sansio_mcp::model::{ClientCapabilities, Implementation};
use sansio_mcp_memory::{Lab, pair};
use sansio_mcp_sdk::client::Client;
use sansio_mcp_sdk::lines::pump;
use sansio_mcp_sdk::server::{Context, NoArguments, Server};
use sansio_mcp_sdk::{Engine, Local};

/// A clean-up may hold the context, which holds the clean-up.
#[test]
fn a_clean_up_that_holds_its_context_is_dropped_with_the_driver() {
    let lab = Lab::new();
    let state = Arc::new(());
    let server = Server::<Local>::builder("drops", "1")
        .state(Arc::clone(&state))
        .tool("wait", async |_: NoArguments, cx: Context<Arc<()>, Local>| {
            let held = cx.clone();
            cx.on_exit(async move { drop(held) });
            std::future::pending::<()>().await;
            Ok("never")
        })
        .build()
        .unwrap();
    let clock = Arc::new(lab.clock());
    let (engine, driver) = Engine::new(server, clock.clone());
    let driver = lab.spawn(driver);
    let (ours, theirs) = pair();
    let (reader, writer) = theirs.split();
    let served = lab.spawn(pump(engine.connect(), reader, writer, clock.clone(), 1 << 20));
    let config =
        ClientConfig::builder(Implementation::new("c", "1"), ClientCapabilities::default()).build().unwrap();
    let (client, connection) = Client::connect(config, clock.clone());
    let (reader, writer) = ours.split();
    lab.spawn(pump(connection, reader, writer, clock, 1 << 20));
    let call = lab.spawn(client.call_tool("wait", &serde_json::json!({})));
    lab.run_until_idle();
    assert_eq!(engine.facts().running, 1);
    driver.abort();
    // The answer that says so is on its way before everything is gone.
    assert_eq!(lab.run(call).unwrap_err().code(), "PEER_ERROR");
    served.abort();
    drop(engine);
    assert_eq!(Arc::strong_count(&state), 1);
}

//! Server and client of this crate, over pipes in memory.

#![allow(dead_code)] // each file of tests uses some of it

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, ready};

use sansio_mcp_conformance::server;
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{Client, ClientSetup};
use sansio_mcp_sdk::{Engine, Framing};
use serde_json::{Value, json};

pub(crate) struct Rig {
    pub(crate) lab: Lab,
    pub(crate) engine: Engine,
    pub(crate) client: Client,
}

/// With the client of the scenarios.
pub(crate) fn rig() -> Rig {
    rig_of(sansio_mcp_conformance::client::setup().unwrap())
}

pub(crate) fn rig_of(setup: impl Into<ClientSetup>) -> Rig {
    let lab = Lab::new();
    let server = server::builder().unwrap().build().unwrap();
    let (engine, driver) = Engine::new(server, Arc::new(lab.clock()));
    lab.spawn(driver);
    let client = lab.connect(&engine, setup);
    Rig { lab, engine, client }
}

impl Rig {
    /// What the server says to one request as the suite would send it, with these capabilities declared.
    pub(crate) fn answer(&self, method: &str, params: Value, capabilities: &Value) -> Value {
        let Value::Object(mut params) = params else { panic!("params are an object") };
        params.insert(
            "_meta".to_owned(),
            json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            }),
        );
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
        let exchange = self.engine.exchange();
        exchange.handle_message(message.as_bytes());
        let mut out = Vec::new();
        self.lab.run(poll_fn(|cx| {
            while !ready!(exchange.poll_fill(cx, &mut out, 1 << 20, Framing::LINES)).is_last() {}
            Poll::Ready(())
        }));
        let last = out.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap();
        let answer: Value = serde_json::from_slice(last).unwrap();
        assert_eq!(answer["id"], 7);
        answer
    }
}

//! A client that launches a server and calls it, on smol alone. The command is the argument; without one it is the
//! counter:
//!
//! ```text
//! cargo build --example on_smol && cargo run --example client
//! ```

use std::env;
use std::error::Error;
use std::process::Command;

use sansio_mcp_sdk::client::{ClientConfig, Progress};
use sansio_mcp_sdk::model::{ClientCapabilities, Implementation};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args_os().skip(1);
    let mut command = match words.next() {
        Some(program) => Command::new(program),
        None => Command::new(env::current_exe()?.with_file_name("on_smol")),
    };
    command.args(words);

    smol::block_on(async {
        let me = Implementation::new("client", "1.0.0");
        let config = ClientConfig::builder(me, ClientCapabilities::default()).build()?;
        let (client, server) = sansio_mcp_stdio::launch(command, config)?;
        let server = smol::spawn(server);

        for tool in client.list_tools().await? {
            println!("tool: {}", tool.name);
        }
        let sum = client.call_tool("add", &json!({ "a": 19, "b": 23 })).await?;
        println!("19 + 23: {}", sum.first_text().unwrap_or_default());
        let counted = client
            .call_tool("count", &json!({ "to": 3, "step_ms": 20 }))
            .on_progress(|report: Progress| println!("progress: {}", report.message.unwrap_or_default()))
            .await?;
        println!("count: {}", counted.first_text().unwrap_or_default());

        drop(client);
        println!("{}", server.await);
        Ok(())
    })
}

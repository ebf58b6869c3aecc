//! A client over HTTP, on smol alone. The URL is the argument; without one it talks to a server of its own:
//!
//! ```text
//! cargo run -p sansio-mcp-http --example client_http -- http://127.0.0.1:3000/mcp
//! ```

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use sansio_mcp_http::client::{self, Era};
use sansio_mcp_http::server::{self, Endpoint};
use sansio_mcp_sdk::client::{Client, Progress};
use sansio_mcp_sdk::model::Implementation;
use sansio_mcp_sdk::server::{Context, NoArguments, Server};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).map_or_else(own_server, Ok)?;
    let setup = Client::builder(Implementation::new("client", "1.0.0")).build()?;
    let (client, driver) = client::connect(&url, setup)?;
    smol::block_on(smol::future::or(
        async {
            driver.await;
            Ok(())
        },
        async {
            if let Era::Legacy(server) = client::detect(&client).await? {
                return Err(format!("a server of an earlier revision: {}", server.answer).into());
            }
            for tool in client.list_tools().await? {
                println!("tool: {}", tool.name);
            }
            let call = client.call_tool("count", &json!({}));
            let counted =
                call.on_progress(|report: Progress| println!("progress: {}", report.progress)).await?;
            println!("count: {}", counted.first_text().unwrap_or_default());
            Ok(())
        },
    ))
}

fn own_server() -> Result<String, Box<dyn Error>> {
    let server = Server::shared("counter", "1.0.0").tool("count", async |_: NoArguments, cx: Context| {
        for percent in [25, 50, 75] {
            cx.progress(f64::from(percent), "counting");
        }
        Ok("done")
    });
    let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let bound = server::smol::bind(Endpoint::new(server.build()?).address(free))?;
    let url = bound.url();
    std::thread::spawn(|| smol::block_on(bound.serve()));
    Ok(url)
}

//! A server on `http://127.0.0.1:3000/mcp`, on smol, until it is stopped:
//!
//! ```text
//! cargo run -p sansio-mcp-http --example hello_http
//! ```

use std::error::Error;

use sansio_mcp_http::server::{Endpoint, smol};
use sansio_mcp_sdk::server::{Context, Server};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greeting {
    name: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::shared("hello", "1")
        .tool("hello", async |greeting: Greeting, _: Context| Ok(format!("hello {}", greeting.name)))
        .build()?;
    let bound = smol::bind(Endpoint::new(server))?;
    println!("{}", bound.url());
    Ok(::smol::block_on(bound.serve())?)
}

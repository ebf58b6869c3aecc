//! The echo server on this library, with a tool that never answers.

use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::server::{Context, Exit, Server};

use super::place::Held;
use crate::harness::Wrong;
use crate::ours_server::Echo;

/// The tools of [`crate::ours_server::server`], and `hold`.
pub fn server() -> Result<Server<Local>, Wrong> {
    crate::ours_server::tools()
        .tool("hold", async |_: Echo, _: Context<(), Local>| {
            let _held = Held::begun();
            std::future::pending::<()>().await;
            Ok::<_, Exit>(String::new())
        })
        .build()
        .map_err(Wrong::when("building the server"))
}

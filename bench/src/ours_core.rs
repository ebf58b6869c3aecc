//! The core of this library alone: `Server`, bytes to bytes.

use std::sync::Arc;

use sansio_mcp::model::{CallToolResult, Implementation, ServerCapabilities, ToolsCapability};
use sansio_mcp::server::{Server, ServerConfig, ServerEvent};
use sansio_mcp::time::{Mono, Now};

use crate::core_sides::CoreSide;
use crate::harness::Wrong;
use crate::ours_server::Echo;

/// One channel, always ready for the next request.
pub struct OursCore {
    server: Server,
    /// Time is a value; here it is a count of messages.
    time: u64,
}

impl OursCore {
    /// A fresh channel.
    pub fn new() -> Result<Self, Wrong> {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(ToolsCapability::default());
        let config = ServerConfig::builder(Implementation::new("bench", "1.0.0"), capabilities)
            .build()
            .map_err(Wrong::when("building the server"))?;
        Ok(Self {
            server: Server::new(Arc::new(config)),
            time: 0,
        })
    }
}

impl CoreSide for OursCore {
    fn name(&self) -> String {
        "sansio-mcp core".into()
    }

    fn answer(&mut self, request: &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
        self.time += 1;
        let now = Now::at(Mono::from_nanos(self.time));
        self.server.handle_message(now, request);
        let event = self.server.poll_event();
        let Some(ServerEvent::Request { serving, request }) = event else {
            return Err(Wrong(format!("told {event:?} in place of a request")));
        };
        if request.name() != Some("echo") {
            return Err(Wrong("unknown tool".into()));
        }
        let arguments: Echo = serde_json::from_str(request.arguments().unwrap_or("{}"))
            .map_err(Wrong::when("reading the arguments"))?;
        let result = CallToolResult::text(arguments.text);
        self.server
            .respond(serving, &result)
            .map_err(Wrong::when("answering"))?
            .map_err(Wrong::when("answering"))?;
        self.server
            .poll_transmit(out)
            .map(|_| ())
            .ok_or_else(|| Wrong("nothing to send".into()))
    }
}

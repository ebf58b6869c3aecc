//! The core alone: a client and a server in one thread, joined by a `Vec`, every line of the wire printed. No executor, no sdk.

use std::{error::Error, sync::Arc};

use sansio_mcp::client::{CallSpec, Client, ClientConfig, StreamId};
use sansio_mcp::id::ServingId;
use sansio_mcp::model::{ClientCapabilities, Implementation, ServerCapabilities, ToolsCapability};
use sansio_mcp::server::{Progress, Server, ServerConfig, ServerEvent, WrittenBody};
use sansio_mcp::time::{Mono, Now};

const NOW: Now = Now::at(Mono::ZERO); // A program would read a clock.

struct Pair {
    client: Client,
    server: Server,
}

impl Pair {
    /// Carries what the client has to say; returns the request that reaches the application, if one does.
    fn up(&mut self) -> Option<ServingId> {
        let (mut line, mut asked) = (Vec::new(), None);
        while self.client.poll_transmit(StreamId::SHARED, &mut line).is_some() {
            println!("client: {}", String::from_utf8_lossy(&line));
            self.server.handle_message(NOW, &line);
            line.clear();
        }
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Request { serving, .. } => asked = Some(serving),
                other => println!("        server: {other:?}"),
            }
        }
        asked
    }

    /// Carries what the server has to say; prints what the client's application learns.
    fn down(&mut self) {
        let mut line = Vec::new();
        while self.server.poll_transmit(&mut line).is_some() {
            println!("server: {}", String::from_utf8_lossy(&line));
            self.client.handle_message(NOW, StreamId::SHARED, &line);
            line.clear();
        }
        while let Some(event) = self.client.poll_event() {
            println!("        client: {event:?}");
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let client = ClientConfig::builder(Implementation::new("by-hand", "1"), ClientCapabilities::default());
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(ToolsCapability::default());
    let server = ServerConfig::builder(Implementation::new("by-hand", "1"), capabilities);
    let client = Client::new(Arc::new(client.build()?));
    let mut pair = Pair { client, server: Server::new(Arc::new(server.build()?)) };
    let arguments = std::collections::BTreeMap::from([("year", 2026)]);

    pair.client.call(NOW, CallSpec::discover())?;
    pair.up();
    pair.down();

    pair.client.call(NOW, CallSpec::tool("report", &arguments)?.progress())?;
    let report = pair.up().ok_or("no request came")?;
    pair.server.progress(report, &Progress::new(50.0).of(100.0).message("half of the rows"))?;
    let members = br#""content":[{"type":"text","text":"42 rows"}]"#;
    pair.server.respond(report, &WrittenBody { members, meta: None })??;
    pair.down();

    let call = pair.client.call(NOW, CallSpec::tool("slow", &arguments)?)?;
    let slow = pair.up().ok_or("no request came")?;
    pair.client.cancel(NOW, call, Some("changed my mind"))?;
    pair.up();
    let late = pair.server.respond(slow, &WrittenBody { members, meta: None });
    println!("        the handler's late answer: {late:?}");
    pair.down();
    Ok(())
}

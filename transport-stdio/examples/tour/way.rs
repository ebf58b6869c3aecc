//! How client and server are connected: by a pipe, or over HTTP.

use std::error::Error;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp_http::client::{Endpoint, Options, connect_on};
use sansio_mcp_http::server::{Config, Service};
use sansio_mcp_memory::{PipeReader, PipeWriter, Task, pair};
use sansio_mcp_sdk::Engine;
use sansio_mcp_sdk::client::{Client, ClientSetup};
use sansio_mcp_sdk::lines::pump;
use sansio_mcp_stdio::LINE_LIMIT;
use serde_json::Value;

use crate::Stage;
use crate::http::{Door, Line, Script, post};
use crate::tap::Tap;
use crate::wire::Wire;

pub(crate) enum Way {
    Pipe,
    /// What would be at the server's socket, called as it is.
    Http {
        service: Service,
        endpoint: Endpoint,
    },
}

impl Way {
    pub(crate) fn http(engine: &Engine) -> Result<Self, Box<dyn Error>> {
        let service = Service::new(engine.clone(), Config::new())?;
        Ok(Self::Http { service, endpoint: "http://127.0.0.1:3000/mcp".parse()? })
    }

    /// What the timeline shows of it.
    pub(crate) fn shows(&self) -> &'static str {
        match self {
            Self::Pipe => "lines on the wire, from the client and to it",
            Self::Http { .. } => "what is asked over HTTP and what comes back",
        }
    }
}

/// Requests by hand.
pub(crate) enum Hand {
    Pipe(Wire<PipeReader, Tap<PipeWriter>>),
    Http(Door<Service>),
}

impl Hand {
    /// Sends a request, and waits for its answer.
    pub(crate) async fn asks(&mut self, request: &str) -> Value {
        match self {
            Self::Pipe(wire) => {
                wire.send(request).await;
                wire.next().await.unwrap_or_default()
            }
            Self::Http(door) => post(door, request).await.unwrap_or_default(),
        }
    }
}

impl Stage {
    /// A client with a connection of its own, of which both directions are shown. Aborting the task cuts it.
    pub(crate) fn connect(&self, setup: impl Into<ClientSetup>) -> (Client, Task<()>) {
        let clock = Arc::new(self.lab.clock());
        if let Way::Http { service, endpoint } = &self.way {
            let line = Line::default();
            let door = Door::new(service.clone(), &self.timeline, &line);
            let (client, driver) = connect_on(door, endpoint.clone(), setup, Options::new(), clock);
            self.lab.spawn(driver);
            return (client, self.lab.spawn(line.held()));
        }
        let (ours, theirs) = pair();
        let (reader, writer) = theirs.split();
        let writer = Tap::new(writer, &self.timeline, "     <--");
        let served = self.lab.spawn(pump(self.engine.connect(), reader, writer, clock.clone(), LINE_LIMIT));
        let (client, connection) = Client::connect(setup, clock.clone());
        let (reader, writer) = ours.split();
        let writer = Tap::new(writer, &self.timeline, "     -->");
        self.lab.spawn(pump(connection, reader, writer, clock, LINE_LIMIT));
        (client, served)
    }

    /// The server's other end without a client.
    pub(crate) fn by_hand(&self) -> Hand {
        if let Way::Http { service, .. } = &self.way {
            return Hand::Http(Door::new(service.clone(), &self.timeline, &Line::default()));
        }
        let (ours, theirs) = pair();
        let (reader, writer) = theirs.split();
        let writer = Tap::new(writer, &self.timeline, "     <--");
        self.lab.spawn(pump(self.engine.connect(), reader, writer, Arc::new(self.lab.clock()), LINE_LIMIT));
        let (reader, writer) = ours.split();
        Hand::Pipe(Wire::new(reader, Tap::new(writer, &self.timeline, "     -->")))
    }

    /// A client of a server that answers every request with this result.
    pub(crate) fn scripted(&self, setup: impl Into<ClientSetup>, result: Value) -> Client {
        let clock = Arc::new(self.lab.clock());
        if let Way::Http { endpoint, .. } = &self.way {
            let door = Door::new(Script::new(result), &self.timeline, &Line::default());
            let (client, driver) = connect_on(door, endpoint.clone(), setup, Options::new(), clock);
            self.lab.spawn(driver);
            return client;
        }
        let (client, connection) = Client::connect(setup, clock.clone());
        let (ours, theirs) = pair();
        let (reader, writer) = ours.split();
        let writer = Tap::new(writer, &self.timeline, "     -->");
        self.lab.spawn(pump(connection, reader, writer, clock, LINE_LIMIT));
        let (reader, writer) = theirs.split();
        let writer = Tap::new(writer, &self.timeline, "     <--");
        self.lab.spawn(answer_all(Wire::new(reader, writer), result));
        client
    }
}

async fn answer_all<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(mut wire: Wire<R, W>, result: Value) {
    while let Some(request) = wire.next().await {
        let answer = answer(&request, &result);
        if !request["id"].is_null() && !wire.send(&answer).await {
            return;
        }
    }
}

/// The answer to a request.
pub(crate) fn answer(request: &Value, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"])
}

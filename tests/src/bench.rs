//! A lab, a target, a server on it.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp::client::{Abandon, ClientConfig, Routing};
use sansio_mcp::model::{ClientCapabilities, Implementation};
use sansio_mcp_http::client::{Options, connect_on as connect_http};
use sansio_mcp_http::server::{Config, Mode as Answers, Service};
use sansio_mcp_memory::{Lab, Task, VirtualClock, drive, duplex, per_request, serve_streams};
use sansio_mcp_sdk::client::{Client, ClientBuilder, ClientSetup};
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::lines::pump;
use sansio_mcp_sdk::server::Server;
use sansio_mcp_sdk::{Engine, Facts, Mode};
use sansio_mcp_stdio::{LINE_LIMIT, connect_on, serve_on};

use crate::http::serve_posts;
use crate::log::Log;
use crate::os_pipe::os_pipe;
use crate::socket::Dial;
use crate::wire::Wire;

pub(crate) type Reader = Pin<Box<dyn AsyncRead>>;
pub(crate) type Writer = Pin<Box<dyn AsyncWrite>>;

/// Bytes that a pipe in memory holds: as many as one of the operating system.
const CAPACITY: usize = 64 * 1024;

/// A transport under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// One channel for all requests, in memory.
    Memory,
    /// A stream for each request, in memory.
    PerRequest,
    /// `sansio_mcp_stdio` on pipes of the operating system.
    Stdio,
    /// `sansio_mcp_http`, client and server, without sockets: JSON unless there is something to say before the answer.
    HttpAuto,
    /// The same, a stream of events for each answer.
    HttpSse,
    /// The same, JSON alone: nothing is said before the answer.
    HttpJson,
    /// As `HttpAuto`, with hyper and sockets of the operating system between client and service.
    HttpSockets,
}

impl Target {
    pub fn memory() -> Self {
        Self::Memory
    }

    pub fn per_request() -> Self {
        Self::PerRequest
    }

    pub fn stdio() -> Self {
        Self::Stdio
    }

    pub fn http_auto() -> Self {
        Self::HttpAuto
    }

    pub fn http_sse() -> Self {
        Self::HttpSse
    }

    pub fn http_json() -> Self {
        Self::HttpJson
    }

    pub fn http_sockets() -> Self {
        Self::HttpSockets
    }

    /// Which form the answers have, over HTTP.
    fn answers(self) -> Option<Answers> {
        match self {
            Self::HttpAuto | Self::HttpSockets => Some(Answers::Auto),
            Self::HttpSse => Some(Answers::SseOnly),
            Self::HttpJson => Some(Answers::JsonOnly),
            Self::Memory | Self::PerRequest | Self::Stdio => None,
        }
    }
}

/// What a row works with.
pub struct Bench {
    pub lab: Lab,
    pub target: Target,
    pub log: Log,
    pub capacity: usize,
}

/// Runs a row on a target.
pub fn run<F: Future<Output = ()>>(target: Target, row: impl FnOnce(Bench) -> F) {
    let lab = Lab::new();
    let (log, _collecting) = Log::collect();
    let bench = Bench { lab: lab.clone(), target, log, capacity: CAPACITY };
    lab.run(row(bench));
}

impl Bench {
    pub fn clock(&self) -> VirtualClock {
        self.lab.clock()
    }

    /// Lets everything happen that can happen now.
    pub async fn settle(&self) {
        self.lab.sleep(Duration::from_nanos(1)).await;
    }

    /// Lets time pass.
    pub async fn pass(&self, time: Duration) {
        self.lab.sleep(time).await;
    }

    /// A future for handlers that takes `time`.
    pub fn nap(
        &self,
        time: Duration,
    ) -> impl Fn() -> sansio_mcp_sdk::clock::Sleep + Clone + Send + Sync + use<> {
        let clock = self.clock();
        move || clock.sleep_until(clock.now().mono + time)
    }

    /// All requests share a channel.
    pub fn is_shared(&self) -> bool {
        matches!(self.target, Target::Memory | Target::Stdio)
    }

    /// HTTP in one of its modes.
    pub fn is_http(&self) -> bool {
        self.target.answers().is_some()
    }

    /// A client of the sdk, what moves its bytes, and a server that is nothing but lines.
    pub fn peer(&self) -> (Client, Task<()>, Wire) {
        let clock: Arc<dyn Clock> = Arc::new(self.clock());
        let config = config(self.target);
        if self.target == Target::Stdio {
            let (reader, theirs) = os_pipe(&self.lab);
            let (ours, writer) = os_pipe(&self.lab);
            let (client, pump) = connect_on(config, reader, writer, clock);
            (client, self.lab.spawn(pump), Wire::channel(&self.lab, Box::pin(ours), Box::pin(theirs)))
        } else {
            let (ours, theirs) = duplex(self.capacity);
            let (reader, writer) = ours.split();
            let (client, pump) = connect_on(config, reader, writer, clock);
            let (reader, writer) = theirs.split();
            (client, self.lab.spawn(pump), Wire::channel(&self.lab, Box::pin(reader), Box::pin(writer)))
        }
    }

    /// Starts a server.
    pub fn serve<M: Mode>(&self, server: Server<M>) -> Rig {
        let clock: Arc<dyn Clock> = Arc::new(self.clock());
        let mut rig = Rig {
            lab: self.lab.clone(),
            target: self.target,
            capacity: self.capacity,
            engine: None,
            service: None,
            pipes: RefCell::default(),
            served: None,
        };
        if self.target == Target::Stdio {
            let (reader, theirs) = os_pipe(&self.lab);
            let (ours, writer) = os_pipe(&self.lab);
            rig.served = Some(self.lab.spawn(serve_on(server, reader, writer, clock)));
            rig.pipes = RefCell::new(Some((Box::pin(ours), Box::pin(theirs))));
        } else {
            let (engine, driver) = Engine::new(server, clock);
            rig.service = self.target.answers().map(|mode| {
                let config = Config::new().mode(mode);
                Service::new(engine.clone(), config).expect("a service")
            });
            rig.engine = Some(engine);
            rig.served = Some(self.lab.spawn(driver));
        }
        rig
    }
}

fn binding(target: Target) -> (Routing, Abandon) {
    match target {
        Target::Memory | Target::Stdio => (Routing::Shared, Abandon::Notify),
        _ => (Routing::PerRequest, Abandon::CloseStream),
    }
}

fn config(target: Target) -> ClientConfig {
    let (routing, abandon) = binding(target);
    ClientConfig::builder(Implementation::new("tester", "1"), ClientCapabilities::default())
        .binding(routing, abandon)
        .build()
        .expect("a client")
}

/// A server that runs.
pub struct Rig {
    lab: Lab,
    target: Target,
    capacity: usize,
    engine: Option<Engine>,
    service: Option<Service>,
    pipes: RefCell<Option<(Reader, Writer)>>,
    served: Option<Task<()>>,
}

impl Rig {
    /// The engine; stdio has one of its own.
    pub fn engine(&self) -> Option<&Engine> {
        self.engine.as_ref()
    }

    pub(crate) fn lab(&self) -> &Lab {
        &self.lab
    }

    /// The service, over HTTP.
    pub fn service(&self) -> Option<&Service> {
        self.service.as_ref()
    }

    /// What the engine is doing, where one can see it.
    pub fn facts(&self) -> Option<Facts> {
        self.engine.as_ref().map(Engine::facts)
    }

    /// Handlers that are running or not over; `otherwise` where one cannot see it.
    pub fn running_or(&self, otherwise: usize) -> usize {
        self.facts().map_or(otherwise, |facts| facts.running)
    }

    /// Gives up the engine handle: once the connections are gone too, the server ends.
    pub fn release(&mut self) {
        self.engine = None;
        self.service = None;
    }

    /// Whether the server has ended.
    pub fn has_ended(&self) -> bool {
        self.served.as_ref().is_some_and(Task::is_done)
    }

    fn channel(&self) -> (Reader, Writer) {
        if self.target == Target::Stdio {
            return self.pipes.borrow_mut().take().expect("stdio has one connection");
        }
        let (ours, theirs) = duplex(self.capacity);
        let (reader, writer) = theirs.split();
        let engine = self.engine.as_ref().expect("memory has an engine");
        let clock = Arc::new(self.lab.clock());
        self.lab.spawn(pump(engine.connect(), reader, writer, clock, LINE_LIMIT));
        let (reader, writer) = ours.split();
        (Box::pin(reader), Box::pin(writer))
    }

    fn opener(&self) -> sansio_mcp_memory::StreamOpener {
        let (opener, acceptor) = per_request(self.capacity);
        let lab = self.lab.clone();
        if let (Some(service), Some(mode)) = (self.service.clone(), self.target.answers()) {
            if self.target == Target::HttpSockets {
                let dial = Dial { lab: lab.clone(), service };
                self.lab.spawn(serve_posts(lab, dial, mode, acceptor));
            } else {
                self.lab.spawn(serve_posts(lab, service, mode, acceptor));
            }
        } else {
            let engine = self.engine.clone().expect("memory has an engine");
            self.lab.spawn(serve_streams(lab, engine, acceptor, LINE_LIMIT));
        }
        opener
    }

    /// A client of the sdk.
    pub fn client(&self) -> Client {
        self.client_and_task().0
    }

    /// A client of the sdk with handlers of its own.
    pub fn client_with(&self, builder: ClientBuilder) -> Client {
        let (routing, abandon) = binding(self.target);
        self.start(builder.binding(routing, abandon).build().expect("a client")).0
    }

    /// A client of the sdk and what moves its bytes: aborting that is a lost connection.
    pub fn client_and_task(&self) -> (Client, Task<()>) {
        self.start(config(self.target).into())
    }

    fn start(&self, setup: ClientSetup) -> (Client, Task<()>) {
        let clock: Arc<dyn Clock> = Arc::new(self.lab.clock());
        match self.target {
            Target::PerRequest => {
                let (client, connection) = Client::connect(setup, Arc::clone(&clock));
                let task = self.lab.spawn(drive(connection, self.opener(), clock, LINE_LIMIT));
                (client, task)
            }
            Target::Memory | Target::Stdio => {
                let (reader, writer) = self.channel();
                let (client, pump) = connect_on(setup, reader, writer, clock);
                (client, self.lab.spawn(pump))
            }
            _ => {
                let service = self.service.clone().expect("HTTP has a service");
                let (endpoint, options) =
                    ("http://127.0.0.1:3000/mcp".parse().expect("a URL"), Options::new());
                if self.target == Target::HttpSockets {
                    let dial = Dial { lab: self.lab.clone(), service };
                    let (client, driver) = connect_http(dial, endpoint, setup, options, clock);
                    return (client, self.lab.spawn(driver));
                }
                let (client, driver) = connect_http(service, endpoint, setup, options, clock);
                (client, self.lab.spawn(driver))
            }
        }
    }

    /// A client that is nothing but lines.
    pub fn wire(&self) -> Wire {
        match self.target {
            Target::Memory | Target::Stdio => {
                let (reader, writer) = self.channel();
                Wire::channel(&self.lab, reader, writer)
            }
            _ => Wire::streams(&self.lab, self.opener()),
        }
    }
}

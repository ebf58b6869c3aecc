//! Clients over HTTP, all of one server in a child process.

use std::rc::Rc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use sansio_mcp_http::client::{connect, tokio};
use sansio_mcp_sdk::client::Client;
use smol::LocalExecutor;

use super::child::Child;
use crate::harness::{Load, Side, Wrong};
use crate::ours_memory::{calls, setup};
use crate::rmcp_memory::{self, ProgressClient};

/// Calls that are in flight.
pub const IN_FLIGHT: usize = 64;

/// The clients; the first is the measure for the others.
pub fn sides() -> Result<Vec<Box<dyn Side>>, Wrong> {
    // Ours on smol answers fastest: none of the clients keeps it busy.
    let server = Rc::new(Child::start("http_ours", &["smol", "auto"])?);
    Ok(vec![
        Box::new(Rmcp::connect(Rc::clone(&server), true)?),
        Box::new(Rmcp::connect(Rc::clone(&server), false)?),
        Box::new(Ours::connect(Rc::clone(&server), None)?),
        Box::new(Ours::connect(server, Some(runtime()?))?),
    ])
}

fn runtime() -> Result<::tokio::runtime::Runtime, Wrong> {
    ::tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Wrong::when("starting the runtime"))
}

/// This library's client.
struct Ours {
    server: Rc<Child>,
    executor: LocalExecutor<'static>,
    client: Client,
    /// Without one it lives on smol.
    runtime: Option<::tokio::runtime::Runtime>,
    busy: Vec<f64>,
}

impl Ours {
    fn connect(server: Rc<Child>, runtime: Option<::tokio::runtime::Runtime>) -> Result<Self, Wrong> {
        let executor = LocalExecutor::new();
        let url = format!("http://127.0.0.1:{}/mcp", server.port());
        let connected = match &runtime {
            None => connect(&url, setup(false)?),
            Some(_) => tokio::connect(&url, setup(false)?),
        };
        let (client, driver) = connected.map_err(Wrong::when("making the client"))?;
        executor.spawn(driver).detach();
        Ok(Self {
            server,
            executor,
            client,
            runtime,
            busy: Vec::new(),
        })
    }
}

impl Side for Ours {
    fn name(&self) -> String {
        let runtime = if self.runtime.is_some() { "tokio" } else { "smol" };
        format!("sansio-mcp on {runtime}")
    }

    fn run(&mut self, load: Load) -> Result<Duration, Wrong> {
        let texts = Rc::from(load.text.pool());
        let before = self.server.nanos()?;
        let all = self
            .executor
            .run(calls(&self.executor, &self.client, "echo", texts, load));
        let took = match &self.runtime {
            None => smol::block_on(all)?,
            Some(runtime) => runtime.block_on(all)?,
        };
        self.busy.push(busy(&self.server, before, took)?);
        Ok(took)
    }

    fn note(&mut self) -> Option<String> {
        note(&self.name(), &mut self.busy)
    }
}

/// rmcp's client on reqwest.
struct Rmcp {
    server: Rc<Child>,
    runtime: ::tokio::runtime::Runtime,
    client: RunningService<RoleClient, ProgressClient>,
    kept: bool,
    busy: Vec<f64>,
}

impl Rmcp {
    /// Connects with a `reqwest` client that keeps connections, or as rmcp does unless told otherwise, which makes a new one for each
    /// request.
    fn connect(server: Rc<Child>, kept: bool) -> Result<Self, Wrong> {
        let runtime = runtime()?;
        let url = format!("http://127.0.0.1:{}/mcp", server.port());
        let client = runtime.block_on(async {
            let config =
                StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(IN_FLIGHT);
            let transport = if kept {
                StreamableHttpClientTransport::with_client(reqwest::Client::new(), config)
            } else {
                StreamableHttpClientTransport::from_config(config)
            };
            let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
            ProgressClient::default()
                .serve_with_lifecycle(transport, ClientLifecycleMode::Discover { preferred_versions })
                .await
                .map_err(Wrong::when("connecting the client"))
        })?;
        Ok(Self {
            server,
            runtime,
            client,
            kept,
            busy: Vec::new(),
        })
    }
}

impl Side for Rmcp {
    fn name(&self) -> String {
        if self.kept {
            "rmcp, reqwest that keeps connections".into()
        } else {
            "rmcp, as by default".into()
        }
    }

    fn run(&mut self, load: Load) -> Result<Duration, Wrong> {
        let texts = load.text.pool().into();
        let before = self.server.nanos()?;
        let took = self
            .runtime
            .block_on(rmcp_memory::calls(&self.client, texts, load))?;
        self.busy.push(busy(&self.server, before, took)?);
        Ok(took)
    }

    fn note(&mut self) -> Option<String> {
        note(&self.name(), &mut self.busy)
    }
}

/// How much of the time the server computed.
fn busy(server: &Child, before: u64, took: Duration) -> Result<f64, Wrong> {
    Ok((server.nanos()? - before) as f64 / took.as_nanos() as f64)
}

fn note(name: &str, busy: &mut Vec<f64>) -> Option<String> {
    busy.sort_by(f64::total_cmp);
    let middle = busy.get(busy.len() / 2).copied()?;
    busy.clear();
    Some(format!(
        "{name}: the server is busy {:.0} % of the time",
        middle * 100.0
    ))
}

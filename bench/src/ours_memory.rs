//! This library's client and server over its own in-memory pipes, on smol's `LocalExecutor`; and the same client with the
//! server in a child process.
//!
//! Time is the real one, as an application's would be.

use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sansio_mcp_sdk::client::{CallEvent, Client, ClientSetup, Question};
use sansio_mcp_sdk::lines::pump;
use sansio_mcp_sdk::model::{CallToolResult, ElicitFormParams, Implementation};
use sansio_mcp_sdk::{Engine, clock::Clock};
use sansio_mcp_stdio::{LINE_LIMIT, SystemClock};
use smol::LocalExecutor;

use crate::harness::{Load, Side, Wrong};
use crate::load::Text;
use crate::memory_sides::ProgressCheck;
use crate::ours_server::{EchoOf, server};
use crate::stdio_load::beside_this_one;

/// The answer to a form without fields.
#[derive(serde::Serialize)]
struct Nothing {}

/// A client, the executor that it lives on, and its server: there too, or in a child process.
pub struct OursMemory {
    asked: bool,
    child: bool,
    executor: LocalExecutor<'static>,
    client: Client,
    texts: Option<(Text, Rc<[String]>)>,
}

impl OursMemory {
    /// Connects the pair.
    pub fn start() -> Result<Self, Wrong> {
        Self::of(false)
    }

    /// Connects a pair whose calls without progress ask a question each: two requests, and the state that goes between
    /// them is sealed, carried by the client, and opened again.
    pub fn asked() -> Result<Self, Wrong> {
        Self::of(true)
    }

    /// Launches the server as a child; whether calls ask a question each.
    pub fn launched(asked: bool) -> Result<Self, Wrong> {
        let executor = LocalExecutor::new();
        let server = Command::new(beside_this_one("stdio_ours")?);
        let launched = sansio_mcp_stdio::launch(server, setup(asked)?);
        let (client, server) = launched.map_err(Wrong::when("launching the server"))?;
        executor.spawn(server).detach();
        Ok(Self {
            asked,
            child: true,
            executor,
            client,
            texts: None,
        })
    }

    fn of(asked: bool) -> Result<Self, Wrong> {
        let executor = LocalExecutor::new();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let (near, far) = sansio_mcp_memory::pair();

        let (engine, driver) = Engine::new(server()?, Arc::clone(&clock));
        let (reader, writer) = far.split();
        let served = pump(engine.connect(), reader, writer, Arc::clone(&clock), LINE_LIMIT);
        executor.spawn(driver).detach();
        executor.spawn(served).detach();

        let (client, connection) = Client::connect(setup(asked)?, Arc::clone(&clock));
        let (reader, writer) = near.split();
        executor
            .spawn(pump(connection, reader, writer, clock, LINE_LIMIT))
            .detach();
        Ok(Self {
            asked,
            child: false,
            executor,
            client,
            texts: None,
        })
    }
}

pub(crate) fn setup(asked: bool) -> Result<ClientSetup, Wrong> {
    let mut setup = Client::builder(Implementation::new("bench", "1.0.0"));
    if asked {
        setup = setup.on_form(async |form: Question<ElicitFormParams>| form.accept(&Nothing {}));
    }
    setup.build().map_err(Wrong::when("building the client"))
}

impl Side for OursMemory {
    fn in_process(&self) -> bool {
        !self.child
    }

    fn name(&self) -> String {
        let asked = if self.asked { ", one question a call" } else { "" };
        format!("sansio-mcp on smol's `LocalExecutor` (2026-07-28){asked}")
    }

    fn run(&mut self, load: Load) -> Result<Duration, Wrong> {
        let texts = match &self.texts {
            Some((text, texts)) if *text == load.text => Rc::clone(texts),
            _ => {
                let texts = Rc::from(load.text.pool());
                self.texts = Some((load.text, Rc::clone(&texts)));
                texts
            }
        };
        let tool = if self.asked { "echo_asked" } else { "echo" };
        let calls = calls(&self.executor, &self.client, tool, texts, load);
        smol::block_on(self.executor.run(calls))
    }
}

/// Makes the calls, as many at once as there are to be in flight: of this tool, or of `echo_progress`.
pub(crate) async fn calls(
    executor: &LocalExecutor<'static>,
    client: &Client,
    tool: &'static str,
    texts: Rc<[String]>,
    load: Load,
) -> Result<Duration, Wrong> {
    let started = Instant::now();
    let slots: Vec<_> = (0..load.in_flight)
        .map(|slot| executor.spawn(call_in_turn(client.clone(), tool, Rc::clone(&texts), load, slot)))
        .collect();
    for slot in slots {
        slot.await?;
    }
    let time = started.elapsed();
    match client.open_calls() {
        0 => Ok(time),
        open => Err(Wrong(format!("{open} calls are still open"))),
    }
}

/// One of the callers: its share of the calls, one after another.
async fn call_in_turn(
    client: Client,
    tool: &str,
    texts: Rc<[String]>,
    load: Load,
    slot: usize,
) -> Result<(), Wrong> {
    for number in (slot..load.calls).step_by(load.in_flight) {
        let text = &texts[number % texts.len()];
        let arguments = EchoOf { text };
        let result = if load.progress == 0 {
            client
                .call_tool(tool, &arguments)
                .await
                .map_err(Wrong::when("calling"))?
        } else {
            call_with_progress(&client, arguments, load.progress).await?
        };
        if result.is_error() || result.first_text() != Some(text) || result.content.len() != 1 {
            return Err(Wrong(format!("call {number} was answered {result:?}")));
        }
    }
    Ok(())
}

async fn call_with_progress(
    client: &Client,
    arguments: EchoOf<'_>,
    wanted: u32,
) -> Result<CallToolResult, Wrong> {
    let mut events = client.call_tool("echo_progress", &arguments).events();
    let mut check = ProgressCheck::default();
    loop {
        match events.next().await {
            Some(CallEvent::Progress(report)) => {
                check.note(report.progress, report.total, report.message.as_deref());
            }
            Some(CallEvent::Result(result)) => {
                check.complete(wanted)?;
                return result.map_err(Wrong::when("calling"));
            }
            None => return Err(Wrong("a call without a result".into())),
        }
    }
}

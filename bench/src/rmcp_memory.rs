//! rmcp's client and server over `tokio::io::duplex`, on one current-thread runtime.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ServerResult,
};
use rmcp::service::{NotificationContext, Peer, PeerRequestOptions, RunningService};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceExt};
use tokio::runtime::Runtime;

use crate::harness::{Load, Side, Wrong};
use crate::load::Text;
use crate::memory_sides::ProgressCheck;
use crate::rmcp_server::EchoServer;

/// Room in each direction: all of 64 calls in flight, so that neither end waits for the other.
const PIPE: usize = 1 << 20;

/// How the client opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// What rmcp does unless told otherwise: `initialize`, which gives 2025-11-25.
    Initialize,
    /// `server/discover` and 2026-07-28, metadata on every request.
    Discover,
}

/// A connected pair and the runtime both live on.
pub struct RmcpMemory {
    lifecycle: Lifecycle,
    runtime: Runtime,
    client: RunningService<RoleClient, ProgressClient>,
    texts: Option<(Text, Arc<[String]>)>,
}

impl RmcpMemory {
    /// Connects the pair.
    pub fn start(lifecycle: Lifecycle) -> Result<Self, Wrong> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .map_err(Wrong::when("starting the runtime"))?;
        let client = runtime.block_on(async {
            let (near, far) = tokio::io::duplex(PIPE);
            // Not awaited: after `server/discover`, `serve` is only done once the first other request has come.
            tokio::spawn(async {
                // A failure closes the pipe, and the client reports that.
                if let Ok(server) = EchoServer.serve(far).await {
                    let _ = server.waiting().await;
                }
            });
            let client = ProgressClient::default();
            let client = match lifecycle {
                Lifecycle::Initialize => client.serve(near).await,
                Lifecycle::Discover => {
                    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
                    client
                        .serve_with_lifecycle(near, ClientLifecycleMode::Discover { preferred_versions })
                        .await
                }
            }
            .map_err(Wrong::when("connecting the client"))?;
            Ok::<_, Wrong>(client)
        })?;
        let wanted = match lifecycle {
            Lifecycle::Initialize => ProtocolVersion::V_2025_11_25,
            Lifecycle::Discover => ProtocolVersion::V_2026_07_28,
        };
        let agreed = client.peer_info().map(|info| info.protocol_version.clone());
        if agreed.as_ref() != Some(&wanted) {
            return Err(Wrong(format!("agreed on {agreed:?}, not {wanted:?}")));
        }
        Ok(Self {
            lifecycle,
            runtime,
            client,
            texts: None,
        })
    }
}

impl Side for RmcpMemory {
    fn name(&self) -> String {
        match self.lifecycle {
            Lifecycle::Initialize => "rmcp, as by default (2025-11-25)".into(),
            Lifecycle::Discover => "rmcp, discover (2026-07-28)".into(),
        }
    }

    fn run(&mut self, load: Load) -> Result<Duration, Wrong> {
        let texts = match &self.texts {
            Some((text, texts)) if *text == load.text => Arc::clone(texts),
            _ => {
                let texts = Arc::from(load.text.pool());
                self.texts = Some((load.text, Arc::clone(&texts)));
                texts
            }
        };
        self.runtime.block_on(calls(&self.client, texts, load))
    }
}

/// Makes the calls, as many at once as there are to be in flight.
pub(crate) async fn calls(
    client: &RunningService<RoleClient, ProgressClient>,
    texts: Arc<[String]>,
    load: Load,
) -> Result<Duration, Wrong> {
    let peer = client.peer();
    let progress = &client.service().progress;
    let started = Instant::now();
    let slots: Vec<_> = (0..load.in_flight)
        .map(|slot| {
            tokio::spawn(call_in_turn(
                peer.clone(),
                Arc::clone(progress),
                Arc::clone(&texts),
                load,
                slot,
            ))
        })
        .collect();
    for slot in slots {
        slot.await.map_err(Wrong::when("a caller's task"))??;
    }
    let took = started.elapsed();
    if !progress.with(|log| log.is_empty()) {
        return Err(Wrong("progress that belongs to no call".into()));
    }
    Ok(took)
}

/// One of the callers: its share of the calls, one after another.
async fn call_in_turn(
    peer: Peer<RoleClient>,
    progress: Arc<ProgressLog>,
    texts: Arc<[String]>,
    load: Load,
    slot: usize,
) -> Result<(), Wrong> {
    for number in (slot..load.calls).step_by(load.in_flight) {
        let text = &texts[number % texts.len()];
        let mut arguments = JsonObject::new();
        arguments.insert("text".into(), text.clone().into());
        let result = if load.progress == 0 {
            let params = CallToolRequestParams::new("echo").with_arguments(arguments);
            peer.call_tool(params).await.map_err(Wrong::when("calling"))?
        } else {
            let params = CallToolRequestParams::new("echo_progress").with_arguments(arguments);
            call_with_progress(&peer, &progress, params, load.progress).await?
        };
        let echoed = match &result.content[..] {
            [content] => content.as_text().map(|content| content.text.as_str()),
            _ => None,
        };
        if result.is_error == Some(true) || echoed != Some(text) {
            return Err(Wrong(format!("call {number} was answered {result:?}")));
        }
    }
    Ok(())
}

/// `Peer::call_tool` keeps the progress token to itself, so this goes one level below it.
async fn call_with_progress(
    peer: &Peer<RoleClient>,
    progress: &ProgressLog,
    params: CallToolRequestParams,
    wanted: u32,
) -> Result<CallToolResult, Wrong> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let handle = peer
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .map_err(Wrong::when("calling"))?;
    let token = handle.progress_token.clone();
    let result = match handle.await_response().await.map_err(Wrong::when("calling"))? {
        ServerResult::CallToolResult(result) => result,
        other => return Err(Wrong(format!("answered {other:?}"))),
    };
    // rmcp hands each notification to a task of its own, so the last may still be under way.
    let mut patience = 1000;
    while patience > 0 && progress.with(|log| log.get(&token).is_none_or(|check| check.seen() < wanted)) {
        tokio::task::yield_now().await;
        patience -= 1;
    }
    progress
        .with(|log| log.remove(&token))
        .unwrap_or_default()
        .complete(wanted)?;
    Ok(result)
}

/// A client whose progress handler only notes what came: cheaper than rmcp's dispatcher with its channel a call.
#[derive(Clone, Default)]
pub(crate) struct ProgressClient {
    progress: Arc<ProgressLog>,
}

impl ClientHandler for ProgressClient {
    fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.progress.with(|log| {
            log.entry(params.progress_token).or_default().note(
                params.progress,
                params.total,
                params.message.as_deref(),
            );
        });
        std::future::ready(())
    }
}

#[derive(Default)]
struct ProgressLog(Mutex<HashMap<ProgressToken, ProgressCheck>>);

impl ProgressLog {
    fn with<T>(&self, look: impl FnOnce(&mut HashMap<ProgressToken, ProgressCheck>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

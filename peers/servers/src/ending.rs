//! How it ends, and clients that cannot answer or speak something else. Each of these servers is launched for one step.

use std::ffi::OsString;
use std::time::Duration;

use sansio_mcp_sdk::client::{CallError, Client, ClientSetup, ListenEnd, ListenEvent, ListenSpec};
use sansio_mcp_sdk::model::Implementation;
use sansio_mcp_stdio::{Ended, Stopped};
use serde_json::json;

use crate::peer::{EXIT_WAIT, Kind, Peer, launch};
use crate::tally::{Failure, Step, Tally, check, same};

const PROTOCOL: &str = "2026-07-28";

pub(crate) async fn steps(tally: &mut Tally, peer: Peer, command: &[OsString]) {
    tally.step("a client without handlers is asked nothing", mute(command)).await;
    tally.step("a revision nobody knows is corrected, or refused", version(command)).await;
    tally.step("a server that crashes in a call", crash(command)).await;
    if peer.kind == Kind::Npm {
        tally.step("a server that leaves ends its subscriptions", leave(command)).await;
    }
    tally.step("a server that clings is terminated", cling(command, false, Stopped::Terminated)).await;
    tally.step("a server that clings and is deaf is killed", cling(command, true, Stopped::Killed)).await;
    tally.step("closed: calls end, and the server exits by itself", close(peer)).await;
}

fn connect(command: &[OsString]) -> Result<(Client, smol::Task<Ended>), Failure> {
    start(command, setup(&[PROTOCOL])?)
}

fn start(command: &[OsString], setup: ClientSetup) -> Result<(Client, smol::Task<Ended>), Failure> {
    Ok(launch(command, setup, EXIT_WAIT).map_err(|error| error.to_string())?)
}

/// A client without handlers.
fn setup(versions: &[&str]) -> Result<ClientSetup, Failure> {
    let builder = Client::builder(Implementation::new("mute", "1")).versions(versions.iter().copied());
    Ok(builder.build().map_err(|error| error.to_string())?)
}

/// The server refuses: nobody is asked, and the session goes on.
async fn mute(command: &[OsString]) -> Step {
    let (client, running) = connect(command)?;
    match client.call_tool("form", &json!({})).await {
        Err(CallError::Peer(error)) => same("code", error.code, -32021)?,
        other => return Err(format!("{other:?}").into()),
    }
    check(
        "it goes on",
        client.call_tool("add", &json!({"a": 1, "b": 2})).await?.structured_content.is_some(),
    )?;
    drop(client);
    same("stopped", running.await.stopped, Stopped::ByItself)
}

/// A client that would rather speak a revision that does not exist yet finds one in common; one that speaks no other
/// does not.
async fn version(command: &[OsString]) -> Step {
    let (client, running) = start(command, setup(&["2099-12-31", PROTOCOL])?)?;
    let sum = client.call_tool("add", &json!({"a": 1, "b": 2})).await?;
    check("it is called", sum.structured_content.is_some())?;
    drop(client);
    same("stopped", running.await.stopped, Stopped::ByItself)?;
    let (client, running) = start(command, setup(&["2099-12-31"])?)?;
    match client.call_tool("add", &json!({"a": 1, "b": 2})).await {
        Err(CallError::Peer(error)) => same("code", error.code, -32022)?,
        other => return Err(format!("{other:?}").into()),
    }
    drop(client);
    same("stopped", running.await.stopped, Stopped::ByItself)
}

/// Every call learns why, with the last words of the server.
async fn crash(command: &[OsString]) -> Step {
    let (client, running) = connect(command)?;
    let waiting = smol::spawn(client.call_tool("wait", &json!({"key": "crashed"})));
    let mut listening = client.listen(ListenSpec::new().tools());
    listening.acknowledged().await.map_err(|end| format!("{end:?}"))?;
    for failed in [client.call_tool("crash", &json!({})).await, waiting.await] {
        match failed {
            Err(CallError::Lost(cause)) => check("the cause tells the status and the last words", {
                cause.contains('3') && cause.contains("out of tea")
            })?,
            other => return Err(format!("{other:?}").into()),
        }
    }
    match listening.next().await {
        Some(ListenEvent::Ended(ListenEnd::Lost(_))) => {}
        other => return Err(format!("{other:?}").into()),
    }
    let ended = running.await;
    same(
        "its end",
        (ended.stopped, ended.status.and_then(|status| status.code())),
        (Stopped::ByItself, Some(3)),
    )
}

async fn leave(command: &[OsString]) -> Step {
    let (client, running) = connect(command)?;
    let mut listening = client.listen(ListenSpec::new().tools());
    listening.acknowledged().await.map_err(|end| format!("{end:?}"))?;
    client.call_tool("leave", &json!({})).await?;
    same("the subscription", listening.next().await, Some(ListenEvent::Ended(ListenEnd::Graceful)))?;
    drop((client, listening));
    let ended = running.await;
    same(
        "its end",
        (ended.stopped, ended.status.and_then(|status| status.code())),
        (Stopped::ByItself, Some(0)),
    )
}

async fn cling(command: &[OsString], deaf: bool, stopped: Stopped) -> Step {
    let launched = launch(command, setup(&[PROTOCOL])?, Duration::from_secs(2));
    let (client, running) = launched.map_err(|error| error.to_string())?;
    client.call_tool("cling", &json!({"deaf": deaf})).await?;
    drop(client);
    same("stopped", running.await.stopped, stopped)
}

async fn close(peer: Peer) -> Step {
    let waiting = smol::spawn(peer.client.call_tool("wait", &json!({"key": "closed"})));
    let mut listening = peer.client.listen(ListenSpec::new().tools());
    listening.acknowledged().await.map_err(|end| format!("{end:?}"))?;
    peer.client.close();
    same("the call", waiting.await.map_err(|error| error.code()), Err("CLOSED"))?;
    same("the subscription", listening.next().await, Some(ListenEvent::Ended(ListenEnd::Cancelled)))?;
    let ended = peer.running.await;
    same(
        "its end",
        (ended.stopped, ended.status.and_then(|status| status.code())),
        (Stopped::ByItself, Some(0)),
    )
}

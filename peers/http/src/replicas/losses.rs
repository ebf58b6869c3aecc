//! A replica that is killed in the middle of a call.

use std::net::SocketAddr;

use sansio_mcp_sdk::client::{CallError, Client};
use sansio_mcp_sdk::model::{CallToolResult, Implementation};
use serde_json::{Value, json};
use smol::channel::{Receiver, bounded};

use crate::fleet::{BOOK, Fleet, start};
use crate::raw::post;
use crate::rounds::kill;
use crate::tally::{Failure, Step, Tally, check, same};
use crate::until::LOOKS;

pub(crate) async fn steps(tally: &mut Tally, fleet: &mut Fleet) {
    tally.step("a call whose events were cut is lost, and its retry goes elsewhere", streamed(fleet)).await;
    tally.step("a call that is given up at the proxy is cancelled at its replica", given_up(fleet)).await;
    tally.step("a call without a word yet is lost with its replica", silent(fleet)).await;
    tally.step("behind the proxy it is a bad gateway, and its retry finishes", gateway(fleet)).await;
    tally.step("the proxy is still there", async { check("it runs", fleet.proxy.is_running()) }).await;
}

/// What a replica says in a status, asked directly.
async fn status(of: SocketAddr, tool: &str) -> Result<Value, Failure> {
    let (_, answer) = post(of, tool, json!({"arguments": {}})).await?;
    Ok(answer["result"]["structuredContent"].clone())
}

/// The replica whose status fits, once there is one.
async fn whose(fleet: &Fleet, tool: &str, fits: impl Fn(&Value) -> bool) -> Result<SocketAddr, Failure> {
    loop {
        for shop in &fleet.shops {
            if fits(&status(shop.address, tool).await?) {
                return Ok(shop.address);
            }
        }
        smol::Timer::after(LOOKS).await;
    }
}

type Running = smol::Task<Result<CallToolResult, CallError>>;

/// Orders copies, which takes half a minute and says at once that it has begun.
fn order(client: &Client, copies: u64) -> (Running, Receiver<()>) {
    let (told, begun) = bounded(1);
    let order = client.call_tool("order_book", &json!({"isbn": BOOK, "copies": copies}));
    let order = order.on_progress(move |_| _ = told.try_send(()));
    (smol::spawn(order), begun)
}

/// The replica at which an order that has begun holds its copies.
async fn holds(fleet: &Fleet, begun: &Receiver<()>, copies: u64) -> Result<SocketAddr, Failure> {
    begun.recv().await.map_err(|_| "the order ended before it was told of")?;
    whose(fleet, "hold_status", |status| status["held"] == copies).await
}

async fn streamed(fleet: &mut Fleet) -> Step {
    let client = fleet.client()?;
    let (lost, begun) = order(&client, 3);
    let at = holds(fleet, &begun, 3).await?;
    let replica = kill(fleet, at).await?;
    same("the call", lost.await.map_err(|error| error.code()).err(), Some("LOST"))?;
    // While the replica is still away.
    let (again, begun) = order(&client, 3);
    begun.recv().await.map_err(|_| "the retry has ended")?;
    fleet.reopen(replica).await?;
    let elsewhere = whose(fleet, "hold_status", |status| status["held"] == 3).await?;
    check("the retry is at another replica", elsewhere != at)?;
    // It would be paid in half a minute.
    drop(again);
    whose(fleet, "hold_status", |status| status["released"] == 3).await?;
    Ok(())
}

async fn given_up(fleet: &mut Fleet) -> Step {
    let client = fleet.client()?;
    let (order, begun) = order(&client, 5);
    let at = holds(fleet, &begun, 5).await?;
    let before = status(at, "hold_status").await?["released"].as_u64().unwrap_or_default();
    drop(order);
    let released = whose(fleet, "hold_status", |status| status["released"] == before + 5).await?;
    same("released at", released, at)?;
    same("held there", &status(at, "hold_status").await?["held"], 0)
}

/// A client of the replica itself.
async fn silent(fleet: &mut Fleet) -> Step {
    let shop = fleet.shops.first().ok_or("no replica")?;
    let at = shop.address;
    let client = start(&shop.url(), Client::builder(Implementation::new("replicas", "1")).build())?;
    let call = smol::spawn(client.call_tool("rebuild_index", &json!({"books": 1_000_000})));
    whose(fleet, "index_status", |status| status["running"] == true).await?;
    let replica = kill(fleet, at).await?;
    same("the call", call.await.map_err(|error| error.code()).err(), Some("LOST"))?;
    fleet.reopen(replica).await?;
    let result = client.call_tool("rebuild_index", &json!({"books": 5})).await?;
    same("the retry", result.structured_as::<Value>()?, Some(json!({"indexed": 5})))
}

/// The proxy has an answer of its own while it has sent none: nothing of the call is on its way to the client, and only the
/// proxy knows that its replica has gone. It does not send what a replica may have begun to another by itself.
async fn gateway(fleet: &mut Fleet) -> Step {
    let client = fleet.client()?;
    let books = json!({"books": 1_000});
    let call = smol::spawn(client.call_tool("rebuild_index", &books));
    let at = whose(fleet, "index_status", |status| status["running"] == true).await?;
    let mark = fleet.proxy.mark();
    let replica = kill(fleet, at).await?;
    match call.await {
        Err(CallError::Transport(error)) => {
            same("the call", (error.code, error.status), ("HTTP_STATUS", Some(502)))?;
        }
        other => return Err(format!("{other:?}").into()),
    }
    let tried = fleet.proxy.since(mark, "rebuild_index", 1).await;
    same("tried at", tried.first().map(|hop| &*hop.replicas), Some(&[at][..]))?;
    let result = client.call_tool("rebuild_index", &books).await?;
    same("the retry", result.structured_as::<Value>()?, Some(json!({"indexed": 1_000})))?;
    Ok(fleet.reopen(replica).await?)
}

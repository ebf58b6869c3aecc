//! Questions: each round may be answered to another replica than the one that asked.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use sansio_mcp_sdk::client::{CallError, Client};
use sansio_mcp_sdk::model::{CallToolResult, Implementation};
use serde_json::{Value, json};
use smol::channel::bounded;

use crate::fleet::{BOOK, Fleet, fills_in, start};
use crate::proxy::Hop;
use crate::tally::{Failure, Step, Tally, check, same};

/// Calls in flight at one time.
const MANY: usize = 30;

pub(crate) async fn steps(tally: &mut Tally, fleet: &mut Fleet) {
    tally.step("the rounds of a call hop from replica to replica, and it finishes", hops(fleet)).await;
    tally.step("so do those of 30 calls at once", many(fleet)).await;
    tally.step("a question outlives the replica that asked it", outlives(fleet)).await;
}

/// Orders a gift: three questions, so four requests.
pub(crate) async fn gift(client: &Client) -> Result<(), CallError> {
    ordered(&client.call_tool("order_gift", &json!({"isbn": BOOK})).await?)
}

fn ordered(result: &CallToolResult) -> Result<(), CallError> {
    let gift = result.structured_as::<Value>().ok().flatten().unwrap_or_default();
    let answers = [&gift["recipient"], &gift["paper"], &gift["ribbon"], &gift["card"]];
    if answers == [&json!("Bo"), &json!("gold"), &json!(false), &json!("To Bo")] {
        Ok(())
    } else {
        Err(CallError::Decode(format!("another gift: {result:?}").into()))
    }
}

/// Who answered.
fn answered(hops: &[Hop]) -> Vec<SocketAddr> {
    hops.iter().filter_map(|hop| hop.replicas.last().copied()).collect()
}

async fn hops(fleet: &Fleet) -> Step {
    let client = fleet.client()?;
    for _ in 0..3 {
        let mark = fleet.proxy.mark();
        gift(&client).await?;
        let hops = answered(&fleet.proxy.since(mark, "order_gift", 4).await);
        same("requests", hops.len(), 4)?;
        check("each round is answered elsewhere", hops.windows(2).all(|pair| pair.first() != pair.last()))?;
        same("replicas", hops.iter().collect::<BTreeSet<_>>().len(), 3)?;
    }
    Ok(())
}

async fn many(fleet: &Fleet) -> Step {
    let client = fleet.client()?;
    let mark = fleet.proxy.mark();
    let calls: Vec<_> = (0..MANY)
        .map(|_| {
            let client = client.clone();
            smol::spawn(async move { gift(&client).await })
        })
        .collect();
    for call in calls {
        call.await?;
    }
    let hops = answered(&fleet.proxy.since(mark, "order_gift", MANY * 4).await);
    same("requests", hops.len(), MANY * 4)?;
    for shop in &fleet.shops {
        let here = hops.iter().filter(|hop| **hop == shop.address).count();
        same("requests of each replica", here, MANY * 4 / 3)?;
    }
    Ok(())
}

async fn outlives(fleet: &mut Fleet) -> Step {
    let (asked, questions) = bounded(1);
    let (go, may) = bounded::<()>(1);
    let builder = Client::builder(Implementation::new("replicas", "1")).on_form(move |form| {
        let (asked, may) = (asked.clone(), may.clone());
        async move {
            if form.round == 2 {
                let _ = asked.send(()).await;
                let _ = may.recv().await;
            }
            fills_in(form).await
        }
    });
    let client = start(&fleet.proxy.url(), builder.build())?;
    let mark = fleet.proxy.mark();
    let call = smol::spawn(async move { gift(&client).await });
    questions.recv().await.map_err(|_| "it was not asked")?;
    let before = answered(&fleet.proxy.since(mark, "order_gift", 2).await);
    let asker = *before.last().ok_or("nobody asked")?;
    let replica = kill(fleet, asker).await?;
    go.send(()).await.map_err(|_| "the question is gone")?;
    call.await?;
    let after = answered(&fleet.proxy.since(mark, "order_gift", 4).await);
    check("the others answered the rest", after.iter().skip(2).all(|hop| *hop != asker))?;
    fleet.reopen(replica).await?;
    Ok(())
}

/// Kills the replica at an address; which one that was.
pub(crate) async fn kill(fleet: &mut Fleet, address: SocketAddr) -> Result<usize, Failure> {
    let (replica, shop) = fleet.at(address)?;
    shop.kill().await?;
    Ok(replica)
}

//! Subscriptions, and the client's cache beside them.

use sansio_mcp_sdk::client::{Changed, ListenEnd, ListenEvent, ListenSpec};
use serde_json::json;

use crate::peer::Peer;
use crate::tally::{Failure, Step, Tally, check, same};

pub(crate) async fn steps(tally: &mut Tally, peer: &Peer) {
    tally.step("a subscription tells of what was asked for", listen(peer)).await;
    tally.step("a list that is kept is forgotten when it changes", cache(peer)).await;
}

fn changed(event: Option<ListenEvent>) -> Result<Changed, Failure> {
    match event {
        Some(ListenEvent::Changed(changed)) => Ok(changed),
        other => Err(format!("{other:?}").into()),
    }
}

async fn listen(peer: &Peer) -> Step {
    let amber = || Changed::Resource("note://amber".into());
    let mut one = peer.client.listen(ListenSpec::new().resource("note://amber"));
    let agreed = one.acknowledged().await.map_err(|end| format!("{end:?}"))?;
    same("granted", (agreed.granted, agreed.declined), (vec![amber()], vec![]))?;
    let mut other = peer.client.listen(ListenSpec::new().resource("note://birch"));
    other.acknowledged().await.map_err(|end| format!("{end:?}"))?;
    peer.says("touch", json!({"note": "cedar"})).await?;
    peer.says("touch", json!({"note": "birch"})).await?;
    peer.says("touch", json!({"note": "amber"})).await?;
    // What is next of each shows that nothing else came before it.
    same("one", changed(one.next().await)?, amber())?;
    same("the other", changed(other.next().await)?, Changed::Resource("note://birch".into()))?;
    one.cancel("enough");
    same("its end", one.next().await, Some(ListenEvent::Ended(ListenEnd::Cancelled)))?;
    peer.says("touch", json!({"note": "amber"})).await?;
    peer.says("touch", json!({"note": "birch"})).await?;
    same("the other goes on", changed(other.next().await)?, Changed::Resource("note://birch".into()))
}

async fn cache(peer: &Peer) -> Step {
    let mut tools = peer.client.listen(ListenSpec::new().tools());
    tools.acknowledged().await.map_err(|end| format!("{end:?}"))?;
    let before = peer.client.list_tools().await?.len();
    check("it is kept", peer.cache.entries() > 0)?;
    peer.says("grow", json!({})).await?;
    same("told", changed(tools.next().await)?, Changed::Tools)?;
    same("kept", peer.cache.entries(), 0)?;
    let after = peer.client.list_tools().await?;
    same("one more", after.len(), before + 1)?;
    check("it is the new one", after.iter().any(|tool| tool.name == "late"))?;
    same("called", peer.says("late", json!({})).await?, "here")
}

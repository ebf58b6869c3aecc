//! What the server asks in the middle of a call.

use std::time::Duration;

use serde_json::json;

use crate::peer::Peer;
use crate::person::Mood;
use crate::tally::{Step, Tally, same};

pub(crate) async fn steps(tally: &mut Tally, peer: &Peer) {
    tally.step("a form: accepted with a default, declined, left", form(peer)).await;
    tally.step("a form filled in wrongly goes nowhere", careless(peer)).await;
    tally.step("a person who never answers", asleep(peer)).await;
    tally.step("a url: accepted with state, declined, left", url(peer)).await;
    tally.step("sampling, and sampling with tools", sampling(peer)).await;
    tally.step("roots", roots(peer)).await;
    tally.step("two questions in a row", survey(peer)).await;
    tally.step("two questions at once", both(peer)).await;
    tally.step("a round of state alone", later(peer)).await;
    tally.step("a prompt that asks first", prompt(peer)).await;
    peer.person.is(Mood::Willing);
}

async fn form(peer: &Peer) -> Step {
    for (mood, wanted) in
        [(Mood::Willing, "2 for Bo"), (Mood::Unwilling, "decline"), (Mood::Absent, "cancel")]
    {
        peer.person.is(mood);
        same("said", peer.says("form", json!({})).await?, wanted)?;
        same("asked", peer.person.asked(), ["1 For whom? form"])?;
    }
    Ok(())
}

async fn careless(peer: &Peer) -> Step {
    peer.person.is(Mood::Careless);
    let failed = peer.client.call_tool("form", &json!({})).await;
    same("the call", failed.map_err(|error| error.code()), Err("INPUT_FAILED"))?;
    same("calls left open", peer.client.open_calls(), 0)
}

async fn asleep(peer: &Peer) -> Step {
    peer.person.is(Mood::Asleep);
    let call = peer.client.call_tool("form", &json!({})).answer_within(Some(Duration::from_millis(200)));
    same("the call", call.await.map_err(|error| error.code()), Err("INPUT_TIMED_OUT"))?;
    same("asked", peer.person.asked(), ["1 For whom? form"])?;
    same("calls left open", peer.client.open_calls(), 0)
}

async fn url(peer: &Peer) -> Step {
    for (mood, action) in [(Mood::Willing, "accept"), (Mood::Unwilling, "decline"), (Mood::Absent, "cancel")]
    {
        peer.person.is(mood);
        same("said", peer.says("link", json!({})).await?, format!("{action}, state 1"))?;
        same("asked", peer.person.asked(), ["1 https://example.com/link?n=1 link"])?;
    }
    Ok(())
}

async fn sampling(peer: &Peer) -> Step {
    peer.person.is(Mood::Willing);
    same("said", peer.says("think", json!({})).await?, "model: word")?;
    same("with tools", peer.says("plan", json!({})).await?, "tide Sand")?;
    same("asked", peer.person.asked(), ["1 One word, please. think", "1 When is high tide? plan"])
}

async fn roots(peer: &Peer) -> Step {
    same("said", peer.says("folders", json!({})).await?, "file:///home/bo,file:///srv/a%20b")
}

async fn survey(peer: &Peer) -> Step {
    peer.person.is(Mood::Willing);
    same("said", peer.says("survey", json!({})).await?, "Bo: true")?;
    same("asked", peer.person.asked(), ["1 For whom? survey", "2 Really for Bo? survey"])
}

async fn both(peer: &Peer) -> Step {
    // Neither question is answered before the other was asked.
    peer.person.is(Mood::Both);
    same("said", peer.says("both", json!({})).await?, "true, 2 folders")?;
    let mut asked = peer.person.asked();
    asked.sort();
    same("asked", asked, ["1 Sure? both", "1 roots both"])
}

async fn later(peer: &Peer) -> Step {
    peer.person.is(Mood::Willing);
    same("said", peer.says("later", json!({})).await?, "now")?;
    same("asked", peer.person.asked().len(), 0)
}

async fn prompt(peer: &Peer) -> Step {
    peer.person.is(Mood::Willing);
    let prompt = peer.client.get_prompt("ask_first", &json!({})).await?;
    let said = prompt.messages.first().and_then(|message| message.content.as_text());
    same("said", said, Some("sure: true"))
}

//! States of a question that no replica may take, sent to each of them by hand.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::fleet::{BOOK, Fleet};
use crate::raw::post;
use crate::tally::{Failure, Step, Tally, check, same};

const INVALID_PARAMS: i64 = -32602;

pub(crate) async fn steps(tally: &mut Tally, fleet: &Fleet) {
    tally.step("each replica goes on with what another asked", honest(fleet)).await;
    tally.step("each replica refuses a state of a foreign key", foreign(fleet)).await;
    tally.step("each replica refuses a state that was tampered with", tampered(fleet)).await;
    tally.step("each replica refuses a state for other arguments, and for another tool", moved(fleet)).await;
}

/// The state of the first question about a gift.
async fn asked(of: SocketAddr) -> Result<String, Failure> {
    let params = json!({"arguments": {"isbn": BOOK}});
    let (_, answer) = post(of, "order_gift", params).await?;
    let state = answer["result"]["requestState"].as_str();
    Ok(state.ok_or_else(|| format!("no state: {answer}"))?.to_owned())
}

/// Answers the first question with a state.
async fn answers(to: SocketAddr, tool: &str, isbn: &str, state: &str) -> Result<(u16, Value), Failure> {
    let answer = json!({"recipient": {"action": "accept", "content": {"name": "Bo"}}});
    let params = json!({"arguments": {"isbn": isbn}, "inputResponses": answer, "requestState": state});
    Ok(post(to, tool, params).await?)
}

/// That this is refused, in words that are the same whatever is wrong.
async fn refused(to: SocketAddr, tool: &str, isbn: &str, state: &str) -> Result<Value, Failure> {
    let (status, answer) = answers(to, tool, isbn, state).await?;
    same("status", status, 200)?;
    same("code", answer["error"]["code"].as_i64(), Some(INVALID_PARAMS))?;
    Ok(answer["error"].clone())
}

async fn honest(fleet: &Fleet) -> Step {
    for asker in &fleet.shops {
        let state = asked(asker.address).await?;
        for shop in &fleet.shops {
            let (_, answer) = answers(shop.address, "order_gift", BOOK, &state).await?;
            let next = &answer["result"]["inputRequests"]["wrapping"]["params"]["message"];
            same("the next question", next.as_str(), Some("How shall it be wrapped for Bo?"))?;
        }
    }
    Ok(())
}

async fn foreign(fleet: &Fleet) -> Step {
    let stranger = fleet.stranger().await?;
    let state = asked(stranger.address).await?;
    let (_, answer) = answers(stranger.address, "order_gift", BOOK, &state).await?;
    check("its own shop takes it", answer["result"]["inputRequests"]["wrapping"].is_object())?;
    for shop in &fleet.shops {
        refused(shop.address, "order_gift", BOOK, &state).await?;
        let ours = asked(shop.address).await?;
        refused(stranger.address, "order_gift", BOOK, &ours).await?;
    }
    Ok(())
}

async fn tampered(fleet: &Fleet) -> Step {
    for asker in &fleet.shops {
        let state = asked(asker.address).await?;
        let mut errors = Vec::new();
        for shop in &fleet.shops {
            for place in (0..state.len()).step_by(7).chain([state.len() - 2]) {
                errors.push(refused(shop.address, "order_gift", BOOK, &changed(&state, place)).await?);
            }
            errors.push(refused(shop.address, "order_gift", BOOK, "").await?);
            errors.push(refused(shop.address, "order_gift", BOOK, &state[..state.len() / 2]).await?);
        }
        errors.dedup();
        same("different errors", errors.len(), 1)?;
    }
    Ok(())
}

/// The state with one character exchanged.
fn changed(state: &str, place: usize) -> String {
    let exchange = |(at, char)| if at == place { if char == 'A' { 'B' } else { 'A' } } else { char };
    state.chars().enumerate().map(exchange).collect()
}

async fn moved(fleet: &Fleet) -> Step {
    for asker in &fleet.shops {
        let state = asked(asker.address).await?;
        for shop in &fleet.shops {
            refused(shop.address, "order_gift", "9780131103627", &state).await?;
            refused(shop.address, "haggle", BOOK, &state).await?;
        }
    }
    Ok(())
}

//! Calls of tools: values, progress, cancellation, failures, log messages.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sansio_mcp_sdk::client::{CallError, Progress};
use sansio_mcp_sdk::model::{ContentBlock, LoggingLevel, ResourceContents};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::peer::{Kind, Peer};
use crate::tally::{Failure, Step, Tally, check, same};

/// Calls in flight at one time.
const MANY: u32 = 200;

pub(crate) async fn steps(tally: &mut Tally, peer: &Peer) {
    tally.step("typed arguments, structured output", add(peer)).await;
    tally.step("arguments that do not fit", misfit(peer)).await;
    tally.step("200 calls at once", many(peer)).await;
    tally.step("progress in order", progress(peer)).await;
    tally.step("no progress unless asked for", no_progress(peer)).await;
    tally.step("cancelled, dropped, timed out: the server sees each", cancelled(peer)).await;
    tally.step("a tool that fails", fail(peer)).await;
    tally.step("a tool that does not exist", unknown(peer)).await;
    tally.step("long texts and odd characters", long(peer)).await;
    tally.step("what is no message between messages, and a flood of stderr", mutter(peer)).await;
    tally.step("an image, a link, an embedded resource", picture(peer)).await;
    tally.step("log messages of the level asked for", logging(peer)).await;
}

#[derive(Serialize)]
struct Numbers {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Sum {
    sum: i64,
}

async fn sum(peer: &Peer, a: i64, b: i64) -> Result<i64, Failure> {
    let result = peer.client.call_tool("add", &Numbers { a, b }).await?;
    Ok(result.structured_as::<Sum>()?.ok_or("nothing structured")?.sum)
}

async fn add(peer: &Peer) -> Step {
    same("19 + 23", sum(peer, 19, 23).await?, 42)?;
    same("-7 + 7", sum(peer, -7, 7).await?, 0)
}

async fn misfit(peer: &Peer) -> Step {
    let result = peer.client.call_tool("add", &json!({"a": 1, "b": "two"})).await?;
    check("the model is told of it", result.is_error() && result.first_text().is_some())
}

async fn many(peer: &Peer) -> Step {
    let calls: Vec<_> = (0..MANY)
        .map(|n| smol::spawn(peer.client.call_tool("add", &Numbers { a: n.into(), b: 1 })))
        .collect();
    for (n, call) in (1_i64..).zip(calls) {
        let result = call.await?;
        same("sum", result.structured_as::<Sum>()?.map(|sum| sum.sum), Some(n))?;
    }
    same("calls left open", peer.client.open_calls(), 0)
}

async fn progress(peer: &Peer) -> Step {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let by_call = Arc::clone(&seen);
    let call = peer.client.call_tool("count", &json!({"to": 12})).on_progress(move |report: Progress| {
        by_call.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    });
    let counted = call.await?;
    same("said", counted.first_text(), Some("counted to 12"))?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let values: Vec<f64> = seen.iter().map(|report| report.progress).collect();
    same("values", values, (1..=12).map(f64::from).collect::<Vec<_>>())?;
    check("every total is 12", seen.iter().all(|report| report.total == Some(12.0)))?;
    same("the last message", seen.last().and_then(|report| report.message.as_deref()), Some("at 12"))
}

async fn no_progress(peer: &Peer) -> Step {
    same("said", peer.says("count", json!({"to": 3})).await?, "counted to 3")
}

/// Waits until the server has seen that this call was cancelled.
async fn seen(peer: &Peer, key: &str) -> Step {
    // The step has a bound.
    while !peer.cancelled().await?.iter().any(|known| known == key) {
        smol::Timer::after(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn cancelled(peer: &Peer) -> Step {
    let mut call = peer.client.call_tool("wait", &json!({"key": "cancelled"}));
    let stop = call.canceller();
    let call = smol::spawn(call);
    let dropped = smol::spawn(peer.client.call_tool("wait", &json!({"key": "dropped"})));
    let late = peer
        .client
        .call_tool("wait", &json!({"key": "late"}))
        .total_timeout(Some(Duration::from_millis(300)));
    let late = smol::spawn(late);
    // Their requests are before this one on the wire.
    while peer.client.open_calls() < 3 {
        smol::future::yield_now().await;
    }
    sum(peer, 1, 1).await?;
    same("none is cancelled yet", peer.cancelled().await?.contains(&"cancelled".to_owned()), false)?;
    stop.cancel("a test");
    same("cancelled", call.await.map_err(|error| error.code()), Err("CANCELLED"))?;
    seen(peer, "cancelled").await?;
    same("another is not", peer.cancelled().await?.contains(&"dropped".to_owned()), false)?;
    dropped.cancel().await;
    seen(peer, "dropped").await?;
    same("timed out", late.await.map_err(|error| error.code()), Err("TIMED_OUT_TOTAL"))?;
    seen(peer, "late").await?;
    same("the session lives", sum(peer, 2, 2).await?, 4)
}

async fn fail(peer: &Peer) -> Step {
    let result = peer.client.call_tool("fail", &json!({})).await?;
    check("it is an error", result.is_error())?;
    check("its words", result.first_text().is_some_and(|text| text.ends_with("on purpose")))
}

async fn unknown(peer: &Peer) -> Step {
    match (peer.kind, peer.client.call_tool("nope", &json!({})).await) {
        // The Python package takes it for a failure of the tool.
        (Kind::Python, Ok(result)) => check("it is an error", result.is_error()),
        (Kind::Npm, Err(CallError::Peer(error))) => same("code", error.code, -32602),
        (_, other) => Err(format!("{other:?}").into()),
    }
}

async fn long(peer: &Peer) -> Step {
    for text in [
        "\u{2028}\u{2029}\u{feff}\0\u{1f34b}\r\n\"\\/".to_owned(),
        "sea \u{1f30a} ".repeat(100_000),
        String::new(),
    ] {
        let said = peer.says("echo", json!({"text": text})).await?;
        check("it comes back", said == text)?;
    }
    Ok(())
}

async fn mutter(peer: &Peer) -> Step {
    same("said", peer.says("mutter", json!({})).await?, "muttered")?;
    same("the session lives", sum(peer, 3, 3).await?, 6)
}

async fn picture(peer: &Peer) -> Step {
    let result = peer.client.call_tool("picture", &json!({})).await?;
    let [ContentBlock::Image(image), ContentBlock::ResourceLink(link), ContentBlock::Resource(note)] =
        &result.content[..]
    else {
        return Err(format!("{:?}", result.content).into());
    };
    same("image", image.bytes().ok(), Some(b"\x89PNG".to_vec()))?;
    same("link", &*link.uri, "note://amber")?;
    match &note.resource {
        ResourceContents::Text(text) => same("embedded", &*text.text, "birch"),
        ResourceContents::Blob(_) => Err("bytes".into()),
    }
}

async fn logging(peer: &Peer) -> Step {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let by_call = Arc::clone(&heard);
    let call = peer.client.call_tool("say", &json!({})).on_log(LoggingLevel::Info, move |message| {
        let logger = message.logger.as_deref().unwrap_or_default().to_owned();
        let line = (message.level, logger, message.data.to_string());
        by_call.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    });
    same("said", call.await?.first_text(), Some("said"))?;
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let bench = || "bench".to_owned();
    let wanted = [
        (LoggingLevel::Info, bench(), r#"{"loud":false}"#.to_owned()),
        (LoggingLevel::Warning, bench(), r#""loudly""#.to_owned()),
    ];
    same("messages", heard, wanted)
}

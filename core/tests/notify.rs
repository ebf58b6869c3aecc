//! Notifications for a request beside its progress.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sansio_mcp::limits::MAX_UNSENT_BYTES;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::server::Progress;
use serde_json::Value;
use short::{DONE, ServerExt, call_with_token, cancel, server};

#[path = "support/short.rs"]
mod short;

const LOG: &str = "notifications/message";

fn methods(heard: &[Value]) -> Vec<&str> {
    heard.iter().map(|message| message["method"].as_str().unwrap_or("answer")).collect()
}

#[test]
fn notifications_keep_their_place_between_progress_and_the_answer() {
    let mut server = server();
    let (serving, _) = server.asked(call_with_token("1", "7"));
    server.progress(serving, &Progress::new(1.0)).unwrap();
    assert!(server.notify(serving, LOG, br#""level":"info","data":"d""#).unwrap());
    server.progress(serving, &Progress::new(2.0)).unwrap();
    server.respond(serving, &DONE).unwrap().unwrap();
    assert_eq!(server.notify(serving, LOG, b""), Err(Misuse::Over), "nothing follows the answer");
    let heard = server.heard();
    let progress = "notifications/progress";
    assert_eq!(methods(&heard), [progress, LOG, progress, "answer"]);
    assert_eq!(heard[1]["params"], serde_json::json!({"level": "info", "data": "d"}));
}

#[test]
fn past_the_limit_they_are_dropped_and_the_answer_is_not() {
    let mut server = server();
    let (serving, _) = server.asked(short::call("1"));
    let mut sent = 0;
    while server.notify(serving, LOG, br#""data":"0123456789""#).unwrap() {
        sent += 1;
    }
    assert!(server.unsent_bytes() < MAX_UNSENT_BYTES + 200);
    assert!(!server.notify(serving, LOG, b"").unwrap());
    server.respond(serving, &DONE).unwrap().unwrap();
    let heard = server.heard();
    assert_eq!((heard.len(), heard[sent]["id"].as_i64()), (sent + 1, Some(1)));
}

#[test]
fn a_cancel_withdraws_them() {
    let mut server = server();
    let (serving, _) = server.asked(short::call("1"));
    server.notify(serving, LOG, b"").unwrap();
    server.says(cancel("1"));
    assert!(server.heard().is_empty());
    assert_eq!(server.notify(serving, LOG, b""), Err(Misuse::Over));
}

//! Log messages of the server, by call and by client (server/utilities/logging).
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use sansio_mcp::model::LoggingLevel;
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{LogMessage, ToolCall};
use serde_json::json;
use support::{answer, builder, notification, settle, start, start_setup};

type Heard = Arc<Mutex<Vec<String>>>;

fn log(level: &str, data: &str) -> String {
    notification("message", &json!({"level": level, "logger": "db", "data": data}))
}

fn into(heard: &Heard) -> impl FnMut(&LogMessage) + Send + 'static {
    let heard = Arc::clone(heard);
    move |message| {
        let data: String = message.data_as().unwrap();
        assert!(data != "bad", "contained: a log callback panics");
        heard.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(data);
    }
}

fn taken(heard: &Heard) -> Vec<String> {
    std::mem::take(&mut *heard.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

async fn poll(call: &mut ToolCall) -> bool {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *call).poll(cx).is_ready())).await
}

#[test]
fn a_call_hears_messages_of_its_level_before_its_result_and_a_panic_harms_nothing() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    let server = lab.spawn(async move {
        let request = peer.line().await.unwrap();
        peer.send(log("info", "no") + &log("warning", "one") + &log("error", "bad") + &log("alert", "two"))
            .await;
        peer.send(answer(1, "done") + &log("alert", "late")).await;
        request
    });
    let heard = Heard::default();
    let call = client.call_tool("t", &json!({})).on_log(LoggingLevel::Warning, into(&heard));
    assert_eq!(lab.run(call).unwrap().first_text(), Some("done"));
    assert_eq!(taken(&heard), ["one", "two"]);
    assert_eq!(lab.run(server)["params"]["_meta"]["io.modelcontextprotocol/logLevel"], "warning");
}

#[test]
fn where_nothing_says_whose_a_message_is_all_that_asked_for_its_level_get_it() {
    let lab = Lab::new();
    let everybody = Heard::default();
    let log_all = Mutex::new(into(&everybody));
    let setup = builder().on_log(move |message| (log_all.lock().unwrap())(message)).build().unwrap();
    let (client, mut peer) = start_setup(&lab, setup);
    let (debug, error) = (Heard::default(), Heard::default());
    lab.run(async {
        let mut one = client.call_tool("t", &json!({})).on_log(LoggingLevel::Debug, into(&debug));
        let mut two = client.call_tool("t", &json!({})).on_log(LoggingLevel::Error, into(&error));
        let mut three = client.call_tool("t", &json!({})).log_level(LoggingLevel::Critical);
        let mut four = client.call_tool("t", &json!({}));
        for call in [&mut one, &mut two, &mut three, &mut four] {
            assert!(!poll(call).await);
        }
        for _ in 0..4 {
            peer.request().await;
        }
        peer.send(log("info", "a") + &log("error", "b") + &log("alert", "c")).await;
        settle().await;
        for call in [&mut one, &mut two, &mut three, &mut four] {
            assert!(!poll(call).await);
        }
        assert_eq!(
            (taken(&debug), taken(&error)),
            (vec!["a".into(), "b".into(), "c".into()], vec!["b".into(), "c".into()])
        );
        assert_eq!(taken(&everybody), ["a", "b", "c"], "the client hears each once");
        // Two can be meant by an info, and this one is not among them.
        let mut five = client.call_tool("t", &json!({})).on_log(LoggingLevel::Info, |_| {});
        assert!(!poll(&mut five).await);
        peer.request().await;
        peer.send(log("info", "e")).await;
        settle().await;
        assert!(!poll(&mut one).await && !poll(&mut two).await);
        assert_eq!((taken(&debug), taken(&error)), (vec!["e".into()], vec![]));
        drop((one, five));
        settle().await;
        peer.send(log("error", "d")).await;
        settle().await;
        assert!(!poll(&mut two).await);
        assert_eq!((taken(&debug), taken(&error)), (vec![], vec!["d".into()]));
    });
}

#[test]
fn messages_that_nobody_looks_at_cost_bounded_memory_and_the_first_are_kept() {
    let lab = Lab::new();
    let (client, mut peer) = start(&lab);
    let heard = Heard::default();
    lab.run(async {
        let mut call = client.call_tool("t", &json!({})).on_log(LoggingLevel::Debug, into(&heard));
        assert!(!poll(&mut call).await);
        peer.request().await;
        for n in 0..10_000 {
            peer.send(log("info", &n.to_string())).await;
        }
        settle().await;
        assert!(!poll(&mut call).await);
        let kept = taken(&heard);
        assert_eq!((kept.len(), &*kept[0], &*kept[255]), (256, "0", "255"));
        // Four messages of 300 KB: three fit the bytes that may wait.
        for n in 0..4 {
            peer.send(log("info", &format!("{n}{}", "x".repeat(300_000)))).await;
        }
        settle().await;
        for _ in 0..200 {
            settle().await;
        }
        assert!(!poll(&mut call).await);
        assert_eq!(taken(&heard).len(), 3);
        peer.send(log("info", &"x".repeat(300_000)) + &log("info", "room again") + &answer(1, "")).await;
        call.await.unwrap();
        assert_eq!(taken(&heard).len(), 2);
    });
}

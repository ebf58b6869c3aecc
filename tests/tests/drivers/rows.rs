//! What every server and every client promises, whatever moves it.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use sansio_mcp_sdk::client::Progress;
use sansio_mcp_stdio::Stopped;
use sansio_mcp_stdio::threads::Wait;
use serde_json::{Value, json};

use crate::driver::Driver;
use crate::on_every_driver;
use crate::support::{ask, call, until};

on_every_driver! {
    a_call_is_answered_and_the_server_exits_by_itself
    progress_comes_in_order_and_before_the_result
    a_dropped_call_is_cancelled_and_cleaned_up
    many_calls_at_once_get_their_own_answers
    printf_into_a_server_prints_its_answers
    a_bad_line_costs_that_line
}

fn a_call_is_answered_and_the_server_exits_by_itself<D: Driver>() {
    let (client, running) = D::launch(Command::new(D::SERVER).into());
    let sum = call(&client, "add", &json!({"a": 19, "b": 23})).unwrap();
    assert_eq!(sum.first_text(), Some(r#"{"sum":42}"#));
    drop(client);
    let ended = running.join().unwrap();
    assert!(ended.status.unwrap().success(), "{ended:?}");
    assert_eq!((ended.stopped, ended.stderr.as_str()), (Stopped::ByItself, ""));
}

fn progress_comes_in_order_and_before_the_result<D: Driver>() {
    let (client, running) = D::launch(Command::new(D::SERVER).into());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let by_callback = Arc::clone(&seen);
    // A step takes a moment, so that the timers of both sides take part.
    let result = client
        .call_tool("count", &json!({"to": 10, "step_ms": 1}))
        .on_progress(move |report: Progress| {
            by_callback.lock().unwrap().push(report.message.unwrap().into_string());
        })
        .wait()
        .unwrap();
    assert_eq!(result.first_text(), Some("counted to 10"));
    let expected: Vec<String> = (1..=10).map(|step| format!("{step} of 10")).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
    drop(client);
    running.join().unwrap();
}

fn a_dropped_call_is_cancelled_and_cleaned_up<D: Driver>() {
    let (client, running) = D::launch(Command::new(D::SERVER).into());
    let mut held = client.call_tool("hold", &json!({}));
    poll_once(&mut held);
    until("it holds", || ask(&client, "holds") == json!({"held": 1, "released": 0}));
    drop(held);
    until("it is released", || ask(&client, "holds") == json!({"held": 0, "released": 1}));
    drop(client);
    assert!(running.join().unwrap().status.unwrap().success());
}

fn many_calls_at_once_get_their_own_answers<D: Driver>() {
    let (client, running) = D::launch(Command::new(D::SERVER).into());
    let mut calls: Vec<_> = (0..500).map(|n| client.call_tool("add", &json!({"a": n, "b": 1}))).collect();
    calls.iter_mut().for_each(poll_once);
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.wait().unwrap().first_text(), Some(format!(r#"{{"sum":{}}}"#, n + 1).as_str()));
    }
    drop(client);
    running.join().unwrap();
}

/// Begins a call. It cannot have ended yet.
fn poll_once<T>(call: &mut T)
where
    T: Future<Output: std::fmt::Debug> + Unpin,
{
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let polled = std::pin::Pin::new(call).poll(&mut cx);
    assert!(polled.is_pending(), "{polled:?}");
}

fn request(id: i64, tool: &str, arguments: &Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}

/// Writes everything, ends the input, and gives what was answered.
fn piped<D: Driver>(input: &[u8]) -> Vec<Value> {
    let mut server = Command::new(D::SERVER).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    server.stdin.take().unwrap().write_all(input).unwrap();
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The second is still at work when the input ends: a half-close, not a cancel.
fn printf_into_a_server_prints_its_answers<D: Driver>() {
    let input =
        request(1, "add", &json!({"a": 1, "b": 2})) + &request(2, "count", &json!({"to": 5, "step_ms": 10}));
    let answers = piped::<D>(input.as_bytes());
    let text = |id: i64| {
        let answer = answers.iter().find(|answer| answer["id"] == id);
        answer.map(|answer| answer["result"]["content"][0]["text"].clone())
    };
    assert_eq!(text(1), Some(r#"{"sum":3}"#.into()), "{answers:?}");
    assert_eq!(text(2), Some("counted to 5".into()), "{answers:?}");
    assert_eq!(answers.len(), 2, "{answers:?}");
}

fn a_bad_line_costs_that_line<D: Driver>() {
    let mut input = request(1, "add", &json!({"a": 1, "b": 2})).into_bytes();
    input.extend_from_slice(b"{junk\n\xff\xfe\n");
    input.extend_from_slice(&vec![b'x'; 5 << 20]);
    input.push(b'\n');
    // The last line needs no end.
    input.extend_from_slice(request(2, "add", &json!({"a": 3, "b": 4})).trim_end().as_bytes());
    let answers = piped::<D>(&input);
    let codes: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(codes.iter().filter(|code| **code == -32700).count(), 3, "{answers:?}");
    let mut ids: Vec<i64> = answers.iter().filter_map(|answer| answer["id"].as_i64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2], "{answers:?}");
}

// What went wrong elsewhere with lines: their ends, their length, and the end of input.

use std::future::pending;
use std::time::Duration;

use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server};
use sansio_mcp_tests::{Bench, DropFlag, Trace, response, responses, rows, tool};
use serde_json::{Value, json};

rows! {
    edge_36_crlf_bom_blank_lines_and_split_characters: [memory stdio];
    edge_37_a_bad_line_costs_that_line: [memory stdio];
    edge_38_the_limit_is_per_line: [memory stdio];
    edge_39_accepted_requests_are_answered_after_the_end_of_input: [memory stdio];
    edge_39_after_the_grace_time_they_are_cancelled: [memory stdio];
}

/// A tool that answers with the names of its arguments.
fn names() -> Server<M> {
    Server::<M>::builder("t", "1")
        .tool("t", |arguments: serde_json::Map<String, Value>, _: Context<(), M>| async move {
            Ok(arguments.keys().cloned().collect::<String>())
        })
        .build()
        .unwrap()
}

fn text(line: &Value) -> &str {
    line["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("a text in {line}"))
}

async fn edge_36_crlf_bom_blank_lines_and_split_characters(b: Bench) {
    let mut wire = b.serve(names()).wire();
    let key = "gr\u{fc}\u{df}e \u{1f600}";
    let one = tool(1, "t", &json!({key: 0}));
    wire.bytes(format!("\u{feff}{one}\r\n\r\n\n{}\n", tool(2, "t", &json!({"lf": 0})))).await;
    let lines = wire.drain().await;
    assert_eq!((text(response(&lines, 1)), text(response(&lines, 2))), (key, "lf"));
    assert_eq!(lines.len(), 2, "blank lines are no messages");
    for byte in format!("{}\r\n", tool(3, "t", &json!({key: 0}))).as_bytes() {
        wire.bytes([*byte]).await;
        b.settle().await;
    }
    assert_eq!(text(&wire.answer(3).await), key);
}

async fn edge_37_a_bad_line_costs_that_line(b: Bench) {
    let mut wire = b.serve(names()).wire();
    let mut bytes = Vec::new();
    for (id, bad) in [b"{\"jsonrpc\":".as_slice(), b"\xff\xfe\xfd", b"{\"a\":\"\xc3\"}", b"nonsense"]
        .into_iter()
        .enumerate()
    {
        bytes.extend_from_slice(bad);
        bytes.extend_from_slice(format!("\n{}\n", tool(id, "t", &json!({"ok": 0}))).as_bytes());
    }
    // Its end comes long after it was refused, with the next line behind it.
    bytes.extend_from_slice(&vec![b'x'; sansio_mcp_stdio::LINE_LIMIT + 100_000]);
    bytes.extend_from_slice(format!("\n{}\n", tool(9, "t", &json!({"ok": 0}))).as_bytes());
    wire.bytes(bytes).await;
    let lines = wire.drain().await;
    for id in [0, 1, 2, 3, 9] {
        assert_eq!(text(response(&lines, id)), "ok");
    }
    let refused = lines.iter().filter(|line| line["error"]["code"] == -32700).count();
    assert_eq!((refused, lines.len()), (5, 10), "each is answered once");
}

async fn edge_38_the_limit_is_per_line(b: Bench) {
    let mut wire = b.serve(names()).wire();
    let padded = |id: i64, length: usize| {
        let line = tool(id, "t", &json!({"ok": 0})).to_string();
        format!("{line}{}\n", " ".repeat(length - line.len()))
    };
    let limit = sansio_mcp_stdio::LINE_LIMIT;
    let bytes = [padded(1, limit), padded(2, 1000), padded(3, limit + 1), padded(4, 1000)].concat();
    wire.bytes(bytes).await;
    let lines = wire.drain().await;
    for id in [1, 2, 4] {
        assert_eq!(text(response(&lines, id)), "ok");
    }
    assert!(responses(&lines, 3).is_empty());
    assert_eq!(lines.iter().filter(|line| line["error"]["code"] == -32700).count(), 1);
    assert_eq!(lines.len(), 4);
}

async fn edge_39_accepted_requests_are_answered_after_the_end_of_input(b: Bench) {
    let nap = b.nap(Duration::from_secs(1));
    let server = Server::<M>::builder("t", "1")
        .tool("slow", move |_: NoArguments, _: Context<(), M>| {
            let nap = nap.clone();
            async move {
                nap().await;
                Ok("slow")
            }
        })
        .build()
        .unwrap();
    let mut rig = b.serve(server);
    let mut wire = rig.wire();
    rig.release();
    wire.bytes(format!("{}\n{}", tool(1, "slow", &json!({})), tool(2, "slow", &json!({})))).await;
    wire.end_input(); // the last line has no end
    assert_eq!(text(&wire.answer(1).await), "slow");
    assert_eq!(text(&wire.answer(2).await), "slow");
    assert!(wire.drain().await.is_empty());
    assert!(wire.has_ended() && rig.has_ended());
    assert_eq!(b.clock().elapsed().as_millis(), 1000, "as soon as everything was answered");
}

async fn edge_39_after_the_grace_time_they_are_cancelled(b: Bench) {
    let trace = Trace::new();
    let for_tool = trace.clone();
    let server = Server::<M>::builder("t", "1")
        .tool("quick", |_: NoArguments, _: Context<(), M>| async { Ok("quick") })
        .tool("endless", move |_: NoArguments, _: Context<(), M>| {
            for_tool.note("starts");
            let flag = DropFlag::new(&for_tool, "dropped");
            async move {
                let _flag = flag;
                pending::<Result<&str, Exit>>().await
            }
        })
        .build()
        .unwrap();
    let mut rig = b.serve(server);
    let mut wire = rig.wire();
    rig.release();
    wire.send(&tool(1, "endless", &json!({}))).await;
    wire.send(&tool(2, "quick", &json!({}))).await;
    b.settle().await;
    wire.end_input();
    b.pass(Duration::from_millis(1490)).await;
    assert_eq!((trace.all().len(), rig.has_ended()), (1, false));
    b.pass(Duration::from_millis(20)).await;
    assert_eq!(trace.all(), ["starts", "dropped"]);
    let lines = wire.drain().await;
    response(&lines, 2);
    assert_eq!(lines.len(), 1);
    assert!(wire.has_ended() && rig.has_ended());
    assert!(b.log.has("CLOSING"));
}

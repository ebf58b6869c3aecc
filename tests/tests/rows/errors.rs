// E1, E2 and E4: refusals.

use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server};
use sansio_mcp_tests::{Bench, Gate, check, request, response, rows, tool};
use serde_json::json;

rows! {
    e1_every_failure_of_the_librarys_own_has_code_and_message: all, sockets;
    e1_malformed_bytes_have_code_and_message: [memory stdio];
    e1_busy_is_machine_readable: all;
    e2_a_full_queue_refuses_at_once_and_disturbs_nothing: all;
    e4_the_operators_log_is_not_the_clients: all;
}

fn one_tool() -> Server<M> {
    Server::<M>::builder("t", "1")
        .tool("t", |_: NoArguments, _: Context<(), M>| async { Ok("done") })
        .build()
        .unwrap()
}

async fn e1_every_failure_of_the_librarys_own_has_code_and_message(b: Bench) {
    let mut wire = b.serve(one_tool()).wire();
    let none = json!({});
    // A header repeats the name, and is looked at first.
    let nameless = if b.is_http() { (-32020, "Mcp-Name is missing") } else { (-32602, "name") };
    let mut bare = tool(6, "t", &none);
    bare["params"].as_object_mut().unwrap().remove("_meta");
    let old = json!({"io.modelcontextprotocol/protocolVersion": "1999-01-01"});
    let cases = [
        (tool(1, "nobody", &none), -32602, "nobody"),
        (request(2, "no/such", json!({}), &none), -32601, "no/such"),
        (tool(3, "t", &json!([])), -32602, "arguments"),
        (request(4, "tools/call", json!({}), &none), nameless.0, nameless.1),
        (request(5, "tools/call", json!({"name": "t"}), &old), -32022, "2026-07-28"),
        (bare, -32602, "_meta"),
        (request(7, "tools/list", json!({"cursor": "lost"}), &none), -32602, "cursor"),
        (json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": []}), -32602, "params"),
    ];
    for (message, code, says) in cases {
        wire.send(&message).await;
        let lines = wire.drain().await;
        assert_eq!(lines.len(), 1, "{message}");
        check(&response(&lines, message["id"].clone())["error"], code, says);
    }
    wire.send(&request(9, "tools/call", json!({"name": "t"}), &old)).await;
    let error = wire.answer(9).await;
    assert_eq!(error["error"]["data"], json!({"supported": ["2026-07-28"], "requested": "1999-01-01"}));
}

async fn e1_malformed_bytes_have_code_and_message(b: Bench) {
    let mut wire = b.serve(one_tool()).wire();
    for (bytes, code, says) in [
        ("{", -32700, "JSON"),
        ("7", -32600, "message"),
        ("[]", -32600, "atch"),
        ("{\"id\":1}", -32600, "message"),
    ] {
        wire.bytes(format!("{bytes}\n")).await;
        let lines = wire.drain().await;
        assert_eq!(lines.len(), 1, "{bytes}");
        assert_eq!(lines[0].get("id"), None, "the id is left out, not null");
        check(&lines[0]["error"], code, says);
    }
}

/// One slot that is taken until the gate opens, and no queue.
fn full(gate: &Gate, queue: usize) -> Server<M> {
    let gate = gate.clone();
    Server::<M>::builder("t", "1")
        .slots(1)
        .queue(queue)
        .tool("t", move |_: NoArguments, _: Context<(), M>| {
            let gate = gate.clone();
            async move {
                gate.passed().await;
                Ok("done")
            }
        })
        .build()
        .unwrap()
}

async fn e1_busy_is_machine_readable(b: Bench) {
    let gate = Gate::new();
    let mut wire = b.serve(full(&gate, 0)).wire();
    for id in [1, 2] {
        wire.send(&tool(id, "t", &json!({}))).await;
    }
    let error = wire.answer(2).await["error"].clone();
    check(&error, 1001, "try again in");
    assert_eq!(error["data"]["code"], "SERVER_BUSY");
    assert!(
        error["data"]["retryAfterMs"].as_u64().is_some_and(|after| (1..=60_000).contains(&after)),
        "{error}"
    );
}

async fn e2_a_full_queue_refuses_at_once_and_disturbs_nothing(b: Bench) {
    let gate = Gate::new();
    let rig = b.serve(full(&gate, 2));
    let mut wire = rig.wire();
    for id in 1..=6 {
        wire.send(&tool(id, "t", &json!({}))).await;
    }
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 3, "the other three still wait");
    for id in 4..=6 {
        assert_eq!(response(&lines, id)["error"]["code"], 1001);
    }
    // What needs no slot is served.
    wire.send(&request(7, "tools/list", json!({}), &json!({}))).await;
    assert!(wire.answer(7).await["result"]["tools"].is_array());
    wire.send(&request(8, "server/discover", json!({}), &json!({}))).await;
    assert!(wire.answer(8).await["result"]["supportedVersions"].is_array());
    gate.open();
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 3);
    for id in 1..=3 {
        assert!(response(&lines, id).get("result").is_some());
    }
    // And there is room again.
    wire.send(&tool(9, "t", &json!({}))).await;
    assert!(wire.answer(9).await.get("result").is_some());
}

async fn e4_the_operators_log_is_not_the_clients(b: Bench) {
    let server = Server::<M>::builder("t", "1")
        .layer(|_, next| {
            tracing::info!(target: "sansio_mcp_user", "an operator's line");
            next.run()
        })
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            tracing::warn!(target: "sansio_mcp_user", "a handler's line");
            cx.progress(250.0, "refused");
            Err::<&str, _>(Exit::failure("no"))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let meta = json!({"io.modelcontextprotocol/logLevel": "debug", "progressToken": 1});
    wire.send(&request(1, "tools/call", json!({"name": "t"}), &meta)).await;
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 1, "the answer alone: {lines:?}");
    assert!(b.log.mentions("an operator's line") && b.log.mentions("a handler's line"));
}

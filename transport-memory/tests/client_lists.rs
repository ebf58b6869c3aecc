//! Discovery and lists that come in pages.
#![allow(clippy::unwrap_used)]

mod support;

use sansio_mcp_memory::{Lab, Task};
use serde_json::{Value, json};
use support::{Peer, start};

/// Answers each request with the result that `page` gives for its cursor, and returns the cursors.
fn serve(lab: &Lab, mut peer: Peer, mut page: impl FnMut(&Value) -> Value + 'static) -> Task<Vec<Value>> {
    lab.spawn(async move {
        let mut cursors = Vec::new();
        while let Some(request) = peer.line().await {
            let cursor = request["params"].get("cursor").cloned().unwrap_or(Value::Null);
            let reply = json!({"jsonrpc": "2.0", "id": request["id"], "result": page(&cursor)});
            cursors.push(cursor);
            peer.send(format!("{reply}\n")).await;
        }
        cursors
    })
}

fn page(tool: &str, next: &Value) -> Value {
    let mut page = json!({"tools": [{"name": tool, "inputSchema": {"type": "object"}}]});
    if !next.is_null() {
        page["nextCursor"] = next.clone();
    }
    page
}

#[test]
fn all_pages_are_read_and_an_empty_cursor_is_one() {
    let lab = Lab::new();
    let (client, peer) = start(&lab);
    let server = serve(&lab, peer, |cursor| match cursor.as_str() {
        None => page("a", &json!("")),
        Some("") => page("b", &json!("x")),
        _ => page("c", &json!(null)),
    });
    let tools = lab.run(client.list_tools()).unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let one = lab.run(client.list_tools_page(Some("")).into_future()).unwrap();
    assert_eq!((one.tools.len(), one.next_cursor.as_deref()), (1, Some("x")));
    drop(client);
    assert_eq!(lab.run(server), [json!(null), json!(""), json!("x"), json!("")]);
}

#[test]
fn pages_that_go_in_circles_end_with_an_error() {
    let lab = Lab::new();
    let (client, peer) = start(&lab);
    let server = serve(&lab, peer, |cursor| match cursor.as_str() {
        Some("x") => page("b", &json!("y")),
        _ => page("a", &json!("x")),
    });
    assert_eq!(lab.run(client.list_tools()).unwrap_err().code(), "REPEATED_CURSOR");
    drop(client);
    assert_eq!(lab.run(server).len(), 3);
}

#[test]
fn a_list_without_end_is_given_up_after_a_thousand_pages() {
    let lab = Lab::new();
    let (client, peer) = start(&lab);
    let mut count = 0;
    let server = serve(&lab, peer, move |_| {
        count += 1;
        page("a", &json!(count.to_string()))
    });
    assert_eq!(lab.run(client.list_tools()).unwrap_err().code(), "LIST_TOO_LONG");
    drop(client);
    assert_eq!(lab.run(server).len(), 1000);
}

#[test]
fn discovery_is_typed() {
    let lab = Lab::new();
    let (client, peer) = start(&lab);
    serve(
        &lab,
        peer,
        |_| json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "instructions": "be kind"}),
    );
    let found = lab.run(client.discover()).unwrap();
    assert_eq!(found.supported_versions, ["2026-07-28"]);
    assert_eq!(found.instructions.as_deref(), Some("be kind"));
}

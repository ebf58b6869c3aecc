//! Whether a server speaks this revision: a refusal says so, what says nothing is an error.
#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

mod support;

use sansio_mcp_http::client::{Era, detect};
use serde_json::{Value, json};
use support::{Post, begin, world};

type Respond = fn(&Post);

fn found(versions: &Value) -> Value {
    json!({"supportedVersions": versions, "capabilities": {}, "ttlMs": 0, "cacheScope": "public"})
}

fn unsupported(post: &Post, supported: &Value) {
    let data = json!({"supported": supported, "requested": "2026-07-28"});
    let error = json!({"code": -32022, "message": "m", "data": data});
    let message = json!({"jsonrpc": "2.0", "id": post.id(), "error": error});
    post.respond(400, "application/json", message.to_string());
}

#[test]
fn what_a_server_speaks() {
    let world = world();
    world.lab.run(async {
        let cases: [(&str, Respond); 19] = [
            ("modern", |post| post.result(&found(&json!(["2026-07-28", "2025-11-25"])))),
            ("modern", |post| post.result(&found(&json!(["2027-01-01"])))),
            ("legacy", |post| post.result(&found(&json!(["2025-11-25"])))),
            ("legacy", |post| post.result(&found(&json!([])))),
            ("legacy", |post| unsupported(post, &json!(["2025-06-18", "2025-11-25"]))),
            ("PEER_ERROR", |post| unsupported(post, &json!(["2027-01-01"]))),
            ("legacy", |post| post.error(200, -32601)),
            ("legacy", |post| post.error(400, -32000)),
            ("legacy", |post| {
                post.respond(
                    400,
                    "application/json",
                    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#,
                );
            }),
            ("legacy", |post| post.respond(400, "text/plain", "Missing session ID")),
            ("legacy", |post| post.respond(400, "application/json", r#"{"detail":"no"}"#)),
            ("legacy", |post| post.head(404, &[])),
            ("legacy", |post| post.head(405, &[])),
            // Modern all the same.
            ("PEER_ERROR", |post| post.error(404, -32601)),
            ("PEER_ERROR", |post| post.error(400, -32020)),
            // These say nothing about it.
            ("UNAUTHORIZED", |post| post.head(401, &[])),
            ("FORBIDDEN", |post| post.head(403, &[])),
            ("HTTP_STATUS", |post| post.head(500, &[])),
            ("LOST", |post| post.fail("refused")),
        ];
        for (n, (wanted, respond)) in cases.into_iter().enumerate() {
            let detecting = async {
                let era = detect(&world.client).await;
                match era {
                    Ok(Era::Modern(_)) => "modern",
                    Ok(Era::Legacy(server)) => {
                        assert!(!server.answer.is_empty());
                        "legacy"
                    }
                    Ok(_) => "other",
                    Err(error) => error.code(),
                }
            };
            let mut detecting = Box::pin(detecting);
            begin(&mut detecting).await;
            respond(&world.fake.next().await);
            let era = detecting.await;
            assert_eq!(era, wanted, "{n}");
        }
        // Silence is a time-out.
        let silent = detect(&world.client).await.unwrap_err();
        assert_eq!(silent.code(), "TIMED_OUT_TOTAL");
    });
}

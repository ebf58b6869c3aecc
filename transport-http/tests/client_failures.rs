//! What is no answer fails its call at once, with its cause and a stable code.
#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use sansio_mcp_http::client::{HttpLimits, Options};
use sansio_mcp_sdk::client::CallError;
use serde_json::json;
use support::{Post, World, begin, setup, tool_result, world, world_with};

async fn failing(world: &World, respond: impl FnOnce(&Post)) -> CallError {
    let mut call = world.client.call_tool("a", &json!({}));
    begin(&mut call).await;
    let post = world.fake.next().await;
    respond(&post);
    call.await.unwrap_err()
}

type Respond = fn(&Post);

const JSON: &str = "application/json";

#[test]
fn answers_that_are_none() {
    let world = world();
    world.lab.run(async {
        let cases: [(&str, &str, Respond); 24] = [
            ("NO_ANSWER", "202", |post| post.head(202, &[])),
            ("NO_ANSWER", "202", |post| post.head(202, &[("content-type", JSON)])),
            ("NO_ANSWER", "204", |post| post.head(204, &[])),
            ("NO_ANSWER", "text/html", |post| post.head(200, &[("content-type", "text/html")])),
            ("NO_ANSWER", "empty body", |post| {
                post.head(200, &[("content-type", JSON)]);
                post.end();
            }),
            ("BAD_ANSWER", "not the answer", |post| post.respond(200, JSON, "{")),
            ("BAD_ANSWER", "not the answer", |post| post.respond(200, JSON, "[]")),
            ("BAD_ANSWER", "not the answer", |post| {
                let other = json!({"jsonrpc": "2.0", "id": 77, "result": tool_result("stray")});
                post.respond(200, JSON, other.to_string());
            }),
            ("BAD_ANSWER", "not the answer", |post| {
                post.respond(200, JSON, r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#);
            }),
            ("BAD_PEER", "", |post| post.result(&json!(1))),
            ("REDIRECTED", "http://elsewhere/", |post| post.head(307, &[("location", "http://elsewhere/")])),
            ("REDIRECTED", "301", |post| post.respond(301, JSON, "{}")),
            ("UNAUTHORIZED", "Bearer realm", |post| {
                post.head(401, &[("www-authenticate", "Bearer realm=\"x\"")]);
            }),
            ("UNAUTHORIZED", "401", |post| post.respond(401, JSON, r#"{"error":"invalid_token"}"#)),
            ("FORBIDDEN", "403", |post| post.head(403, &[])),
            ("HTTP_STATUS", "no such page", |post| post.respond(404, "text/html", "no such\npage")),
            ("HTTP_STATUS", "earlier revision", |post| post.head(405, &[])),
            ("HTTP_STATUS", "500", |post| post.head(500, &[("content-type", "text/event-stream")])),
            ("HTTP_STATUS", "502", |post| post.respond(502, "text/plain", "bad gateway")),
            ("SERVER_BUSY", "503", |post| post.head(503, &[])),
            ("LOST", "connection reset", |post| post.fail("connection reset")),
            ("LOST", "cut: torn", |post| {
                post.head(200, &[("content-type", JSON)]);
                post.data("{\"jsonrpc\"");
                post.cut("torn");
            }),
            ("LOST", "within an event", |post| {
                post.stream();
                post.data("data: {}");
                post.end();
            }),
            ("LOST", "before the answer", |post| {
                post.stream();
                post.event(&json!({"jsonrpc": "2.0", "id": 1000, "result": {}}));
                post.end();
            }),
        ];
        for (n, (code, cause, respond)) in cases.into_iter().enumerate() {
            let error = failing(&world, respond).await;
            assert_eq!(error.code(), code, "{n}: {error}");
            let text = error.to_string();
            assert!(
                text.replace("such page", "such\npage").contains(cause) || text.contains(cause),
                "{n}: {error}"
            );
        }
    });
    assert_eq!(world.lab.clock().elapsed(), Duration::ZERO, "none of them waited for anything");
}

#[test]
fn errors_of_the_protocol_are_answers_whatever_their_status() {
    let world = world();
    world.lab.run(async {
        for (status, code) in [(200, -32602), (400, -32602), (404, -32601), (500, -32603), (403, -32600)] {
            let error = failing(&world, |post| post.error(status, code)).await;
            let CallError::Peer(peer) = &error else { panic!("{error}") };
            assert_eq!((peer.code, error.code()), (code, "PEER_ERROR"));
        }
        // Without an id it can only be meant for this request.
        let error = failing(&world, |post| {
            post.respond(403, JSON, r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"origin"}}"#);
        })
        .await;
        assert!(matches!(&error, CallError::Peer(peer) if peer.message == "origin"), "{error}");
        let busy = r#"{"jsonrpc":"2.0","error":{"code":1001,"message":"busy","data":{"code":"SERVER_BUSY","retryAfterMs":70}}}"#;
        let error = failing(&world, |post| post.respond(503, JSON, busy)).await;
        assert!(error.is_busy());
        assert_eq!(error.retry_after_ms(), Some(70));
    });
}

#[test]
fn a_busy_server_says_how_long() {
    let world = world();
    world.lab.run(async {
        for (status, after, hint) in [(503, "7", Some(7000)), (429, " 1 ", Some(1000)), (503, "later", None)]
        {
            let error = failing(&world, |post| post.head(status, &[("retry-after", after)])).await;
            assert!(error.is_busy());
            assert_eq!((error.code(), error.retry_after_ms()), ("SERVER_BUSY", hint));
        }
    });
}

#[test]
fn answers_have_a_limit() {
    let limits = HttpLimits::default().with_answer(1000);
    for (over, framed) in [(false, false), (true, false), (false, true), (true, true)] {
        let world = world_with(setup(), Options::new().limits(limits));
        world.lab.run(async {
            let mut call = world.client.call_tool("a", &json!({}));
            begin(&mut call).await;
            let post = world.fake.next().await;
            let empty = json!({"jsonrpc": "2.0", "id": post.id(), "result": tool_result("")}).to_string();
            let fill = "x".repeat(1000 - empty.len() + usize::from(over));
            let message =
                json!({"jsonrpc": "2.0", "id": post.id(), "result": tool_result(&fill)}).to_string();
            if framed {
                post.stream();
                post.data("data: ");
            } else {
                post.head(200, &[("content-type", JSON)]);
            }
            message.as_bytes().chunks(100).for_each(|chunk| post.data(chunk));
            if framed {
                post.data("\n\n");
            } else {
                post.end();
            }
            match call.await {
                Ok(_) => assert!(!over),
                Err(error) => assert_eq!((error.code(), over), ("TOO_LARGE", true)),
            }
        });
    }
}

#[test]
fn a_head_alone_leaves_the_deadline_in_force() {
    let world = world();
    world.lab.run(async {
        let mut call = world.client.call_tool("a", &json!({})).idle_timeout(Duration::from_secs(2));
        begin(&mut call).await;
        let post = world.fake.next().await;
        post.stream();
        // Comments keep the connection alive, not the call.
        post.data(": still there\n\n");
        assert_eq!(call.await.unwrap_err().code(), "TIMED_OUT_IDLE");
        post.gone().await;
    });
}

//! Calls over HTTP: what is sent, and which answers there are.
#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use sansio_mcp_http::client::{HttpLimits, Options};
use serde_json::json;
use support::{begin, codes, settle, setup, tool_result, world, world_with};

#[test]
fn a_call_is_a_post_with_its_headers() {
    let world = world();
    world.lab.run(async {
        let mut call = world.client.call_tool("r\u{e4}t", &json!({"a": 1}));
        begin(&mut call).await;
        let post = world.fake.next().await;
        for (name, value) in [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?csOkdA==?="),
        ] {
            assert_eq!(post.header(name), Some(value), "{name}");
        }
        assert_eq!(post.message["params"]["arguments"], json!({"a": 1}));
        post.text("done");
        assert_eq!(call.await.unwrap().first_text(), Some("done"));

        let mut call = world.client.list_prompts_page(None);
        begin(&mut call).await;
        let post = world.fake.next().await;
        assert_eq!((post.header("mcp-method"), post.header("mcp-name")), (Some("prompts/list"), None));
        post.result(&json!({"prompts": []}));
        call.await.unwrap();

        let mut call = world.client.read_resource("file:///a b");
        begin(&mut call).await;
        let post = world.fake.next().await;
        assert_eq!(post.header("mcp-name"), Some("file:///a b"));
        post.result(&json!({"contents": []}));
        call.await.unwrap();

        // Described with its params in one piece.
        let spec = sansio_mcp_sdk::client::CallSpec::new("prompts/get", &json!({"name": "p"})).unwrap();
        let mut call = world.client.call(spec);
        begin(&mut call).await;
        let post = world.fake.next().await;
        assert_eq!(post.header("mcp-name"), Some("p"));
        post.result(&json!({"messages": []}));
        call.await.unwrap();
    });
}

#[test]
fn further_headers_do_not_stand_in_for_the_protocols() {
    let mut headers = http::HeaderMap::new();
    headers.insert("x-tenant", "a".parse().unwrap());
    headers.insert("mcp-method", "wrong".parse().unwrap());
    headers.append("mcp-name", "wrong".parse().unwrap());
    headers.append("mcp-name", "twice".parse().unwrap());
    headers.insert("mcp-param-region", "wrong".parse().unwrap());
    let world = world_with(setup(), Options::new().headers(headers));
    world.lab.run(async {
        let mut list = world.client.list_tools_page(None);
        begin(&mut list).await;
        let post = world.fake.next().await;
        assert_eq!((post.header("x-tenant"), post.header("mcp-method")), (Some("a"), Some("tools/list")));
        assert_eq!((post.header("mcp-name"), post.header("mcp-param-region")), (None, None));
        let mut call = world.client.call_tool("a", &json!({}));
        begin(&mut call).await;
        let post = world.fake.next().await;
        assert_eq!((post.header("x-tenant"), post.header("mcp-method")), (Some("a"), Some("tools/call")));
    });
}

#[test]
fn what_cannot_stand_in_a_header_is_not_sent() {
    let world = world();
    world.lab.run(async {
        let spec = sansio_mcp_sdk::client::CallSpec::new("tools/call", &json!({})).unwrap();
        assert_eq!(codes(world.client.call(spec).await), "UNSENDABLE");
        let spec = sansio_mcp_sdk::client::CallSpec::new("do\u{e9}", &json!({})).unwrap();
        assert_eq!(codes(world.client.call(spec).await), "UNSENDABLE");
        assert!(world.fake.try_next().is_none());
    });
}

#[test]
fn events_are_read_however_they_are_cut() {
    let message = |id: i64| json!({"jsonrpc": "2.0", "id": id, "result": tool_result("\u{2028}\u{e4}")});
    for size in [1, 2, 3, 7, 1000] {
        for end in ["\n", "\r", "\r\n"] {
            let world = world();
            world.lab.run(async {
                let mut call = world.client.call_tool("a", &json!({}));
                begin(&mut call).await;
                let post = world.fake.next().await;
                post.stream();
                let text = message(post.id()).to_string();
                let (one, two) = text.split_once(",\"result\"").unwrap();
                let lines =
                    [":hello", "event: message", "id: 1", "data:", "", "retry: 5", &format!("data: {one}")];
                let more = [&format!("data:,\"result\"{two}"), "", ""];
                let lines: Vec<&str> = lines.iter().chain(&more).copied().collect();
                let body = lines.join(end) + end;
                body.as_bytes().chunks(size).for_each(|chunk| post.data(chunk));
                let result = call.await.unwrap();
                assert_eq!(result.first_text(), Some("\u{2028}\u{e4}"), "{size} {end:?}");
            });
        }
    }
}

#[test]
fn progress_comes_before_the_answer_and_alone_to_its_call() {
    let world = world();
    world.lab.run(async {
        let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let log = std::sync::Arc::clone(&seen);
        let mut one = world
            .client
            .call_tool("a", &json!({}))
            .on_progress(move |progress| log.lock().unwrap().push(progress.progress));
        let mut two = world.client.call_tool("b", &json!({}));
        begin(&mut one).await;
        begin(&mut two).await;
        let (first, second) = (world.fake.next().await, world.fake.next().await);
        first.stream();
        first.progress(1);
        // An answer to another request, on this stream, and junk.
        first.event(&json!({"jsonrpc": "2.0", "id": second.id(), "result": tool_result("stray")}));
        first.data("data: {\n\ndata: [1]\n\n");
        first.progress(2);
        first.event_result(&tool_result("one"));
        assert_eq!(one.await.unwrap().first_text(), Some("one"));
        assert_eq!(*seen.lock().unwrap(), [1.0, 2.0]);
        second.text("two");
        assert_eq!(two.await.unwrap().first_text(), Some("two"));
    });
}

#[test]
fn giving_up_closes_the_stream_before_its_first_byte() {
    let world = world();
    world.lab.run(async {
        let mut call = world.client.call_tool("a", &json!({}));
        begin(&mut call).await;
        let post = world.fake.next().await;
        assert!(!post.is_gone());
        drop(call);
        post.gone().await;
        // The same in the middle of a stream, and by a deadline.
        let mut call = world.client.call_tool("a", &json!({})).total_timeout(Some(Duration::from_secs(3)));
        begin(&mut call).await;
        let post = world.fake.next().await;
        post.stream();
        settle().await;
        assert_eq!(codes(call.await), "TIMED_OUT_TOTAL");
        post.gone().await;
    });
    assert_eq!(world.lab.clock().elapsed(), Duration::from_secs(3));
}

#[test]
fn giving_up_before_the_request_was_taken_sends_none() {
    let world = world_with(setup(), Options::new().limits(HttpLimits::default().with_posts(1)));
    world.lab.run(async {
        let mut one = world.client.call_tool("a", &json!({}));
        begin(&mut one).await;
        let first = world.fake.next().await;
        for _ in 0..2000 {
            let mut two = world.client.call_tool("b", &json!({}));
            begin(&mut two).await;
            settle().await;
        }
        let mut three = world.client.call_tool("c", &json!({}));
        begin(&mut three).await;
        settle().await;
        assert!(world.fake.try_next().is_none(), "one at a time");
        first.text("one");
        one.await.unwrap();
        let last = world.fake.next().await;
        assert_eq!(last.header("mcp-name"), Some("c"));
        last.text("three");
        three.await.unwrap();
    });
}

#[test]
fn the_cap_counts_neither_subscriptions_nor_cancellations() {
    let world = world_with(setup(), Options::new().limits(HttpLimits::default().with_posts(2)));
    world.lab.run(async {
        let mut calls: Vec<_> = (0..4).map(|n| world.client.call_tool(&n.to_string(), &json!({}))).collect();
        for call in &mut calls {
            begin(call).await;
        }
        let (one, two) = (world.fake.next().await, world.fake.next().await);
        settle().await;
        assert!(world.fake.try_next().is_none());
        let spec = sansio_mcp_sdk::client::ListenSpec::new().tools();
        let mut listen = world.client.listen(spec);
        begin(&mut Box::pin(listen.next())).await;
        assert_eq!(world.fake.next().await.method(), "subscriptions/listen");
        // Cancelling one makes room for the next, in order.
        calls.remove(0).cancel("no");
        one.gone().await;
        let three = world.fake.next().await;
        assert_eq!(three.header("mcp-name"), Some("2"));
        two.text("two");
        assert_eq!(world.fake.next().await.header("mcp-name"), Some("3"));
    });
}

#[test]
fn a_service_that_takes_nothing_yet_wakes_all_that_wait() {
    let world = world();
    world.lab.run(async {
        world.fake.set_full(true);
        let mut one = world.client.call_tool("a", &json!({}));
        let mut two = world.client.call_tool("b", &json!({}));
        begin(&mut one).await;
        begin(&mut two).await;
        settle().await;
        world.fake.set_full(false);
        world.fake.next().await.text("one");
        world.fake.next().await.text("two");
        one.await.unwrap();
        two.await.unwrap();
    });
}

#[test]
fn many_at_once_end_in_any_order() {
    let world = world();
    world.lab.run(async {
        let mut calls: Vec<_> = (0..64).map(|n| world.client.call_tool(&n.to_string(), &json!({}))).collect();
        for call in &mut calls {
            begin(call).await;
        }
        let mut posts = Vec::new();
        for _ in 0..64 {
            posts.push(world.fake.next().await);
        }
        // One has an endless stream that is never read by its owner, and is in nobody's way.
        posts[0].stream();
        for n in 0..100 {
            posts[0].progress(n);
        }
        for post in posts.iter().skip(1).rev() {
            post.text(post.header("mcp-name").unwrap());
        }
        for (n, call) in calls.into_iter().enumerate().skip(1) {
            assert_eq!(call.await.unwrap().first_text(), Some(n.to_string().as_str()));
        }
    });
}

#[test]
fn closing_abandons_everything_and_ends_the_driver() {
    let world = world();
    world.lab.run(async {
        let mut call = world.client.call_tool("a", &json!({}));
        begin(&mut call).await;
        let post = world.fake.next().await;
        world.client.close();
        post.gone().await;
        assert_eq!(codes(call.await), "CLOSED");
        world.driver.await;
    });
}

#[test]
fn a_dropped_driver_loses_its_calls() {
    let world = world();
    world.lab.run(async {
        let mut call = world.client.call_tool("a", &json!({}));
        begin(&mut call).await;
        let post = world.fake.next().await;
        world.driver.abort();
        post.gone().await;
        assert_eq!(codes(call.await), "LOST");
    });
}

#[test]
fn a_stream_is_read_on_after_its_answer_for_a_while() {
    let world = world();
    let second = Duration::from_secs(1);
    world.lab.run(async {
        // An end that comes soon leaves the connection whole.
        for comes in [true, false] {
            let mut call = world.client.call_tool("a", &json!({}));
            begin(&mut call).await;
            let post = world.fake.next().await;
            post.stream();
            post.event_result(&tool_result("one"));
            call.await.unwrap();
            settle().await;
            assert!(!post.is_gone());
            let began = world.lab.clock().elapsed();
            if comes {
                post.end();
            }
            post.gone().await;
            let waited = world.lab.clock().elapsed().checked_sub(began).unwrap();
            assert_eq!(waited, if comes { Duration::ZERO } else { second });
        }
        // What goes on and on does not.
        let mut call = world.client.call_tool("a", &json!({}));
        begin(&mut call).await;
        let post = world.fake.next().await;
        post.stream();
        post.event_result(&tool_result("one"));
        post.data(vec![b':'; 70_000]);
        call.await.unwrap();
        settle().await;
        assert!(post.is_gone());
    });
}

//! What went wrong elsewhere, on the client's side over HTTP: the HTTP client below it is the test.
#![allow(missing_docs, clippy::unwrap_used)]

// The HTTP client of transport-http's own tests.
#[path = "../../transport-http/tests/support/mod.rs"]
mod support;

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sansio_mcp::violation::PeerViolation;
use sansio_mcp_http::client::Options;
use sansio_mcp_sdk::client::{CallError, Client, ToolCall};
use sansio_mcp_sdk::model::Implementation;
use serde_json::{Value, json};
use support::{Post, World, begin, settle, tool_result, world, world_with};

/// A call, and its request as it arrived.
async fn called(world: &World, call: ToolCall) -> (ToolCall, Post) {
    let mut call = call;
    begin(&mut call).await;
    let post = world.fake.next().await;
    (call, post)
}

fn call(world: &World) -> ToolCall {
    world.client.call_tool("t", &json!({}))
}

fn message(id: &Value, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": tool_result(text)})
}

/// The next call is answered.
async fn is_well(world: &World) {
    let (call, post) = called(world, call(world)).await;
    post.text("well");
    assert_eq!(call.await.unwrap().first_text(), Some("well"));
    assert!(!world.driver.is_done());
}

#[test]
fn edge_05_late_unknown_and_null_responses_on_a_stream_are_dropped() {
    let world = world();
    world.lab.run(async {
        let (given_up, late) = called(&world, call(&world)).await;
        drop(given_up);
        let (call, post) = called(&world, call(&world)).await;
        post.stream();
        let id = post.id();
        for stray in
            [json!(late.id()), json!(null), json!(999), json!(id.to_string()), json!(-1), json!([id])]
        {
            post.event(&message(&stray, "stray"));
        }
        settle().await;
        assert!(!post.is_gone(), "it still waits for its own");
        post.event_result(&tool_result("mine"));
        assert_eq!(call.await.unwrap().first_text(), Some("mine"));
        is_well(&world).await;
    });
}

#[test]
fn edge_09_a_client_answers_nothing_that_it_cannot_parse() {
    let world = world();
    world.lab.run(async {
        let (call, post) = called(&world, call(&world)).await;
        post.stream();
        for junk in ["{", "[]", "null", "\u{feff}x", "7", r#"{"jsonrpc":"2.0","method":7}"#] {
            post.data(format!("data: {junk}\n\n"));
        }
        post.data(b"data: \xff\xfe\n\n");
        // No server asks anything in this revision.
        post.event(&json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}));
        settle().await;
        assert!(world.fake.try_next().is_none(), "not one request");
        post.event_result(&tool_result("well"));
        assert_eq!(call.await.unwrap().first_text(), Some("well"));
        is_well(&world).await;
    });
}

#[test]
fn edge_10_the_result_type_is_looked_at_first_whatever_the_form_of_the_answer() {
    let world = world();
    world.lab.run(async {
        let finishes: [fn(&Post, &Value); 2] = [Post::result, |post, result| {
            post.stream();
            post.event_result(result);
        }];
        for finish in finishes {
            let (pending, post) = called(&world, call(&world)).await;
            let asks =
                json!({"resultType": "input_required", "content": [], "isError": false, "requestState": "s"});
            finish(&post, &asks);
            // It comes back with the state, and is not taken for an answer.
            let again = world.fake.next().await;
            assert_eq!(again.message["params"]["requestState"], "s");
            finish(&again, &json!({"resultType": "surprise", "content": []}));
            assert_eq!(pending.await.unwrap_err().code(), "BAD_PEER");
            let (plain, post) = called(&world, call(&world)).await;
            finish(&post, &tool_result("absent is complete"));
            assert_eq!(plain.await.unwrap().first_text(), Some("absent is complete"));
        }
    });
}

#[test]
fn edge_11_params_are_never_null() {
    let world = world();
    world.lab.run(async {
        let client = world.client.clone();
        let task = world.lab.spawn(async move { client.list_tools_page(None).await });
        let post = world.fake.next().await;
        let text = post.message.to_string();
        assert!(post.message["params"].is_object() && !text.contains("null"), "{text}");
        post.result(&json!({"tools": []}));
        task.await.unwrap();
        let (_call, post) = called(&world, call(&world)).await;
        assert!(!post.message.to_string().contains("null"), "{}", post.message);
    });
}

#[test]
fn edge_18_giving_up_where_nothing_is_taken_returns_at_once() {
    let world = world();
    world.fake.set_full(true);
    world.lab.run(async {
        let error = call(&world).total_timeout(Some(Duration::from_secs(3))).await.unwrap_err();
        assert_eq!((error.code(), world.lab.clock().elapsed().as_secs()), ("TIMED_OUT_TOTAL", 3));
        let mut one = call(&world);
        begin(&mut one).await;
        settle().await;
        one.cancel("enough");
        assert_eq!(one.await.unwrap_err().code(), "CANCELLED");
        let mut two = call(&world);
        begin(&mut two).await;
        settle().await;
        world.client.close();
        assert_eq!(two.await.unwrap_err().code(), "CLOSED");
        settle().await;
        assert!(world.driver.is_done(), "nothing waits for what nobody takes");
        assert_eq!(world.lab.clock().elapsed().as_secs(), 3);
        world.fake.set_full(false);
        assert!(world.fake.try_next().is_none(), "and nothing is sent later");
    });
}

#[test]
fn edge_20_timers_die_with_the_client() {
    let world = world();
    world.lab.run(async {
        let (call, post) = called(&world, call(&world).idle_timeout(Duration::from_secs(9))).await;
        assert!(world.lab.clock().next_alarm().is_some());
        post.fail("connection reset by peer");
        let error = call.await.unwrap_err();
        assert_eq!(error.code(), "LOST");
        assert!(error.to_string().contains("connection reset by peer"), "{error}");
    });
    let World { lab, client, driver, .. } = world;
    client.close();
    lab.run_until_idle();
    assert!(driver.is_done());
    assert_eq!((lab.clock().next_alarm(), lab.clock().elapsed()), (None, Duration::ZERO));
}

#[test]
fn edge_21_comments_are_no_progress_and_progress_moves_no_total() {
    let world = world();
    world.lab.run(async {
        // Comments keep a stream open, not a call.
        let idle = call(&world).idle_timeout(Duration::from_secs(7)).total_timeout(None);
        let (idle, post) = called(&world, idle).await;
        let task = world.lab.spawn(idle);
        post.stream();
        for _ in 0..3 {
            world.lab.sleep(Duration::from_secs(3)).await;
            post.data(": still here\n\n");
            post.data("data:\n\n");
        }
        assert_eq!(task.await.unwrap_err().code(), "TIMED_OUT_IDLE");
        assert_eq!(
            world.lab.clock().elapsed().as_secs(),
            9,
            "noticed at 7, looked at when the comments were over"
        );
        assert!(post.is_gone());
        let total =
            call(&world).idle_timeout(Duration::from_secs(7)).total_timeout(Some(Duration::from_secs(20)));
        let (total, post) = called(&world, total).await;
        let task = world.lab.spawn(total);
        post.stream();
        for n in 1..=6 {
            world.lab.sleep(Duration::from_secs(3)).await;
            post.progress(n);
        }
        assert!(!task.is_done() && !post.is_gone());
        assert_eq!(task.await.unwrap_err().code(), "TIMED_OUT_TOTAL");
        assert_eq!(world.lab.clock().elapsed().as_secs(), 29);
        assert!(post.is_gone(), "which is all that the server is told");
        assert!(world.fake.try_next().is_none());
    });
}

#[test]
fn edge_22_an_idle_deadline_asks_for_progress() {
    let world = world();
    world.lab.run(async {
        let (_plain, post) = called(&world, call(&world)).await;
        assert_eq!(post.message["params"]["_meta"].get("progressToken"), None);
        let idle = call(&world).meta(&json!({"com.example/mine": 7})).idle_timeout(Duration::from_secs(9));
        let (_idle, post) = called(&world, idle).await;
        let meta = &post.message["params"]["_meta"];
        assert!(meta["progressToken"].is_i64() && meta["com.example/mine"] == 7, "{meta}");
    });
}

fn seen() -> (Arc<Mutex<Vec<f64>>>, Arc<Mutex<Vec<f64>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    (Arc::clone(&seen), seen)
}

#[test]
fn edge_26_a_progress_callback_that_panics_is_contained() {
    let world = world();
    world.lab.run(async {
        let (note, seen) = seen();
        let (one, post) = called(
            &world,
            call(&world).on_progress(move |progress| {
                note.lock().unwrap().push(progress.progress);
                assert!(progress.progress > 1.5, "on purpose");
            }),
        )
        .await;
        let (two, other) = called(&world, call(&world)).await;
        post.stream();
        post.progress(1);
        settle().await;
        other.text("other");
        assert_eq!(two.await.unwrap().first_text(), Some("other"));
        post.event_result(&tool_result("done"));
        assert_eq!(one.await.unwrap().first_text(), Some("done"));
        assert_eq!(*seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner), [1.0]);
        is_well(&world).await;
    });
}

#[test]
fn edge_27_progress_after_the_response_is_dropped_without_an_error() {
    let world = world();
    world.lab.run(async {
        let (note, seen) = seen();
        let (call, post) = called(
            &world,
            call(&world).on_progress(move |progress| note.lock().unwrap().push(progress.progress)),
        )
        .await;
        post.stream();
        // All at once: progress, the response, and more progress.
        post.progress(1);
        post.progress(2);
        post.event_result(&tool_result("done"));
        post.progress(3);
        post.event_result(&tool_result("again"));
        assert_eq!(call.await.unwrap().first_text(), Some("done"));
        assert_eq!(*seen.lock().unwrap(), [1.0, 2.0], "in order and before the result");
        post.end();
        is_well(&world).await;
        assert_eq!(seen.lock().unwrap().len(), 2);
    });
}

#[test]
fn edge_34_a_round_of_nothing_or_where_none_is_allowed_ends_the_call() {
    let world = world();
    world.lab.run(async {
        for more in [json!({}), json!({"inputRequests": {}}), json!({"requestState": null})] {
            let (call, post) = called(&world, call(&world)).await;
            let mut result = json!({"resultType": "input_required", "content": []});
            more.as_object().unwrap().iter().for_each(|(key, value)| result[key] = value.clone());
            post.result(&result);
            assert_eq!(call.await, Err(CallError::BadPeer(PeerViolation::InputWithoutContent)), "{more}");
        }
        let mut list = Box::pin(world.client.list_tools_page(None).into_future());
        begin(&mut list).await;
        let post = world.fake.next().await;
        let question = json!({"k": {"method": "roots/list"}});
        post.result(&json!({"resultType": "input_required", "inputRequests": question, "requestState": "s"}));
        assert_eq!(list.await.err(), Some(CallError::BadPeer(PeerViolation::InputNotAllowed)));
        assert!(world.fake.try_next().is_none(), "nothing goes out for any of them");
        is_well(&world).await;
    });
}

/// State, headers and params of the attempts of one call.
#[test]
fn edge_35_each_attempt_is_a_post_of_its_own_with_the_same_params() {
    let setup = Client::builder(Implementation::new("t", "1"))
        .on_form(async |form| form.accept(&json!({"text": "yes"})))
        .build()
        .unwrap();
    let world = world_with(setup, Options::new());
    world.lab.run(async {
        let arguments = json!({"a": [1, {"b": "\u{e4}"}]});
        let pending = world.client.call_tool("t", &arguments).meta(&json!({"com.example/mine": 7}));
        let (pending, first) = called(&world, pending).await;
        let task = world.lab.spawn(pending);
        let form = json!({"method": "elicitation/create", "params": {"mode": "form", "message": "?",
            "requestedSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}});
        let mut post = first;
        let mut ids = Vec::new();
        for n in 0..3 {
            ids.push(post.id());
            assert_eq!(post.header("mcp-name"), Some("t"));
            assert_eq!(post.message["params"]["arguments"], arguments);
            assert_eq!(post.message["params"]["_meta"]["com.example/mine"], 7);
            let state = post.message["params"].get("requestState");
            let wanted = (n > 0).then(|| json!(format!("\u{20ac}{}", n - 1)));
            assert_eq!(state, wanted.as_ref(), "byte for byte, and on the retry alone");
            if n < 2 {
                let asks = json!({"resultType": "input_required", "inputRequests": {"text": form},
                    "requestState": format!("\u{20ac}{n}")});
                post.result(&asks);
                post = world.fake.next().await;
            }
        }
        post.text("done");
        assert_eq!(task.await.unwrap().first_text(), Some("done"));
        ids.dedup();
        assert_eq!(ids.len(), 3, "a new id each time: {ids:?}");
    });
}

#[test]
fn edge_49_a_stream_that_ends_without_its_response_fails_the_call_at_once() {
    let world = world();
    world.lab.run(async {
        let finishes: [(fn(&Post), &str); 3] = [
            (Post::end, "before the answer"),
            (|post| post.cut("reset"), "reset"),
            (
                |post| {
                    post.data("id: 7\nretry: 10\ndata:\n\n");
                    post.end();
                },
                "before the answer",
            ),
        ];
        for (finish, cause) in finishes {
            let (call, post) = called(&world, call(&world)).await;
            post.stream();
            post.data(": hello\n\n");
            finish(&post);
            let error = call.await.unwrap_err();
            assert_eq!(error.code(), "LOST");
            assert!(error.to_string().contains(cause), "{error}");
            assert!(world.fake.try_next().is_none(), "no stream of this revision is resumed");
        }
        is_well(&world).await;
    });
    assert_eq!(world.lab.clock().elapsed(), Duration::ZERO);
}

#[test]
fn edge_51_not_found_fails_its_call_and_nothing_is_tried_again() {
    let world = world();
    world.lab.run(async {
        for _ in 0..2 {
            let (call, post) = called(&world, call(&world)).await;
            post.head(404, &[("mcp-session-id", "old")]);
            assert_eq!(call.await.unwrap_err().code(), "HTTP_STATUS");
            settle().await;
            assert!(world.fake.try_next().is_none(), "no session, no loop");
        }
        let (call, post) = called(&world, call(&world)).await;
        assert_eq!(post.header("mcp-session-id"), None, "nor is one taken up");
        post.text("well");
        call.await.unwrap();
    });
}

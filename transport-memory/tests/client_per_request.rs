//! A client on a transport with a stream for each request.
#![allow(clippy::unwrap_used)]

mod support;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use sansio_mcp::client::{Abandon, Routing};
use sansio_mcp_memory::{Lab, StreamAcceptor, Task, drive, per_request};
use sansio_mcp_sdk::client::{Changed, Client, ClientSetup, InputFailure, ListenEvent, ListenSpec, ToolCall};
use serde_json::json;
use support::{Peer, answer, ask, builder, config, notification, progress, result, settle};

fn start(lab: &Lab, abandon: Abandon) -> (Client, StreamAcceptor, Task<()>) {
    start_setup(lab, config(Routing::PerRequest, abandon))
}

fn start_setup(lab: &Lab, setup: impl Into<ClientSetup>) -> (Client, StreamAcceptor, Task<()>) {
    let clock = Arc::new(lab.clock());
    let (client, connection) = Client::connect(setup, clock.clone());
    let (opener, acceptor) = per_request(1000);
    let task = lab.spawn(drive(connection, opener, clock, 100_000));
    (client, acceptor, task)
}

async fn begin(call: &mut ToolCall) {
    assert!(poll_fn(|cx| Poll::Ready(Pin::new(&mut *call).poll(cx).is_pending())).await);
}

#[test]
fn each_call_has_a_stream_of_its_own_and_they_end_in_any_order() {
    for abandon in [Abandon::CloseStream, Abandon::Notify] {
        let lab = Lab::new();
        let (client, mut acceptor, driver) = start(&lab, abandon);
        lab.run(async {
            let mut first = client.call_tool("a", &json!({"fill": "x".repeat(5000)}));
            let mut second = client.call_tool("b", &json!({}));
            begin(&mut first).await;
            begin(&mut second).await;
            let mut one = Peer::new(acceptor.accept().await.unwrap());
            let mut two = Peer::new(acceptor.accept().await.unwrap());
            assert_eq!((one.request().await, two.request().await), (1, 2));
            if abandon == Abandon::CloseStream {
                assert_eq!(two.line().await, None, "nothing more will be sent for it");
            }
            // What belongs to another stream is not taken.
            one.send(answer(2, "wrong")).await;
            two.send(answer(2, "two")).await;
            assert_eq!(second.await.unwrap().first_text(), Some("two"));
            drop(two);
            one.send(answer(1, "one")).await;
            assert_eq!(first.await.unwrap().first_text(), Some("one"));
            client.close();
            driver.await;
            assert!(acceptor.accept().await.is_none());
        });
    }
}

#[test]
fn giving_up_closes_the_stream_and_needs_no_byte_of_the_server() {
    let lab = Lab::new();
    let (client, mut acceptor, _driver) = start(&lab, Abandon::CloseStream);
    lab.run(async {
        let mut call = client.call_tool("a", &json!({}));
        begin(&mut call).await;
        let mut peer = Peer::new(acceptor.accept().await.unwrap());
        peer.request().await;
        settle().await;
        assert!(poll_fn(|cx| Poll::Ready(peer.io.writer.poll_closed(cx).is_pending())).await);
        drop(call);
        peer.io.writer.closed().await;
        assert_eq!(peer.line().await, None);
    });
    assert_eq!(lab.clock().elapsed(), Duration::ZERO);
}

#[test]
fn giving_up_is_notified_where_the_binding_says_so() {
    let lab = Lab::new();
    let (client, mut acceptor, _driver) = start(&lab, Abandon::Notify);
    lab.run(async {
        let mut call = client.call_tool("a", &json!({}));
        begin(&mut call).await;
        let mut peer = Peer::new(acceptor.accept().await.unwrap());
        peer.request().await;
        drop(call);
        assert_eq!(peer.line().await.unwrap()["params"]["requestId"], 1);
        assert_eq!(peer.line().await, None);
    });
}

#[test]
fn a_call_given_up_before_it_was_taken_opens_no_stream() {
    let lab = Lab::new();
    let (client, mut acceptor, _driver) = start(&lab, Abandon::CloseStream);
    lab.run(async {
        let mut call = client.call_tool("a", &json!({}));
        begin(&mut call).await;
        drop(call);
        settle().await;
        assert!(poll_fn(|cx| Poll::Ready(acceptor.poll_accept(cx).is_pending())).await);
    });
}

#[test]
fn a_stream_that_ends_without_an_answer_loses_its_call_alone() {
    let lab = Lab::new();
    let (client, mut acceptor, _driver) = start(&lab, Abandon::CloseStream);
    lab.run(async {
        let mut first = client.call_tool("a", &json!({}));
        let mut second = client.call_tool("b", &json!({}));
        begin(&mut first).await;
        begin(&mut second).await;
        drop(acceptor.accept().await);
        let lost = first.await.unwrap_err();
        assert_eq!(lost.to_string(), "the connection was lost: the server closed the stream");
        let mut two = Peer::new(acceptor.accept().await.unwrap());
        two.request().await;
        two.send(answer(2, "two")).await;
        assert!(second.await.is_ok());
        drop(acceptor);
        let refused = client.call_tool("c", &json!({})).await.unwrap_err();
        assert_eq!(refused.code(), "LOST");
    });
}

#[test]
fn deadlines_hold_on_streams_too() {
    let lab = Lab::new();
    let (client, mut acceptor, _driver) = start(&lab, Abandon::CloseStream);
    let second = Duration::from_secs(1);
    lab.run(async {
        let mut call = client.call_tool("a", &json!({})).idle_timeout(2 * second);
        begin(&mut call).await;
        let mut peer = Peer::new(acceptor.accept().await.unwrap());
        let id = peer.request().await;
        lab.sleep(second).await;
        peer.send(progress(id, 1)).await;
        assert_eq!(call.await.unwrap_err().code(), "TIMED_OUT_IDLE");
        peer.io.writer.closed().await;
    });
    assert_eq!(lab.clock().elapsed(), 3 * second);
}

#[test]
fn a_retry_with_answers_has_a_stream_of_its_own_and_a_failure_opens_none() {
    let lab = Lab::new();
    let setup = builder()
        .binding(Routing::PerRequest, Abandon::CloseStream)
        .on_form(async |form| {
            if &*form.key == "bad" {
                return Err(InputFailure::new("no"));
            }
            form.accept(&json!({}))
        })
        .build()
        .unwrap();
    let (client, mut acceptor, _driver) = start_setup(&lab, setup);
    let question = json!({"method": "elicitation/create", "params":
        {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}});
    lab.run(async {
        let mut call = client.call_tool("a", &json!({}));
        begin(&mut call).await;
        let mut one = Peer::new(acceptor.accept().await.unwrap());
        let id = one.request().await;
        one.send(ask(id, &json!({"k": question}), None)).await;
        settle().await;
        begin(&mut call).await;
        let mut two = Peer::new(acceptor.accept().await.unwrap());
        let retry = two.line().await.unwrap();
        assert_eq!(retry["params"]["inputResponses"], json!({"k": {"action": "accept", "content": {}}}));
        two.send(ask(2, &json!({"bad": question}), None)).await;
        assert_eq!(call.await.unwrap_err().code(), "INPUT_FAILED");
        settle().await;
        assert!(poll_fn(|cx| Poll::Ready(acceptor.poll_accept(cx).is_pending())).await);
    });
}

#[test]
fn a_subscription_has_a_stream_of_its_own_that_outlives_those_of_calls() {
    let lab = Lab::new();
    let (client, mut acceptor, _driver) = start(&lab, Abandon::CloseStream);
    let told = |method: &str, id: i64| {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
        notification(method, &json!({"_meta": meta, "notifications": {"toolsListChanged": true}}))
    };
    lab.run(async {
        let mut one = client.listen(ListenSpec::new().tools());
        let mut two = client.listen(ListenSpec::new().tools());
        for subscription in [&mut one, &mut two] {
            let mut opening = std::pin::pin!(subscription.next());
            assert!(poll_fn(|cx| Poll::Ready(opening.as_mut().poll(cx).is_pending())).await);
        }
        let mut first = Peer::new(acceptor.accept().await.unwrap());
        let mut second = Peer::new(acceptor.accept().await.unwrap());
        assert_eq!((first.request().await, second.request().await), (1, 2));
        second.send(told("subscriptions/acknowledged", 2)).await;
        first.send(told("subscriptions/acknowledged", 1) + &told("tools/list_changed", 2)).await;
        one.acknowledged().await.unwrap();
        two.acknowledged().await.unwrap();
        second.send(told("tools/list_changed", 2)).await;
        assert_eq!(two.next().await, Some(ListenEvent::Changed(Changed::Tools)));
        // Losing one is losing that one.
        drop(first);
        let Some(ListenEvent::Ended(end)) = one.next().await else { panic!() };
        assert_eq!(end.code(), "LOST");
        second.send(result(2, &json!({"resultType": "complete"}))).await;
        let Some(ListenEvent::Ended(end)) = two.next().await else { panic!() };
        assert_eq!(end.code(), "GRACEFUL");
        let mut three = client.listen(ListenSpec::new().tools());
        {
            let mut opening = std::pin::pin!(three.next());
            assert!(poll_fn(|cx| Poll::Ready(opening.as_mut().poll(cx).is_pending())).await);
        }
        let mut third = acceptor.accept().await.unwrap();
        settle().await;
        drop(three);
        third.writer.closed().await;
    });
}

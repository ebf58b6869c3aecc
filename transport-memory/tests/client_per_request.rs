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
use sansio_mcp_sdk::client::{Client, ToolCall};
use serde_json::json;
use support::{Peer, answer, config, progress, settle};

fn start(lab: &Lab, abandon: Abandon) -> (Client, StreamAcceptor, Task<()>) {
    let clock = Arc::new(lab.clock());
    let (client, connection) = Client::connect(config(Routing::PerRequest, abandon), clock.clone());
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

//! Edge case 40, first half: what a launched server may do without harming the session, and what calls are told when it goes.

use std::sync::Arc;
use std::time::Duration;

use sansio_mcp_memory::VirtualClock;
use sansio_mcp_sdk::client::CallError;
use sansio_mcp_stdio::threads::Wait;
use sansio_mcp_stdio::{Launch, Stderr, Stopped};
use serde_json::json;

use crate::driver::Driver;
use crate::on_every_driver;
use crate::support::{Post, call, rough, step, until};

on_every_driver! {
    edge_40_a_flood_of_stderr_blocks_nothing
    edge_40_junk_between_messages_costs_itself
    edge_40_a_server_that_quits_is_lost_with_its_status_and_last_words
    edge_40_an_answer_written_before_the_exit_is_delivered
    edge_40_a_server_that_reads_no_more_may_still_answer
    edge_40_a_server_that_closes_its_output_is_lost
}

fn edge_40_a_flood_of_stderr_blocks_nothing<D: Driver>() {
    let (client, running) = D::launch(Launch::new(rough("floods")).stderr_tail(2000));
    for _ in 0..2 {
        assert_eq!(call(&client, "any", &json!({})).unwrap().first_text(), Some("here"));
    }
    drop(client);
    let ended = running.join().unwrap();
    assert_eq!(ended.stopped, Stopped::ByItself);
    // One whole line of 1024 fits.
    assert_eq!(ended.stderr, "x".repeat(1024));
}

fn edge_40_junk_between_messages_costs_itself<D: Driver>() {
    let (client, running) = D::launch(rough("junk").into());
    for _ in 0..3 {
        assert_eq!(call(&client, "any", &json!({})).unwrap().first_text(), Some("here"));
    }
    drop(client);
    assert!(running.join().unwrap().status.unwrap().success());
}

/// The cause of a call that was lost.
fn lost<T: std::fmt::Debug>(result: Result<T, CallError>) -> String {
    match result {
        Err(CallError::Lost(cause)) => cause.to_string(),
        other => panic!("{other:?}"),
    }
}

fn edge_40_a_server_that_quits_is_lost_with_its_status_and_last_words<D: Driver>() {
    // It has exited before the ladder is looked at: no wait at all makes no difference.
    let (client, running) = D::launch(Launch::new(rough("quits")).exit_wait(Duration::ZERO));
    let cause = lost(call(&client, "any", &json!({})));
    assert!(cause.contains("exit status: 3") && cause.ends_with("out of paper"), "{cause}");
    let ended = running.join().unwrap();
    assert_eq!((ended.status.unwrap().code(), ended.stopped), (Some(3), Stopped::ByItself));

    let (client, running) = D::launch(Launch::new(rough("quits")).stderr(Stderr::Inherit));
    let cause = lost(call(&client, "any", &json!({})));
    assert_eq!(cause, "the server exited (exit status: 3)");
    running.join().unwrap();
}

fn edge_40_an_answer_written_before_the_exit_is_delivered<D: Driver>() {
    // The second call is written while the server exits, or after it: whichever, the first has its answer.
    for _ in 0..20 {
        let (client, running) = D::launch(rough("answers and quits").into());
        let first = client.call_tool("any", &json!({}));
        let second = client.call_tool("any", &json!({}));
        let second = std::thread::spawn(|| second.wait());
        let answers = [first.wait(), second.join().unwrap()];
        let here = |answer: &&Result<_, CallError>| answer.is_ok();
        assert_eq!(answers.iter().filter(here).count(), 1, "{answers:?}");
        let ended = running.join().unwrap();
        assert_eq!((ended.status.unwrap().code(), ended.stderr.as_str()), (Some(4), "that was all"));
    }
}

fn edge_40_a_server_that_reads_no_more_may_still_answer<D: Driver>() {
    let post = Post::new();
    let clock = VirtualClock::new();
    let (settle, exit) = (Duration::from_secs(1), Duration::from_secs(5));
    let launch = Launch::new(post.child("reads no more")).settle_wait(settle).exit_wait(exit);
    let (client, running) = D::launch(launch.clock(Arc::new(clock.clone())));
    let mut news = post.next();
    let call = || client.call_tool("any", &json!({})).total_timeout(None);
    let first = call();
    let first = std::thread::spawn(|| first.wait());
    assert_eq!(news.line(), "reads no more");
    // Its stdin is a broken pipe now, which the client notices as soon as it writes.
    let second = call();
    let second = std::thread::spawn(|| second.wait());
    until("the broken pipe is noticed", || clock.next_alarm().is_some());
    news.go();
    assert_eq!(first.join().unwrap().unwrap().first_text(), Some("here"));
    step(&clock, settle);
    let cause = lost(second.join().unwrap());
    assert!(cause.starts_with("writing to it failed"), "{cause}");
    step(&clock, exit);
    assert_eq!(running.join().unwrap().stopped, Stopped::Terminated);
    news.gone();
}

fn edge_40_a_server_that_closes_its_output_is_lost<D: Driver>() {
    let post = Post::new();
    let clock = VirtualClock::new();
    let (settle, exit) = (Duration::from_secs(1), Duration::from_secs(5));
    let launch = Launch::new(post.child("says no more")).settle_wait(settle).exit_wait(exit);
    let (client, running) = D::launch(launch.clock(Arc::new(clock.clone())));
    let news = post.next();
    let lost_call = client.call_tool("any", &json!({})).total_timeout(None);
    let lost_call = std::thread::spawn(|| lost_call.wait());
    // It may still exit, and then there is more to tell.
    step(&clock, settle);
    let cause = lost(lost_call.join().unwrap());
    assert!(cause.starts_with("the server closed its output"), "{cause}");
    assert!(client.is_closed());
    step(&clock, exit);
    let ended = running.join().unwrap();
    assert_eq!((ended.stopped, ended.stderr.as_str()), (Stopped::Terminated, "lost my voice"));
    news.gone();
}

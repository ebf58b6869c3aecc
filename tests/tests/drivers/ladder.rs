//! Edge case 40, second half: how a launched server is stopped (basic/transports/stdio, "Shutdown"). In virtual time where a
//! time decides.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use sansio_mcp_memory::VirtualClock;
use sansio_mcp_stdio::{Launch, Stopped};
use serde_json::json;

use crate::driver::Driver;
use crate::on_every_driver;
use crate::support::{Post, call, config, step, until};

const TERM: i32 = 15;
const KILL: i32 = 9;

on_every_driver! {
    edge_40_a_server_that_exits_by_itself_is_never_signalled
    edge_40_a_server_that_ignores_the_end_of_input_is_terminated
    edge_40_a_server_that_ignores_termination_is_killed
    edge_40_a_server_may_clean_up_when_it_is_terminated
    edge_40_grandchildren_die_with_a_server_that_exits
    edge_40_grandchildren_die_with_a_server_that_is_terminated
    edge_40_the_last_words_of_a_server_do_not_keep_it_from_its_end
    what_is_in_flight_is_cancelled_before_the_input_ends
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// Time stands still: no step of the ladder can be due. It ends all the same, because the server exits.
fn edge_40_a_server_that_exits_by_itself_is_never_signalled<D: Driver>() {
    let script = "trap 'echo signalled >&2; exit 9' TERM; cat >/dev/null; echo done >&2; exit 5";
    let launch = Launch::new(shell(script)).exit_wait(Duration::from_secs(1));
    let (client, running) = D::launch(launch.clock(Arc::new(VirtualClock::new())));
    drop(client);
    let ended = running.join().unwrap();
    assert_eq!((ended.status.unwrap().code(), ended.stopped), (Some(5), Stopped::ByItself));
    assert_eq!(ended.stderr, "done");
}

fn edge_40_a_server_that_ignores_the_end_of_input_is_terminated<D: Driver>() {
    let post = Post::new();
    let clock = VirtualClock::new();
    let launch = Launch::new(post.child("deaf")).exit_wait(Duration::from_secs(5));
    let (client, running) = D::launch(launch.clock(Arc::new(clock.clone())));
    let mut news = post.next();
    drop(client);
    assert_eq!(news.line(), "end of input");
    step(&clock, Duration::from_secs(5));
    let ended = running.join().unwrap();
    assert_eq!((ended.status.unwrap().signal(), ended.stopped), (Some(TERM), Stopped::Terminated));
    assert_eq!(clock.elapsed(), Duration::from_secs(5));
}

fn edge_40_a_server_that_ignores_termination_is_killed<D: Driver>() {
    let post = Post::new();
    let clock = VirtualClock::new();
    let rough = post.child("deaf");
    // A signal that is ignored stays so for what the shell becomes.
    let mut command = shell("trap '' TERM; exec \"$0\" \"$@\"");
    command.arg(rough.get_program()).args(rough.get_args());
    let launch =
        Launch::new(command).exit_wait(Duration::from_secs(5)).terminate_wait(Duration::from_secs(2));
    let (client, running) = D::launch(launch.clock(Arc::new(clock.clone())));
    let mut news = post.next();
    drop(client);
    assert_eq!(news.line(), "end of input");
    step(&clock, Duration::from_secs(5));
    step(&clock, Duration::from_secs(2));
    let ended = running.join().unwrap();
    assert_eq!((ended.status.unwrap().signal(), ended.stopped), (Some(KILL), Stopped::Killed));
    news.gone();
}

fn edge_40_a_server_may_clean_up_when_it_is_terminated<D: Driver>() {
    let post = Post::new();
    let clock = VirtualClock::new();
    let launch = Launch::new(post.child("cleans up")).exit_wait(Duration::from_secs(5));
    let (client, running) = D::launch(launch.clock(Arc::new(clock.clone())));
    let mut news = post.next();
    drop(client);
    assert_eq!([news.line(), news.line()], ["end of input", "ready"]);
    step(&clock, Duration::from_secs(5));
    let ended = running.join().unwrap();
    assert_eq!((ended.status.unwrap().code(), ended.stopped), (Some(6), Stopped::Terminated));
    assert_eq!(ended.stderr, "cleaned up");
}

fn edge_40_grandchildren_die_with_a_server_that_exits<D: Driver>() {
    let post = Post::new();
    let (client, running) = D::launch(Launch::new(post.child("parent")).clock(Arc::new(VirtualClock::new())));
    let (child, grandchild) = (post.next(), post.next());
    assert_ne!(child.id, grandchild.id);
    assert_eq!(call(&client, "any", &json!({})).unwrap().first_text(), Some("here"));
    drop(client);
    let ended = running.join().unwrap();
    assert_eq!((ended.status.unwrap().code(), ended.stopped), (Some(0), Stopped::ByItself));
    grandchild.gone();
}

fn edge_40_grandchildren_die_with_a_server_that_is_terminated<D: Driver>() {
    let post = Post::new();
    let mut parent = shell("\"$0\" \"$@\" & exec \"$0\" \"$@\"");
    let rough = post.child("deaf");
    parent.arg(rough.get_program()).args(rough.get_args());
    let (client, running) = D::launch(Launch::new(parent).exit_wait(Duration::ZERO));
    let both = [post.next(), post.next()];
    drop(client);
    let ended = running.join().unwrap();
    assert_eq!(ended.stopped, Stopped::Terminated);
    both.into_iter().for_each(crate::support::News::gone);
}

/// More than a pipe holds, after the end of the input.
fn edge_40_the_last_words_of_a_server_do_not_keep_it_from_its_end<D: Driver>() {
    let script = "cat >/dev/null; i=0; while [ $i -lt 3000 ]; do \
                  echo 0123456789012345678901234567890123456789012345678901234567890123456789; i=$((i+1)); done; exit 7";
    let (client, running) = D::launch(Launch::new(shell(script)).clock(Arc::new(VirtualClock::new())));
    drop(client);
    let ended = running.join().unwrap();
    assert_eq!((ended.status.unwrap().code(), ended.stopped), (Some(7), Stopped::ByItself));
}

fn what_is_in_flight_is_cancelled_before_the_input_ends<D: Driver>() {
    let post = Post::new();
    // It reads the request and has no answer.
    let script = "read line; echo begun >&2; exec \"$0\" \"$@\"";
    let mut command = shell(script);
    let rough = post.child("polite");
    command.arg(rough.get_program()).args(rough.get_args());
    let (client, running) = D::launch(Launch::new(command));
    let held = client.call_tool("any", &json!({}));
    let held = std::thread::spawn(|| sansio_mcp_stdio::threads::Wait::wait(held));
    let mut news = post.next();
    client.close();
    assert_eq!(news.line(), "notifications/cancelled");
    assert_eq!(news.line(), "end of input");
    assert_eq!(held.join().unwrap().unwrap_err().code(), "CLOSED");
    assert_eq!(running.join().unwrap().stopped, Stopped::ByItself);
}

/// Nobody polls it any more: the ladder is climbed all the same, and the process reaped.
#[test]
fn a_dropped_connection_leaves_neither_process_nor_zombie() {
    let post = Post::new();
    let launch = Launch::new(post.child("deaf")).exit_wait(Duration::ZERO);
    let (client, running) = sansio_mcp_stdio::smol::launch(launch, config()).unwrap();
    let child = post.next();
    let id = Pid::from_raw(child.id).unwrap();
    drop(running);
    child.gone();
    until("it is reaped", || test_kill_process(id) == Err(rustix::io::Errno::SRCH));
    assert!(client.is_closed());
}

#[test]
fn a_command_that_is_not_there_is_an_error_at_once() {
    let launched = sansio_mcp_stdio::smol::launch(Command::new("/no/such/server"), config());
    assert_eq!(launched.err().unwrap().kind(), std::io::ErrorKind::NotFound);
}

/// A group of its own: what is meant for this process's group does not reach it.
#[test]
fn a_server_leads_a_group_of_its_own() {
    let post = Post::new();
    let (client, running) = sansio_mcp_stdio::threads::launch(post.child("polite"), config()).unwrap();
    let child = Pid::from_raw(post.next().id).unwrap();
    assert_eq!(rustix::process::getpgid(Some(child)).unwrap(), child);
    drop(client);
    running.join().unwrap();
}

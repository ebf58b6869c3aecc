//! Servers as child processes, over real pipes. What is waited for is a fact: a line, an exit, everybody asleep. How long
//! anything takes is no matter here; the tests in virtual time look at that.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
#[cfg(target_os = "linux")]
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use support::{Child, call, cancelled, example, request};

const RUST: &str = r#"{"query":"rust"}"#;

fn order(id: impl Into<Value>) -> String {
    call(id, "order_book", r#"{"isbn":"9780131103627","copies":1}"#)
}

/// The text of a result.
fn text(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// By id how many answers there were, and how many of all refused as busy. Anything else is a failure.
fn tally(messages: &[Value]) -> (BTreeMap<i64, usize>, usize) {
    let mut answers = BTreeMap::new();
    let mut busy = 0;
    for message in messages {
        *answers.entry(message["id"].as_i64().unwrap()).or_insert(0) += 1;
        if message["error"].is_null() {
            assert!(text(message).contains("Rust"), "{message}");
        } else {
            assert_eq!(message["error"]["code"], 1001, "{message}");
            assert!(message["error"]["data"]["retryAfterMs"].is_u64(), "{message}");
            busy += 1;
        }
    }
    (answers, busy)
}

#[test]
fn what_was_accepted_before_the_end_of_input_is_answered() {
    let report = call("two", "monthly_report", r#"{"month":"2026-06"}"#);
    let messages = Child::start("bookshop").run(&[call(1, "find_book", RUST), report]);
    assert_eq!(messages.len(), 2, "{messages:?}");
    let by_id = |id: Value| messages.iter().find(|message| message["id"] == id).unwrap();
    assert!(text(by_id(json!(1))).contains("Rust"));
    assert_eq!(by_id(json!("two"))["result"]["structuredContent"]["month"], "2026-06");
}

#[test]
fn the_last_line_needs_no_end() {
    let mut child = Child::start("bookshop");
    child.write(call(1, "find_book", RUST).trim_end());
    assert!(text(&child.finish()[0]).contains("Rust"));
}

#[test]
fn nothing_asked_nothing_answered() {
    assert_eq!(Child::start("bookshop").run(&[]), Vec::<Value>::new());
}

#[test]
fn a_regular_file_and_the_null_device_will_do() {
    let folder = std::env::temp_dir().join(format!("sansio-mcp-stdio-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (input, output) = (folder.join("in"), folder.join("out"));
    std::fs::write(&input, call(1, "find_book", RUST) + &call(2, "find_book", RUST)).unwrap();
    let run = |stdin: Stdio, stdout: Stdio| {
        Command::new(example("bookshop")).stdin(stdin).stdout(stdout).status().unwrap()
    };
    let status = run(File::open(&input).unwrap().into(), File::create(&output).unwrap().into());
    assert!(status.success());
    let answers = std::fs::read_to_string(&output).unwrap();
    assert_eq!(answers.lines().count(), 2, "{answers}");
    assert!(run(Stdio::null(), File::create(&output).unwrap().into()).success());
    assert!(run(File::open(&input).unwrap().into(), Stdio::null()).success());
    std::fs::remove_dir_all(folder).unwrap();
}

/// Whoever wrote into a pipe with a name, or wanted to read from one, may have gone before the server looks at it.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_with_a_name_whose_other_end_has_gone_is_read_to_its_end() {
    use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_setfl, mknodat, open};

    let folder = std::env::temp_dir().join(format!("sansio-mcp-fifo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let fifo = |name: &str| {
        let path = folder.join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let reader = open(&path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
        fcntl_setfl(&reader, OFlags::empty()).unwrap();
        let writer = File::from(open(&path, OFlags::WRONLY, Mode::empty()).unwrap());
        (reader, writer)
    };
    let (reader, mut writer) = fifo("in");
    writer.write_all(call(1, "find_book", RUST).as_bytes()).unwrap();
    drop(writer);
    let messages = Child::start_with(reader.into(), Stdio::piped()).finish();
    assert!(text(&messages[0]).contains("Rust"), "{messages:?}");

    let (reader, writer) = fifo("out");
    drop(reader);
    let mut child = Child::start_with(Stdio::piped(), writer.into());
    child.write(&call(1, "find_book", RUST));
    child.ended();
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn ten_thousand_calls_at_once_get_one_answer_each() {
    let mut child = Child::start("bookshop");
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let flood: String = (0..10_000).map(|id| call(id, "find_book", RUST)).collect();
        stdin.write_all(flood.as_bytes()).unwrap();
    });
    let messages = child.finish();
    writer.join().unwrap();
    let (answers, busy) = tally(&messages);
    assert_eq!(answers.len(), 10_000);
    assert!(answers.values().all(|count| *count == 1));
    assert!(busy < 10_000);
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_does_not_read_stops_the_writer_and_costs_bounded_memory() {
    const CALLS: usize = 60_000;
    let mut child = Child::start_unread("bookshop");
    let mut stdin = child.stdin.take().unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    let (tell, told) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        tell.send(support::this_thread()).unwrap();
        for id in 0..CALLS {
            stdin.write_all(call(id, "find_book", RUST).as_bytes()).unwrap();
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    child.until_all_sleep(&told.recv().unwrap());
    let before = written.load(Ordering::Relaxed);
    assert!((1..CALLS).contains(&before), "{before} calls were taken from a client that reads nothing");
    if let Some(kib) = child.resident_kib() {
        assert!(kib < 64 * 1024, "{kib} KiB for a client that reads nothing");
    }
    child.read();
    let messages = child.finish();
    writer.join().unwrap();
    let (answers, _) = tally(&messages);
    assert_eq!(answers.len(), CALLS);
    assert!(answers.values().all(|count| *count == 1));
}

#[test]
fn stray_output_does_not_reach_the_wire() {
    let (mut child, stderr) = Child::start_with_stderr("stray_output");
    for id in 0..3 {
        child.write(&call(id, "shout", "{}"));
    }
    // Whatever is on stdout was read as a message.
    let messages = child.finish();
    assert_eq!(messages.len(), 3);
    assert!(messages.iter().all(|message| text(message) == "shouted"), "{messages:?}");
    let stderr = stderr.join().unwrap();
    let times = |what: &str| stderr.matches(what).count();
    assert_eq!((times("stray line"), times("{\"stray\":\"bytes\"}")), (3, 3), "{stderr}");
    assert_eq!(times("stray farewell"), 1, "{stderr}");
    if cfg!(unix) {
        assert_eq!(times("stray child"), 3, "{stderr}");
    }
}

#[test]
fn bad_lines_cost_themselves_and_nothing_else() {
    let mut child = Child::start("bookshop");
    child.write(&call(1, "find_book", RUST));
    child.write("{junk\n");
    child.write(&call(2, "find_book", RUST));
    child.write_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":\"caf\xe9\xff\",\"method\":\"tools/list\"}\n");
    child.write(&call(3, "find_book", RUST));
    child.write(&call("long", "find_book", &json!({"query": "x".repeat(5 << 20)}).to_string()));
    child.write(&call(4, "find_book", RUST).replace('\n', "\r\n"));
    child.write("\n \r\n");
    child.write(&format!("[{}]\n", request(5, "tools/list", &json!({})).trim_end()));
    child.write(&call(6, "find_book", RUST));
    let messages = child.finish();
    let answered = |id: i64| messages.iter().filter(|message| message["id"] == id).count();
    assert_eq!([1, 2, 3, 4, 6].map(answered), [1; 5], "{messages:?}");
    let errors: Vec<&Value> = messages.iter().filter(|message| !message["error"].is_null()).collect();
    assert!(errors.iter().all(|error| error.get("id").is_none()), "{errors:?}");
    let codes: Vec<i64> = errors.iter().map(|error| error["error"]["code"].as_i64().unwrap()).collect();
    assert_eq!(codes, [-32700, -32700, -32700, -32600], "{errors:?}");
    assert_eq!(messages.len(), 9, "{messages:?}");
}

#[test]
fn a_cancelled_call_gets_no_answer_and_its_clean_up_runs() {
    let mut child = Child::start("bookshop");
    child.write(&cancelled("never asked"));
    child.write(&order("order"));
    child.until("hold_status", |now| now["held"] == 1);
    child.write(&cancelled("order"));
    child.until("hold_status", |now| now["held"] == 0 && now["released"] == 1);
    child.write(&cancelled("order"));
    assert_eq!(child.finish(), Vec::<Value>::new());
}

#[test]
fn a_blocking_call_is_cancelled_between_two_books() {
    let mut child = Child::start("bookshop");
    child.write(&call("rebuild", "rebuild_index", r#"{"books":1000000}"#));
    child.until("index_status", |now| now["running"] == true && now["indexed"] != 0);
    child.write(&cancelled("rebuild"));
    let stopped = child.until("index_status", |now| now["running"] == false);
    assert!(stopped["indexed"].as_u64().unwrap() < 1_000_000, "{stopped}");
    assert_eq!(child.finish(), Vec::<Value>::new());
}

#[test]
fn the_end_of_input_stops_what_still_runs() {
    let mut child = Child::start("bookshop");
    child.write(&order("order"));
    child.write(&call("rebuild", "rebuild_index", r#"{"books":1000000}"#));
    child.until("hold_status", |now| now["held"] == 1);
    child.until("index_status", |now| now["running"] == true);
    assert_eq!(child.finish(), Vec::<Value>::new());
}

/// Its answers fill the pipe and more; the end of input must still be the end.
#[test]
fn a_reader_that_never_reads_does_not_keep_a_server_alive() {
    let mut child = Child::start_unread("bookshop");
    for id in 0..1000 {
        child.write(&call(id, "find_book", RUST));
    }
    child.stdin = None;
    child.ended();
}

#[test]
fn a_client_that_goes_away_takes_the_server_with_it() {
    let mut child = Child::start_unread("bookshop");
    child.hang_up();
    child.write(&call(1, "find_book", RUST));
    child.ended();
}

#[test]
fn the_tour_is_the_same_every_time() {
    let tour = || Command::new(example("tour")).output().unwrap();
    let (first, second) = (tour(), tour());
    let text = String::from_utf8(first.stdout).unwrap();
    assert!(first.status.success(), "{text}");
    assert_eq!(text, String::from_utf8(second.stdout).unwrap());
    assert!(!text.contains('\u{1b}'), "colours where nobody sees them");
}

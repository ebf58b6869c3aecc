//! Which form an answer has: the three modes, and what a client takes.

use sansio_mcp_http::server::{Config, Mode};
use sansio_mcp_sdk::server::Change;
use serde_json::json;

use crate::rig::{Rig, listen, message, post, s, tool, with};
use crate::shop::shop;

fn rig(mode: Mode) -> Rig {
    Rig::new(shop().0, Config::new().mode(mode))
}

const MODES: [Mode; 3] = [Mode::Auto, Mode::JsonOnly, Mode::SseOnly];

#[test]
fn what_each_mode_and_client_make_of_an_answer() {
    let (both, json, events) =
        ("application/json, text/event-stream", "application/json", "text/event-stream");
    for (mode, accept, form) in [
        (Mode::Auto, both, json),
        (Mode::Auto, json, json),
        (Mode::Auto, events, events),
        (Mode::JsonOnly, both, json),
        (Mode::JsonOnly, json, json),
        (Mode::SseOnly, both, events),
        (Mode::SseOnly, json, json),
        (Mode::SseOnly, events, events),
    ] {
        let rig = rig(mode);
        let sent = rig.send(with(post(&tool("add")), "accept", Some(accept)));
        assert_eq!((sent.status(), &*sent.header("content-type")), (200, form), "{mode:?} {accept}");
        let message = if form == json { sent.json() } else { sent.events().remove(0) };
        assert_eq!(message["result"]["content"][0]["text"], "two", "{mode:?} {accept}");
        assert!(sent.ended());
        rig.assert_free();
    }
    let refused = rig(Mode::JsonOnly).send(with(post(&tool("add")), "accept", Some(events)));
    assert_eq!((refused.status(), refused.code()), (406, -32600));
}

#[test]
fn notifications_begin_a_stream_and_what_is_ready_together_is_one_part() {
    for mode in [Mode::Auto, Mode::SseOnly] {
        let rig = rig(mode);
        let sent = rig.post(&tool("ten"));
        let events = sent.events();
        assert_eq!((sent.status(), events.len(), sent.ended()), (200, 11, true));
        assert_eq!(events[9]["params"]["progress"], 10);
        assert_eq!(events[10]["result"]["content"][0]["text"], "done");
        assert_eq!(sent.parts().len(), 1, "one part, so one flush");
        rig.assert_free();
    }
}

#[test]
fn events_come_when_they_are_there() {
    let rig = rig(Mode::Auto);
    let sent = rig.post(&tool("slow"));
    assert_eq!(sent.status(), 0);
    // It has been a stream since the commit time; in between there are comments.
    rig.lab.advance(s(60));
    assert_eq!(sent.events().len(), 1);
    rig.lab.advance(s(60));
    assert_eq!((sent.events().len(), sent.ended()), (2, false));
    rig.lab.advance(s(60));
    assert_eq!((sent.events().len(), sent.ended()), (4, true));
    rig.assert_free();
}

#[test]
fn a_stream_begins_after_fifteen_seconds_without_an_answer() {
    for mode in MODES {
        let rig = rig(mode);
        let sent = rig.post(&tool("late"));
        rig.lab.advance(std::time::Duration::from_millis(14_999));
        assert_eq!(sent.status(), 0, "{mode:?}");
        rig.lab.advance(s(1));
        if mode == Mode::JsonOnly {
            assert_eq!(sent.status(), 0);
            rig.lab.advance(s(5));
            assert_eq!((sent.status(), &sent.json()["result"]["content"][0]["text"]), (200, &json!("late")));
        } else {
            assert_eq!((sent.status(), sent.events().len(), sent.ended()), (200, 0, false), "{mode:?}");
            rig.lab.advance(s(5));
            assert_eq!(sent.events()[0]["result"]["content"][0]["text"], "late");
            assert!(sent.ended());
        }
        rig.assert_free();
    }
}

#[test]
fn a_quiet_stream_gets_comments() {
    let rig = rig(Mode::Auto);
    let sent = rig.post(&listen());
    assert_eq!(sent.parts().len(), 1);
    rig.lab.advance(s(14));
    assert_eq!(sent.parts().len(), 1);
    rig.lab.advance(s(1));
    assert_eq!((sent.parts().len(), &sent.parts()[1][..]), (2, &b":\n\n"[..]));
    // An event counts as well.
    rig.lab.advance(s(10));
    rig.engine.publish(Change::Tools).unwrap();
    rig.lab.advance(s(14));
    assert_eq!((sent.parts().len(), sent.events().len()), (3, 2));
    rig.lab.advance(s(1));
    assert_eq!(sent.parts().len(), 4);
    rig.lab.advance(s(3600));
    assert_eq!(sent.parts().len(), 4 + 240);
    sent.disconnect();
    rig.assert_free();
}

#[test]
fn p8_without_a_stream_there_is_no_progress_and_handlers_are_told() {
    let body = message(
        "tools/call",
        json!({"name": "facts", "arguments": {}}),
        &json!({"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"}),
    );
    let told = |rig: &Rig, accept: &str| {
        let sent = rig.send(with(post(&body), "accept", Some(accept)));
        let last =
            if sent.header("content-type") == "application/json" { vec![sent.json()] } else { sent.events() };
        rig.assert_free();
        (last.len(), last.last().unwrap()["result"]["content"][0]["text"].as_str().unwrap().to_owned())
    };
    let both = "application/json, text/event-stream";
    assert_eq!(told(&rig(Mode::Auto), both), (3, "false true Queued Queued".to_owned()));
    assert_eq!(told(&rig(Mode::SseOnly), both), (3, "false true Queued Queued".to_owned()));
    let silent = (1, "true false NotAsked NotAsked".to_owned());
    assert_eq!(told(&rig(Mode::JsonOnly), both), silent);
    assert_eq!(told(&rig(Mode::Auto), "application/json"), silent);
    assert_eq!(told(&rig(Mode::SseOnly), "application/json"), silent);
}

#[test]
fn a_listen_is_a_stream_and_refused_where_there_is_none() {
    for mode in [Mode::Auto, Mode::SseOnly] {
        let rig = rig(mode);
        let sent = rig.post(&listen());
        let first = &sent.events()[0];
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{mode:?}");
        sent.disconnect();
        rig.assert_free();
    }
    for (mode, accept) in [(Mode::JsonOnly, "*/*"), (Mode::Auto, "application/json")] {
        let rig = rig(mode);
        let sent = rig.send(with(post(&listen()), "accept", Some(accept)));
        assert_eq!((sent.status(), sent.code()), (404, -32601));
        rig.assert_free();
    }
}

#[test]
fn edge_55_events_raised_while_the_acknowledgement_is_written_follow_it() {
    let rig = rig(Mode::Auto);
    // Its client reads nothing yet.
    let sent = rig.send_as(post(&listen()), false);
    rig.engine.publish(Change::Tools).unwrap();
    sent.read();
    let methods: Vec<_> =
        sent.events().iter().map(|event| event["method"].as_str().unwrap().to_owned()).collect();
    assert_eq!(methods, ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]);
    sent.disconnect();
    rig.assert_free();
}

#[test]
fn edge_56_equal_events_that_a_slow_subscriber_has_not_read_are_one() {
    let rig = rig(Mode::Auto);
    let sent = rig.send_as(post(&listen()), false);
    for _ in 0..1000 {
        rig.engine.publish(Change::Tools).unwrap();
    }
    sent.read();
    assert_eq!(sent.events().len(), 2);
    sent.disconnect();
    rig.assert_free();
}

#[test]
fn edge_52_a_stream_that_nobody_reads_blocks_no_other() {
    let rig = rig(Mode::SseOnly);
    let unread = rig.send_as(post(&tool("slow")), false);
    for _ in 0..3 {
        assert_eq!(rig.post(&tool("add")).events().len(), 1);
    }
    unread.disconnect();
    rig.assert_free();
}

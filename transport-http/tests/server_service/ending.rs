//! Disconnects in every phase, and the end of the server.

use http::Request;
use sansio_mcp_http::server::{Config, Mode};

use crate::rig::{Parts, Rig, listen, post, s, tool};
use crate::shop::shop;

#[test]
fn a_disconnect_cancels_in_every_phase_and_mode_and_clean_up_runs() {
    for mode in [Mode::Auto, Mode::JsonOnly, Mode::SseOnly] {
        // (how long it has run, and whether its handler was entered)
        for (name, after, started) in [
            ("slow", s(0), 1),
            ("slow", s(16), 1),
            ("slow", s(61), 1),
            ("slow", s(170), 1),
            ("sleep", s(600), 1),
        ] {
            let (server, log) = shop();
            let rig = Rig::new(server, Config::new().mode(mode));
            let sent = rig.post(&tool(name));
            rig.lab.advance(after);
            assert_eq!((log.started.get(), log.cleaned.get()), (started, 0), "{mode:?} {name} {after:?}");
            sent.disconnect();
            assert_eq!(
                (rig.engine.facts().running, log.cleaned.get()),
                (0, started),
                "{mode:?} {name} {after:?}"
            );
            rig.assert_free();
        }
    }
}

#[test]
fn a_disconnect_while_the_request_is_read_or_waits_starts_nothing() {
    let (server, log) = shop();
    let rig = Rig::new(server.slots(1), Config::new());
    let parts = Parts::default();
    parts.push("{\"json");
    let sent = rig.send(Request::from_parts(post(&tool("sleep")).into_parts().0, parts));
    assert_eq!(rig.service.facts().streams, 1);
    sent.disconnect();
    assert_eq!(rig.service.facts().streams, 0);
    let running = rig.post(&tool("sleep"));
    let waiting = rig.post(&tool("sleep"));
    assert_eq!((rig.engine.facts().running, rig.engine.facts().waiting), (1, 1));
    waiting.disconnect();
    assert_eq!((rig.engine.facts().running, rig.engine.facts().waiting), (1, 0));
    running.disconnect();
    assert_eq!((log.started.get(), log.cleaned.get()), (1, 1));
    rig.assert_free();
}

#[test]
fn a_client_that_goes_after_its_answer_was_given_cancels_nothing() {
    for mode in [Mode::Auto, Mode::JsonOnly, Mode::SseOnly] {
        let (server, log) = shop();
        let rig = Rig::new(server, Config::new().mode(mode));
        let sent = rig.send_as(post(&tool("tidy")), false);
        assert_eq!((sent.status(), log.cleaned.get()), (200, 0));
        sent.disconnect();
        assert_eq!(rig.service.facts().streams, 0);
        rig.lab.advance(s(1));
        assert_eq!(log.cleaned.get(), 1, "clean-up takes its time");
        rig.assert_free();
    }
}

#[test]
fn edge_57_shutdown_answers_listens_and_lets_calls_finish() {
    let (server, log) = shop();
    let rig = Rig::new(server, Config::new());
    let listening = rig.post(&listen());
    let late = rig.post(&tool("late"));
    rig.lab.advance(s(10));
    rig.service.close();
    let idle = rig.lab.spawn(rig.service.idle());
    rig.lab.run_until_idle();
    let events = listening.events();
    assert_eq!((events.len(), listening.ended()), (2, true));
    assert_eq!(events[1]["id"], 1);
    assert!(events[1]["result"].is_object());
    // New ones are refused.
    for call in [tool("add"), listen()] {
        let refused = rig.post(&call);
        assert_eq!((refused.status(), refused.code(), &*refused.header("retry-after")), (503, 1001, "1"));
    }
    assert!(!idle.is_done());
    rig.lab.advance(s(10));
    assert_eq!(late.events()[0]["result"]["content"][0]["text"], "late");
    assert!(idle.is_done());
    rig.engine.shutdown();
    rig.lab.run_until_idle();
    assert!(rig.driver.is_done());
    assert_eq!(log.started.get(), 0);
    rig.assert_free();
}

#[test]
fn idle_is_at_once_where_nothing_is_served() {
    let rig = Rig::new(shop().0, Config::new());
    let idle = rig.lab.spawn(rig.service.idle());
    rig.lab.run_until_idle();
    assert!(!idle.is_done(), "it is not closing");
    rig.service.close();
    rig.lab.run_until_idle();
    assert!(idle.is_done());
}

#[test]
fn a_shutdown_of_the_engine_ends_every_answer() {
    for mode in [Mode::Auto, Mode::JsonOnly, Mode::SseOnly] {
        let (server, log) = shop();
        let rig = Rig::new(server, Config::new().mode(mode));
        let undecided = rig.post(&tool("sleep"));
        let streaming = rig.post(&tool("slow"));
        rig.lab.advance(s(14));
        let young = rig.post(&tool("sleep"));
        rig.lab.advance(s(2));
        rig.engine.shutdown();
        rig.lab.run_until_idle();
        // Nothing was said yet: the status says it. A stream just ends.
        assert_eq!((young.status(), young.code()), (503, 1001), "{mode:?}");
        for sent in [undecided, streaming] {
            assert!(sent.ended());
            if mode == Mode::JsonOnly {
                assert_eq!(sent.status(), 503);
            } else {
                assert_eq!((sent.status(), sent.events().len()), (200, 0));
            }
        }
        assert_eq!(log.cleaned.get(), 3);
        assert_eq!(rig.post(&tool("add")).status(), 503);
        rig.assert_free();
    }
}

//! What is served.

use sansio_mcp_http::server::Config;
use serde_json::json;

use crate::rig::{call, listen, on_each, post};

#[test]
fn calls_one_after_the_other_and_all_at_once() {
    on_each(|serve| {
        let rig = serve(Config::new());
        let mut wire = rig.connect();
        for n in 0..3 {
            wire.send(&post(&call("echo", &json!({"n": n}))));
            let (head, body) = wire.response();
            assert!(
                head.starts_with("HTTP/1.1 200") && body.contains(&format!("\\\"n\\\":{n}")),
                "{head} {body}"
            );
        }
        let all: Vec<u8> = (0..50).flat_map(|n| post(&call("echo", &json!({"n": n})))).collect();
        wire.send(&all);
        for n in 0..50 {
            let (_, body) = wire.response();
            assert!(body.contains(&format!("\\\"n\\\":{n}}}")), "{n}: {body}");
        }
        // An answer does not wait for the rest of the next request.
        let next = post(&call("add", &json!({})));
        wire.send(&[&next[..], &next[..50]].concat());
        assert!(wire.response().1.contains("two"));
        wire.send(&next[50..]);
        assert!(wire.response().1.contains("two"));
        // A long one, in pieces and out again.
        let text = "é".repeat(600_000);
        wire.send(&post(&call("echo", &json!({"text": text}))));
        assert!(wire.response().1.contains(&text));
        drop(wire);
        rig.assert_free();
    });
}

#[test]
fn other_paths_are_not_found() {
    on_each(|serve| {
        let rig = serve(Config::new());
        let mut wire = rig.connect();
        wire.send(
            b"GET /other HTTP/1.1\r\nhost: localhost\r\n\r\nGET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n",
        );
        assert!(wire.response().0.starts_with("HTTP/1.1 404"));
        assert!(wire.response().0.starts_with("HTTP/1.1 405"));
        drop(wire);
        rig.assert_free();
    });
}

#[test]
fn events_arrive_while_the_stream_is_open() {
    on_each(|serve| {
        let rig = serve(Config::new());
        let mut wire = rig.connect();
        wire.send(&post(&listen()));
        assert!(wire.until("acknowledged").contains("text/event-stream"));
        for _ in 0..3 {
            rig.handle.engine().publish(sansio_mcp_sdk::server::Change::Tools).unwrap();
            wire.until("list_changed");
        }
        drop(wire);
        rig.assert_free();
    });
}

#[test]
fn who_has_a_token_is_known_and_a_wrong_one_is_refused() {
    on_each(|serve| {
        let rig = serve(Config::new());
        let call = String::from_utf8(post(&call("who", &json!({})))).unwrap();
        let mut wire = rig.connect();
        for (token, status, said) in [("good", "200", "alice"), ("stolen", "401", "")] {
            let request = call.replacen("\r\n", &format!("\r\nauthorization: Bearer {token}\r\n"), 1);
            wire.send(request.as_bytes());
            let (head, body) = wire.response();
            assert!(head.starts_with(&format!("HTTP/1.1 {status}")) && body.contains(said), "{head} {body}");
            assert_eq!(head.contains("www-authenticate: Bearer"), status == "401");
        }
        drop(wire);
        rig.assert_free();
    });
}

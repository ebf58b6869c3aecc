//! How long an engine takes to end, and what it still holds when it does.
#![allow(missing_docs)]

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use sansio_mcp::time::{Mono, Now};
use sansio_mcp_memory::{Lab, VirtualClock};
use sansio_mcp_sdk::Engine;
use sansio_mcp_sdk::clock::{Clock, Sleep};
use sansio_mcp_sdk::lines::Port;
use sansio_mcp_sdk::server::{Context, NoArguments, Server};
use sansio_mcp_tests::{Trace, tool};
use serde_json::json;

/// Sleeps half of what it is asked for, as one that rounds or is shared may do.
struct Early(VirtualClock);

impl Clock for Early {
    fn now(&self) -> Now {
        self.0.now()
    }

    fn sleep_until(&self, at: Mono) -> Sleep {
        let now = self.0.now().mono;
        let half = (at.since(now) / 2).max(Duration::from_millis(1));
        self.0.sleep_until((now + half).min(at))
    }
}

#[test]
fn clean_up_has_its_whole_time_whenever_sleeps_wake() {
    let (lab, trace) = (Lab::new(), Trace::new());
    let (clock, notes) = (lab.clock(), trace.clone());
    let server = Server::shared("t", "1").tool("t", move |_: NoArguments, cx: Context| {
        let (clock, trace) = (clock.clone(), notes.clone());
        cx.on_exit(pending());
        cx.on_exit(async move {
            clock.sleep(Duration::from_secs(4)).await;
            trace.note("cleaned up");
        });
        async { Ok("done") }
    });
    let (engine, driver) = Engine::new(server.build().unwrap(), Arc::new(Early(lab.clock())));
    lab.spawn(driver);
    let connection = engine.connect();
    let line = format!("{}\n", tool(1, "t", &json!({})));
    connection.feed(&mut sansio_mcp::wire::Framer::new(10_000), line.as_bytes());
    lab.advance(Duration::from_millis(8_999));
    assert_eq!((trace.all(), engine.facts().running), (vec!["cleaned up".into()], 1));
    lab.advance(Duration::from_millis(1));
    assert_eq!(engine.facts().running, 0, "4 s, and the bound of 5 s for the one that never ends");
}

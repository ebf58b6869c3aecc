//! The hub by itself.
#![allow(clippy::unwrap_used)]

use std::task::Waker;
use std::time::Duration;

use sansio_mcp::admission::{AdmissionLimits, DEFAULT_QUEUE};
use sansio_mcp::id::RequestId;
use sansio_mcp::limits::ServerLimits;
use sansio_mcp::model::{Implementation, ServerCapabilities, ToolsCapability};
use sansio_mcp::time::Mono;

use super::super::connection::Framing;
use super::*;
use crate::clock::Sleep;

struct Still;

impl Clock for Still {
    fn now(&self) -> Now {
        Now::default()
    }

    fn sleep_until(&self, _: Mono) -> Sleep {
        Box::pin(std::future::pending())
    }

    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(std::future::pending())
    }
}

fn hub(limits: AdmissionLimits) -> Hub {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(ToolsCapability::default());
    let config = ServerConfig::builder(Implementation::new("t", "1"), capabilities).build().unwrap();
    Hub::new(
        Admission::new(limits).unwrap(),
        Arc::new(config),
        Sealing::default(),
        Bounds::default(),
        false,
        Arc::default(),
        Arc::new(Still),
    )
}

fn request(id: u32, rest: &str) -> Vec<u8> {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}{meta}}}}}"#).into_bytes()
}

/// Notes whether it is asked while the hub is locked, and answers as a filter that depends on the moment does.
struct Looks {
    hub: Arc<Hub>,
    told: Arc<AtomicU64>,
    locked: Arc<AtomicU64>,
}

impl Looks {
    fn look(&self) {
        self.locked.fetch_add(u64::from(self.hub.state.try_lock().is_err()), Ordering::Relaxed);
    }
}

impl tracing::Subscriber for Looks {
    fn register_callsite(&self, _: &'static tracing::Metadata<'static>) -> tracing::subscriber::Interest {
        self.look();
        tracing::subscriber::Interest::sometimes()
    }
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        self.look();
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        self.look();
        self.told.fetch_add(
            u64::from(event.metadata().target() == super::super::watch::TARGET),
            Ordering::Relaxed,
        );
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// A subscriber is somebody else's code: one that asks the engine for its facts must not find it locked.
#[test]
fn no_subscriber_is_asked_anything_under_the_lock() {
    let hub = Arc::new(hub(AdmissionLimits::new(1, DEFAULT_QUEUE)));
    let (told, locked) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let looks = Looks { hub: Arc::clone(&hub), told: Arc::clone(&told), locked: Arc::clone(&locked) };
    tracing::subscriber::with_default(looks, || {
        let config = Arc::clone(&hub.config);
        let id = hub.lock().open(&config, Purpose::AllRequests, Terms::default(), Now::default());
        for call in [1, 2] {
            let line = request(call, r#""method":"tools/call","params":{"name":"t","#);
            hub.lock().with_server(id, |server| server.handle_message(Now::default(), &line));
        }
        assert_eq!(hub.facts().waiting, 1);
    });
    assert_eq!(told.load(Ordering::Relaxed), 1, "that the second one queues");
    assert_eq!(locked.load(Ordering::Relaxed), 0);
}

/// A transport asks again and again while the driver is slow, and the driver comes round before the
/// transport has left a waker: the list of those to be told must not grow.
#[test]
fn a_channel_stands_once_in_the_list_of_paused_ones() {
    let hub = hub(AdmissionLimits::default());
    let config = Arc::clone(&hub.config);
    let mut state = hub.lock();
    let id = state.open(&config, Purpose::AllRequests, Terms::default(), Now::default());
    let line = request(1, r#""method":"tools/list","params":{"#);
    for _ in 0..100 {
        state.with_server(id, |server| server.handle_message(Now::default(), &line));
        assert!(!state.wants_input(id), "the driver has not begun what was read");
        state.inbox.clear();
        state.resume();
        assert!(state.wants_input(id));
        state.with_server(id, |server| {
            server.handle_message(
                Now::default(),
                br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            );
        });
        assert!(state.paused.len() <= 1, "{}", state.paused.len());
    }
    state.fill(id, &mut Vec::new(), 1, Framing::LINES, Waker::noop());
}

/// A peer that reads nothing asks for lists and takes that back, again and again: what waits for its reader is what it
/// still wants.
#[test]
fn what_waits_for_a_reader_does_not_outnumber_what_is_in_flight() {
    let hub = hub(AdmissionLimits::default());
    let mut limits = ServerLimits::default();
    limits.congested_bytes = 1;
    let capabilities = ServerCapabilities::default().with_tools(ToolsCapability::default());
    let config = ServerConfig::builder(Implementation::new("t", "1"), capabilities).limits(limits);
    let config = Arc::new(config.build().unwrap());
    let mut state = hub.lock();
    let id = state.open(&config, Purpose::AllRequests, Terms::default(), Now::default());
    let say = |state: &mut HubState, line: &[u8]| {
        state.with_server(id, |server| server.handle_message(Now::default(), line));
        assert!(state.take_dispatch().is_none(), "its reader is behind");
    };
    say(&mut state, &request(1, r#""method":"server/discover","params":{"#));
    say(&mut state, &request(2, r#""method":"tools/list","params":{"#));
    for _ in 0..1000 {
        say(&mut state, &request(3, r#""method":"tools/list","params":{"#));
        say(&mut state, br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#);
    }
    let parked = state.channel(id).unwrap().parked.len();
    assert!(parked <= 16, "{parked}");
    state.fill(id, &mut Vec::new(), usize::MAX, Framing::LINES, Waker::noop());
    let assigned = state.take_dispatch().unwrap();
    assert_eq!(assigned.request.wire_id(), &RequestId::Int(2));
    assert!(state.take_dispatch().is_none());
}

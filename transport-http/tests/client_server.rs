//! The client and the server of this crate with each other, in one process and on virtual time.
#![cfg(all(feature = "client", feature = "server"))]
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sansio_mcp_http::client::{Endpoint, Era, Options, connect_on, detect};
use sansio_mcp_http::server::{Config, Limits, Mode, Service};
use sansio_mcp_memory::{Lab, Task};
use sansio_mcp_sdk::client::{
    Client, ClientSetup, ListenEnd, ListenEvent, ListenSpec, RelistenEvent, RelistenLimits,
};
use sansio_mcp_sdk::model::{Implementation, RawJson};
use sansio_mcp_sdk::protocol::subscription::Change;
use sansio_mcp_sdk::server::{Asked, Builder, Context, Form, NoArguments, RawArguments, Server, ToolSpec};
use sansio_mcp_sdk::{Engine, Local};
use serde_json::json;

type Cx = Context<Rc<Cell<usize>>, Local>;

struct World {
    lab: Lab,
    engine: Engine,
    service: Service,
    client: Client,
    cancelled: Rc<Cell<usize>>,
    driver: Task<()>,
}

fn region() -> ToolSpec {
    let schema =
        json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    ToolSpec::new("region").input_schema(RawJson::from_value(&schema).unwrap())
}

fn server(cancelled: Rc<Cell<usize>>) -> Builder<Local, Rc<Cell<usize>>> {
    Server::local("shop", "1")
        .list_changes()
        .state(cancelled)
        .tool("add", async |_: NoArguments, _: Cx| Ok("two"))
        .tool("count", async |_: NoArguments, cx: Cx| {
            for percent in 1..=5 {
                cx.sleep(Duration::from_secs(1)).await;
                cx.progress(f64::from(percent), "so far");
            }
            Ok("counted")
        })
        .tool("sleep", async |_: NoArguments, cx: Cx| {
            let (cancelled, signal) = (Rc::clone(cx.state()), cx.cancelled());
            drop(cx.on_exit(async move {
                drop(signal);
                cancelled.set(cancelled.get() + 1);
            }));
            cx.sleep(Duration::from_hours(1)).await;
            Ok("awake")
        })
        .tool("change", async |_: NoArguments, cx: Cx| {
            cx.publish(Change::Tools)?;
            Ok("changed")
        })
        .tool("ask", async |_: NoArguments, cx: Cx| {
            let sure = cx.ask("sure", Form::new("Sure?"))?;
            let really = cx.ask("really", Form::new("Really?"))?;
            let yes = matches!(sure, Asked::Accepted(_)) && matches!(really, Asked::Accepted(_));
            Ok(format!("{yes}"))
        })
        .tool(region(), async |arguments: RawArguments, _: Cx| Ok(arguments.0.get().to_owned()))
}

fn setup() -> ClientSetup {
    let builder = Client::builder(Implementation::new("test", "1"));
    builder.on_form(async |form| form.accept(&json!({}))).build().unwrap()
}

fn world(config: Config) -> World {
    let lab = Lab::new();
    let cancelled = Rc::new(Cell::new(0));
    let (engine, driver) = Engine::new(server(Rc::clone(&cancelled)).build().unwrap(), Arc::new(lab.clock()));
    lab.spawn(driver);
    let service = Service::new(engine.clone(), config).unwrap();
    let endpoint: Endpoint = "http://localhost/mcp".parse().unwrap();
    let (client, driver) =
        connect_on(service.clone(), endpoint, setup(), Options::new(), Arc::new(lab.clock()));
    let driver = lab.spawn(driver);
    World { lab, engine, service, client, cancelled, driver }
}

impl World {
    /// Nothing is left once the client has closed.
    fn close(self) {
        self.client.close();
        self.lab.run(self.driver);
        self.lab.run_until_idle();
        let facts = self.service.facts();
        assert_eq!((facts.streams, facts.held_bytes), (0, 0));
        assert_eq!((self.engine.facts().running, self.engine.facts().subscriptions), (0, 0));
    }
}

fn modes() -> [Config; 3] {
    [Mode::Auto, Mode::SseOnly, Mode::JsonOnly].map(|mode| Config::new().mode(mode))
}

#[test]
fn calls_with_progress_in_every_mode() {
    for config in modes() {
        let json_only = config.mode == Mode::JsonOnly;
        let world = world(config);
        world.lab.run(async {
            assert_eq!(world.client.call_tool("add", &json!({})).await.unwrap().first_text(), Some("two"));
            let seen = Arc::new(Mutex::new(Vec::new()));
            let log = Arc::clone(&seen);
            let call = world.client.call_tool("count", &json!({}));
            let call = call.on_progress(move |progress| log.lock().unwrap().push(progress.progress));
            assert_eq!(call.await.unwrap().first_text(), Some("counted"));
            let wanted: &[f64] = if json_only { &[] } else { &[1.0, 2.0, 3.0, 4.0, 5.0] };
            assert_eq!(*seen.lock().unwrap(), wanted);
            let Ok(Era::Modern(found)) = detect(&world.client).await else { panic!() };
            assert_eq!(found.supported_versions, ["2026-07-28"]);
        });
        world.close();
    }
}

#[test]
fn giving_up_reaches_the_handler_in_every_mode() {
    for config in modes() {
        let world = world(config);
        for seconds in [1, 20] {
            let before = world.cancelled.get();
            let error = world.lab.run(async {
                let call = world.client.call_tool("sleep", &json!({}));
                call.total_timeout(Some(Duration::from_secs(seconds))).await.unwrap_err()
            });
            assert_eq!(error.code(), "TIMED_OUT_TOTAL");
            world.lab.run_until_idle();
            assert_eq!(world.cancelled.get(), before + 1);
        }
        world.close();
    }
}

#[test]
fn questions_are_answered_in_every_mode() {
    for config in modes() {
        let world = world(config);
        let result = world.lab.run(world.client.call_tool("ask", &json!({}))).unwrap();
        assert_eq!(result.first_text(), Some("true"));
        world.close();
    }
}

#[test]
fn headers_are_learned_from_a_refusal() {
    let world = world(Config::new());
    world.lab.run(async {
        let arguments = json!({"region": "\u{e4} "});
        for _ in 0..2 {
            let result = world.client.call_tool("region", &arguments).await.unwrap();
            assert_eq!(result.first_text(), Some(arguments.to_string().as_str()));
        }
        let error = world.client.call_tool("none", &json!({})).await.unwrap_err();
        assert_eq!(error.code(), "PEER_ERROR");
    });
    world.close();
}

#[test]
fn subscriptions_hear_end_and_are_opened_again() {
    let world = world(Config::new());
    world.lab.run(async {
        let mut listen = world.client.listen(ListenSpec::new().tools());
        listen.acknowledged().await.unwrap();
        world.client.call_tool("change", &json!({})).await.unwrap();
        assert!(matches!(listen.next().await, Some(ListenEvent::Changed(_))));
        let mut relisten = world.client.relisten(ListenSpec::new().tools(), RelistenLimits::default());
        assert!(matches!(relisten.next().await, Some(RelistenEvent::Opened(_))));
        world.engine.end_subscriptions();
        assert_eq!(listen.next().await, Some(ListenEvent::Ended(ListenEnd::Graceful)));
        assert!(matches!(relisten.next().await, Some(RelistenEvent::Interrupted(ListenEnd::Graceful))));
        // This engine takes none any more.
        assert!(matches!(relisten.next().await, Some(RelistenEvent::Ended(ListenEnd::Refused(_)))));
    });
    world.close();
    let world = self::world(Config::new());
    world.lab.run(async {
        let mut listen = world.client.listen(ListenSpec::new().tools());
        listen.acknowledged().await.unwrap();
        assert_eq!(world.engine.facts().subscriptions, 1);
    });
    world.lab.run_until_idle();
    assert_eq!(world.engine.facts().subscriptions, 0, "dropping it cancels it");
    world.close();
    // Where the server cannot stream there are none.
    let world = self::world(Config::new().mode(Mode::JsonOnly));
    world.lab.run(async {
        let mut listen = world.client.listen(ListenSpec::new().tools());
        let Some(ListenEvent::Ended(ListenEnd::Refused(error))) = listen.next().await else { panic!() };
        assert_eq!(error.code(), "PEER_ERROR");
    });
    world.close();
}

#[test]
fn a_server_that_is_full_or_closing_is_busy() {
    let mut limits = Limits::default();
    limits.streams = 1;
    let world = world(Config::new().limits(limits));
    world.lab.run(async {
        let mut first = world.client.call_tool("sleep", &json!({}));
        let pending = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(std::pin::Pin::new(&mut first).poll(cx).is_pending())
        });
        assert!(pending.await);
        let error = world.client.call_tool("add", &json!({})).await.unwrap_err();
        assert!(error.is_busy(), "{error}");
        assert_eq!(error.retry_after_ms(), Some(1000));
        drop(first);
        world.client.call_tool("add", &json!({})).await.unwrap();
        world.service.close();
        let error = world.client.call_tool("add", &json!({})).await.unwrap_err();
        assert!(error.is_busy(), "{error}");
    });
    world.close();
}

#[test]
fn many_calls_at_once() {
    for config in modes() {
        let world = world(config);
        world.lab.run(async {
            let calls: Vec<_> = (0..300)
                .map(|n| {
                    let name = if n % 3 == 0 { "count" } else { "add" };
                    world.lab.spawn(world.client.call_tool(name, &json!({})))
                })
                .collect();
            for (n, call) in calls.into_iter().enumerate() {
                let wanted = if n % 3 == 0 { "counted" } else { "two" };
                assert_eq!(call.await.unwrap().first_text(), Some(wanted));
            }
        });
        world.close();
    }
}

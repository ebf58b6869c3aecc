//! The drawings of basic/transports/streamable-http: heads and bodies between client and server, byte for byte.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context as Polling, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body as _, Frame};
use sansio_mcp_http::client::{Options, RequestBody, connect_on};
use sansio_mcp_http::server::{Body, BodyError, Config, Service};
use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::client::{Changed, Client, ClientBuilder, ListenEvent, ListenSpec};
use sansio_mcp_sdk::server::{Builder, Change, Context, NoArguments, ResourceSpec};
use sansio_mcp_sdk::{Engine, Local};
use sansio_mcp_tests::form;
use serde_json::{Value, json};

use crate::stage::{client, compare, kind, server};

pub(crate) const PLAYED: &[&str] = &["http_responses", "http_more_input", "http_subscription"];

#[test]
fn http_responses() {
    play(
        "http_responses",
        &[
            "> tools/call",
            "< 200 application/json",
            "< result",
            "> tools/call",
            "< 200 text/event-stream",
            "< notifications/progress",
            "< notifications/progress",
            "< result",
            "> notifications/cancelled",
            "< 202",
        ],
        async |stage| {
            let server = server().tool("tide", async |_: NoArguments, _: Context<(), Local>| Ok("low")).tool(
                "load",
                async |_: NoArguments, cx: Context<(), Local>| {
                    for percent in [50.0, 100.0] {
                        cx.sleep(Duration::from_secs(2)).await;
                        cx.progress(percent, "on board");
                    }
                    Ok("loaded")
                },
            );
            let (client, _, tap) = stage.connect(server, client());
            assert_eq!(client.call_tool("tide", &json!({})).await.unwrap().first_text(), Some("low"));
            let load = client.call_tool("load", &json!({})).on_progress(|_| ());
            assert_eq!(load.await.unwrap().first_text(), Some("loaded"));
            // A client of this revision has none to post; whoever does is told that it came.
            let note =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
            tap.post_by_hand(&note).await;
        },
    );
}

#[test]
fn http_more_input() {
    play(
        "http_more_input",
        &[
            "> tools/call",
            "< 200 application/json",
            "< input_required",
            "> tools/call",
            "< 200 application/json",
            "< result",
        ],
        async |stage| {
            let server = server().tool("book", async |_: NoArguments, cx: Context<(), Local>| {
                let name = cx.ask("name", form("In whose name?"))?.accepted();
                Ok(format!("booked for {}", name.map(|all| sansio_mcp_tests::text(&all)).unwrap_or_default()))
            });
            let desk = client().on_form(async |form| form.accept(&json!({"text": "Ada"})));
            let (client, ..) = stage.connect(server, desk);
            assert_eq!(
                client.call_tool("book", &json!({})).await.unwrap().first_text(),
                Some("booked for Ada")
            );
        },
    );
}

#[test]
fn http_subscription() {
    play(
        "http_subscription",
        &[
            "> subscriptions/listen",
            "< 200 text/event-stream",
            "< notifications/subscriptions/acknowledged",
            "< notifications/tools/list_changed",
            "< notifications/resources/updated",
        ],
        async |stage| {
            let server = server()
                .resource(ResourceSpec::new("pier://1", "pier one"), async |_: Context<(), Local>| Ok("open"))
                .tool("tide", async |_: NoArguments, _: Context<(), Local>| Ok("low"))
                .list_changes()
                .resource_updates();
            let (client, engine, _) = stage.connect(server, client());
            let mut listens = client.listen(ListenSpec::new().tools().resource("pier://1"));
            listens.acknowledged().await.unwrap();
            for (change, heard) in [
                (Change::Tools, Changed::Tools),
                (Change::Resource("pier://1"), Changed::Resource("pier://1".into())),
            ] {
                stage.lab.sleep(Duration::from_secs(1)).await;
                engine.publish(change).unwrap();
                assert_eq!(listens.next().await, Some(ListenEvent::Changed(heard)));
            }
            // Nothing is said but that the stream is open.
            stage.lab.sleep(Duration::from_secs(40)).await;
            drop(listens);
            stage.lab.sleep(Duration::from_secs(1)).await;
        },
    );
}

/// Plays a flow; `drawn` is what goes over the wire, kind by kind.
fn play(name: &str, drawn: &[&str], flow: impl AsyncFn(Stage)) {
    let stage = Stage { lab: Lab::new(), trace: Rc::default() };
    stage.lab.run(flow(stage.clone()));
    stage.lab.run_until_idle();
    let trace = stage.trace.borrow();
    assert_eq!(trace.kinds, drawn, "{name}: what is drawn, and what went over the wire");
    compare(name, &trace.text);
}

/// What went over the wire so far.
#[derive(Default)]
struct Trace {
    text: String,
    kinds: Vec<String>,
}

#[derive(Clone)]
struct Stage {
    lab: Lab,
    trace: Rc<RefCell<Trace>>,
}

impl Stage {
    fn connect(&self, server: Builder<Local>, client: ClientBuilder) -> (Client, Engine, Tap) {
        let clock = Arc::new(self.lab.clock());
        let (engine, driver) = Engine::new(server.build().unwrap(), clock.clone());
        self.lab.spawn(driver);
        let tap = Tap { stage: self.clone(), service: Service::new(engine.clone(), Config::new()).unwrap() };
        let endpoint = "http://localhost:3000/mcp".parse().unwrap();
        let setup = client.build().unwrap();
        let (client, driver) = connect_on(tap.clone(), endpoint, setup, Options::new(), clock);
        self.lab.spawn(driver);
        (client, engine, tap)
    }

    fn say(&self, who: &str, what: impl std::fmt::Display) {
        let line = format!("{} ms {who}: {what}\n", self.lab.clock().elapsed().as_millis());
        self.trace.borrow_mut().text.push_str(&line);
    }

    fn kind(&self, kind: String) {
        self.trace.borrow_mut().kinds.push(kind);
    }

    fn head(&self, who: &str, first: impl std::fmt::Display, headers: &HeaderMap) {
        self.say(who, first);
        for (name, value) in headers {
            self.say(who, format_args!("{name}: {}", value.to_str().unwrap()));
        }
    }
}

/// The service, overheard.
#[derive(Clone)]
struct Tap {
    stage: Stage,
    service: Service,
}

impl Tap {
    async fn post_by_hand(&self, message: &Value) {
        let request = Request::post("http://localhost:3000/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(message.to_string())
            .unwrap();
        let response = self.pass(request, message.to_string()).await;
        assert!(response.body().body.is_end_stream());
    }

    fn pass<B: http_body::Body + 'static>(
        &self,
        request: Request<B>,
        message: String,
    ) -> impl Future<Output = Response<TapBody>> + use<B> {
        let (stage, service) = (self.stage.clone(), self.service.clone());
        async move {
            let target = format!("{} {}", request.method(), request.uri());
            stage.head("client", target, request.headers());
            stage.say("client", &message);
            stage.kind(kind(true, &message));
            let Ok(response) = service.call_shared(request).await;
            let (head, body) = response.into_parts();
            stage.head("server", head.status.as_u16(), &head.headers);
            let form = head.headers.get("content-type").map(|form| form.to_str().unwrap());
            stage.kind(
                format!("< {} {}", head.status.as_u16(), form.unwrap_or_default()).trim_end().to_owned(),
            );
            Response::from_parts(head, TapBody { stage, body, over: false })
        }
    }
}

impl tower_service::Service<Request<RequestBody>> for Tap {
    type Response = Response<TapBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<TapBody>, Infallible>>>>;

    fn poll_ready(&mut self, _: &mut Polling<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let message = String::from_utf8(request.body().message().to_vec()).unwrap();
        let response = self.pass(request, message);
        Box::pin(async move { Ok(response.await) })
    }
}

struct TapBody {
    stage: Stage,
    body: Body,
    over: bool,
}

impl http_body::Body for TapBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Polling<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let text = String::from_utf8(frame.data_ref().unwrap().to_vec()).unwrap();
            for line in text.lines() {
                self.stage.say("server", line);
                let message = line.strip_prefix("data: ").unwrap_or(line);
                if message.starts_with('{') {
                    self.stage.kind(kind(false, message));
                }
            }
        }
        self.over |= matches!(polled, Poll::Ready(None));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

impl Drop for TapBody {
    fn drop(&mut self) {
        if !self.over && !self.body.is_end_stream() {
            self.stage.say("client", "(closes the stream)");
        }
    }
}

//! Tracing spans: whatever runs for a request runs in its span, on whatever thread, and
//! the span carries the trace context of the request's `_meta`. The recorder is the process's, for the pool's threads.
#![allow(missing_docs)]

use std::sync::{Mutex, OnceLock, PoisonError};

use sansio_mcp_memory::Lab;
use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server, generator};
use sansio_mcp_tests::{Bench, Gate, Log, Target, request};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context as LayerContext, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// One line of a handler: what it says, and the `traceparent` of each span around it, innermost first.
type Line = (String, Vec<Option<String>>);

static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());

struct Recorder;

/// What a span of the library was made with.
struct Parent(Option<String>);

struct Value(&'static str, Option<String>);

impl Visit for Value {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == self.0 {
            self.1 = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: LayerContext<'_, S>) {
        let mut parent = Value("traceparent", None);
        attributes.record(&mut parent);
        cx.span(id).unwrap().extensions_mut().insert(Parent(parent.1));
    }

    fn on_event(&self, event: &Event<'_>, cx: LayerContext<'_, S>) {
        if event.metadata().target() != "handler" {
            return;
        }
        let mut says = Value("says", None);
        event.record(&mut says);
        let spans = cx.event_scope(event).into_iter().flatten().filter(|span| span.name() == "mcp.request");
        let parents = spans.map(|span| span.extensions().get::<Parent>().unwrap().0.clone()).collect();
        LINES.lock().unwrap_or_else(PoisonError::into_inner).push((says.1.unwrap(), parents));
    }
}

fn say(cx: &Context, what: &str) {
    tracing::info!(target: "handler", says = format!("{what} of {}", cx.request().wire_id()));
}

fn server(gate: &Gate) -> Server<Shared> {
    let (function, stream) = (gate.clone(), gate.clone());
    Server::shared("t", "1")
        .layer(|cx, next| async move {
            say(&cx, "layer");
            next.run().await
        })
        .context(|cx| async move {
            say(&cx, "hook");
            Ok(())
        })
        .tool("function", move |_: NoArguments, cx: Context| {
            let gate = function.clone();
            let late = cx.clone();
            cx.on_exit(async move { say(&late, "clean-up") });
            async move {
                gate.passed().await;
                say(&cx, "body");
                Ok("done")
            }
        })
        .stream_tool("stream", move |_: NoArguments, cx: Context| {
            let gate = stream.clone();
            generator(async move |y| {
                y.progress(1.0, "x").await;
                gate.passed().await;
                say(&cx, "body");
                Ok::<_, Exit>("done")
            })
        })
        .blocking_tool("blocking", |_: NoArguments, cx: Context| {
            say(&cx, "body");
            Ok("done")
        })
        .build()
        .unwrap()
}

fn on(target: Target) {
    static RECORDING: OnceLock<()> = OnceLock::new();
    RECORDING.get_or_init(|| {
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Recorder)).unwrap();
    });
    let lab = Lab::new();
    let bench = Bench { lab: lab.clone(), target, log: Log::default(), capacity: 64 * 1024 };
    lab.run(a_requests_spans_carry_its_trace_context(bench));
}

async fn a_requests_spans_carry_its_trace_context(b: Bench) {
    let gate = Gate::new();
    let mut wire = b.serve(server(&gate)).wire();
    let pool = b.lab.external();
    // Each target has ids of its own: the tests of this binary may share one process.
    let id = |name: &str| format!("{:?} {name}", b.target);
    let parent = |name: &str| format!("00-0af7651916cd43dd8448eb211c80319c-{:016x}-01", name.len());
    let names = ["function", "stream", "blocking"];
    for name in names {
        let meta = json!({"traceparent": parent(name)});
        wire.send(&request(id(name), "tools/call", json!({"name": name}), &meta)).await;
    }
    wire.send(&request(id("none"), "tools/call", json!({"name": "function"}), &json!({}))).await;
    wire.answer(id("blocking")).await;
    // Until here all were begun, one beside the other.
    gate.open();
    for name in ["function", "stream", "none"] {
        wire.answer(id(name)).await;
    }
    drop(pool);
    b.settle().await;
    let mine = format!(" of \"{:?} ", b.target);
    let mut lines: Vec<Line> = LINES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    lines.retain(|(says, _)| says.contains(&mine));
    lines.sort();
    let mut want = Vec::new();
    for name in names {
        for part in ["layer", "hook", "body"] {
            want.push((format!("{part} of \"{}\"", id(name)), vec![Some(parent(name))]));
        }
    }
    for part in ["layer", "hook", "body", "clean-up"] {
        want.push((format!("{part} of \"{}\"", id("none")), vec![None]));
    }
    want.push((format!("clean-up of \"{}\"", id("function")), vec![Some(parent("function"))]));
    want.sort();
    assert_eq!(lines, want);
}

mod a_requests_spans_carry_its_trace_context {
    use sansio_mcp_tests::Target;

    #[test]
    fn memory() {
        super::on(Target::Memory);
    }

    #[test]
    fn per_request() {
        super::on(Target::PerRequest);
    }

    #[test]
    fn stdio() {
        super::on(Target::Stdio);
    }
}

//! A server with a tool for everything that is tested.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::model::RawJson;
use sansio_mcp_sdk::server::{
    Builder, Catalog, Context, LoggingLevel, NoArguments, RawArguments, Report, Server, ToolSpec,
};

/// What the tools have done.
#[derive(Clone, Default)]
pub struct Log {
    pub started: Rc<Cell<usize>>,
    pub cleaned: Rc<Cell<usize>>,
}

type Cx = Context<Log, Local>;

pub fn shop() -> (Builder<Local, Log>, Log) {
    let log = Log::default();
    let server = Server::local("shop", "1").logging().list_changes().state(log.clone());
    let server = server
        .tool("add", async |_: NoArguments, _: Cx| Ok("two"))
        .tool("sleep", async |_: NoArguments, cx: Cx| {
            begun(&cx);
            cx.sleep(Duration::from_hours(1)).await;
            Ok("awake")
        })
        .tool("ten", async |_: NoArguments, cx: Cx| {
            for percent in 1..=10 {
                assert_eq!(cx.progress(f64::from(percent), "so far"), Report::Queued);
            }
            Ok("done")
        })
        .tool("slow", async |_: NoArguments, cx: Cx| {
            begun(&cx);
            for minute in 1..=3 {
                cx.sleep(Duration::from_mins(1)).await;
                cx.progress(f64::from(minute), "minutes");
            }
            Ok("done")
        })
        .tool("tidy", async |_: NoArguments, cx: Cx| {
            let (cleaned, clean) = (Rc::clone(&cx.state().cleaned), cx.sleep(Duration::from_secs(1)));
            drop(cx.on_exit(async move {
                clean.await;
                cleaned.set(cleaned.get() + 1);
            }));
            Ok("done")
        })
        .tool("late", async |_: NoArguments, cx: Cx| {
            cx.sleep(Duration::from_secs(20)).await;
            Ok("late")
        })
        .tool("facts", async |_: NoArguments, cx: Cx| {
            let report = cx.progress(50.0, "half");
            let logged = cx.log(LoggingLevel::Error, "trouble");
            Ok(format!("{} {} {report:?} {logged:?}", cx.carries_answer_only(), cx.wants_progress()))
        })
        .tool("who", async |_: NoArguments, cx: Cx| {
            let head = cx.get::<http::request::Parts>().expect("the head is there");
            let agent = head.headers.get("user-agent").map(|agent| agent.to_str().unwrap().to_owned());
            let badge = head.extensions.get::<Badge>().map(|badge| badge.0);
            let caller = cx.caller().map(|caller| String::from_utf8(caller.to_vec()).unwrap());
            Ok(format!("{caller:?} {agent:?} {badge:?} {}", head.uri))
        })
        .tool(region(), async |_: RawArguments, _: Cx| Ok("there"));
    (server, log)
}

/// Something that a middleware leaves.
#[derive(Clone)]
pub struct Badge(pub u32);

/// A tool whose argument stands in a header.
pub fn region() -> ToolSpec {
    annotated("region", "Region")
}

pub fn annotated(name: &str, header: &str) -> ToolSpec {
    let schema = serde_json::json!({
        "type": "object", "properties": {"region": {"type": "string", "x-mcp-header": header}}
    });
    ToolSpec::new(name).input_schema(RawJson::from_value(&schema).unwrap())
}

pub fn dynamic() -> (Builder<Local, Log>, Catalog<Log, Local>) {
    let catalog = Catalog::new();
    let (server, _) = shop();
    let server = server.catalog(&catalog);
    (server, catalog)
}

fn begun(cx: &Cx) {
    let log = cx.state();
    log.started.set(log.started.get() + 1);
    let cleaned = Rc::clone(&log.cleaned);
    drop(cx.on_exit(async move { cleaned.set(cleaned.get() + 1) }));
}

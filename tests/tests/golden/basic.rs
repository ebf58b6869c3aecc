//! The pages under `basic` and `architecture`: patterns, progress, cancellation, versions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::client::{CallError, Changed, ListenEvent, ListenSpec};
use sansio_mcp_sdk::model::{CreateMessageResult, LoggingLevel};
use sansio_mcp_sdk::server::{
    Change, Context, CreateMessageParams, NoArguments, Progress, RawArguments, ResourceSpec,
};
use serde_json::json;

use crate::flows;
use crate::stage::{Stage, client, server};

flows! {
    request_and_response: ["> tools/call" "< notifications/progress" "< result"];
    progress: [
        "> tools/call" "< notifications/progress" "< notifications/progress" "< notifications/progress" "< result"
    ];
    cancellation: ["> tools/call" "> notifications/cancelled"];
    cancellation_too_late: ["> tools/call" "< result" "> notifications/cancelled"];
    version_supported: ["> tools/call" "< result"];
    version_unsupported: ["> tools/call" "< error -32022" "> tools/call" "< result" "> tools/call" "< result"];
    version_hopeless: ["> tools/call" "< error -32022"];
    discover: ["> server/discover" "< result"];
    architecture: [
        "> server/discover" "< result"
        "> tools/call" "< input_required" "> tools/call" "< result"
        "> subscriptions/listen" "< notifications/subscriptions/acknowledged"
        "< notifications/resources/updated" "< notifications/tools/list_changed"
    ];
    logging: ["> tools/call" "< notifications/message" "< notifications/message" "< result" "> tools/call" "< result"];
}

async fn request_and_response(stage: Stage) {
    let server = server().tool("weather", async |_: RawArguments, cx: Context<(), Local>| {
        cx.progress(50.0, "asking the pier");
        Ok("Calm, 14 degrees.")
    });
    let client = stage.connect(server, client());
    let weather =
        client.call_tool("weather", &json!({"harbour": "Nesvik"})).on_progress(|_| ()).await.unwrap();
    assert_eq!(weather.first_text(), Some("Calm, 14 degrees."));
}

async fn progress(stage: Stage) {
    let server = server().tool("load", async |_: NoArguments, cx: Context<(), Local>| {
        for lorries in [3.0, 7.0, 12.0] {
            cx.sleep(Duration::from_secs(40)).await;
            cx.report(&Progress::new(lorries).of(12.0).message("lorries on board"));
        }
        Ok("loaded")
    });
    let client = stage.connect(server, client());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let by_call = Arc::clone(&seen);
    let call = client.call_tool("load", &json!({})).on_progress(move |progress| {
        by_call.lock().unwrap().push((progress.progress, progress.total));
    });
    assert_eq!(call.await.unwrap().first_text(), Some("loaded"));
    assert_eq!(*seen.lock().unwrap(), [(3.0, Some(12.0)), (7.0, Some(12.0)), (12.0, Some(12.0))]);
}

async fn cancellation(stage: Stage) {
    let by_server = stage.clone();
    let server = server().tool("sound_horn", move |_: NoArguments, cx: Context<(), Local>| {
        let stage = by_server.clone();
        async move {
            stage.note("server", "sounds the horn");
            let at_end = stage.clone();
            cx.on_exit(async move { at_end.note("server", "has stopped") });
            cx.sleep(Duration::from_mins(5)).await;
            Ok("done")
        }
    });
    let (client, engine) = stage.connect_both(server, client());
    let mut call = client.call_tool("sound_horn", &json!({}));
    let stop = call.canceller();
    let call = stage.lab().spawn(call);
    stage.lab().sleep(Duration::from_secs(2)).await;
    stop.cancel("the neighbours complain");
    assert_eq!(call.await, Err(CallError::Cancelled));
    stage.settle().await;
    assert_eq!(engine.facts().running, 0);
}

/// What the client gives up has been answered meanwhile: the answer comes, and is nobody's any more.
async fn cancellation_too_late(stage: Stage) {
    let stage = stage.slow_client(Duration::from_millis(300));
    let server = server().tool("sound_horn", async |_: NoArguments, cx: Context<(), Local>| {
        cx.sleep(Duration::from_millis(500)).await;
        Ok("done")
    });
    let client = stage.connect(server, client());
    let mut call = client.call_tool("sound_horn", &json!({}));
    let stop = call.canceller();
    let call = stage.lab().spawn(call);
    stage.lab().sleep(Duration::from_millis(700)).await;
    stop.cancel("the neighbours complain");
    assert_eq!(call.await, Err(CallError::Cancelled));
    stage.lab().sleep(Duration::from_secs(1)).await;
    assert_eq!(client.open_calls(), 0);
}

fn timetable() -> sansio_mcp_sdk::server::Builder<Local> {
    server().tool("next", async |_: NoArguments, _: Context<(), Local>| Ok("at noon"))
}

async fn version_supported(stage: Stage) {
    let client = stage.connect(timetable(), client());
    assert!(client.call_tool("next", &json!({})).await.is_ok());
}

/// A client that would rather speak a later revision; once it knows better it does not try again.
async fn version_unsupported(stage: Stage) {
    let client = stage.connect(timetable(), client().versions(["2031-01-01", "2026-07-28"]));
    assert!(client.call_tool("next", &json!({})).await.is_ok());
    assert!(client.call_tool("next", &json!({})).await.is_ok());
}

async fn version_hopeless(stage: Stage) {
    let client = stage.connect(timetable(), client().versions(["2031-01-01"]));
    let refused = client.call_tool("next", &json!({})).await.unwrap_err();
    assert!(matches!(&refused, CallError::Peer(error) if error.code == -32022), "{refused:?}");
}

async fn discover(stage: Stage) {
    let server = timetable()
        .instructions("Times are local.")
        .resource(ResourceSpec::new("pier://1", "pier one"), async |_: Context<(), Local>| Ok("open"))
        .list_changes()
        .resource_updates()
        .logging();
    let client = stage.connect(server, client());
    let known = client.discover().await.unwrap();
    assert_eq!(known.supported_versions, ["2026-07-28"]);
    assert_eq!(known.instructions.as_deref(), Some("Times are local."));
}

async fn architecture(stage: Stage) {
    let host = stage.person("host");
    let client = client().on_sampling(move |_| {
        let host = host.clone();
        async move {
            host.does(Duration::from_secs(4), "lets its model answer").await;
            Ok(CreateMessageResult::new("small-model", "Fog until ten.".to_owned())
                .with_stop_reason("endTurn"))
        }
    });
    let server = server()
        .tool("forecast", async |_: NoArguments, cx: Context<(), Local>| {
            let said =
                cx.ask("forecast", CreateMessageParams::ask("Put this in a sentence: fog, 10h", 50))?;
            Ok(said.content.first_text().unwrap_or_default().to_owned())
        })
        .resource(ResourceSpec::new("pier://1", "pier one"), async |_: Context<(), Local>| Ok("open"))
        .list_changes()
        .resource_updates();
    let (client, engine) = stage.connect_both(server, client);
    let known = client.discover().await.unwrap();
    assert!(known.capabilities.tools.is_some());
    stage.note("host", "wants to know the weather");
    let said = client.call_tool("forecast", &json!({})).await.unwrap();
    assert_eq!(said.first_text(), Some("Fog until ten."));
    let mut changes = client.listen(ListenSpec::new().tools().resource("pier://1"));
    assert_eq!(changes.acknowledged().await.unwrap().declined, []);
    engine.publish(Change::Resource("pier://1")).unwrap();
    assert_eq!(changes.next().await, Some(ListenEvent::Changed(Changed::Resource("pier://1".into()))));
    stage.lab().sleep(Duration::from_mins(1)).await;
    engine.publish(Change::Tools).unwrap();
    assert_eq!(changes.next().await, Some(ListenEvent::Changed(Changed::Tools)));
    stage.keep(changes);
}

/// Messages of the level that a request asks for and graver ones; none for a request that asks for none.
async fn logging(stage: Stage) {
    let server = server().logging().tool("moor", async |_: NoArguments, cx: Context<(), Local>| {
        cx.log(LoggingLevel::Debug, "line one");
        cx.log_as(Some("winch"), LoggingLevel::Warning, &json!({"strain": 0.93}));
        cx.log(LoggingLevel::Info, "moored");
        Ok("moored")
    });
    let client = stage.connect(server, client());
    let heard = Arc::new(AtomicUsize::new(0));
    let by_call = Arc::clone(&heard);
    let call = client.call_tool("moor", &json!({})).on_log(LoggingLevel::Info, move |_| {
        by_call.fetch_add(1, Ordering::Relaxed);
    });
    call.await.unwrap();
    assert_eq!(heard.load(Ordering::Relaxed), 2);
    client.call_tool("moor", &json!({})).await.unwrap();
}

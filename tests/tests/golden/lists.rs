//! The pages under `server` that list something and let it be used.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::client::{Cache, Changed, ListenEvent, ListenSpec};
use sansio_mcp_sdk::model::{CacheScope, Members, PromptReference};
use sansio_mcp_sdk::server::{
    Answer, Builder, Change, CompleteParams, Context, Exit, Json, NoArguments, PromptArgument, PromptSpec,
    RawArguments, Reply, ResourceSpec, TemplateSpec, ToolSpec,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::flows;
use crate::stage::{Stage, client, server};

flows! {
    tools: [
        "> tools/list" "< result" "> tools/call" "< result"
        "> subscriptions/listen" "< notifications/subscriptions/acknowledged" "< notifications/tools/list_changed"
        "> tools/list" "< result"
    ];
    prompts: [
        "> prompts/list" "< result" "> prompts/get" "< result"
        "> subscriptions/listen" "< notifications/subscriptions/acknowledged" "< notifications/prompts/list_changed"
        "> prompts/list" "< result"
    ];
    resources: [
        "> resources/list" "< result" "> resources/templates/list" "< result" "> resources/read" "< result"
        "> subscriptions/listen" "< notifications/subscriptions/acknowledged" "< notifications/resources/updated"
        "> resources/read" "< result"
    ];
    pagination: [
        "> tools/list" "< result" "> tools/list" "< result" "> tools/list" "< result"
        "> prompts/list" "< result" "> prompts/list" "< result"
    ];
    completion: ["> completion/complete" "< result" "> completion/complete" "< result"];
    caching: [
        "> subscriptions/listen" "< notifications/subscriptions/acknowledged"
        "> tools/list" "< result" "> tools/list" "< result"
        "< notifications/tools/list_changed" "> tools/list" "< result"
    ];
}

/// What is only there once it is summer.
#[derive(Clone, Default)]
struct Summer(Rc<Cell<bool>>);

fn seasonal() -> (Summer, Builder<Local, Summer>) {
    let summer = Summer::default();
    let builder = server().state(summer.clone()).list_changes().layer(
        async |cx: Context<Summer, Local>, next: sansio_mcp_sdk::server::Next<Local>| {
            let mut reply = next.run().await;
            if !cx.state().0.get() {
                match &mut reply {
                    Reply::Answer(Answer::Tools(list)) => list.tools.retain(|tool| tool.name != "whales"),
                    Reply::Answer(Answer::Prompts(list)) => {
                        list.prompts.retain(|prompt| prompt.name != "whales");
                    }
                    _ => {}
                }
            }
            reply
        },
    );
    (summer, builder)
}

#[derive(Deserialize, JsonSchema)]
struct Fare {
    /// Passengers.
    people: u32,
    bicycle: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
struct Price {
    crowns: u32,
}

async fn tools(stage: Stage) {
    let (summer, server) = seasonal();
    let server = server
        .tool(
            ToolSpec::new("fare").title("What a crossing costs").read_only(),
            async |fare: Fare, _: Context<Summer, Local>| {
                Ok(Json(Price { crowns: fare.people * 45 + u32::from(fare.bicycle == Some(true)) * 20 }))
            },
        )
        .tool("whales", async |_: NoArguments, _: Context<Summer, Local>| Ok("Two, to the north."));
    let (client, engine) = stage.connect_both(server, client());
    let names = |tools: Vec<sansio_mcp_sdk::model::Tool>| -> Vec<String> {
        tools.into_iter().map(|tool| tool.name).collect()
    };
    assert_eq!(names(client.list_tools().await.unwrap()), ["fare"]);
    stage.note("model", "wants the fare for two with a bicycle");
    let fare = client.call_tool("fare", &json!({"people": 2, "bicycle": true})).await.unwrap();
    assert_eq!(fare.structured_content.unwrap().get(), r#"{"crowns":110}"#);
    let mut changes = client.listen(ListenSpec::new().tools());
    assert_eq!(changes.acknowledged().await.unwrap().granted, [Changed::Tools]);
    stage.lab().sleep(Duration::from_hours(1)).await;
    summer.0.set(true);
    engine.publish(Change::Tools).unwrap();
    assert_eq!(changes.next().await, Some(ListenEvent::Changed(Changed::Tools)));
    assert_eq!(names(client.list_tools().await.unwrap()), ["fare", "whales"]);
    stage.keep(changes);
}

#[derive(Deserialize)]
struct Letter {
    guest: String,
}

async fn prompts(stage: Stage) {
    let (summer, server) = seasonal();
    let letter = PromptSpec::new("apology")
        .description("Says sorry for a late ferry.")
        .argument(PromptArgument::required("guest").with_description("Who waited"));
    let server = server
        .prompt(letter, async |letter: Letter, _: Context<Summer, Local>| {
            Ok(format!("Write to {} that we are sorry to be late.", letter.guest))
        })
        .prompt("whales", async |_: NoArguments, _: Context<Summer, Local>| Ok("Advertise the whales."));
    let (client, engine) = stage.connect_both(server, client());
    assert_eq!(client.list_prompts().await.unwrap().len(), 1);
    let letter = client.get_prompt("apology", &json!({"guest": "Ms Aas"})).await.unwrap();
    assert_eq!(letter.messages.len(), 1);
    let mut changes = client.listen(ListenSpec::new().prompts());
    assert_eq!(changes.acknowledged().await.unwrap().granted, [Changed::Prompts]);
    stage.lab().sleep(Duration::from_hours(1)).await;
    summer.0.set(true);
    engine.publish(Change::Prompts).unwrap();
    assert_eq!(changes.next().await, Some(ListenEvent::Changed(Changed::Prompts)));
    assert_eq!(client.list_prompts().await.unwrap().len(), 2);
    stage.keep(changes);
}

#[derive(Deserialize)]
struct Pier {
    number: u8,
}

async fn resources(stage: Stage) {
    let open = Rc::new(Cell::new(true));
    let by_server = Rc::clone(&open);
    let server = server()
        .resource(
            ResourceSpec::new("map://islands", "islands").mime_type("image/png").size(4),
            async |_: Context<(), Local>| Ok(vec![0x89, b'P', b'N', b'G']),
        )
        .resource_template(
            TemplateSpec::new("pier://{number}", "pier").mime_type("text/plain"),
            move |pier: Pier, _: Context<(), Local>| {
                let open = by_server.get();
                async move { Ok(format!("pier {} is {}", pier.number, if open { "open" } else { "closed" })) }
            },
        )
        .resource_updates();
    let (client, engine) = stage.connect_both(server, client());
    assert_eq!(client.list_resources().await.unwrap()[0].uri, "map://islands");
    assert_eq!(client.list_resource_templates().await.unwrap()[0].uri_template, "pier://{number}");
    let before = client.read_resource("pier://3").await.unwrap();
    let mut changes = client.listen(ListenSpec::new().resource("pier://3"));
    assert_eq!(changes.acknowledged().await.unwrap().declined, []);
    stage.lab().sleep(Duration::from_mins(20)).await;
    open.set(false);
    // Nobody has asked about the other pier.
    engine.publish(Change::Resource("pier://4")).unwrap();
    engine.publish(Change::Resource("pier://3")).unwrap();
    assert_eq!(changes.next().await, Some(ListenEvent::Changed(Changed::Resource("pier://3".into()))));
    assert_ne!(client.read_resource("pier://3").await.unwrap(), before);
    stage.keep(changes);
}

async fn pagination(stage: Stage) {
    let mut server = server().page_size(2);
    for name in ["ada", "bru", "cod", "dag", "elv"] {
        server = server.tool(name, async |_: RawArguments, _: Context<(), Local>| Ok(()));
    }
    for name in ["one", "two", "three"] {
        server = server.prompt(name, async |_: NoArguments, _: Context<(), Local>| Ok("x"));
    }
    let client = stage.connect(server, client());
    let names: Vec<String> = client.list_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["ada", "bru", "cod", "dag", "elv"]);
    assert_eq!(client.list_prompts().await.unwrap().len(), 3);
}

async fn completion(stage: Stage) {
    let tickets = PromptSpec::new("ticket")
        .argument(PromptArgument::required("island"))
        .argument(PromptArgument::required("harbour"));
    let server = server()
        .prompt(tickets, async |_: RawTexts, _: Context<(), Local>| Ok("x"))
        .complete_prompt("ticket", "harbour", async |asked: CompleteParams, _: Context<(), Local>| {
            let harbours: &[&str] = match asked.known("island") {
                Some("Sule") => &["Nesvik", "Nordhamn", "Sand"],
                _ => return Err(Exit::failure("which island?")),
            };
            let typed = asked.argument.value;
            Ok(harbours
                .iter()
                .filter(|name| name.starts_with(&typed))
                .map(ToString::to_string)
                .collect::<Vec<_>>())
        });
    let client = stage.connect(server, client());
    let typed = |text: &str| {
        let island: Members<String> = [("island", "Sule".to_owned())].into_iter().collect();
        CompleteParams::new(PromptReference::new("ticket"), "harbour", text).with_known(island)
    };
    stage.note("person", "types N");
    let first = client.complete(&typed("N")).await.unwrap();
    assert_eq!(first.completion.values, ["Nesvik", "Nordhamn"]);
    stage.lab().sleep(Duration::from_secs(1)).await;
    stage.note("person", "types o");
    let refined = client.complete(&typed("No")).await.unwrap();
    assert_eq!(refined.completion.values, ["Nordhamn"]);
}

#[derive(Deserialize)]
struct RawTexts {}

/// A list is asked for when it is missing, stale or known to have changed, and not otherwise.
async fn caching(stage: Stage) {
    let server = server()
        .tool("whales", async |_: NoArguments, _: Context<(), Local>| Ok("none"))
        .list_cache(300_000, CacheScope::Public)
        .list_changes();
    let cache = Cache::default();
    let (client, engine) = stage.connect_both(server, client().cache(cache.clone()));
    let mut changes = client.listen(ListenSpec::new().tools());
    changes.acknowledged().await.unwrap();
    client.list_tools().await.unwrap();
    stage.lab().sleep(Duration::from_mins(2)).await;
    stage.note("client", "needs the list, which is fresh");
    client.list_tools().await.unwrap();
    stage.lab().sleep(Duration::from_mins(3)).await;
    stage.note("client", "needs the list, which is stale");
    client.list_tools().await.unwrap();
    stage.lab().sleep(Duration::from_mins(1)).await;
    engine.publish(Change::Tools).unwrap();
    assert_eq!(changes.next().await, Some(ListenEvent::Changed(Changed::Tools)));
    stage.note("client", "needs the list, which has changed");
    client.list_tools().await.unwrap();
    assert_eq!(cache.entries(), 1);
    stage.keep(changes);
}

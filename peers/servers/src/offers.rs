//! What the server offers: discovery, lists in pages, prompts, resources, completion.

use sansio_mcp_sdk::client::CallError;
use sansio_mcp_sdk::model::{
    CompleteParams, PromptReference, ResourceContents, ResourceTemplateReference, Role,
};
use serde_json::json;

use crate::peer::{Kind, Peer};
use crate::tally::{Failure, Step, Tally, check, same};

const TOOLS: [&str; 10] =
    ["add", "count", "wait", "cancelled", "form", "link", "survey", "touch", "grow", "mutter"];
const NOTES: [&str; 5] = ["amber", "birch", "cedar", "dune", "elder"];

pub(crate) async fn steps(tally: &mut Tally, peer: &Peer) {
    tally.step("discover", discover(peer)).await;
    tally.step("lists in pages", pages(peer)).await;
    tally.step("tools as they are listed", tools(peer)).await;
    tally.step("prompts", prompts(peer)).await;
    tally.step("a prompt that does not exist, or lacks an argument", bad_prompts(peer)).await;
    tally.step("resources: text, bytes, a template", resources(peer)).await;
    tally.step("a resource that does not exist", bad_resource(peer)).await;
    tally.step("completion", completion(peer)).await;
}

async fn discover(peer: &Peer) -> Step {
    let known = peer.client.discover().await?;
    check("it speaks 2026-07-28", known.supported_versions.iter().any(|version| version == "2026-07-28"))?;
    same("instructions", known.instructions.as_deref(), Some("For tests."))?;
    let offers = known.capabilities;
    check("it has tools", offers.tools.is_some_and(|tools| tools.list_changed == Some(true)))?;
    check("it has prompts", offers.prompts.is_some())?;
    check("it has resources", offers.resources.is_some_and(|resources| resources.subscribe == Some(true)))?;
    check("it completes", offers.completions.is_some())?;
    // The Python package sends log messages and does not declare that it does.
    same("it declares that it logs", offers.logging.is_some(), peer.kind == Kind::Npm)
}

async fn pages(peer: &Peer) -> Step {
    let (mut cursor, mut sizes) = (None, Vec::new());
    loop {
        let page = peer.client.list_resources_page(cursor.as_deref()).await?;
        sizes.push(page.resources.len());
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    same("sizes of the pages", sizes, [2, 2, 2])?;
    let names: Vec<String> = peer.client.list_resources().await?.into_iter().map(|one| one.name).collect();
    same("resources", &names[..], [&NOTES[..], &["dot"]].concat())?;
    let templates = peer.client.list_resource_templates().await?;
    let templates: Vec<&str> = templates.iter().map(|one| one.uri_template.as_str()).collect();
    same("templates", templates, ["box://{number}"])?;
    let prompts = peer.client.list_prompts().await?;
    same("prompts", prompts.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["greet", "ask_first"])?;
    match peer.client.list_resources_page(Some("7000")).await {
        // Either has its own mind about a cursor that it never gave.
        Ok(_) | Err(CallError::Peer(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn tools(peer: &Peer) -> Step {
    let tools = peer.client.list_tools().await?;
    check("it has the tools", TOOLS.iter().all(|wanted| tools.iter().any(|tool| tool.name == *wanted)))?;
    let add = tools.iter().find(|tool| tool.name == "add").ok_or("there is no `add`")?;
    same("its description", add.description.as_deref(), Some("Adds two whole numbers."))?;
    check("its arguments have a schema", add.input_schema.as_json().get().contains("integer"))?;
    check("its output has a schema", add.output_schema.is_some())?;
    check("the list is kept", peer.cache.entries() > 0)
}

async fn prompts(peer: &Peer) -> Step {
    let greeting = peer.client.get_prompt("greet", &json!({"name": "Bo"})).await?;
    let said: Vec<(&Role, Option<&str>)> =
        greeting.messages.iter().map(|message| (&message.role, message.content.as_text())).collect();
    same("messages", said, [(&Role::User, Some("Greet Bo.")), (&Role::Assistant, Some("Hello Bo!"))])
}

async fn bad_prompts(peer: &Peer) -> Step {
    // The Python package calls both an internal error.
    let wanted = if peer.kind == Kind::Python { -32603 } else { -32602 };
    let code = |result: Result<_, CallError>| match result {
        Err(CallError::Peer(error)) => Ok(error.code),
        Err(error) => Err(Failure::from(error)),
        Ok(()) => Err("a result".into()),
    };
    same("unknown", code(peer.client.get_prompt("nope", &json!({})).await.map(drop))?, wanted)?;
    same("without its argument", code(peer.client.get_prompt("greet", &json!({})).await.map(drop))?, wanted)
}

async fn resources(peer: &Peer) -> Step {
    let text = peer.client.read_resource("note://amber").await?;
    let [ResourceContents::Text(note)] = &text.contents[..] else { return Err("not one text".into()) };
    same(
        "text",
        (&*note.uri, &*note.text, note.mime_type.as_deref()),
        ("note://amber", "about amber", Some("text/plain")),
    )?;
    let bytes = peer.client.read_resource("image://dot").await?;
    let [ResourceContents::Blob(dot)] = &bytes.contents[..] else { return Err("no bytes".into()) };
    same("bytes", dot.bytes().ok(), Some(b"\x89PNG".to_vec()))?;
    let made = peer.client.read_resource("box://7").await?;
    let [ResourceContents::Text(made)] = &made.contents[..] else { return Err("not one text".into()) };
    same("made by the template", &*made.text, "box 7")
}

async fn bad_resource(peer: &Peer) -> Step {
    match peer.client.read_resource("nowhere://1").await {
        Err(CallError::Peer(error)) => same("code", error.code, -32602),
        other => Err(format!("{other:?}").into()),
    }
}

async fn completion(peer: &Peer) -> Step {
    let typed = CompleteParams::new(PromptReference::new("greet"), "name", "b");
    let completed = peer.client.complete(&typed).await?.completion;
    same("of a prompt", (completed.values, completed.total), (vec!["birch".to_owned()], Some(1)))?;
    let typed = CompleteParams::new(ResourceTemplateReference::new("box://{number}"), "number", "");
    same("of a template", peer.client.complete(&typed).await?.completion.values, ["1", "2"])
}

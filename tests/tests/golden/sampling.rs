//! client/sampling: the server asks the client's model; deprecated by the specification.

use std::time::Duration;

use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::model::{
    ContentBlock, CreateMessageResult, InputSchema, ModelHint, ModelPreferences, RawJson, SamplingBlock,
    SamplingContent, SamplingMessage, TextContent, Tool, ToolChoice, ToolChoiceMode, ToolResultContent,
    ToolUseContent,
};
use sansio_mcp_sdk::server::{Context, CreateMessageParams, NoArguments};
use serde_json::json;

use crate::flows;
use crate::stage::{Stage, client, server};

flows! {
    sampling: ["> tools/call" "< input_required" "> tools/call" "< result"];
    sampling_with_tools: [
        "> tools/call" "< input_required" "> tools/call" "< input_required" "> tools/call" "< result"
    ];
}

async fn sampling(stage: Stage) {
    let server = server().tool("headline", async |_: NoArguments, cx: Context<(), Local>| {
        let wanted = CreateMessageParams::ask("A headline: the six o'clock boat is late.", 30)
            .with_system_prompt("Be kind.")
            .with_model_preferences(
                ModelPreferences::default().with_hints(vec![ModelHint::new("small")]).with_cost_priority(0.8),
            )
            .with_temperature(0.25)
            .with_stop_sequences(vec!["\n".to_owned()]);
        let said = cx.ask("headline", wanted)?;
        Ok(said.content.first_text().unwrap_or_default().to_owned())
    });
    let (person, model) = (stage.person("person"), stage.person("model"));
    let client = client().on_sampling(move |_| {
        let (person, model) = (person.clone(), model.clone());
        async move {
            person.does(Duration::from_secs(5), "agrees that the model is asked").await;
            model.does(Duration::from_secs(2), "answers").await;
            person.does(Duration::from_secs(4), "agrees to the answer").await;
            Ok(CreateMessageResult::new("small-2", "Time for another coffee".to_owned())
                .with_stop_reason("endTurn"))
        }
    });
    let client = stage.connect(server, client);
    let said = client.call_tool("headline", &json!({})).await.unwrap();
    assert_eq!(said.first_text(), Some("Time for another coffee"));
}

fn tide() -> Tool {
    let schema =
        json!({"type": "object", "properties": {"harbour": {"type": "string"}}, "required": ["harbour"]});
    Tool::new("tide", InputSchema::new(RawJson::from_value(&schema).unwrap()).unwrap())
}

/// What the tool of that name says to one use of it.
fn use_tool(block: &SamplingBlock) -> Option<SamplingBlock> {
    let SamplingBlock::ToolUse(wanted) = block else { return None };
    let harbour: String = wanted.input.get("harbour")?.parse().ok()?;
    let tide = if harbour == "Nesvik" { "high at 7" } else { "low at 9" };
    let content = vec![ContentBlock::from(TextContent::new(tide))];
    Some(SamplingBlock::from(ToolResultContent::new(wanted.id.as_str(), content)))
}

/// The model uses the server's tools: it asks for two uses, the server carries them out between two rounds, and the whole
/// conversation goes with the next question.
async fn sampling_with_tools(stage: Stage) {
    let by_server = stage.clone();
    let server = server().tool("plan", move |_: NoArguments, cx: Context<(), Local>| {
        let stage = by_server.clone();
        async move {
            let question = SamplingMessage::user("When can we sail from Nesvik to Sand?".to_owned());
            let ask = |messages| {
                CreateMessageParams::new(messages, 100)
                    .with_tools(vec![tide()])
                    .with_tool_choice(ToolChoice::from(ToolChoiceMode::Auto))
            };
            let first = cx.ask("uses", ask(vec![question.clone()]))?;
            let results: Vec<SamplingBlock> = first.content.blocks().iter().filter_map(use_tool).collect();
            if cx.round() == 1 {
                stage.note("server", "looks up two tides");
            }
            let messages =
                vec![question, first.into_message(), SamplingMessage::user(SamplingContent::Many(results))];
            let last = cx.ask("answer", ask(messages))?;
            Ok(last.content.first_text().unwrap_or_default().to_owned())
        }
    });
    let (person, model) = (stage.person("person"), stage.person("model"));
    let client = client().on_sampling_with_tools(move |asked| {
        let (person, model) = (person.clone(), model.clone());
        async move {
            person.does(Duration::from_secs(5), "agrees that the model is asked").await;
            if asked.params.messages.len() == 1 {
                model.does(Duration::from_secs(2), "wants two tides").await;
                person.does(Duration::from_secs(4), "agrees to that").await;
                let wants = |id: &str, harbour: &str| {
                    let input = [("harbour", RawJson::from_value(harbour).unwrap())].into_iter().collect();
                    SamplingBlock::from(ToolUseContent::new(id, "tide", input))
                };
                let content = vec![wants("u1", "Nesvik"), wants("u2", "Sand")];
                return Ok(CreateMessageResult::new("large-1", content).with_stop_reason("toolUse"));
            }
            model.does(Duration::from_secs(2), "answers").await;
            person.does(Duration::from_secs(4), "agrees to the answer").await;
            let text = TextContent::new("Sail at 8.");
            Ok(CreateMessageResult::new("large-1", text).with_stop_reason("endTurn"))
        }
    });
    let client = stage.connect(server, client);
    let plan = client.call_tool("plan", &json!({})).await.unwrap();
    assert_eq!(plan.first_text(), Some("Sail at 8."));
}

//! What each scenario wants done.

use std::fmt;
use std::str::FromStr;

use sansio_mcp_sdk::client::{CallError, Client};
use sansio_mcp_sdk::model::{CallToolResult, Tool};
use serde::Deserialize;
use serde_json::{Value, json};
use smol::future::zip;

use super::values;

/// A client scenario of the suite, by what is to be done in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scenario {
    /// `tools_call`: add two numbers.
    ToolsCall,
    /// `request-metadata`: any requests at all.
    RequestMetadata,
    /// `sep-2322-client-request-state`: answer questions while something else is called.
    RequestState,
    /// `http-standard-headers`: list, call, read and get everything.
    StandardHeaders,
    /// `http-custom-headers`: the calls that the context names.
    CustomHeaders,
    /// `http-invalid-tool-headers`: call every tool that is left.
    InvalidToolHeaders,
    /// `json-schema-ref-no-deref`: list, and look nothing up.
    RefNoDeref,
    /// `json-schema-2020-12-preservation`: give a tool another's schema, as it was received.
    SchemaPreservation,
}

/// The names of the suite.
const NAMES: [(&str, Scenario); 8] = [
    ("tools_call", Scenario::ToolsCall),
    ("request-metadata", Scenario::RequestMetadata),
    ("sep-2322-client-request-state", Scenario::RequestState),
    ("http-standard-headers", Scenario::StandardHeaders),
    ("http-custom-headers", Scenario::CustomHeaders),
    ("http-invalid-tool-headers", Scenario::InvalidToolHeaders),
    ("json-schema-ref-no-deref", Scenario::RefNoDeref),
    ("json-schema-2020-12-preservation", Scenario::SchemaPreservation),
];

/// Why a scenario could not be played to its end.
#[derive(Debug)]
pub enum Failure {
    /// This client does not know a scenario of that name.
    UnknownScenario(String),
    /// A call failed.
    Call(CallError),
    /// The server does not offer what the scenario is about.
    NotOffered(&'static str),
    /// The scenario's context is not what it has to be.
    Context(serde_json::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownScenario(name) => write!(f, "no such scenario here: {name}"),
            Self::Call(error) => write!(f, "{}: {error}", error.code()),
            Self::NotOffered(what) => write!(f, "the server does not offer {what}"),
            Self::Context(error) => write!(f, "the scenario's context: {error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl FromStr for Scenario {
    type Err = Failure;

    fn from_str(name: &str) -> Result<Self, Failure> {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, scenario)| *scenario).ok_or_else(|| Failure::UnknownScenario(name.to_owned()))
    }
}

/// What a scenario tells the client, as JSON.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Told {
    tool_calls: Vec<ToldCall>,
}

#[derive(Deserialize)]
struct ToldCall {
    name: String,
    arguments: Value,
}

impl Scenario {
    /// Plays it. `context` is what the suite tells this scenario, empty if nothing.
    ///
    /// # Errors
    /// A call failed, or the server is not the scenario's.
    pub async fn play(self, client: &Client, context: &str) -> Result<(), Failure> {
        match self {
            Self::ToolsCall => add_numbers(client).await,
            Self::RequestMetadata | Self::RefNoDeref => {
                client.list_tools().await.map(drop).map_err(Failure::from)
            }
            Self::RequestState => questions(client).await,
            Self::StandardHeaders => everything(client).await,
            Self::CustomHeaders => told(client, context).await,
            Self::InvalidToolHeaders => call_each(client, &client.list_tools().await?).await,
            Self::SchemaPreservation => echo_schema(client).await,
        }
    }
}

fn offered<'a>(tools: &'a [Tool], name: &'static str) -> Result<&'a Tool, Failure> {
    tools.iter().find(|tool| tool.name == name).ok_or(Failure::NotOffered(name))
}

fn say(tool: &str, result: &CallToolResult) {
    println!("{tool}: {}", result.first_text().unwrap_or("no text"));
}

async fn add_numbers(client: &Client) -> Result<(), Failure> {
    const ADD: &str = "add_numbers";
    offered(&client.list_tools().await?, ADD)?;
    say(ADD, &client.call_tool(ADD, &json!({"a": 5, "b": 3})).await?);
    Ok(())
}

/// The call beside it runs while the first one is asked something.
async fn questions(client: &Client) -> Result<(), Failure> {
    client.list_tools().await?;
    let none = json!({});
    let call = |name: &'static str| client.call_tool(name, &none);
    let (asked, beside) = zip(call("test_mrtr_echo_state"), call("test_mrtr_unrelated")).await;
    say("test_mrtr_echo_state", &asked?);
    say("test_mrtr_unrelated", &beside?);
    for name in ["test_mrtr_no_state", "test_mrtr_no_result_type"] {
        say(name, &call(name).await?);
    }
    Ok(())
}

async fn everything(client: &Client) -> Result<(), Failure> {
    call_each(client, &client.list_tools().await?).await?;
    for resource in client.list_resources().await? {
        let contents = client.read_resource(&resource.uri).await?.contents;
        println!("{}: {} contents", resource.uri, contents.len());
    }
    for prompt in client.list_prompts().await? {
        let messages = client.get_prompt(&prompt.name, &values::for_prompt(&prompt)).await?.messages;
        println!("{}: {} messages", prompt.name, messages.len());
    }
    Ok(())
}

async fn call_each(client: &Client, tools: &[Tool]) -> Result<(), Failure> {
    for tool in tools {
        say(&tool.name, &client.call_tool(&tool.name, &values::for_tool(tool)).await?);
    }
    Ok(())
}

async fn told(client: &Client, context: &str) -> Result<(), Failure> {
    let Told { tool_calls } = serde_json::from_str(context).map_err(Failure::Context)?;
    // The list says which arguments stand in headers too.
    client.list_tools().await?;
    for ToldCall { name, arguments } in tool_calls {
        say(&name, &client.call_tool(&name, &arguments).await?);
    }
    Ok(())
}

async fn echo_schema(client: &Client) -> Result<(), Failure> {
    const ECHO: &str = "json_schema_echo";
    let tools = client.list_tools().await?;
    let rich = offered(&tools, "json_schema_2020_12_tool")?;
    offered(&tools, ECHO)?;
    let schema = rich.input_schema.as_json();
    say(ECHO, &client.call_tool(ECHO, &json!({"schema": schema})).await?);
    Ok(())
}

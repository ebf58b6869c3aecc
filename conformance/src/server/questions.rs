//! Tools that need input: one question of each kind, several at once, one after the other, and as the client can.

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::model::{ClientCapabilities, ElicitationCapability};
use sansio_mcp_sdk::server::ask::FormOf;
use sansio_mcp_sdk::server::{
    Answered, Asked, BooleanSchema, Builder, Context, CreateMessageParams, Exit, Form, InputRequired,
    ListRootsParams, NoArguments, StringSchema, ToolSpec, Typed,
};
use serde::Deserialize;

use super::Everything;

pub(super) fn offer(builder: Builder<Shared, Everything>) -> Builder<Shared, Everything> {
    fn spec(name: &str, description: &str) -> ToolSpec {
        ToolSpec::new(name).description(description).read_only()
    }
    builder
        .tool(spec("test_streaming_elicitation", "Asks the person for their name."), greet)
        .tool(spec("test_input_required_result_elicitation", "Asks the person for their name."), greet)
        .tool(spec("test_input_required_result_sampling", "Asks the model a question."), capital)
        .tool(spec("test_input_required_result_list_roots", "Asks for the client's folders."), folders)
        .tool(spec("test_input_required_result_request_state", "Asks the person to confirm."), confirm)
        .tool(spec("test_input_required_result_tampered_state", "Asks the person to confirm."), confirm)
        .tool(
            spec("test_input_required_result_multiple_inputs", "Asks person, model and client at once."),
            all_at_once,
        )
        .tool(
            spec("test_input_required_result_multi_round", "Asks the person twice, one after the other."),
            one_by_one,
        )
        .tool(
            spec("test_input_required_result_capabilities", "Asks whatever the client can answer."),
            what_it_can,
        )
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
struct Color {
    color: String,
}

#[derive(Deserialize)]
struct Confirmed {
    ok: bool,
}

fn asks_name(message: &str) -> FormOf<Name> {
    Form::new(message).required("name", StringSchema::new()).of()
}

fn given<T>(asked: Asked<T>) -> Result<T, Exit> {
    asked.accepted().ok_or_else(|| Exit::failure("The person did not want to answer."))
}

async fn greet(_: NoArguments, cx: Context<Everything>) -> Result<String, Exit> {
    let Name { name } = given(cx.ask("user_name", asks_name("What is your name?"))?)?;
    Ok(format!("Hello, {name}!"))
}

async fn capital(_: NoArguments, cx: Context<Everything>) -> Result<String, Exit> {
    let question = CreateMessageParams::ask("What is the capital of France?", 100);
    let answer = cx.ask("capital_question", question)?;
    Ok(answer.content.first_text().unwrap_or_default().to_owned())
}

async fn folders(_: NoArguments, cx: Context<Everything>) -> Result<String, Exit> {
    let roots = cx.ask("client_roots", ListRootsParams::default())?;
    let uris: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(format!("{} roots: {}", uris.len(), uris.join(", ")))
}

/// Whoever gets here with an answer had a state that could be opened.
async fn confirm(_: NoArguments, cx: Context<Everything>) -> Result<String, Exit> {
    let form = Form::new("Please confirm").required("ok", BooleanSchema::new()).of();
    let Confirmed { ok } = given(cx.ask("confirm", form)?)?;
    let state = if cx.request().request_state().is_some() { "state-ok" } else { "no state" };
    Ok(format!("{state}, confirmed: {ok}"))
}

async fn all_at_once(_: NoArguments, cx: Context<Everything>) -> Result<String, Exit> {
    let (name, greeting, roots) = cx.ask_all((
        ("user_name", asks_name("What is your name?")),
        ("greeting", CreateMessageParams::ask("Generate a greeting", 50)),
        ("client_roots", ListRootsParams::default()),
    ))?;
    let Name { name } = given(name)?;
    let greeting = greeting.content.first_text().unwrap_or_default();
    Ok(format!("{greeting} {name} has {} roots.", roots.len()))
}

async fn one_by_one(_: NoArguments, cx: Context<Everything>) -> Result<String, Exit> {
    let Name { name } = given(cx.ask("step1", asks_name("Step 1: What is your name?"))?)?;
    let form = Form::new("Step 2: What is your favorite color?").required("color", StringSchema::new()).of();
    let Color { color } = given(cx.ask("step2", form)?)?;
    Ok(format!("{name} likes {color}."))
}

async fn what_it_can(_: NoArguments, cx: Context<Everything>) -> Result<String, Exit> {
    let can: ClientCapabilities = serde_json::from_str(cx.request().client_capabilities())?;
    let name = asks_name("What is your name?");
    let greeting = CreateMessageParams::ask("Generate a greeting", 50);
    let roots = ListRootsParams::default();

    let mut missing = InputRequired::new();
    let mut known = Vec::new();
    if can.elicitation.as_ref().is_some_and(ElicitationCapability::accepts_form) {
        match cx.answer("user_name", &name) {
            Answered::Accepted(Name { name }) => known.push(format!("a name ({name})")),
            Answered::Declined | Answered::Cancelled => known.push("a name, which is not told".to_owned()),
            Answered::Missing => missing = missing.ask("user_name", name),
        }
    }
    if can.sampling.is_some() {
        match cx.answer("greeting", &greeting) {
            Answered::Accepted(result) => {
                known.push(format!("a greeting ({})", result.content.first_text().unwrap_or_default()));
            }
            _ => missing = missing.ask("greeting", greeting),
        }
    }
    if can.roots.is_some() {
        match cx.answer("client_roots", &roots) {
            Answered::Accepted(roots) => known.push(format!("{} roots", roots.len())),
            _ => missing = missing.ask("client_roots", roots),
        }
    }
    if !missing.questions().is_empty() {
        return Err(Exit::input_required(missing));
    }
    let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
    Ok(format!("The client can be asked for: {known}"))
}

//! Tools that change what the server offers, so that whoever listens is told.
//!
//! A real server must not let its lists change as a side effect of a request (server/tools, "Capabilities"); the suite has
//! no other way to have a change.

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Builder, Context, Exit, NoArguments, ToolSpec};

use super::Everything;

const TOOL: &str = "test_comes_and_goes";
const PROMPT: &str = "test_prompt_comes_and_goes";

pub(super) fn offer(builder: Builder<Shared, Everything>) -> Builder<Shared, Everything> {
    builder
        .tool(
            ToolSpec::new("test_trigger_tool_change").description("A tool comes, and goes the next time."),
            change_tools,
        )
        .tool(
            ToolSpec::new("test_trigger_prompt_change")
                .description("A prompt comes, and goes the next time."),
            change_prompts,
        )
}

async fn change_tools(_: NoArguments, cx: Context<Everything>) -> Result<&'static str, Exit> {
    let catalog = &cx.state().catalog;
    // It can only be added where it is not.
    let came = catalog.update(|offer| {
        offer.tool(
            ToolSpec::new(TOOL).description("Is not always there.").read_only(),
            async |_: NoArguments, _: Context<Everything>| Ok("here"),
        )
    });
    if came.is_err() {
        catalog.update(|offer| offer.remove_tool(TOOL))?;
    }
    Ok("The list of tools has changed.")
}

async fn change_prompts(_: NoArguments, cx: Context<Everything>) -> Result<&'static str, Exit> {
    let catalog = &cx.state().catalog;
    let came = catalog.update(|offer| {
        let spec = sansio_mcp_sdk::server::PromptSpec::new(PROMPT).description("Is not always there.");
        offer.prompt(spec, async |_: NoArguments, _: Context<Everything>| Ok("here"))
    });
    if came.is_err() {
        catalog.update(|offer| offer.remove_prompt(PROMPT))?;
    }
    Ok("The list of prompts has changed.")
}

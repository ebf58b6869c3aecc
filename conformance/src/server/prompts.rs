//! Prompts: plain, filled in, with a resource, with a picture, and one that asks the person; and completions.

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::model::{EmbeddedResource, TextResourceContents};
use sansio_mcp_sdk::server::{
    Asked, Builder, CompleteParams, ContentBlock, Context, Exit, Form, NoArguments, PromptArgument,
    PromptMessage, PromptSpec, StringSchema, Typed,
};
use serde::Deserialize;

use super::{Everything, PNG};

pub(super) fn offer(builder: Builder<Shared, Everything>) -> Builder<Shared, Everything> {
    builder
        .prompt(
            PromptSpec::new("test_simple_prompt").description("A text."),
            async |_: NoArguments, _: Context<Everything>| Ok("This is a simple prompt for testing."),
        )
        .prompt(
            PromptSpec::new("test_prompt_with_arguments")
                .description("A text that repeats its arguments.")
                .argument(PromptArgument::required("arg1").with_description("The first."))
                .argument(PromptArgument::required("arg2").with_description("The second.")),
            async |Two { arg1, arg2 }: Two, _: Context<Everything>| {
                Ok(format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))
            },
        )
        .complete_prompt("test_prompt_with_arguments", "arg1", complete)
        .complete_prompt("test_prompt_with_arguments", "arg2", complete)
        .prompt(
            PromptSpec::new("test_prompt_with_embedded_resource")
                .description("A resource and a text about it.")
                .argument(PromptArgument::required("resourceUri").with_description("The resource's URI.")),
            with_resource,
        )
        .prompt(
            PromptSpec::new("test_prompt_with_image").description("A picture and a text about it."),
            async |_: NoArguments, _: Context<Everything>| {
                Ok(vec![
                    PromptMessage::user(ContentBlock::image_bytes(&PNG, "image/png")),
                    PromptMessage::user(ContentBlock::text("Please analyze the image above.")),
                ])
            },
        )
        .prompt(
            PromptSpec::new("test_input_required_result_prompt")
                .description("Asks the person what it is about."),
            about_something,
        )
}

#[derive(Deserialize)]
struct Two {
    arg1: String,
    arg2: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Of {
    resource_uri: String,
}

#[derive(Deserialize)]
struct About {
    context: String,
}

/// Suggests what begins with what was typed.
async fn complete(typed: CompleteParams, _: Context<Everything>) -> Result<Vec<&'static str>, Exit> {
    let all = ["testValue1", "testValue2", "anotherValue"].into_iter();
    Ok(all.filter(|value| value.starts_with(&typed.argument.value)).collect())
}

async fn with_resource(Of { resource_uri }: Of, _: Context<Everything>) -> Result<Vec<PromptMessage>, Exit> {
    let text = "Embedded resource content for testing.";
    let contents = TextResourceContents::new(resource_uri, text).with_mime_type("text/plain");
    Ok(vec![
        PromptMessage::user(EmbeddedResource::new(contents)),
        PromptMessage::user(ContentBlock::text("Please process the embedded resource above.")),
    ])
}

async fn about_something(_: NoArguments, cx: Context<Everything>) -> Result<String, Exit> {
    let form = Form::new("What context should the prompt use?").required("context", StringSchema::new()).of();
    match cx.ask("user_context", form)? {
        Asked::Accepted(About { context }) => Ok(format!("Use this context: {context}")),
        Asked::Declined | Asked::Cancelled => Ok("Use no context.".to_owned()),
    }
}

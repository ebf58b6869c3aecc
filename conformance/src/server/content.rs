//! Tools that differ in what they answer with.

use std::time::Duration;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::model::{EmbeddedResource, TextResourceContents};
use sansio_mcp_sdk::server::{Builder, ContentBlock, Context, Exit, LoggingLevel, NoArguments, ToolSpec};

use super::{Everything, PNG};

/// Between two signs of life of a tool that takes its time.
const STEP: Duration = Duration::from_millis(50);

/// Four samples of silence: 8,000 a second, one channel, 8 bits each.
const WAV: [u8; 48] = *b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0\
                         data\x04\0\0\0\x80\x80\x80\x80";

pub(super) fn offer(builder: Builder<Shared, Everything>) -> Builder<Shared, Everything> {
    builder
        .tool(
            ToolSpec::new("test_simple_text").description("Answers with a text.").read_only(),
            async |_: NoArguments, _: Context<Everything>| Ok("This is a simple text response for testing."),
        )
        .tool(
            ToolSpec::new("test_image_content").description("Answers with a picture.").read_only(),
            async |_: NoArguments, _: Context<Everything>| Ok(ContentBlock::image_bytes(&PNG, "image/png")),
        )
        .tool(
            ToolSpec::new("test_audio_content").description("Answers with a sound.").read_only(),
            async |_: NoArguments, _: Context<Everything>| Ok(ContentBlock::audio_bytes(&WAV, "audio/wav")),
        )
        .tool(
            ToolSpec::new("test_embedded_resource").description("Answers with a resource.").read_only(),
            async |_: NoArguments, _: Context<Everything>| {
                let text = "This is an embedded resource content.";
                Ok(embedded("test://embedded-resource", "text/plain", text))
            },
        )
        .tool(
            ToolSpec::new("test_multiple_content_types")
                .description("Answers with a text, a picture and a resource.")
                .read_only(),
            async |_: NoArguments, _: Context<Everything>| {
                let json = r#"{"test":"data","value":123}"#;
                Ok(vec![
                    ContentBlock::text("Multiple content types test:"),
                    ContentBlock::image_bytes(&PNG, "image/png"),
                    embedded("test://mixed-content-resource", "application/json", json),
                ])
            },
        )
        .tool(
            ToolSpec::new("test_error_handling").description("Fails, always.").read_only(),
            async |_: NoArguments, _: Context<Everything>| {
                Err::<(), _>(Exit::failure("This tool intentionally returns an error for testing"))
            },
        )
        .tool(
            ToolSpec::new("test_tool_with_progress")
                .description("Reports how far it is: nothing, half, all.")
                .read_only(),
            with_progress,
        )
        .tool(
            ToolSpec::new("test_logging_tool")
                .description("Logs what it does, to requests that ask for it.")
                .read_only(),
            with_logging,
        )
}

fn embedded(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    let contents = TextResourceContents::new(uri, text).with_mime_type(mime_type);
    EmbeddedResource::new(contents).into()
}

async fn with_progress(_: NoArguments, cx: Context<Everything>) -> Result<&'static str, Exit> {
    cx.progress(0.0, "begun");
    cx.sleep(STEP).await;
    cx.progress(50.0, "half of it");
    cx.sleep(STEP).await;
    cx.progress(100.0, "done");
    Ok("Tool with progress executed successfully")
}

async fn with_logging(_: NoArguments, cx: Context<Everything>) -> Result<&'static str, Exit> {
    cx.log(LoggingLevel::Info, "Tool execution started");
    cx.sleep(STEP).await;
    cx.log(LoggingLevel::Info, "Tool processing data");
    cx.sleep(STEP).await;
    cx.log(LoggingLevel::Info, "Tool execution completed");
    Ok("Tool with logging executed successfully")
}

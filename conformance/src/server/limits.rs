//! Tools about what a call must have: a schema's vocabulary, a parameter's header, a client's capability.

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::model::{ClientCapabilities, RawJson, SamplingCapability};
use sansio_mcp_sdk::server::{Builder, ConfigError, Context, NoArguments, RawArguments, ToolSpec, schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Everything;

pub(super) fn offer(
    builder: Builder<Shared, Everything>,
) -> Result<Builder<Shared, Everything>, ConfigError> {
    let mut sampling = ClientCapabilities::default();
    sampling.sampling = Some(SamplingCapability::default());
    Ok(builder
        .tool(
            ToolSpec::new("json_schema_2020_12_tool")
                .description("Its schema uses what JSON Schema 2020-12 has.")
                .input_schema(contact()?)
                .read_only(),
            async |_: RawArguments, _: Context<Everything>| Ok("JSON Schema 2020-12 tool executed"),
        )
        .tool(
            ToolSpec::new("test_x_mcp_header")
                .description("Its parameter stands in a header too.")
                .read_only(),
            async |Place { region }: Place, _: Context<Everything>| Ok(format!("Region: {region}")),
        )
        .tool(
            ToolSpec::new("test_missing_capability")
                .description("Needs a client that samples.")
                .requires(sampling)
                .read_only(),
            async |_: NoArguments, _: Context<Everything>| Ok("The client declared sampling."),
        ))
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// Somebody to reach by phone or by mail.
fn contact() -> Result<RawJson, ConfigError> {
    schema(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    }))
}

//! Resources: a text, bytes, one to watch, and those of a template.

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Builder, CacheScope, Context, Exit, ResourceSpec, TemplateSpec};
use serde::{Deserialize, Serialize};

use super::{Everything, PNG};

pub(super) fn offer(builder: Builder<Shared, Everything>) -> Builder<Shared, Everything> {
    builder
        .resource(
            ResourceSpec::new("test://static-text", "Static text")
                .description("A text that never changes.")
                .mime_type("text/plain")
                .cache(60_000, CacheScope::Public),
            async |_: Context<Everything>| Ok("This is the content of the static text resource."),
        )
        .resource(
            ResourceSpec::new("test://static-binary", "Static binary")
                .description("A picture that never changes.")
                .mime_type("image/png")
                .cache(60_000, CacheScope::Public),
            async |_: Context<Everything>| Ok(PNG.to_vec()),
        )
        .resource(
            ResourceSpec::new("test://watched-resource", "Watched resource")
                .description("A text to subscribe to.")
                .mime_type("text/plain"),
            async |_: Context<Everything>| Ok("Watched resource content"),
        )
        .resource_template(
            TemplateSpec::new("test://template/{id}/data", "Data by id")
                .description("Data of whatever id.")
                .mime_type("application/json"),
            data,
        )
}

#[derive(Deserialize)]
struct Wanted {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    id: String,
    template_test: bool,
    data: String,
}

async fn data(Wanted { id }: Wanted, _: Context<Everything>) -> Result<String, Exit> {
    let data = format!("Data for ID: {id}");
    Ok(serde_json::to_string(&Data { id, template_test: true, data })?)
}

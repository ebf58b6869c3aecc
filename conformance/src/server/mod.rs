//! A server with one of everything: each tool, prompt and resource does one thing that a scenario looks at.

mod changes;
mod content;
mod limits;
mod prompts;
mod questions;
mod resources;
mod work;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Builder, CacheScope, Catalog, ConfigError, Server};

pub use work::Tally;

/// What the handlers share.
#[derive(Default)]
pub struct Everything {
    catalog: Catalog<Everything>,
    tally: Tally,
}

/// The smallest picture there is, a grey point.
const PNG: [u8; 67] = [
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 58,
    126, 155, 85, 0, 0, 0, 10, 73, 68, 65, 84, 120, 218, 99, 104, 0, 0, 0, 130, 0, 129, 218, 69, 8, 59, 0, 0,
    0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

/// The server. Its first tool can be called with no arguments: some scenarios call whichever comes first.
///
/// # Errors
/// None that depends on anything but this program.
pub fn builder() -> Result<Builder<Shared, Everything>, ConfigError> {
    let everything = Everything::default();
    let catalog = everything.catalog.clone();
    let tally = everything.tally.clone();
    let builder = Server::shared("conformance", env!("CARGO_PKG_VERSION"))
        .state(everything)
        .catalog(&catalog)
        .logging()
        .resource_updates()
        .list_cache(60_000, CacheScope::Public)
        .layer(move |_, next| tally.clone().count(next));
    let tools = questions::offer(limits::offer(work::offer(changes::offer(content::offer(builder))))?);
    Ok(resources::offer(prompts::offer(tools)))
}

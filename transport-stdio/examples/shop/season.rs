//! A season: offers that come and go while the shop serves.

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{
    Builder, Context, Exit, Json, NoArguments, PromptSpec, ResourceSpec, ToolSpec, UpdateError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BOOKS, Book, Shop, book, changes, euros, reads};

const TOOL: &str = "winter_offer";
const PROMPT: &str = "winter_letter";
const RESOURCE: &str = "shop://winter";
/// What a book costs in winter, in percent.
const PERCENT: u64 = 80;

pub(super) fn offer(builder: Builder<Shared, Shop>) -> Builder<Shared, Shop> {
    builder.tool(
        ToolSpec::new("set_season")
            .title("Open or close the winter season")
            .description(
                "In winter there is one tool more, and a prompt and a resource. Tells those who listen to the lists.",
            )
            .annotations(changes().with_idempotent_hint(true))
            .one_at_a_time(),
        set_season,
    )
}

#[derive(Deserialize, JsonSchema)]
struct Season {
    /// Whether it is winter.
    winter: bool,
}

async fn set_season(Season { winter }: Season, cx: Context<Shop>) -> Result<&'static str, Exit> {
    // All of it or nothing, and those who listen are told once of each list.
    let changed = if winter {
        cx.state().catalog.update(|shop| {
            shop.tool(
                ToolSpec::new(TOOL)
                    .title("Winter offer")
                    .description("What a book costs in winter.")
                    .annotations(reads()),
                winter_offer,
            )
            .prompt(
                PromptSpec::new(PROMPT).title("A winter letter"),
                async |_: NoArguments, _: Context<Shop>| {
                    Ok("Write a letter to a friend about what you will read this winter.")
                },
            )
            .resource(ResourceSpec::new(RESOURCE, "winter").title("Winter prices"), winter_prices)
        })
    } else {
        cx.state()
            .catalog
            .update(|shop| shop.remove_tool(TOOL).remove_prompt(PROMPT).remove_resource(RESOURCE))
    };
    match changed {
        Ok(()) if winter => Ok("It is winter."),
        Ok(()) => Ok("Winter is over."),
        // The tool's lane lets one in at a time, so what is there already was there before.
        Err(UpdateError::Refused(_)) => Ok("It is winter already."),
        Err(error) => Err(error.into()),
    }
}

/// A book in winter.
#[derive(Serialize, JsonSchema)]
struct Offer {
    title: &'static str,
    cents: u64,
}

#[derive(Deserialize, JsonSchema)]
struct OneBook {
    /// The book's ISBN, as `find_book` gives it.
    isbn: String,
}

async fn winter_offer(OneBook { isbn }: OneBook, cx: Context<Shop>) -> Result<Json<Offer>, Exit> {
    let book = book(&isbn)?;
    Ok(Json(Offer { title: book.title, cents: cx.state().price(book) * PERCENT / 100 }))
}

async fn winter_prices(cx: Context<Shop>) -> Result<String, Exit> {
    let line = |book: &Book| format!("{}: {}", book.title, euros(cx.state().price(book) * PERCENT / 100));
    Ok(BOOKS.iter().map(line).collect::<Vec<_>>().join("\n"))
}

//! A season: offers that come and go while the shop serves.

use sansio_mcp_sdk::server::{
    Catalog, Context, Exit, Json, NoArguments, PromptSpec, ResourceSpec, ToolSpec, UpdateError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BOOKS, Book, Shop, book, euros, reads};

const TOOL: &str = "winter_offer";
const PROMPT: &str = "winter_letter";
const RESOURCE: &str = "shop://winter";
/// What a book costs in winter, in percent.
const PERCENT: u64 = 80;

/// The operator's hand on the season. No tool opens it: what a server lists is not to change as a side effect of another
/// request (server/tools, "Capabilities").
#[derive(Clone)]
pub(crate) struct Season(Catalog<Shop>);

impl Shop {
    /// The season of this shop.
    pub(crate) fn season(&self) -> Season {
        Season(self.catalog.clone())
    }
}

impl Season {
    /// It is winter: all of its offers or none, and whoever listens is told once of each list.
    pub(crate) fn open(&self) -> Result<(), UpdateError> {
        self.0.update(|shop| {
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
    }

    /// Winter is over.
    pub(crate) fn close(&self) -> Result<(), UpdateError> {
        self.0.update(|shop| shop.remove_tool(TOOL).remove_prompt(PROMPT).remove_resource(RESOURCE))
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

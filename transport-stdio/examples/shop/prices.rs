//! The price list: a resource that changes while clients listen.

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::model::CacheScope;
use sansio_mcp_sdk::server::{Annotations, Builder, Context, Exit, LoggingLevel, ResourceSpec, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BOOKS, Book, Shop, book, changes, euros, lock, shelf};

/// Where the list is.
const PRICES: &str = "shop://prices";

impl Shop {
    pub(super) fn price(&self, book: &Book) -> u64 {
        lock(&self.prices).get(book.isbn).copied().unwrap_or(book.cents)
    }
}

pub(super) fn offer(builder: Builder<Shared, Shop>) -> Builder<Shared, Shop> {
    builder
        .resource(
            ResourceSpec::new(PRICES, "prices")
                .title("Price list")
                .description("What each book costs today. Subscribe to it to hear of changes.")
                .mime_type("application/json")
                .annotations(Annotations::default().with_priority(0.8))
                // Who listens is told when it changes; who does not looks again after a minute.
                .cache(60_000, CacheScope::Public),
            price_list,
        )
        .tool(
            ToolSpec::new("set_price")
                .title("Set a price")
                .description(
                    "Sets what a book costs from now on, and tells those who listen to the price list.",
                )
                .annotations(changes().with_idempotent_hint(true))
                .one_at_a_time()
                // Those who listen are told when it has succeeded, and not otherwise.
                .invalidates(PRICES)
                .invalidates(shelf::BOOK),
            set_price,
        )
}

#[derive(Serialize)]
struct Line {
    isbn: &'static str,
    title: &'static str,
    cents: u64,
}

async fn price_list(cx: Context<Shop>) -> Result<String, Exit> {
    let line =
        |book: &'static Book| Line { isbn: book.isbn, title: book.title, cents: cx.state().price(book) };
    Ok(serde_json::to_string(&BOOKS.iter().map(line).collect::<Vec<_>>())?)
}

#[derive(Deserialize, JsonSchema)]
struct Price {
    /// The book's ISBN, as `find_book` gives it.
    isbn: String,
    /// What it costs.
    #[schemars(range(min = 1))]
    cents: u64,
}

async fn set_price(Price { isbn, cents }: Price, cx: Context<Shop>) -> Result<String, Exit> {
    let book = book(&isbn)?;
    let before = cx.state().price(book);
    lock(&cx.state().prices).insert(book.isbn, cents);
    let change = format!("{:?} costs {}, and no more {}", book.title, euros(cents), euros(before));
    cx.log_as(Some("prices"), LoggingLevel::Info, &change);
    Ok(change)
}

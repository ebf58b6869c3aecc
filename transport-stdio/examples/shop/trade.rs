//! The day's trade: finding, reporting, ordering, indexing. What takes long reports progress and can be cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Builder, Context, Exit, Generator, Json, NoArguments, ToolSpec, generator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BOOKS, Shop, adds, book, changes, lock, reads};

/// How long a customer takes to pay.
const PAYMENT: Duration = Duration::from_secs(30);
/// How long the warehouse takes to put copies back.
const RELEASE: Duration = Duration::from_millis(20);
/// How long one half of a report takes.
const COUNTING: Duration = Duration::from_millis(25);
/// How long one book takes to be indexed.
const INDEXING: Duration = Duration::from_millis(1);

/// Copies that are set aside, and how many were put back.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
pub(super) struct Holds {
    /// Copies set aside at the moment.
    held: u64,
    /// Copies put back so far because their order was not paid.
    released: u64,
}

/// The state of the search index.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
pub(super) struct Index {
    /// It is being rebuilt.
    running: bool,
    /// Books indexed by the latest rebuild.
    indexed: u64,
}

impl Shop {
    fn hold(&self, copies: u64) {
        lock(&self.holds).held += copies;
    }

    async fn sell(&self, copies: u64) {
        self.clock.sleep(PAYMENT).await;
        lock(&self.holds).held -= copies;
    }

    async fn release(&self, copies: u64) {
        self.clock.sleep(RELEASE).await;
        let mut holds = lock(&self.holds);
        holds.held -= copies;
        holds.released += copies;
    }
}

pub(super) fn offer(builder: Builder<Shared, Shop>) -> Builder<Shared, Shop> {
    builder
        .tool(
            ToolSpec::new("find_book")
                .title("Find a book")
                .description("Finds books by a part of their title or author. Gives one line for each, with its ISBN.")
                .annotations(reads()),
            find_book,
        )
        .stream_tool(
            ToolSpec::new("monthly_report")
                .title("Monthly report")
                .description("Orders and revenue of one month. Reports progress while it counts.")
                .annotations(reads()),
            monthly_report,
        )
        .tool(
            ToolSpec::new("order_book")
                .title("Order a book")
                .description(
                    "Sets copies of a book aside and waits until the customer has paid for them, about half a \
                     minute. Copies that are not paid for go back to the shelf.",
                )
                .annotations(adds()),
            order_book,
        )
        .tool(
            ToolSpec::new("hold_status")
                .title("Copies on hold")
                .description("How many copies are set aside for orders, and how many were put back unpaid.")
                .annotations(reads()),
            async |_: NoArguments, cx: Context<Shop>| Ok(Json(*lock(&cx.state().holds))),
        )
        .blocking_tool(
            ToolSpec::new("rebuild_index")
                .title("Rebuild the search index")
                .description("Indexes this many books anew, one after the other; about a millisecond each.")
                .annotations(changes().with_idempotent_hint(true))
                .one_at_a_time(),
            rebuild_index,
        )
        .tool(
            ToolSpec::new("index_status")
                .title("State of the search index")
                .description("Whether the index is being rebuilt, and how many books are in it.")
                .annotations(reads()),
            async |_: NoArguments, cx: Context<Shop>| Ok(Json(*lock(&cx.state().index))),
        )
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// Part of a title or of an author's name.
    query: String,
}

async fn find_book(Query { query }: Query, _: Context<Shop>) -> Result<String, Exit> {
    let wanted = query.to_lowercase();
    let fits = |text: &str| text.to_lowercase().contains(&wanted);
    let lines: Vec<String> = BOOKS
        .iter()
        .filter(|book| fits(book.title) || fits(book.author))
        .map(|book| format!("{} ({}), ISBN {}", book.title, book.author, book.isbn))
        .collect();
    if lines.is_empty() {
        return Err(Exit::failure(format!("There is no book about {query:?} here. Try a shorter query.")));
    }
    Ok(lines.join("\n"))
}

#[derive(Deserialize, JsonSchema)]
struct Month {
    /// The month, as YYYY-MM.
    #[schemars(regex(pattern = r"^\d{4}-(0[1-9]|1[0-2])$"))]
    month: String,
}

/// What was sold in a month.
#[derive(Serialize, JsonSchema)]
struct Sales {
    month: String,
    orders: u64,
    revenue_cents: u64,
}

/// The month as a number; `None` if it is not YYYY-MM.
fn number(month: &str) -> Option<u64> {
    let (year, of_year) = month.split_once('-')?;
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(year, 4) || !digits(of_year, 2) {
        return None;
    }
    let of_year = of_year.parse::<u64>().ok().filter(|of_year| (1..=12).contains(of_year))?;
    Some(year.parse::<u64>().ok()? * 12 + of_year)
}

fn monthly_report(
    Month { month }: Month,
    cx: Context<Shop>,
) -> Generator<impl Future<Output = Result<Json<Sales>, Exit>> + Send> {
    generator(async move |y| {
        let number = number(&month)
            .ok_or_else(|| Exit::failure(format!("{month:?} is not a month; write YYYY-MM")))?;
        let clock = &cx.state().clock;
        y.progress(30.0, "rows").await;
        clock.sleep(COUNTING).await;
        let orders = 200 + number * 7919 % 300;
        y.progress(90.0, "totals").await;
        clock.sleep(COUNTING).await;
        let revenue_cents = orders * (1_500 + number * 104_729 % 2_000);
        Ok(Json(Sales { month, orders, revenue_cents }))
    })
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// The book's ISBN, as `find_book` gives it.
    isbn: String,
    /// How many copies.
    #[schemars(range(min = 1, max = 100))]
    copies: u64,
}

async fn order_book(Order { isbn, copies }: Order, cx: Context<Shop>) -> Result<String, Exit> {
    let book = book(&isbn)?;
    if !(1..=100).contains(&copies) {
        return Err(Exit::failure("An order is for 1 to 100 copies."));
    }
    let paid = Arc::new(AtomicBool::new(false));
    cx.state().hold(copies);
    cx.on_exit({
        // However this ends: copies that are not paid for go back.
        let (shop, paid) = (cx.state_arc(), Arc::clone(&paid));
        async move {
            if !paid.load(Ordering::Acquire) {
                shop.release(copies).await;
            }
        }
    });
    cx.progress(50.0, "waiting for payment");
    cx.state().sell(copies).await;
    paid.store(true, Ordering::Release);
    Ok(format!("{copies} of {:?} ordered and paid", book.title))
}

#[derive(Deserialize, JsonSchema)]
struct Rebuild {
    /// How many books there are.
    books: u64,
}

/// The result of a rebuild.
#[derive(Serialize, JsonSchema)]
struct Rebuilt {
    indexed: u64,
}

/// A plain function: it runs on a thread of its own and may block. It asks between two books whether it is
/// still wanted.
#[allow(clippy::needless_pass_by_value)] // the form of a handler
fn rebuild_index(Rebuild { books }: Rebuild, cx: Context<Shop>) -> Result<Json<Rebuilt>, Exit> {
    struct Stop<'a>(&'a Shop);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            lock(&self.0.index).running = false;
        }
    }
    let shop = cx.state();
    *lock(&shop.index) = Index { running: true, indexed: 0 };
    let _stop = Stop(shop);
    for _ in 0..books {
        cx.check_cancelled()?;
        (shop.pause)(INDEXING);
        lock(&shop.index).indexed += 1;
    }
    Ok(Json(Rebuilt { indexed: books }))
}

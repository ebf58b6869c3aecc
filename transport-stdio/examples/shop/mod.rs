//! A bookshop: its state, and the tools that a model may use in it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::server::{
    Builder, Context, Exit, Generator, Json, NoArguments, Server, ToolAnnotations, ToolSpec, generator,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a customer takes to pay.
pub(crate) const PAYMENT: Duration = Duration::from_secs(30);
/// How long the warehouse takes to put copies back.
pub(crate) const RELEASE: Duration = Duration::from_millis(20);
/// How long one half of a report takes.
pub(crate) const COUNTING: Duration = Duration::from_millis(25);
/// How long the bank takes for a refund.
pub(crate) const REFUND: Duration = Duration::from_millis(40);
/// How long one book takes to be indexed.
pub(crate) const INDEXING: Duration = Duration::from_millis(1);

const BOOKS: [(&str, &str, &str); 5] = [
    ("9780131103627", "The C Programming Language", "Kernighan, Ritchie"),
    ("9781718503106", "The Rust Programming Language", "Klabnik, Nichols"),
    ("9781492052593", "Programming Rust", "Blandy, Orendorff, Tindall"),
    ("9780262033848", "Introduction to Algorithms", "Cormen, Leiserson, Rivest, Stein"),
    ("9780201633610", "Design Patterns", "Gamma, Helm, Johnson, Vlissides"),
];

/// What the shop knows. Every handler reaches it through its context.
pub(crate) struct Shop {
    clock: Arc<dyn Clock>,
    /// Blocks the calling thread for a while.
    pause: Box<dyn Fn(Duration) + Send + Sync>,
    holds: Mutex<Holds>,
    index: Mutex<Index>,
    refunds: Mutex<BTreeMap<String, u64>>,
}

/// Copies that are set aside, and how many were put back.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
struct Holds {
    /// Copies set aside at the moment.
    held: u64,
    /// Copies put back so far because their order was not paid.
    released: u64,
}

/// The state of the search index.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
struct Index {
    /// It is being rebuilt.
    running: bool,
    /// Books indexed by the latest rebuild.
    indexed: u64,
}

impl Shop {
    pub(crate) fn new(clock: Arc<dyn Clock>, pause: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        Self {
            clock,
            pause: Box::new(pause),
            holds: Mutex::default(),
            index: Mutex::default(),
            refunds: Mutex::default(),
        }
    }

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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The shop as a server. Slots and queue are left to the caller.
pub(crate) fn server(shop: Shop) -> Builder<Shared, Shop> {
    let reads = || ToolAnnotations::default().with_read_only_hint(true).with_open_world_hint(false);
    let adds = || ToolAnnotations::default().with_destructive_hint(false).with_open_world_hint(false);
    let changes = || ToolAnnotations::default().with_destructive_hint(true).with_open_world_hint(false);
    Server::<Shared>::builder("bookshop", env!("CARGO_PKG_VERSION"))
        .instructions("A bookshop. Find a book before you order it; an order waits until the customer has paid.")
        .state(shop)
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
        .tool(
            ToolSpec::new("refund")
                .title("Refund an invoice")
                .description("Pays part of an invoice back. Gives what has been refunded on this invoice in total.")
                .annotations(changes().with_idempotent_hint(false))
                .one_at_a_time_per(|refund: &Refund| refund.invoice.clone()),
            refund,
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
        .filter(|(_, title, author)| fits(title) || fits(author))
        .map(|(isbn, title, author)| format!("{title} ({author}), ISBN {isbn}"))
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
    let Some((_, title, _)) = BOOKS.iter().find(|(known, ..)| *known == isbn) else {
        return Err(Exit::failure(format!("There is no book of ISBN {isbn}. Ask find_book.")));
    };
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
    Ok(format!("{copies} of {title:?} ordered and paid"))
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

#[derive(Deserialize, JsonSchema)]
struct Refund {
    /// The invoice's number.
    invoice: String,
    /// How much to pay back.
    #[schemars(range(min = 1))]
    cents: u64,
}

/// What has been paid back.
#[derive(Serialize, JsonSchema)]
struct Refunded {
    invoice: String,
    /// In total, on this invoice.
    refunded_cents: u64,
}

/// Reads, waits and writes: two at a time would lose one of them. The tool's lane keeps the refunds of one
/// invoice apart, and lets those of others pass.
async fn refund(Refund { invoice, cents }: Refund, cx: Context<Shop>) -> Result<Json<Refunded>, Exit> {
    let shop = cx.state();
    let before = lock(&shop.refunds).get(&invoice).copied().unwrap_or(0);
    shop.clock.sleep(REFUND).await;
    let refunded_cents = before + cents;
    lock(&shop.refunds).insert(invoice.clone(), refunded_cents);
    Ok(Json(Refunded { invoice, refunded_cents }))
}

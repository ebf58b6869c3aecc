//! A bookshop: its state, and what a model and its person may do in it.

mod asking;
mod prices;
mod refunds;
mod season;
mod shelf;
mod trade;

pub(crate) use season::Season;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::server::{Builder, Catalog, Exit, Server, ToolAnnotations};

use refunds::Ledger;
use trade::{Holds, Index};

/// A book that the shop sells.
struct Book {
    isbn: &'static str,
    title: &'static str,
    author: &'static str,
    /// What it costs unless somebody sets another price.
    cents: u64,
}

const BOOKS: [Book; 5] = [
    Book {
        isbn: "9780131103627",
        title: "The C Programming Language",
        author: "Kernighan, Ritchie",
        cents: 5_999,
    },
    Book {
        isbn: "9781718503106",
        title: "The Rust Programming Language",
        author: "Klabnik, Nichols",
        cents: 4_999,
    },
    Book {
        isbn: "9781492052593",
        title: "Programming Rust",
        author: "Blandy, Orendorff, Tindall",
        cents: 6_499,
    },
    Book {
        isbn: "9780262033848",
        title: "Introduction to Algorithms",
        author: "Cormen, Leiserson, Rivest, Stein",
        cents: 8_999,
    },
    Book {
        isbn: "9780201633610",
        title: "Design Patterns",
        author: "Gamma, Helm, Johnson, Vlissides",
        cents: 5_499,
    },
];

/// The book of an ISBN, or what to tell a model that made one up.
fn book(isbn: &str) -> Result<&'static Book, Exit> {
    let unknown = || Exit::failure(format!("There is no book of ISBN {isbn}. Ask find_book."));
    BOOKS.iter().find(|book| book.isbn == isbn).ok_or_else(unknown)
}

fn euros(cents: u64) -> String {
    format!("{}.{:02} EUR", cents / 100, cents % 100)
}

/// What the shop knows. Every handler reaches it through its context.
pub(crate) struct Shop {
    clock: Arc<dyn Clock>,
    /// The hand on what the shop offers.
    catalog: Catalog<Shop>,
    /// Blocks the calling thread for a while.
    pause: Box<dyn Fn(Duration) + Send + Sync>,
    /// Tells this process's numbers from those of others that serve the same people.
    desk: String,
    numbers: AtomicU64,
    holds: Mutex<Holds>,
    index: Mutex<Index>,
    ledger: Mutex<Ledger>,
    /// Prices that were set, by ISBN.
    prices: Mutex<BTreeMap<&'static str, u64>>,
}

impl Shop {
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        desk: impl Into<String>,
        pause: impl Fn(Duration) + Send + Sync + 'static,
    ) -> Self {
        Self {
            clock,
            catalog: Catalog::new(),
            pause: Box::new(pause),
            desk: desk.into(),
            numbers: AtomicU64::new(0),
            holds: Mutex::default(),
            index: Mutex::default(),
            ledger: Mutex::default(),
            prices: Mutex::default(),
        }
    }

    /// A number that nobody else gives out.
    fn number(&self) -> String {
        format!("{}-{}", self.desk, self.numbers.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// Hints for a host about a tool: it only looks, it adds, it takes away.

fn reads() -> ToolAnnotations {
    ToolAnnotations::default().with_read_only_hint(true).with_open_world_hint(false)
}

fn adds() -> ToolAnnotations {
    ToolAnnotations::default().with_destructive_hint(false).with_open_world_hint(false)
}

fn changes() -> ToolAnnotations {
    ToolAnnotations::default().with_destructive_hint(true).with_open_world_hint(false)
}

/// The shop as a server. Slots, queue and keys are left to the caller.
pub(crate) fn server(shop: Shop) -> Builder<Shared, Shop> {
    let catalog = shop.catalog.clone();
    let builder = Server::<Shared>::builder("bookshop", env!("CARGO_PKG_VERSION"))
        .instructions(
            "A bookshop. Find a book before you order it; an order waits until the customer has paid.",
        )
        .state(shop)
        .catalog(&catalog)
        .logging()
        .resource_updates();
    shelf::offer(prices::offer(asking::offer(refunds::offer(trade::offer(builder)))))
}

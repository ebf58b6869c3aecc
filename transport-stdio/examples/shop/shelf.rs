//! What a client can read: prompts with completions, and resources of books, covers and invoices.

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::model::{CacheScope, ResourceLink, UriTemplate};
use sansio_mcp_sdk::server::{
    Asked, Builder, CompleteParams, ContentBlock, Context, Exit, Form, MultiSelectSchema, NumberSchema,
    PromptArgument, PromptMessage, PromptSpec, TemplateSpec, Typed,
};
use serde::{Deserialize, Serialize};

use super::{BOOKS, Book, Shop, euros, lock};

/// The template of the books.
pub(super) const BOOK: &str = "book://{isbn}";
const COVER: &str = "cover://{isbn}";
const INVOICE: &str = "invoice://{number}";

/// Every cover is the same grey point.
const GREY: [u8; 67] = [
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 58,
    126, 155, 85, 0, 0, 0, 10, 73, 68, 65, 84, 120, 218, 99, 104, 0, 0, 0, 130, 0, 129, 218, 69, 8, 59, 0, 0,
    0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

pub(super) fn book_uri(isbn: &str) -> String {
    expand(BOOK, isbn)
}

pub(super) fn invoice_uri(number: &str) -> String {
    expand(INVOICE, number)
}

/// A template of one variable, filled in.
fn expand(template: &str, value: &str) -> String {
    UriTemplate::new(template).map(|template| template.expand(|_| Some(value))).unwrap_or_default()
}

pub(super) fn offer(builder: Builder<Shared, Shop>) -> Builder<Shared, Shop> {
    builder
        .prompt(
            PromptSpec::new("recommend")
                .title("Recommend a book")
                .description("Asks for a recommendation among the books of one author.")
                .argument(PromptArgument::required("author").with_description("As the shop writes it."))
                .argument(PromptArgument::optional("mood").with_description("How the reader feels.")),
            recommend,
        )
        .complete_prompt("recommend", "author", complete)
        .complete_prompt("recommend", "mood", complete)
        .prompt(
            PromptSpec::new("review")
                .title("Review a book")
                .description("Asks the person what they thought of a book, and for a review that says so.")
                .argument(PromptArgument::required("isbn").with_title("ISBN")),
            review,
        )
        .complete_prompt("review", "isbn", complete)
        .resource_template(
            TemplateSpec::new(BOOK, "book")
                .title("A book")
                .description("Title, author and price of a book, by its ISBN.")
                .mime_type("application/json")
                .cache(60_000, CacheScope::Public),
            book_details,
        )
        .complete_template(BOOK, "isbn", complete)
        .resource_template(
            TemplateSpec::new(COVER, "cover").title("The cover of a book").mime_type("image/png"),
            async |_: Of, _: Context<Shop>| Ok(GREY.to_vec()),
        )
        .complete_template(COVER, "isbn", complete)
        .resource_template(
            TemplateSpec::new(INVOICE, "invoice")
                .title("An invoice")
                .description("What has been refunded on an invoice. Subscribe to one to hear of its refunds.")
                .mime_type("application/json"),
            invoice,
        )
}

#[derive(Deserialize)]
struct Recommend {
    author: String,
    mood: Option<String>,
}

async fn recommend(
    Recommend { author, mood }: Recommend,
    _: Context<Shop>,
) -> Result<Vec<PromptMessage>, Exit> {
    let mut books = BOOKS.iter().filter(|book| book.author == author).peekable();
    if books.peek().is_none() {
        return Err(Exit::failure(format!("There is no book by {author:?} here.")));
    }
    let mood = mood.unwrap_or_else(|| "curious".to_owned());
    let wish = format!("I feel {mood}. Which of these books by {author} shall I read, and why?");
    let link = |book: &Book| {
        let link = ResourceLink::new(book_uri(book.isbn), book.title).with_mime_type("application/json");
        PromptMessage::user(link)
    };
    Ok([PromptMessage::user(ContentBlock::text(wish))].into_iter().chain(books.map(link)).collect())
}

/// Which book. An ISBN that the shop does not know is no argument of a prompt here, and no resource.
#[derive(Deserialize)]
struct Of {
    isbn: Known,
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Known(&'static Book);

impl TryFrom<String> for Known {
    type Error = String;

    fn try_from(isbn: String) -> Result<Self, String> {
        let book = BOOKS.iter().find(|book| book.isbn == isbn);
        book.map(Self).ok_or_else(|| format!("there is no book of ISBN {isbn}"))
    }
}

#[derive(Deserialize)]
struct Opinion {
    stars: u8,
    words: Option<Vec<String>>,
}

/// A prompt may ask as a tool may.
async fn review(Of { isbn: Known(book) }: Of, cx: Context<Shop>) -> Result<String, Exit> {
    let form = Form::new(format!("How did you like {:?}?", book.title))
        .required("stars", NumberSchema::integer().with_title("Stars").with_minimum(1).with_maximum(5))
        .optional("words", MultiSelectSchema::new(["clear", "deep", "funny", "long"]).with_max_items(3));
    let opinion = match cx.ask("opinion", form.of::<Opinion>())? {
        Asked::Accepted(Opinion { stars, words }) => {
            let words = words.filter(|words| !words.is_empty()).map(|words| words.join(", "));
            format!(
                "I gave it {stars} of 5 stars and found it {}.",
                words.as_deref().unwrap_or("hard to describe")
            )
        }
        Asked::Declined | Asked::Cancelled => "I have no opinion of it.".to_owned(),
    };
    Ok(format!("Write a short review of {:?}. {opinion}", book.title))
}

/// Suggests what the shop has: the same for the arguments of prompts and the variables of templates.
async fn complete(of: CompleteParams, _: Context<Shop>) -> Result<Vec<&'static str>, Exit> {
    let all: Vec<&str> = match of.argument.name.as_str() {
        "author" => BOOKS.iter().map(|book| book.author).collect(),
        "isbn" => BOOKS.iter().map(|book| book.isbn).collect(),
        "mood" => vec!["adventurous", "curious", "tired"],
        _ => Vec::new(),
    };
    let begun = of.argument.value.to_lowercase();
    Ok(all.into_iter().filter(|value| value.to_lowercase().starts_with(&begun)).collect())
}

#[derive(Serialize)]
struct Details {
    isbn: &'static str,
    title: &'static str,
    author: &'static str,
    price: String,
}

async fn book_details(Of { isbn: Known(book) }: Of, cx: Context<Shop>) -> Result<String, Exit> {
    let price = euros(cx.state().price(book));
    Ok(serde_json::to_string(&Details { isbn: book.isbn, title: book.title, author: book.author, price })?)
}

#[derive(Deserialize)]
struct Invoice {
    number: String,
}

#[derive(Serialize)]
struct Balance {
    number: String,
    refunded_cents: u64,
}

async fn invoice(Invoice { number }: Invoice, cx: Context<Shop>) -> Result<String, Exit> {
    let refunded_cents = lock(&cx.state().ledger).refunded(&number);
    Ok(serde_json::to_string(&Balance { number, refunded_cents })?)
}

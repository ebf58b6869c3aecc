//! Tools that need something of the person, or of what the client has: forms, a visit, a model, folders.

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{
    Asked, BooleanSchema, Builder, Context, CreateMessageParams, ElicitUrlParams, Exit, Form, Json,
    ListRootsParams, NoArguments, NumberSchema, StringFormat, StringSchema, TitledEnumSchema, ToolSpec,
    Typed,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Shop, adds, book, euros, reads};

pub(super) fn offer(builder: Builder<Shared, Shop>) -> Builder<Shared, Shop> {
    builder
        .tool(
            ToolSpec::new("order_gift")
                .title("Order a gift")
                .description(
                    "Orders a book as a gift. Asks the person three times: for whom, how wrapped, and what the card \
                     says.",
                )
                .annotations(adds()),
            order_gift,
        )
        .tool(
            ToolSpec::new("link_account")
                .title("Link an account")
                .description("Sends the person to the shop's own page, to link the account they have there.")
                .annotations(adds()),
            link_account,
        )
        .tool(
            ToolSpec::new("haggle")
                .title("Haggle")
                .description("Asks the person for an offer, and for another, and for another: nothing is ever enough.")
                .annotations(reads()),
            haggle,
        )
        .tool(
            ToolSpec::new("write_blurb")
                .title("Write a blurb")
                .description("Has the client's model write a sentence about a book, for one of the client's folders.")
                .annotations(reads()),
            write_blurb,
        )
}

#[derive(Deserialize, JsonSchema)]
struct OneBook {
    /// The book's ISBN, as `find_book` gives it.
    isbn: String,
}

#[derive(Deserialize)]
struct Recipient {
    name: String,
    email: Option<String>,
}

#[derive(Deserialize)]
struct Wrapping {
    paper: String,
    ribbon: bool,
}

#[derive(Deserialize)]
struct Card {
    text: String,
    deliver: Option<String>,
}

/// A gift, as it was ordered.
#[derive(Serialize, JsonSchema)]
struct Gift {
    title: String,
    cents: u64,
    recipient: String,
    email: Option<String>,
    paper: String,
    ribbon: bool,
    card: String,
    /// The day, if there is one.
    deliver: Option<String>,
}

/// Three rounds. Each question needs the answers before it, and all of them are there at the last entry, whichever
/// process that is: they travel in the sealed state.
async fn order_gift(OneBook { isbn }: OneBook, cx: Context<Shop>) -> Result<Json<Gift>, Exit> {
    fn given<T>(asked: Asked<T>) -> Result<T, Exit> {
        asked
            .accepted()
            .ok_or_else(|| Exit::failure("No gift was ordered: the person did not want to go on."))
    }
    let book = book(&isbn)?;

    let whom = Form::new(format!("Who is {:?} for?", book.title))
        .required("name", StringSchema::new().with_title("Name").with_min_length(1).with_max_length(60))
        .optional("email", StringSchema::of(StringFormat::Email).with_title("E-mail"));
    let Recipient { name, email } = given(cx.ask("recipient", whom.of())?)?;

    let papers = TitledEnumSchema::new([("plain", "Brown paper"), ("gold", "Gold"), ("none", "None")]);
    let how = Form::new(format!("How shall it be wrapped for {name}?"))
        .required("paper", papers.with_title("Paper"))
        .optional("ribbon", BooleanSchema::new().with_title("With a ribbon").with_default(true));
    let Wrapping { paper, ribbon } = given(cx.ask("wrapping", how.of())?)?;

    let what = Form::new(format!("What shall the card for {name} say?"))
        .required("text", StringSchema::new().with_title("Text").with_max_length(140))
        .optional("deliver", StringSchema::of(StringFormat::Date).with_title("Not before"));
    let Card { text: card, deliver } = given(cx.ask("card", what.of())?)?;

    let cents = cx.state().price(book);
    Ok(Json(Gift { title: book.title.into(), cents, recipient: name, email, paper, ribbon, card, deliver }))
}

/// A visit: what the person does there, the shop hears from its own page and not from the client.
async fn link_account(_: NoArguments, cx: Context<Shop>) -> Result<String, Exit> {
    // The same link at the next entry, or it would be another question.
    let code = cx.kept::<String>().unwrap_or_else(|| cx.state().number());
    cx.keep(&code)?;
    let visit = ElicitUrlParams::new(
        "Log in on the shop's page to link your account.",
        format!("https://bookshop.example/link?code={code}"),
    );
    match cx.ask("visit", visit)? {
        Asked::Accepted(()) => {
            Ok(format!("Link {code} is open; the account is linked once the person has logged in."))
        }
        Asked::Declined => Err(Exit::failure("The person does not want to link an account.")),
        Asked::Cancelled => Err(Exit::failure("The person did not decide; no account was linked.")),
    }
}

#[derive(Deserialize)]
struct Offer {
    cents: u64,
}

/// Never has enough, so the bound on rounds ends it.
async fn haggle(OneBook { isbn }: OneBook, cx: Context<Shop>) -> Result<String, Exit> {
    let book = book(&isbn)?;
    let mut offered = 0;
    loop {
        let wish = match offered {
            0 => format!("What do you offer for {:?}?", book.title),
            _ => format!("{} is not enough for {:?}. What do you offer?", euros(offered), book.title),
        };
        let form = Form::new(wish).required("cents", NumberSchema::integer().with_minimum(offered + 1));
        match cx.ask(&format!("more than {offered}"), form.of::<Offer>())? {
            Asked::Accepted(Offer { cents }) => offered = cents,
            Asked::Declined | Asked::Cancelled => {
                return Ok(format!("No sale. The last offer was {}.", euros(offered)));
            }
        }
    }
}

/// Two questions of one round, answered at the same time: neither is for the person.
async fn write_blurb(OneBook { isbn }: OneBook, cx: Context<Shop>) -> Result<String, Exit> {
    let book = book(&isbn)?;
    let model = CreateMessageParams::ask(
        format!("One sentence that makes people want to read {:?}.", book.title),
        100,
    );
    let (blurb, folders) = cx.ask_all((("blurb", model), ("folders", ListRootsParams::default())))?;
    let sentence = blurb.content.first_text().unwrap_or_default().trim();
    let folder =
        folders.first().ok_or_else(|| Exit::failure("The client has no folder to put a blurb into."))?;
    Ok(format!("For {}, by {}: {sentence}", folder.uri, blurb.model))
}

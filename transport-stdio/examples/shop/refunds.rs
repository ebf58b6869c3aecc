//! Money goes back: a mutation that asks a person when it is much.

use std::collections::BTreeMap;
use std::time::Duration;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{
    Asked, BooleanSchema, Builder, Change, Context, Exit, Form, Json, LoggingLevel, StringSchema, ToolSpec,
    Typed,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Shop, changes, euros, lock, shelf};

/// How long the bank takes for a refund.
const BANK: Duration = Duration::from_millis(40);
/// Up to this a refund is made without asking.
const UNASKED: u64 = 5_000;

/// What was paid back.
#[derive(Default)]
pub(super) struct Ledger {
    /// In total, by invoice.
    by_invoice: BTreeMap<String, u64>,
    /// What stood on the invoice after an approved refund, by the approval's number.
    by_approval: BTreeMap<String, u64>,
}

impl Ledger {
    pub(super) fn refunded(&self, invoice: &str) -> u64 {
        self.by_invoice.get(invoice).copied().unwrap_or(0)
    }
}

pub(super) fn offer(builder: Builder<Shared, Shop>) -> Builder<Shared, Shop> {
    builder.tool(
        ToolSpec::new("refund")
            .title("Refund an invoice")
            .description(
                "Pays part of an invoice back. More than 50 euros have to be approved by the person. Gives what has \
                 been refunded on this invoice in total.",
            )
            .annotations(changes().with_idempotent_hint(false))
            .one_at_a_time_per(|refund: &Refund| refund.invoice.clone()),
        refund,
    )
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

/// The form that a person fills in.
#[derive(Deserialize)]
struct Approval {
    approved: bool,
    reason: Option<String>,
}

/// Reads, waits and writes: two at a time would lose one of them. The tool's lane keeps the refunds of one
/// invoice apart, and lets those of others pass. While the person thinks nothing is held.
async fn refund(Refund { invoice, cents }: Refund, cx: Context<Shop>) -> Result<Json<Refunded>, Exit> {
    let shop = cx.state();
    let approval = if cents > UNASKED { Some(approved(&invoice, cents, &cx)?) } else { None };
    // A client may send the same answers twice, and a stranger may try: an approval is good for one refund.
    let spent = approval.as_ref().and_then(|number| lock(&shop.ledger).by_approval.get(number).copied());
    if let Some(refunded_cents) = spent {
        return Ok(Json(Refunded { invoice, refunded_cents }));
    }
    let before = lock(&shop.ledger).refunded(&invoice);
    shop.clock.sleep(BANK).await;
    let refunded_cents = before.saturating_add(cents);
    {
        let mut ledger = lock(&shop.ledger);
        ledger.by_invoice.insert(invoice.clone(), refunded_cents);
        ledger.by_approval.extend(approval.map(|number| (number, refunded_cents)));
    }
    cx.log_as(Some("till"), LoggingLevel::Info, &format!("{} paid back on {invoice}", euros(cents)));
    cx.publish(Change::Resource(&shelf::invoice_uri(&invoice))).map_err(Exit::failure)?;
    Ok(Json(Refunded { invoice, refunded_cents }))
}

/// The number of a person's approval. It is made when the question is, and travels with it, sealed.
fn approved(invoice: &str, cents: u64, cx: &Context<Shop>) -> Result<String, Exit> {
    let number = cx.kept::<String>().unwrap_or_else(|| cx.state().number());
    cx.keep(&number)?;
    let form = Form::new(format!("Refund {} on invoice {invoice}?", euros(cents)))
        .required("approved", BooleanSchema::new().with_title("I approve this refund"))
        .optional("reason", StringSchema::new().with_title("Reason").with_max_length(200));
    match cx.ask("approval", form.of::<Approval>())? {
        Asked::Accepted(Approval { approved: true, reason }) => {
            let reason = reason.unwrap_or_else(|| "no reason given".to_owned());
            cx.log_as(Some("till"), LoggingLevel::Notice, &format!("approval {number}: {reason}"));
            Ok(number)
        }
        Asked::Accepted(_) | Asked::Declined => {
            Err(Exit::failure("The refund was not approved. Nothing was paid back."))
        }
        Asked::Cancelled => Err(Exit::failure("Nobody decided about the refund. Nothing was paid back.")),
    }
}

//! Forms that a server puts to a user (client/elicitation, "Requested Schema").
//!
//! A server builds one with [`Form`]; [`FormSchema::accept`] checks what came back. A client reads a [`FormSchema`] of
//! whatever its server sent, [fills in](FormSchema::fill) what the user left empty and [checks](FormSchema::check) it
//! before it answers.

mod build;
mod check;
mod choice;
mod field;
mod format;
mod number;
mod pattern;
mod schema;

pub use build::{Form, FormError};
pub use check::{FieldError, FormErrors, Unfit};
pub use choice::{
    EnumItems, EnumOption, EnumSchema, MultiSelectSchema, TitledEnumSchema, TitledItems,
    TitledMultiSelectSchema,
};
pub use field::{BooleanSchema, FieldSchema, NumberKind, NumberSchema, StringFormat, StringSchema};
pub(super) use format::is_uri;
pub use number::Number;
pub use schema::FormSchema;

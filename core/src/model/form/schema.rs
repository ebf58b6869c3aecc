//! The fields of a form.

use alloc::string::String;
use alloc::vec::Vec;

use super::field::FieldSchema;
use crate::model::Members;
use crate::model::open::{open_object, setters};

open_object! {
    /// What a form asks for: a flat object of fields (client/elicitation, "Requested Schema").
    ///
    /// One that a peer sent may break rules of the page; [`validate`](Self::validate) says so.
    #[derive(Default)]
    pub struct FormSchema, maybe_tag "type" = "object" {
        /// The dialect of JSON Schema.
        optional "$schema" => dialect: Option<String>,
        /// The fields by name, in the order in which to show them.
        required "properties" => properties: Members<FieldSchema>,
        /// The names of the fields that must be filled in.
        optional "required" => required: Option<Vec<String>>,
    }
}

impl FormSchema {
    /// Fields, none of which must be filled in.
    pub fn new(properties: Members<FieldSchema>) -> Self {
        Self { properties, ..Self::default() }
    }

    /// Whether a field must be filled in.
    pub fn is_required(&self, name: &str) -> bool {
        self.required.iter().flatten().any(|required| required == name)
    }
}

setters! { FormSchema {
    /// Says which fields must be filled in.
    with_required => required: Vec<String>,
}}

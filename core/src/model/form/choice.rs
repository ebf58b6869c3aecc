//! Fields that offer something to choose from.

use alloc::string::String;
use alloc::vec::Vec;

use crate::model::RawMembers;
use crate::model::open::{open_object, setters};

open_object! {
    /// One of some texts, shown as they are.
    #[derive(Default)]
    pub struct EnumSchema, tag "type" = "string" {
        /// The field's name for people.
        optional "title" => title: Option<String>,
        /// What to choose.
        optional "description" => description: Option<String>,
        /// What there is to choose from.
        required "enum" => values: Vec<String>,
        /// Names for people, in the order of the values. Earlier revisions had these instead of
        /// [`TitledEnumSchema`].
        optional "enumNames" => names: Option<Vec<String>>,
        /// What the field holds if the user leaves it empty.
        optional "default" => default: Option<String>,
    }
}

impl EnumSchema {
    /// One of these.
    pub fn new<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

setters! { EnumSchema {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what to choose.
    with_description => description: String,
    /// Sets what it holds if it is left empty.
    with_default => default: String,
}}

open_object! {
    /// One of some texts, shown by names for people.
    #[derive(Default)]
    pub struct TitledEnumSchema, tag "type" = "string" {
        /// The field's name for people.
        optional "title" => title: Option<String>,
        /// What to choose.
        optional "description" => description: Option<String>,
        /// What there is to choose from.
        required "oneOf" => options: Vec<EnumOption>,
        /// What the field holds if the user leaves it empty: a value, not a name.
        optional "default" => default: Option<String>,
    }
}

impl TitledEnumSchema {
    /// One of these, each a value and its name for people.
    pub fn new<V: Into<String>, T: Into<String>>(options: impl IntoIterator<Item = (V, T)>) -> Self {
        Self { options: options.into_iter().map(EnumOption::from).collect(), ..Self::default() }
    }
}

setters! { TitledEnumSchema {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what to choose.
    with_description => description: String,
    /// Sets what it holds if it is left empty: a value, not a name.
    with_default => default: String,
}}

open_object! {
    /// One thing to choose.
    pub struct EnumOption {
        /// What the answer says.
        required "const" => value: String,
        /// What people see.
        required "title" => title: String,
    }
}

impl<V: Into<String>, T: Into<String>> From<(V, T)> for EnumOption {
    fn from((value, title): (V, T)) -> Self {
        Self { value: value.into(), title: title.into(), extra: RawMembers::new() }
    }
}

open_object! {
    /// Some of some texts, shown as they are.
    #[derive(Default)]
    pub struct MultiSelectSchema, tag "type" = "array" {
        /// The field's name for people.
        optional "title" => title: Option<String>,
        /// What to choose.
        optional "description" => description: Option<String>,
        /// How many to choose at least.
        optional "minItems" => min_items: Option<u64>,
        /// How many to choose at most.
        optional "maxItems" => max_items: Option<u64>,
        /// What there is to choose from.
        required "items" => items: EnumItems,
        /// What the field holds if the user leaves it empty.
        optional "default" => default: Option<Vec<String>>,
    }
}

impl MultiSelectSchema {
    /// Some of these.
    pub fn new<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self { items: EnumItems { values, ..EnumItems::default() }, ..Self::default() }
    }

    /// Sets how many to choose at least.
    #[must_use]
    pub fn with_min_items(mut self, min_items: u64) -> Self {
        self.min_items = Some(min_items);
        self
    }

    /// Sets how many to choose at most.
    #[must_use]
    pub fn with_max_items(mut self, max_items: u64) -> Self {
        self.max_items = Some(max_items);
        self
    }
}

setters! { MultiSelectSchema {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what to choose.
    with_description => description: String,
    /// Sets what it holds if it is left empty.
    with_default => default: Vec<String>,
}}

open_object! {
    /// What there is to choose from, shown as it is.
    #[derive(Default)]
    pub struct EnumItems, maybe_tag "type" = "string" {
        /// The texts.
        required "enum" => values: Vec<String>,
    }
}

open_object! {
    /// Some of some texts, shown by names for people.
    #[derive(Default)]
    pub struct TitledMultiSelectSchema, tag "type" = "array" {
        /// The field's name for people.
        optional "title" => title: Option<String>,
        /// What to choose.
        optional "description" => description: Option<String>,
        /// How many to choose at least.
        optional "minItems" => min_items: Option<u64>,
        /// How many to choose at most.
        optional "maxItems" => max_items: Option<u64>,
        /// What there is to choose from.
        required "items" => items: TitledItems,
        /// What the field holds if the user leaves it empty: values, not names.
        optional "default" => default: Option<Vec<String>>,
    }
}

impl TitledMultiSelectSchema {
    /// Some of these, each a value and its name for people.
    pub fn new<V: Into<String>, T: Into<String>>(options: impl IntoIterator<Item = (V, T)>) -> Self {
        let options = options.into_iter().map(EnumOption::from).collect();
        Self { items: TitledItems { options, extra: RawMembers::new() }, ..Self::default() }
    }

    /// Sets how many to choose at least.
    #[must_use]
    pub fn with_min_items(mut self, min_items: u64) -> Self {
        self.min_items = Some(min_items);
        self
    }

    /// Sets how many to choose at most.
    #[must_use]
    pub fn with_max_items(mut self, max_items: u64) -> Self {
        self.max_items = Some(max_items);
        self
    }
}

setters! { TitledMultiSelectSchema {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what to choose.
    with_description => description: String,
    /// Sets what it holds if it is left empty: values, not names.
    with_default => default: Vec<String>,
}}

open_object! {
    /// What there is to choose from, shown by names for people.
    #[derive(Default)]
    pub struct TitledItems {
        /// The things to choose.
        required "anyOf" => options: Vec<EnumOption>,
    }
}

//! What was filled in, against the form.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::field::{FieldSchema, NumberKind, NumberSchema, StringFormat, StringSchema};
use super::format;
use super::number::Number;
use super::pattern::Work;
use super::schema::FormSchema;
use crate::model::{RawJson, RawMembers};

/// Problems of one form that are kept; those beyond are of the same kind and help nobody.
const MAX_ERRORS: usize = 32;

/// Why one field's value does not fit.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// It must be filled in.
    #[error("is missing")]
    Missing,
    /// The form has no such field.
    #[error("is not a field of the form")]
    Unknown,
    /// It is of another JSON type than this.
    #[error("is not {0}")]
    NotA(&'static str),
    /// It has fewer characters than this.
    #[error("has fewer than {0} characters")]
    TooShort(u64),
    /// It has more characters than this.
    #[error("has more than {0} characters")]
    TooLong(u64),
    /// The pattern is not found in it.
    #[error("does not match the pattern")]
    Pattern,
    /// It is not of this format.
    #[error("is not of the format {}", .0.as_str())]
    Format(StringFormat),
    /// It is less than this.
    #[error("is less than {0}")]
    TooSmall(Number),
    /// It is more than this.
    #[error("is more than {0}")]
    TooLarge(Number),
    /// It is not among what there is to choose from.
    #[error("is not one of the options")]
    NotAnOption,
    /// Something was chosen twice.
    #[error("names an option twice")]
    Twice,
    /// Fewer than this were chosen.
    #[error("chooses fewer than {0}")]
    TooFew(u64),
    /// More than this were chosen.
    #[error("chooses more than {0}")]
    TooMany(u64),
}

/// One field that does not fit.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldError {
    /// The field's name.
    pub field: String,
    /// What is wrong with it.
    pub problem: Unfit,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.field, self.problem)
    }
}

/// All that does not fit, in the order of the form; at most 32.
#[derive(Clone, PartialEq, Debug)]
pub struct FormErrors(Vec<FieldError>);

impl FormErrors {
    /// The fields, at least one.
    pub fn fields(&self) -> &[FieldError] {
        &self.0
    }
}

impl fmt::Display for FormErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("; ")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl core::error::Error for FormErrors {}

/// Who looks: whoever sends an answer keeps to the letter, whoever gets one takes what it can use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

impl FormSchema {
    /// Checks, for a client, that an answer is what the form asks for, member by member: every constraint, no field
    /// missing, none too many. A pattern that cannot be compiled here, or costs too much, is left
    /// to the server.
    ///
    /// # Errors
    /// Names the fields that do not fit.
    pub fn check(&self, content: &RawMembers) -> Result<(), FormErrors> {
        self.examine(content, Side::Client).map(drop)
    }

    /// Takes what a client answered, for a server: the fields of the form in their order, with whole numbers written
    /// as such. What the form does not ask for is left out, and `null` counts as not filled in (basic/patterns/mrtr,
    /// "Error Handling": what is not needed is ignored).
    ///
    /// # Errors
    /// Names the fields that do not fit.
    pub fn accept(&self, content: &RawMembers) -> Result<RawMembers, FormErrors> {
        self.examine(content, Side::Server)
    }

    /// Adds, for a client, the defaults of fields that were left empty: those that are absent or `null`. The others
    /// stay as they are, and a default that does not fit its own field is not used, nor one with a pattern in a form whose
    /// patterns before it have cost more than those of a form for people.
    #[must_use]
    pub fn fill(&self, content: &RawMembers) -> RawMembers {
        let mut filled = RawMembers::new();
        let mut work = Work::of_a_form();
        let mut there = BTreeSet::new();
        for (name, value) in content.iter().filter(|(_, value)| !value.is_null()) {
            there.insert(name);
            filled.push(name.into(), value.clone());
        }
        for (name, field) in self.properties.iter().filter(|(name, _)| !there.contains(name)) {
            if let Some(default) = field.default_value()
                && fits(field, &default, Side::Server, &mut work).is_ok()
            {
                filled.push(name.into(), default);
            }
        }
        filled
    }

    fn examine(&self, content: &RawMembers, side: Side) -> Result<RawMembers, FormErrors> {
        let mut errors = Vec::new();
        let mut unfit = |field: &str, problem| {
            if errors.len() < MAX_ERRORS {
                errors.push(FieldError { field: field.into(), problem });
            }
        };
        let mut values: BTreeMap<&str, &RawJson> =
            content.iter().filter(|(_, value)| side == Side::Client || !value.is_null()).collect();
        let required: BTreeSet<&str> = self.required.iter().flatten().map(String::as_str).collect();
        let mut accepted = RawMembers::new();
        let mut work = match side {
            Side::Client => Work::of_a_form(),
            Side::Server => Work::without_end(),
        };
        for (name, field) in self.properties.iter() {
            match values
                .remove(name)
                .map(|value| fits(field, value, side, &mut work).map(|other| (value, other)))
            {
                Some(Ok((value, other))) => {
                    accepted.push(name.into(), other.unwrap_or_else(|| value.clone()));
                }
                Some(Err(problem)) => unfit(name, problem),
                None if required.contains(name) => unfit(name, Unfit::Missing),
                None => {}
            }
        }
        if side == Side::Client {
            for name in values.into_keys() {
                unfit(name, Unfit::Unknown);
            }
        }
        if errors.is_empty() { Ok(accepted) } else { Err(FormErrors(errors)) }
    }
}

impl FieldSchema {
    /// What the field holds if the user leaves it empty.
    pub fn default_value(&self) -> Option<RawJson> {
        match self {
            Self::String(schema) => schema.default.as_ref().map(RawJson::written),
            Self::Number(schema) => schema.default.as_ref().map(RawJson::written),
            Self::Boolean(schema) => schema.default.as_ref().map(RawJson::written),
            Self::Enum(schema) => schema.default.as_ref().map(RawJson::written),
            Self::TitledEnum(schema) => schema.default.as_ref().map(RawJson::written),
            Self::MultiSelect(schema) => schema.default.as_ref().map(RawJson::written),
            Self::TitledMultiSelect(schema) => schema.default.as_ref().map(RawJson::written),
            Self::Unknown(_) => None,
        }
    }

    /// Checks one value, as [`FormSchema::check`] does; what a page that asks field by field needs.
    ///
    /// # Errors
    /// It does not fit.
    pub fn check(&self, value: &RawJson) -> Result<(), Unfit> {
        fits(self, value, Side::Client, &mut Work::of_a_form()).map(drop)
    }

    /// What there is to choose from, if this is such a field.
    pub(super) fn options(&self) -> Option<Vec<&str>> {
        Some(match self {
            Self::Enum(schema) => schema.values.iter().map(String::as_str).collect(),
            Self::TitledEnum(schema) => schema.options.iter().map(|option| option.value.as_str()).collect(),
            Self::MultiSelect(schema) => schema.items.values.iter().map(String::as_str).collect(),
            Self::TitledMultiSelect(schema) => {
                schema.items.options.iter().map(|option| option.value.as_str()).collect()
            }
            _ => return None,
        })
    }
}

/// Checks one value, and gives another way to write it where that is better.
pub(super) fn fits(
    field: &FieldSchema,
    value: &RawJson,
    side: Side,
    work: &mut Work,
) -> Result<Option<RawJson>, Unfit> {
    let text = || value.parse::<String>().map_err(|_| Unfit::NotA("a text"));
    let options = || field.options().unwrap_or_default().into_iter().collect::<BTreeSet<&str>>();
    match field {
        FieldSchema::String(schema) => string(schema, &text()?, side, work)?,
        FieldSchema::Number(schema) => return number(schema, value),
        FieldSchema::Boolean(_) => drop(value.parse::<bool>().map_err(|_| Unfit::NotA("true or false"))?),
        FieldSchema::Enum(_) | FieldSchema::TitledEnum(_) => {
            if !options().contains(text()?.as_str()) {
                return Err(Unfit::NotAnOption);
            }
        }
        FieldSchema::MultiSelect(schema) => several(&options(), value, schema.min_items, schema.max_items)?,
        FieldSchema::TitledMultiSelect(schema) => {
            several(&options(), value, schema.min_items, schema.max_items)?;
        }
        FieldSchema::Unknown(_) => {}
    }
    Ok(None)
}

fn string(schema: &StringSchema, text: &str, side: Side, work: &mut Work) -> Result<(), Unfit> {
    let length = text.chars().count() as u64;
    if let Some(least) = schema.min_length.filter(|least| length < *least) {
        return Err(Unfit::TooShort(least));
    }
    if let Some(most) = schema.max_length.filter(|most| length > *most) {
        return Err(Unfit::TooLong(most));
    }
    let format = schema.format.as_deref().and_then(StringFormat::from_wire);
    let formed = match format {
        None => true,
        Some(StringFormat::Email) => format::is_email(text),
        Some(StringFormat::Uri) => format::is_uri(text),
        Some(StringFormat::Date) => format::is_date(text),
        Some(StringFormat::DateTime) => format::is_date_time(text),
    };
    if let (Some(format), false) = (format, formed) {
        return Err(Unfit::Format(format));
    }
    let Some(pattern) = schema.pattern.as_deref() else { return Ok(()) };
    match work.finds(pattern, text) {
        Some(true) => Ok(()),
        None if side == Side::Client => Ok(()),
        Some(false) | None => Err(Unfit::Pattern),
    }
}

fn number(schema: &NumberSchema, value: &RawJson) -> Result<Option<RawJson>, Unfit> {
    let number = Number::of(value).ok_or(Unfit::NotA("a number"))?;
    if let Some(least) = schema.minimum.filter(|least| number < *least) {
        return Err(Unfit::TooSmall(least));
    }
    if let Some(most) = schema.maximum.filter(|most| number > *most) {
        return Err(Unfit::TooLarge(most));
    }
    if schema.kind == NumberKind::Number {
        return Ok(None);
    }
    // JSON Schema takes 5.0 for an integer, and whoever reads it into one does not.
    let whole = number.whole().ok_or(Unfit::NotA("a whole number"))?;
    Ok((!number.is_plain()).then(|| RawJson::written(&Number::from_whole(whole))))
}

fn several(
    options: &BTreeSet<&str>,
    value: &RawJson,
    least: Option<u64>,
    most: Option<u64>,
) -> Result<(), Unfit> {
    let chosen: Vec<String> = value.parse().map_err(|_| Unfit::NotA("a list of texts"))?;
    let count = chosen.len() as u64;
    if let Some(least) = least.filter(|least| count < *least) {
        return Err(Unfit::TooFew(least));
    }
    if let Some(most) = most.filter(|most| count > *most) {
        return Err(Unfit::TooMany(most));
    }
    let mut before = BTreeSet::new();
    for one in &chosen {
        if !options.contains(one.as_str()) {
            return Err(Unfit::NotAnOption);
        }
        if !before.insert(one) {
            return Err(Unfit::Twice);
        }
    }
    Ok(())
}

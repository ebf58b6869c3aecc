//! Making a form, and the rules that the page has for one.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;

use super::check::{Side, fits};
use super::field::{FieldSchema, NumberSchema, StringFormat, StringSchema};
use super::pattern::{Pattern, Work};
use super::schema::FormSchema;
use crate::model::ElicitFormParams;

/// Builds a form (client/elicitation, "Form Mode Elicitation Requests").
///
/// ```
/// use sansio_mcp::model::{BooleanSchema, EnumSchema, Form, NumberSchema, StringFormat, StringSchema};
///
/// let form = Form::new("Where shall the order go?")
///     .required("email", StringSchema::of(StringFormat::Email).with_title("E-mail"))
///     .required("copies", NumberSchema::integer().with_minimum(1).with_maximum(9).with_default(1))
///     .required("cover", EnumSchema::new(["paper", "cloth"]))
///     .optional("gift", BooleanSchema::new().with_default(false))
///     .build()?;
/// assert_eq!(form.requested_schema.properties.len(), 4);
///
/// let wrong = Form::new("How many?").required("n", NumberSchema::integer().with_minimum(2).with_maximum(1)).build();
/// assert_eq!(wrong.unwrap_err().to_string(), "`n`: the minimum is more than the maximum");
/// # Ok::<(), sansio_mcp::model::FormError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Form {
    message: String,
    schema: FormSchema,
    twice: Option<String>,
}

/// Why a form breaks the rules of the page.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{field}`: {problem}")]
pub struct FormError {
    /// The field's name; `message` for the form's message.
    pub field: Box<str>,
    /// What is wrong with it.
    pub problem: Cow<'static, str>,
}

impl FormError {
    fn new(field: &str, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

impl Form {
    /// A form without fields, and why the user is asked.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), schema: FormSchema::default(), twice: None }
    }

    /// Adds a field that must be filled in.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, field: impl Into<FieldSchema>) -> Self {
        let name = name.into();
        self.schema.required.get_or_insert_default().push(name.clone());
        self.optional(name, field)
    }

    /// Adds a field that may be left empty.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: impl Into<FieldSchema>) -> Self {
        let name = name.into();
        if self.schema.properties.insert(name.clone(), field.into()).is_some() {
            self.twice = Some(name);
        }
        self
    }

    /// Checks everything. A form without fields asks the user to agree or not.
    ///
    /// # Errors
    /// Names the field, or the message, that breaks a rule.
    pub fn build(self) -> Result<ElicitFormParams, FormError> {
        if self.message.trim().is_empty() {
            return Err(FormError::new("message", "is empty: the user would not know why they are asked"));
        }
        if let Some(name) = self.twice {
            return Err(FormError::new(&name, "the form has this field twice"));
        }
        self.schema.validate()?;
        Ok(ElicitFormParams::new(self.message, self.schema))
    }
}

impl FormSchema {
    /// Checks the rules of the page, for a form that was not made by [`Form`].
    ///
    /// # Errors
    /// Names the first field that breaks one: an empty name, a kind that does not exist, bounds that contradict each
    /// other, nothing to choose from, the same thing to choose twice, a format or pattern that means nothing, a
    /// default that does not fit, or a required field that is not there.
    pub fn validate(&self) -> Result<(), FormError> {
        let mut names = BTreeSet::new();
        for (name, field) in self.properties.iter() {
            if name.is_empty() {
                return Err(FormError::new(name, "the field's name is empty"));
            }
            names.insert(name);
            field.validate().map_err(|problem| FormError::new(name, problem))?;
        }
        let stray = self.required.iter().flatten().find(|name| !names.contains(name.as_str()));
        stray.map_or(Ok(()), |name| Err(FormError::new(name, "is required, and not a field of the form")))
    }
}

impl FieldSchema {
    fn validate(&self) -> Result<(), Cow<'static, str>> {
        match self {
            Self::String(schema) => string(schema)?,
            Self::Number(schema) => number(schema)?,
            Self::Boolean(_) | Self::TitledEnum(_) => {}
            Self::Enum(schema) => {
                if schema.names.as_ref().is_some_and(|names| names.len() != schema.values.len()) {
                    return Err("there are not as many names as values".into());
                }
            }
            Self::MultiSelect(schema) => self.selection(schema.min_items, schema.max_items)?,
            Self::TitledMultiSelect(schema) => self.selection(schema.min_items, schema.max_items)?,
            Self::Unknown(_) => return Err("forms have no fields of this kind".into()),
        }
        if let Some(options) = self.options() {
            let different = options.iter().collect::<BTreeSet<_>>().len();
            if options.is_empty() {
                return Err("there is nothing to choose from".into());
            }
            if different < options.len() {
                return Err("there is the same thing to choose twice".into());
            }
        }
        match self.default_value().map(|default| fits(self, &default, Side::Server, &mut Work::without_end()))
        {
            Some(Err(problem)) => Err(alloc::format!("the default {problem}").into()),
            _ => Ok(()),
        }
    }

    fn selection(&self, least: Option<u64>, most: Option<u64>) -> Result<(), Cow<'static, str>> {
        let options = self.options().map_or(0, |options| options.len() as u64);
        match (least, most) {
            (Some(least), Some(most)) if least > most => Err("the least items are more than the most".into()),
            (Some(least), _) if least > options => Err("the least items are more than there are".into()),
            _ => Ok(()),
        }
    }
}

fn string(schema: &StringSchema) -> Result<(), Cow<'static, str>> {
    if let (Some(least), Some(most)) = (schema.min_length, schema.max_length)
        && least > most
    {
        return Err("the least length is more than the most".into());
    }
    if schema.format.as_deref().is_some_and(|format| StringFormat::from_wire(format).is_none()) {
        return Err("the format is none of email, uri, date and date-time".into());
    }
    match schema.pattern.as_deref().map(Pattern::compile) {
        Some(Err(problem)) => Err(alloc::format!("the pattern {problem}").into()),
        _ => Ok(()),
    }
}

fn number(schema: &NumberSchema) -> Result<(), Cow<'static, str>> {
    let all = [schema.minimum, schema.maximum, schema.default];
    if all.iter().flatten().any(|number| !number.is_finite()) {
        return Err("a bound or the default is not a number".into());
    }
    match (schema.minimum, schema.maximum) {
        (Some(least), Some(most)) if least > most => Err("the minimum is more than the maximum".into()),
        _ => Ok(()),
    }
}

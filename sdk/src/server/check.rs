//! What is held against a tool's schemas: arguments before its handler runs, results after it.
//!
//! Without the feature `validate` a schema is only a promise to the client: arguments are read as the handler's type, and
//! of a result it is checked that there is something that the schema could apply to.

use sansio_mcp::code::wire;
use sansio_mcp::model::{CallToolResult, Tool};

use super::ConfigError;
use super::reply::{Failure, Reply};

/// The checks of one tool.
#[derive(Default)]
pub(crate) struct Checks {
    /// It has promised structured content.
    structured: bool,
    #[cfg(feature = "validate")]
    input: Option<jsonschema::Validator>,
    #[cfg(feature = "validate")]
    output: Option<jsonschema::Validator>,
}

impl Checks {
    /// # Errors
    /// A schema that is none, of a dialect that is not known, or that refers to something outside itself.
    #[cfg_attr(not(feature = "validate"), allow(clippy::unnecessary_wraps))]
    pub(crate) fn new(tool: &Tool) -> Result<Self, ConfigError> {
        Ok(Self {
            structured: tool.output_schema.is_some(),
            #[cfg(feature = "validate")]
            input: Some(validate::compile("tool.input_schema", &tool.name, tool.input_schema.as_json())?),
            #[cfg(feature = "validate")]
            output: match &tool.output_schema {
                Some(schema) => Some(validate::compile("tool.output_schema", &tool.name, schema.as_json())?),
                None => None,
            },
        })
    }

    /// Why the arguments do not fit.
    #[cfg(feature = "validate")]
    pub(crate) fn arguments(&self, arguments: &str) -> Result<(), String> {
        self.input.as_ref().map_or(Ok(()), |schema| validate::check(schema, arguments))
    }

    #[cfg(not(feature = "validate"))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // as the other
    pub(crate) fn arguments(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    /// The result as a reply: an internal error if it is not what the tool has promised (server/tools, "Output
    /// Schema"). A tool that failed has promised nothing.
    pub(crate) fn result(&self, result: CallToolResult) -> Reply {
        if !self.structured || result.is_error() {
            return result.into();
        }
        let fits = match &result.structured_content {
            Some(content) => self.content(content.get()),
            None => Err("it has no structured content".to_owned()),
        };
        match fits {
            Ok(()) => result.into(),
            Err(why) => broken(&why),
        }
    }

    #[cfg(feature = "validate")]
    fn content(&self, content: &str) -> Result<(), String> {
        self.output.as_ref().map_or(Ok(()), |schema| validate::check(schema, content))
    }

    #[cfg(not(feature = "validate"))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // as the other
    fn content(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

/// As much of a reason as is of use: some repeat what does not fit, which may be megabytes.
pub(super) fn brief(mut why: String) -> String {
    const BYTES: usize = 500;
    if why.len() > BYTES {
        why.truncate(why.floor_char_boundary(BYTES));
        why.push_str("..");
    }
    why
}

fn broken(why: &str) -> Reply {
    tracing::error!(code = "OUTPUT_SCHEMA", why, "a result does not fit the output schema of its tool");
    let message = format!("the result does not fit the tool's output schema: {why}");
    Reply::Error(Failure::new(wire::INTERNAL_ERROR, message))
}

#[cfg(feature = "validate")]
mod validate {
    use jsonschema::{PatternOptions, Validator};
    use sansio_mcp::model::RawJson;
    use serde_json::Value;

    use super::brief;
    use crate::server::ConfigError;

    pub(super) fn compile(
        field: &'static str,
        tool: &str,
        schema: &RawJson,
    ) -> Result<Validator, ConfigError> {
        let refused = |why: &dyn std::fmt::Display| ConfigError::new(field, format!("of {tool:?}: {why}"));
        let schema: Value = schema.parse().map_err(|error| refused(&error))?;
        // Patterns meet what a peer sends: their time is linear in its length. Nothing is fetched.
        jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .offline()
            .build(&schema)
            .map_err(|error| refused(&error))
    }

    pub(super) fn check(schema: &Validator, text: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        // The first is enough to go on with, and there may be millions.
        schema.validate(&value).map_err(|error| {
            let path = error.instance_path().to_string();
            let mut why = error.to_string();
            if !path.is_empty() {
                why = format!("{path}: {why}");
            }
            brief(why)
        })
    }
}

//! Calls of the specification's methods other than those of tools.

use serde::Serialize;

use super::spec::{CallSpec, Refused};
use crate::model::CompleteParams;

impl CallSpec {
    /// `prompts/list`, from the beginning or from a cursor (server/prompts, "Listing Prompts").
    pub fn list_prompts(cursor: Option<&str>) -> Self {
        Self::page("prompts/list", cursor)
    }

    /// `prompts/get` with arguments that serialise to an object of strings (server/prompts, "Getting a Prompt").
    ///
    /// # Errors
    /// The arguments are not an object, or cannot be written as JSON.
    pub fn prompt(name: &str, arguments: &(impl Serialize + ?Sized)) -> Result<Self, Refused> {
        let mut spec = Self::bare("prompts/get".into());
        spec.addressed("name", name);
        spec.arguments(arguments)?;
        Ok(spec)
    }

    /// `resources/list`, from the beginning or from a cursor (server/resources, "Listing Resources").
    pub fn list_resources(cursor: Option<&str>) -> Self {
        Self::page("resources/list", cursor)
    }

    /// `resources/templates/list`, from the beginning or from a cursor (server/resources, "Resource Templates").
    pub fn list_resource_templates(cursor: Option<&str>) -> Self {
        Self::page("resources/templates/list", cursor)
    }

    /// `resources/read` (server/resources, "Reading Resources").
    pub fn resource(uri: &str) -> Self {
        let mut spec = Self::bare("resources/read".into());
        spec.addressed("uri", uri);
        spec
    }

    /// `completion/complete` (server/utilities/completion, "Requesting Completions").
    ///
    /// # Errors
    /// The params have metadata of their own, which is set by [`meta`](Self::meta) instead.
    pub fn complete(params: &CompleteParams) -> Result<Self, Refused> {
        Self::new("completion/complete", params)
    }
}

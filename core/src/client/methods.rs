//! Calls of the specification's methods other than those of tools.

use serde::Serialize;

use super::spec::{CallSpec, Refused};
use crate::wire::write;

/// What an argument is completed for (server/utilities/completion, "Reference Types").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completed<'a> {
    /// The prompt of this name.
    Prompt(&'a str),
    /// The resource template, or the resource, of this URI.
    Resource(&'a str),
}

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

    /// `completion/complete`: how what was typed of an argument may go on. `resolved` are the values of other
    /// arguments that are settled (server/utilities/completion, "Requesting Completions").
    pub fn complete(of: Completed<'_>, argument: &str, typed: &str, resolved: &[(&str, &str)]) -> Self {
        let mut spec = Self::bare("completion/complete".into());
        let out = &mut spec.members;
        let (kind, member, name) = match of {
            Completed::Prompt(name) => ("ref/prompt", "name", name),
            Completed::Resource(uri) => ("ref/resource", "uri", uri),
        };
        out.extend_from_slice(b"\"ref\":");
        strings(out, &[("type", kind), (member, name)]);
        out.extend_from_slice(b",\"argument\":");
        strings(out, &[("name", argument), ("value", typed)]);
        if !resolved.is_empty() {
            out.extend_from_slice(b",\"context\":{\"arguments\":");
            strings(out, resolved);
            out.push(b'}');
        }
        spec
    }
}

/// An object of strings.
fn strings(out: &mut alloc::vec::Vec<u8>, members: &[(&str, &str)]) {
    out.push(b'{');
    for (n, (name, value)) in members.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write::string(out, name);
        out.push(b':');
        write::string(out, value);
    }
    out.push(b'}');
}

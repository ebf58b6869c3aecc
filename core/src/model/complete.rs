//! `completion/complete`: what an argument of a prompt or a variable of a template could be
//! (server/utilities/completion).

use alloc::string::String;
use alloc::vec::Vec;

use super::members::{Members, RawMembers};
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::union::union;
use super::write_json::result_body;

/// Values of one result at most (server/utilities/completion, "Completion Results").
pub const MAX_COMPLETIONS: usize = 100;

open_object! {
    /// The params of `completion/complete` (server/utilities/completion, "Requesting Completions").
    pub struct CompleteParams {
        /// What has the argument.
        required "ref" => reference: CompletionReference,
        /// The argument.
        required "argument" => argument: CompletionArgument,
        /// What is known beside it.
        optional "context" => context: Option<CompletionContext>,
        /// The request's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl CompleteParams {
    /// What an argument that begins with `value` could be.
    pub fn new(
        reference: impl Into<CompletionReference>,
        argument: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        Self {
            reference: reference.into(),
            argument: CompletionArgument {
                name: argument.into(),
                value: value.into(),
                extra: RawMembers::new(),
            },
            context: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }

    /// The value of another argument that is filled in already.
    pub fn known(&self, argument: &str) -> Option<&str> {
        self.context.as_ref()?.arguments.as_ref()?.get(argument).map(String::as_str)
    }

    /// Appends the members without the braces and `_meta`.
    pub(crate) fn write_members(&self, out: &mut Vec<u8>) {
        self.put(out, false);
        out.pop();
    }

    /// Sets the values of the arguments that are filled in already.
    #[must_use]
    pub fn with_known(mut self, arguments: Members<String>) -> Self {
        self.context = Some(CompletionContext { arguments: Some(arguments), extra: RawMembers::new() });
        self
    }
}

setters! { CompleteParams {
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

union! {
    /// What has the argument to complete (server/utilities/completion, "Reference Types").
    pub enum CompletionReference {
        /// A prompt.
        "ref/prompt" => Prompt: PromptReference as PromptReference,
        /// A resource or a template.
        "ref/resource" => Resource: ResourceTemplateReference as ResourceTemplateReference,
    }
}

open_object! {
    /// A prompt, by name.
    pub struct PromptReference, tag "type" = "ref/prompt" {
        /// Its name.
        required "name" => name: String,
        /// Its name for people.
        optional "title" => title: Option<String>,
    }
}

impl PromptReference {
    /// The prompt of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, extra: RawMembers::new() }
    }
}

open_object! {
    /// A resource or a template, by its URI.
    pub struct ResourceTemplateReference, tag "type" = "ref/resource" {
        /// The URI or the form of URIs, as the server lists it.
        required "uri" => uri: String,
    }
}

impl ResourceTemplateReference {
    /// The resource or template of this URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), extra: RawMembers::new() }
    }
}

open_object! {
    /// The argument to complete.
    pub struct CompletionArgument {
        /// Its name.
        required "name" => name: String,
        /// What there is of it.
        required "value" => value: String,
    }
}

open_object! {
    /// What is known beside the argument to complete.
    #[derive(Default)]
    pub struct CompletionContext {
        /// Other arguments, filled in already, by name.
        optional "arguments" => arguments: Option<Members<String>>,
    }
}

open_object! {
    /// The result of `completion/complete` (server/utilities/completion, "Completion Results").
    #[derive(Default)]
    pub struct CompleteResult, maybe_tag "resultType" = "complete" {
        /// What the argument could be.
        required "completion" => completion: Completion,
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl CompleteResult {
    /// These values, the best first. Of more than [`MAX_COMPLETIONS`] the first are taken, and the result says that
    /// there are more and how many in all.
    pub fn new<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        let mut values = values.into_iter();
        let taken: Vec<String> = values.by_ref().take(MAX_COMPLETIONS).map(Into::into).collect();
        let more = values.count();
        let mut completion = Completion { values: taken, ..Completion::default() };
        if more > 0 {
            completion.total = Some((MAX_COMPLETIONS + more) as u64);
            completion.has_more = Some(true);
        }
        Self { completion, ..Self::default() }
    }
}

setters! { CompleteResult {
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

result_body!(CompleteResult);

open_object! {
    /// What an argument could be.
    #[derive(Default)]
    pub struct Completion, check at_most_a_hundred {
        /// Values, the best first; at most [`MAX_COMPLETIONS`].
        required "values" => values: Vec<String>,
        /// How many there are in all, if known.
        optional "total" => total: Option<u64>,
        /// Whether there are more; absent is unknown.
        optional "hasMore" => has_more: Option<bool>,
    }
}

fn at_most_a_hundred(completion: &Completion) -> Result<(), &'static str> {
    if completion.values.len() > MAX_COMPLETIONS {
        return Err("values: more than 100 of them");
    }
    Ok(())
}

//! `elicitation/create`: a server asks the user, by a form or by sending them to a URL (client/elicitation).

use alloc::string::String;

use super::form::FormSchema;
use super::members::RawMembers;
use super::names::names;
use super::open::{open_object, setters};
use super::raw::RawJson;

open_object! {
    /// The params of `elicitation/create` in form mode (client/elicitation, "Form Mode Elicitation Requests").
    ///
    /// Made by [`Form`](super::Form). An absent `mode` is read as a form and written as one.
    pub struct ElicitFormParams, maybe_tag "mode" = "form" {
        /// Why the user is asked, for them to read.
        required "message" => message: String,
        /// The form's fields.
        required "requestedSchema" => requested_schema: FormSchema,
    }
}

impl ElicitFormParams {
    /// A message and the fields; [`Form`](super::Form) also checks them.
    pub fn new(message: impl Into<String>, requested_schema: FormSchema) -> Self {
        Self { message: message.into(), requested_schema, extra: RawMembers::new() }
    }
}

open_object! {
    /// The params of `elicitation/create` in URL mode (client/elicitation, "URL Mode Elicitation Requests").
    pub struct ElicitUrlParams, tag "mode" = "url" {
        /// Why the user is asked, for them to read.
        required "message" => message: String,
        /// Where the user should go; not checked.
        required "url" => url: String,
    }
}

impl ElicitUrlParams {
    /// A message and where to go.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), url: url.into(), extra: RawMembers::new() }
    }

    /// Checks that the URL is one.
    ///
    /// # Errors
    /// It is not an absolute URI with a host.
    pub fn check(&self) -> Result<(), UrlError> {
        let uri = super::form::is_uri(&self.url);
        let authority = self.url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
        let host = authority.and_then(|authority| authority.rsplit('@').next());
        // What begins with a colon is a port alone.
        if uri && host.is_some_and(|host| !host.is_empty() && !host.starts_with(':')) {
            Ok(())
        } else {
            Err(UrlError)
        }
    }
}

/// A user cannot be sent to something that is not a URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("url: not an absolute URL")]
pub struct UrlError;

names! {
    /// What the user did with a question (client/elicitation, "Response Actions").
    pub enum ElicitAction {
        /// They answered it, or agreed to visit the URL.
        Accept = "accept",
        /// They said no.
        Decline = "decline",
        /// They went away without saying either.
        Cancel = "cancel",
    }
}

open_object! {
    /// The result of `elicitation/create` (client/elicitation, "Response Actions").
    pub struct ElicitResult {
        /// What the user did.
        required "action" => action: ElicitAction,
        /// What they filled in, if they accepted a form.
        optional "content" => content: Option<RawMembers>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ElicitResult {
    /// The user filled in the form.
    pub fn accept(content: RawMembers) -> Self {
        Self { content: Some(content), ..Self::of(ElicitAction::Accept) }
    }

    /// The user agreed to visit the URL.
    pub fn visit() -> Self {
        Self::of(ElicitAction::Accept)
    }

    /// The user said no.
    pub fn decline() -> Self {
        Self::of(ElicitAction::Decline)
    }

    /// The user went away without saying either.
    pub fn cancel() -> Self {
        Self::of(ElicitAction::Cancel)
    }

    fn of(action: ElicitAction) -> Self {
        Self { action, content: None, meta: None, extra: RawMembers::new() }
    }
}

setters! { ElicitResult {
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

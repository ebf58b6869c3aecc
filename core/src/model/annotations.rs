//! Hints about who content is for and how much it matters (server/resources, "Annotations").

use alloc::string::String;
use alloc::vec::Vec;

use super::names::open_names;
use super::open::{open_object, setters};

open_names! {
    /// A side of a conversation.
    pub enum Role {
        /// The person.
        User = "user",
        /// The language model.
        Assistant = "assistant",
    }
}

open_object! {
    /// Hints about content or a resource (server/resources, "Annotations").
    #[derive(Default)]
    pub struct Annotations {
        /// Who it is meant for.
        optional "audience" => audience: Option<Vec<Role>>,
        /// From 0, entirely optional, to 1, as good as required.
        maybe_number "priority" => priority: Option<f64>,
        /// When it last changed, in the form of ISO 8601; not checked.
        optional "lastModified" => last_modified: Option<String>,
    }
}

setters! { Annotations {
    /// Says who it is meant for.
    with_audience => audience: Vec<Role>,
    /// Says how much it matters, from 0 to 1.
    with_priority => priority: f64,
    /// Says when it last changed.
    with_last_modified => last_modified: String,
}}

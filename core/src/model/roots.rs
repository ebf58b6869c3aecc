//! `roots/list`: a server asks which folders and files it may work on (client/roots). Deprecated by the specification.

use alloc::string::String;
use alloc::vec::Vec;

use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;

open_object! {
    /// The params of `roots/list`.
    #[derive(Default)]
    pub struct ListRootsParams {
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

open_object! {
    /// The result of `roots/list` (client/roots, "Listing Roots").
    #[derive(Default)]
    pub struct ListRootsResult {
        /// The roots.
        required "roots" => roots: Vec<Root>,
    }
}

impl ListRootsResult {
    /// These roots.
    pub fn new(roots: Vec<Root>) -> Self {
        Self { roots, extra: RawMembers::new() }
    }
}

open_object! {
    /// A folder or file that a server may work on (client/roots, "Root").
    pub struct Root {
        /// Its URI, which must be a `file://` one; not checked.
        required "uri" => uri: String,
        /// Its name for people.
        optional "name" => name: Option<String>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl Root {
    /// The root at a URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None, meta: None, extra: RawMembers::new() }
    }

    /// Whether the URI is a `file://` one, as the page demands.
    pub fn is_file(&self) -> bool {
        self.uri.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"))
    }
}

setters! { Root {
    /// Sets the name for people.
    with_name => name: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

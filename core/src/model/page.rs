//! Lists that come in pages (server/utilities/pagination).

use alloc::string::String;

use super::open::{open_object, setters};
use super::raw::RawJson;

open_object! {
    /// The params of a request for one page (server/utilities/pagination). A result says where the next starts in its
    /// `next_cursor`.
    #[derive(Default)]
    pub struct PaginatedParams {
        /// Where the page starts, as an earlier result said; absent is the first page. Opaque.
        optional "cursor" => cursor: Option<String>,
        /// The request's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

setters! { PaginatedParams {
    /// Says where the page starts.
    with_cursor => cursor: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

//! `tools/list` (server/tools, "Listing Tools"). Its params are [`PaginatedParams`](super::PaginatedParams).

use alloc::string::String;
use alloc::vec::Vec;

use super::cache::{CacheScope, cacheable};
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::tool::Tool;
use super::write_json::result_body;

open_object! {
    /// The result of `tools/list` (server/tools, "Listing Tools").
    #[derive(Default)]
    pub struct ListToolsResult, maybe_tag "resultType" = "complete" {
        /// The tools of this page.
        required "tools" => tools: Vec<Tool>,
        /// Where the next page starts; absent on the last.
        optional "nextCursor" => next_cursor: Option<String>,
        /// How long the result stays fresh, in milliseconds; 0 is not at all.
        millis "ttlMs" => ttl_ms: u64,
        /// Who may be served the result from a cache.
        defaulted "cacheScope" => cache_scope: CacheScope,
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ListToolsResult {
    /// The only page, which may not be cached.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self { tools, ..Self::default() }
    }
}

setters! { ListToolsResult {
    /// Says where the next page starts.
    with_next_cursor => next_cursor: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

cacheable!(ListToolsResult);
result_body!(ListToolsResult);

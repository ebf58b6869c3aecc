//! `server/discover` (server/discover).

use alloc::string::String;
use alloc::vec::Vec;

use super::cache::{CacheScope, cacheable};
use super::capabilities::ServerCapabilities;
use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::write_json::result_body;

open_object! {
    /// The params of `server/discover`: metadata and nothing else.
    #[derive(Default)]
    pub struct DiscoverParams {
        /// The request's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

open_object! {
    /// The result of `server/discover` (server/discover).
    pub struct DiscoverResult, maybe_tag "resultType" = "complete" {
        /// The protocol revisions the server speaks.
        required "supportedVersions" => supported_versions: Vec<String>,
        /// What the server offers.
        required "capabilities" => capabilities: ServerCapabilities,
        /// What a language model should know to use the server well.
        optional "instructions" => instructions: Option<String>,
        /// How long the result stays fresh, in milliseconds; 0 is not at all.
        millis "ttlMs" => ttl_ms: u64,
        /// Who may be served the result from a cache.
        defaulted "cacheScope" => cache_scope: CacheScope,
        /// The result's metadata, an object; the server's name is in there.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl DiscoverResult {
    /// A result that may not be cached.
    pub fn new(supported_versions: Vec<String>, capabilities: ServerCapabilities) -> Self {
        Self {
            supported_versions,
            capabilities,
            instructions: None,
            ttl_ms: 0,
            cache_scope: CacheScope::Private,
            meta: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { DiscoverResult {
    /// Sets what a language model should know.
    with_instructions => instructions: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

cacheable!(DiscoverResult);
result_body!(DiscoverResult);

//! How long and for whom a result may be kept (server/utilities/caching).

use super::names::open_names;

open_names! {
    /// Who may be served a kept result (server/utilities/caching, "Cache Scope Field").
    ///
    /// A result that does not say is private, the narrower of the two. So is one that says something else, since nobody
    /// knows for whom it is.
    #[derive(Default)]
    pub enum CacheScope {
        /// Anyone: nothing in it depends on who asked.
        Public = "public",
        /// Only the authorization context that asked.
        #[default]
        Private = "private",
    }
}

/// The setter of results that a client may keep.
macro_rules! cacheable {
    ($($name:ident),*) => {
        $(impl $name {
            /// Sets how long, in milliseconds, and for whom the result may be cached.
            #[must_use]
            pub fn with_cache(mut self, ttl_ms: u64, scope: $crate::model::CacheScope) -> Self {
                self.ttl_ms = ttl_ms;
                self.cache_scope = scope;
                self
            }
        })*
    };
}

pub(in crate::model) use cacheable;

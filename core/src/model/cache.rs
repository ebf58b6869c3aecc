//! How long and for whom a result may be kept (server/utilities/caching).

use super::names::names;

names! {
    /// Who may be served a kept result (server/utilities/caching, "Cache Scope Field").
    ///
    /// A result that does not say is private, the narrower of the two.
    #[derive(Default)]
    pub enum CacheScope {
        /// Anyone: nothing in it depends on who asked.
        Public = "public",
        /// Only the authorization context that asked.
        #[default]
        Private = "private",
    }
}

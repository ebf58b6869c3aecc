//! What HTTP alone promises: P8 and C12, and the edge cases of its own. Every row runs with handlers that stay on their
//! thread and with handlers that may leave it.
#![allow(missing_docs, clippy::unused_async, clippy::needless_pass_by_value)]

mod local {
    type M = sansio_mcp_sdk::Local;
    include!("rows/http.rs");
}

mod shared {
    type M = sansio_mcp_sdk::Shared;
    include!("rows/http.rs");
}

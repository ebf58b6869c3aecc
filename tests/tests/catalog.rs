//! See `rows/catalog.rs` and `rows/stale.rs`; every row runs with handlers that stay on their thread and with handlers that may leave it.
#![allow(missing_docs, clippy::unused_async, clippy::needless_pass_by_value)]

mod local {
    type M = sansio_mcp_sdk::Local;
    include!("rows/catalog.rs");

    mod stale {
        type M = sansio_mcp_sdk::Local;
        include!("rows/stale.rs");
    }
}

mod shared {
    type M = sansio_mcp_sdk::Shared;
    include!("rows/catalog.rs");

    mod stale {
        type M = sansio_mcp_sdk::Shared;
        include!("rows/stale.rs");
    }
}

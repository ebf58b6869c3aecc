//! P1 to P3 and P5 to P7: progress, the side channel going out. P4 has a binary of its own, for its allocator.
#![allow(missing_docs, clippy::unused_async, clippy::needless_pass_by_value)]

mod local {
    type M = sansio_mcp_sdk::Local;
    include!("rows/progress.rs");
}

mod shared {
    type M = sansio_mcp_sdk::Shared;
    include!("rows/progress.rs");
}

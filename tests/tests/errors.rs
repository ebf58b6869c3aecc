//! Errors, panics and results; every row runs with handlers that stay on their thread and with handlers that may leave it.
#![allow(missing_docs, clippy::unused_async, clippy::needless_pass_by_value)]

mod local {
    type M = sansio_mcp_sdk::Local;

    mod errors {
        use super::M;
        include!("rows/errors.rs");
    }

    mod panics {
        use super::M;
        include!("rows/panics.rs");
    }

    mod output {
        use super::M;
        include!("rows/output.rs");
    }
}

mod shared {
    type M = sansio_mcp_sdk::Shared;

    mod errors {
        use super::M;
        include!("rows/errors.rs");
    }

    mod panics {
        use super::M;
        include!("rows/panics.rs");
    }

    mod output {
        use super::M;
        include!("rows/output.rs");
    }
}

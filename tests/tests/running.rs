//! C4 to C6 and C8: cancelled while the handler runs. Every row runs with handlers that stay on their thread and with
//! handlers that may leave it.
#![allow(missing_docs, clippy::unused_async, clippy::needless_pass_by_value)]

mod local {
    type M = sansio_mcp_sdk::Local;

    mod cleaning {
        use super::M;
        include!("rows/cleaning.rs");
    }

    mod holding {
        use super::M;
        include!("rows/holding.rs");
    }
}

mod shared {
    type M = sansio_mcp_sdk::Shared;

    mod cleaning {
        use super::M;
        include!("rows/cleaning.rs");
    }

    mod holding {
        use super::M;
        include!("rows/holding.rs");
    }
}

//! Questions in the middle of a call; every row runs with handlers that stay on their thread and with handlers that may
//! leave it.
#![allow(missing_docs, clippy::unused_async, clippy::needless_pass_by_value)]

mod local {
    type M = sansio_mcp_sdk::Local;

    mod rounds {
        use super::M;
        include!("rows/rounds.rs");
    }

    mod rounds_bounds {
        use super::M;
        include!("rows/rounds_bounds.rs");
    }

    mod sealed {
        use super::M;
        include!("rows/sealed.rs");
    }

    mod edges_rounds {
        use super::M;
        include!("rows/edges_rounds.rs");
    }
}

mod shared {
    type M = sansio_mcp_sdk::Shared;

    mod rounds {
        use super::M;
        include!("rows/rounds.rs");
    }

    mod rounds_bounds {
        use super::M;
        include!("rows/rounds_bounds.rs");
    }

    mod sealed {
        use super::M;
        include!("rows/sealed.rs");
    }

    mod edges_rounds {
        use super::M;
        include!("rows/edges_rounds.rs");
    }
}

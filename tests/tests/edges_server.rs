//! What went wrong elsewhere, on the server's side. Every row runs with handlers that stay on their thread and with handlers
//! that may leave it.
#![allow(missing_docs, clippy::unused_async, clippy::needless_pass_by_value)]

mod local {
    type M = sansio_mcp_sdk::Local;

    mod edges_server {
        use super::M;
        include!("rows/edges_server.rs");
    }

    mod edges_lines {
        use super::M;
        include!("rows/edges_lines.rs");
    }

    mod edges_listens {
        use super::M;
        include!("rows/edges_listens.rs");
    }
}

mod shared {
    type M = sansio_mcp_sdk::Shared;

    mod edges_server {
        use super::M;
        include!("rows/edges_server.rs");
    }

    mod edges_lines {
        use super::M;
        include!("rows/edges_lines.rs");
    }

    mod edges_listens {
        use super::M;
        include!("rows/edges_listens.rs");
    }
}

//! P1 to P3 and P5 to P7: handlers and the side channel going out. P4 has a binary of its own, for its allocator.
#![allow(missing_docs, clippy::unused_async, clippy::needless_pass_by_value)]

mod local {
    type M = sansio_mcp_sdk::Local;

    mod forms {
        use super::M;
        include!("rows/forms.rs");
    }

    mod progress {
        use super::M;
        include!("rows/progress.rs");
    }
}

mod shared {
    type M = sansio_mcp_sdk::Shared;

    mod forms {
        use super::M;
        include!("rows/forms.rs");
    }

    mod progress {
        use super::M;
        include!("rows/progress.rs");
    }
}

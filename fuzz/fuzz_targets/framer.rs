//! See [`sansio_mcp_fuzz::framer`].
#![cfg_attr(fuzzing, no_main)]

sansio_mcp_fuzz::target!(framer);

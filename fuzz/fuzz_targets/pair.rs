//! See [`sansio_mcp_fuzz::pair`].
#![cfg_attr(fuzzing, no_main)]

sansio_mcp_fuzz::target!(pair);

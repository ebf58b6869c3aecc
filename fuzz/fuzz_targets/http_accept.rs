//! See [`sansio_mcp_fuzz::http_accept`].
#![cfg_attr(fuzzing, no_main)]

sansio_mcp_fuzz::target!(http_accept);

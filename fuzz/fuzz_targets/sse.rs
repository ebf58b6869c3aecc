//! See [`sansio_mcp_fuzz::sse`].
#![cfg_attr(fuzzing, no_main)]

sansio_mcp_fuzz::target!(sse);

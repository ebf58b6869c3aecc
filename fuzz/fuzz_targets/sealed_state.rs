//! See [`sansio_mcp_fuzz::sealed_state`].
#![cfg_attr(fuzzing, no_main)]

sansio_mcp_fuzz::target!(sealed_state);

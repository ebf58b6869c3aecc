//! See [`sansio_mcp_fuzz::client_operations`].
#![cfg_attr(fuzzing, no_main)]

sansio_mcp_fuzz::target!(client_operations);

//! See [`sansio_mcp_fuzz::server_operations`].
#![cfg_attr(fuzzing, no_main)]

sansio_mcp_fuzz::target!(server_operations);

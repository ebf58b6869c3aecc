//! See [`sansio_mcp_fuzz::admission`].
#![cfg_attr(fuzzing, no_main)]

sansio_mcp_fuzz::target!(admission);

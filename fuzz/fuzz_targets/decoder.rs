//! See [`sansio_mcp_fuzz::decoder`].
#![cfg_attr(fuzzing, no_main)]

sansio_mcp_fuzz::target!(decoder);

//! Measurements of sansio-mcp, beside rmcp and beside the plain chain of `serde_json` a person would write.
//!
//! Whatever is measured is a [`harness::Side`]; a side checks every answer it gets. See `README.md`.

mod answers;
pub mod bare_chain;
pub mod core_sides;
pub mod harness;
pub mod http;
pub mod listens;
pub mod load;
pub mod memory_sides;
pub mod ours_core;
pub mod ours_memory;
pub mod ours_server;
pub mod rmcp_memory;
pub mod rmcp_server;
pub mod stdio_load;

//! Over HTTP: servers in child processes, and what puts load on them. Linux alone: everything is pinned to a core.
//!
//! **Where a server plugs in**: write it as `src/bin/http_<name>.rs` on [`place`], and name it in [`load::sides`],
//! [`listens::sides`] and [`disconnect::sides`].

mod bare;
mod check;
pub mod child;
pub mod client;
pub mod disconnect;
pub mod listens;
pub mod load;
mod ours;
pub mod place;
mod requests;
mod rmcp;
mod wire;

pub use bare::Answering;
pub use ours::server as ours_server;
pub use rmcp::HttpEcho;

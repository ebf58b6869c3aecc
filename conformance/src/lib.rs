//! What the official conformance suite drives, and what judges its results.
//!
//! | module | program | what it is |
//! | --- | --- | --- |
//! | [`server`] | `server` | a server with one of everything, each as the suite wants it |
//! | [`client`] | `client` | a client that does what a scenario of the suite wants it to do |
//! | [`judge`] | `judge` | holds what the suite found against a table of what it has to find |
//!
//! All of it is written as a user of the sdk would write it. `README.md` says how they are run.
#![forbid(unsafe_code)]

pub mod client;
pub mod judge;

pub mod server;

//! A client that does what a scenario of the suite wants it to do: list, call, and answer what it is asked.
//!
//! What is tested is what the client does by itself on the way: metadata and headers on every request, another try where a
//! server corrects it, tools that it leaves out.

mod person;
mod scenario;
mod values;

pub use person::setup;
pub use scenario::{Failure, Scenario};

//! Messages as lines over any pair of byte streams: what stdio and memory have in common.

mod port;
mod pump;
#[cfg(test)]
mod pump_test;

pub use port::Port;
pub use pump::{Pump, pump};

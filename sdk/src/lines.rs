//! Messages as lines over any pair of byte streams: what stdio and memory have in common.

mod port;
mod pump;

pub use port::Port;
pub use pump::{Pump, pump};

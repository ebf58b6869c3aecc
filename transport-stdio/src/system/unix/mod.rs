//! Unix sockets: many clients of one engine, the same lines as on stdio.

mod listener;
mod serve;
mod set;

pub use listener::Listener;
pub(crate) use serve::{Accept, serve};

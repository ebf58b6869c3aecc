//! The service by itself: no sockets, and no time but the virtual.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod ending;
mod forms;
mod limits;
mod refusals;
mod rig;
mod shop;

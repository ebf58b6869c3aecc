//! Servers on real sockets, and clients that do everything wrong. Nothing here waits for time to pass, only for what is sure
//! to come.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod bad;
mod ending;
mod good;
mod http2;
mod leaving;
mod random;
mod rig;

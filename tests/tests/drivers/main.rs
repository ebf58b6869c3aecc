//! The same rows on smol, tokio and plain threads, with real processes, pipes and sockets; and children with bad manners.
//!
//! Nothing sleeps: a row waits for what it is about, and where a time decides, the clock is a virtual one.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod child;
mod driver;
mod ladder;
mod rows;
mod socket;
mod support;

/// Makes a test of each row for each driver.
macro_rules! on_every_driver {
    ($($row:ident)*) => {
        $(
            mod $row {
                #[test]
                fn smol() {
                    super::$row::<crate::driver::Smol>();
                }

                #[test]
                fn tokio() {
                    super::$row::<crate::driver::Tokio>();
                }

                #[test]
                fn threads() {
                    super::$row::<crate::driver::Threads>();
                }
            }
        )*
    };
}
use on_every_driver;

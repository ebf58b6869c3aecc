//! The harness of the promise suite: one row, every transport, virtual time.
//!
//! A row is an `async fn(Bench)`. [`rows!`] makes a test of it for each target: `memory` (one channel for all
//! requests), `per_request` (a stream for each, as HTTP has them) and `stdio` (pipes of the operating system). A row
//! speaks to the server through the sdk's client, or through [`Wire`], which writes lines and sees every line that
//! comes back.
//!
//! Nothing sleeps in real time: a [`Lab`](sansio_mcp_memory::Lab) runs everything on a virtual clock, which goes on
//! only where nothing can be done, [`settle`](Bench::settle) meaning exactly that.
#![allow(clippy::missing_errors_doc)]

mod asked;
mod bench;
mod log;
mod os_pipe;
mod probe;
mod wire;

pub use asked::{check, form, kinds, said, text};
pub use bench::{Bench, Rig, Target, run};
pub use log::{Event, Log};
pub use os_pipe::{OsReader, OsWriter, os_pipe};
pub use probe::{DropFlag, Gate, Trace};
pub use wire::{
    Wire, accepted, answering, asking, cancel, progress_of, request, response, responses, tool, tool_with,
};

/// Makes a test of each row for each target: `name: all;`, or for those in brackets.
#[macro_export]
macro_rules! rows {
    () => {};
    ($name:ident: all; $($rest:tt)*) => {
        $crate::rows!($name: [memory per_request stdio]; $($rest)*);
    };
    ($name:ident: [$($target:ident)*]; $($rest:tt)*) => {
        mod $name {
            $(
                #[test]
                fn $target() {
                    $crate::run($crate::Target::$target(), super::$name);
                }
            )*
        }
        $crate::rows!($($rest)*);
    };
}

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

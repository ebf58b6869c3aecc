//! The harness of the promise suite: one row, every transport, virtual time.
//!
//! A row is an `async fn(Bench)`. [`rows!`] makes a test of it for each target: `memory` (one channel for all
//! requests), `per_request` (a stream for each, as HTTP has them), `stdio` (pipes of the operating system), and HTTP
//! without sockets in its three modes: `http_auto`, `http_sse` and `http_json`. A row speaks to the server through the sdk's
//! client, or through [`Wire`], which writes lines and sees every line that comes back.
//!
//! Nothing sleeps in real time: a [`Lab`](sansio_mcp_memory::Lab) runs everything on a virtual clock, which goes on
//! only where nothing can be done, [`settle`](Bench::settle) meaning exactly that.
#![allow(clippy::missing_errors_doc)]

mod asked;
mod bench;
mod http;
mod log;
mod os_pipe;
mod probe;
mod socket;
mod wire;

pub use asked::{check, form, kinds, said, text};
pub use bench::{Bench, Rig, Target, run};
pub use http::{Http, Sent};
pub use log::{Event, Log};
pub use os_pipe::{OsReader, OsWriter, os_pipe};
pub use probe::{DropFlag, Gate, Trace};
pub use wire::{
    Wire, accepted, answering, asking, cancel, progress_of, request, response, responses, tool, tool_with,
};

/// Makes a test of each row for each target: `name: all;`, or for some: `live`, where something can be said before the
/// answer, and so everywhere but on `http_json`; `open`, where the row holds the engine, and so everywhere but on `stdio`;
/// `open_live`, which is both; `http`, the three modes; or those in brackets. `all, sockets` and `live, sockets` are a choice
/// that runs on `http_sockets` too.
#[macro_export]
macro_rules! rows {
    () => {};
    ($name:ident: all; $($rest:tt)*) => {
        $crate::rows!($name: [memory per_request stdio http_auto http_sse http_json]; $($rest)*);
    };
    ($name:ident: live; $($rest:tt)*) => {
        $crate::rows!($name: [memory per_request stdio http_auto http_sse]; $($rest)*);
    };
    ($name:ident: open; $($rest:tt)*) => {
        $crate::rows!($name: [memory per_request http_auto http_sse http_json]; $($rest)*);
    };
    ($name:ident: open_live; $($rest:tt)*) => {
        $crate::rows!($name: [memory per_request http_auto http_sse]; $($rest)*);
    };
    ($name:ident: all, sockets; $($rest:tt)*) => {
        $crate::rows!($name: [memory per_request stdio http_auto http_sse http_json http_sockets]; $($rest)*);
    };
    ($name:ident: live, sockets; $($rest:tt)*) => {
        $crate::rows!($name: [memory per_request stdio http_auto http_sse http_sockets]; $($rest)*);
    };
    ($name:ident: http; $($rest:tt)*) => {
        $crate::rows!($name: [http_auto http_sse http_json]; $($rest)*);
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

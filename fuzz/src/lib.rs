//! What is fuzzed: one function for each target, which takes any bytes and panics where something does not hold.
//!
//! libFuzzer comes in under `cfg(fuzzing)` alone. Without it a target is a program that replays the files it is given, and
//! `cargo test` replays the seeds in `corpus`. The models and generators are those of the core's model tests.
#![forbid(unsafe_code)]

mod decode;
mod frames;
mod http;
mod http_heads;
mod models;
mod seal;

pub use decode::decoder;
pub use frames::framer;
pub use http::{http_mirror, sse};
pub use http_heads::{http_accept, http_origin, http_status};
pub use models::{admission, client_operations, pair, server_operations};
pub use seal::sealed_state;

#[path = "../../core/tests/support/admission_model.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod admission_model;
#[path = "../../core/tests/support/admission_ops.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod admission_ops;
#[path = "../../core/tests/support/admission_system.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod admission_system;
#[path = "../../core/tests/support/bytes.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod bytes;
#[path = "../../core/tests/support/client_listens.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod client_listens;
#[path = "../../core/tests/support/client_model.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod client_model;
#[path = "../../core/tests/support/client_ops.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod client_ops;
#[path = "../../core/tests/support/client_rules.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod client_rules;
#[path = "../../core/tests/support/client_system.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod client_system;
#[path = "../../core/tests/support/frame.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod frame;
#[path = "../../core/tests/support/pair_system.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod pair_system;
#[path = "../../core/tests/support/sealed_system.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod sealed_system;
#[path = "../../core/tests/support/sealing.rs"]
mod sealing;
#[path = "../../core/tests/support/server_listens.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod server_listens;
#[path = "../../core/tests/support/server_model.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod server_model;
#[path = "../../core/tests/support/server_ops.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod server_ops;
#[path = "../../core/tests/support/server_rules.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod server_rules;
#[path = "../../core/tests/support/server_system.rs"]
#[allow(dead_code, reason = "the model tests use all of it")]
mod server_system;

/// Takes any bytes, and panics where something does not hold.
pub type Target = fn(&[u8]);

/// The targets by their names, as the folders in `corpus` are called.
pub const TARGETS: [(&str, Target); 12] = [
    ("framer", framer),
    ("decoder", decoder),
    ("sealed_state", sealed_state),
    ("client_operations", client_operations),
    ("server_operations", server_operations),
    ("admission", admission),
    ("pair", pair),
    ("http_mirror", http_mirror),
    ("sse", sse),
    ("http_accept", http_accept),
    ("http_origin", http_origin),
    ("http_status", http_status),
];

/// The program of a target: libFuzzer's under `cfg(fuzzing)`, otherwise one that replays files.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::$name(bytes));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            for file in std::env::args_os().skip(1) {
                $crate::$name(&std::fs::read(file)?);
            }
            Ok(())
        }
    };
}

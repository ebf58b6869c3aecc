//! Steps, each with a bound, and how many of them passed.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use sansio_mcp_sdk::client::CallError;

/// No step takes longer.
const BOUND: Duration = Duration::from_secs(20);

/// How a step ended; the text is the reason why it failed.
pub(crate) type Step = Result<(), Failure>;

#[derive(Debug)]
pub(crate) struct Failure(String);

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self(format!("{}: {error}", error.code()))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// That two values are equal.
#[allow(clippy::needless_pass_by_value)] // reads as what it compares
pub(crate) fn same<A: PartialEq<B> + Debug, B: Debug>(what: &str, is: A, wanted: B) -> Step {
    if is == wanted { Ok(()) } else { Err(format!("{what}: {is:?}, not {wanted:?}").into()) }
}

/// That something holds.
pub(crate) fn check(what: &str, holds: bool) -> Step {
    if holds { Ok(()) } else { Err(format!("not so: {what}").into()) }
}

#[derive(Default)]
pub(crate) struct Tally {
    passed: u32,
    failed: u32,
}

impl Tally {
    pub(crate) async fn step(&mut self, name: &str, step: impl Future<Output = Step>) {
        let bound = async {
            smol::Timer::after(BOUND).await;
            Err(Failure(format!("not over within {} s", BOUND.as_secs())))
        };
        match smol::future::or(step, bound).await {
            Ok(()) => {
                self.passed += 1;
                println!("PASS {name}");
            }
            Err(Failure(reason)) => {
                self.failed += 1;
                println!("FAIL {name}: {reason}");
            }
        }
    }

    pub(crate) fn end(self) -> ExitCode {
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

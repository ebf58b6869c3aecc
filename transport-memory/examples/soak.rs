//! Clients that do whatever comes to mind over links that misbehave, for as long as one likes.
//!
//! ```text
//! cargo run --release -p sansio-mcp-memory --example soak -- --seed 1 --steps 100000
//! ```
//!
//! Runs of 500 steps each, with the seeds that follow. A failure names its seed; equal seeds run alike.
#![allow(clippy::expect_used, reason = "what does not hold ends it")]

mod storm;

use std::process::ExitCode;

/// Steps of one run.
const RUN: u64 = 500;

fn main() -> ExitCode {
    let (mut seed, mut steps) = (1, 20_000);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let number = args.next().and_then(|number| number.parse().ok());
        match (arg.as_str(), number) {
            ("--seed", Some(number)) => seed = number,
            ("--steps", Some(number)) => steps = number,
            _ => {
                eprintln!("usage: soak [--seed N] [--steps M]");
                return ExitCode::FAILURE;
            }
        }
    }
    let (mut ends, mut listens) = (storm::Ends::new(), storm::Ends::new());
    let (mut left, mut lines) = (steps, 0);
    while left > 0 {
        let outcome = storm::run(seed, left.min(RUN));
        add(&mut ends, outcome.ends);
        add(&mut listens, outcome.listens);
        lines += outcome.trace.lines().count();
        left = left.saturating_sub(RUN);
        seed += 1;
    }
    println!("{steps} steps, {lines} lines of trace; calls by how they ended:");
    print(&ends);
    println!("subscriptions by how they ended:");
    print(&listens);
    ExitCode::SUCCESS
}

fn add(all: &mut storm::Ends, more: storm::Ends) {
    for (code, count) in more {
        *all.entry(code).or_default() += count;
    }
}

fn print(ends: &storm::Ends) {
    for (code, count) in ends {
        println!("{count:>8} {code}");
    }
}

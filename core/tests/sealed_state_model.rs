//! Random calls over many rounds, replays, clocks and keys, against a plain reference that remembers what each sealed
//! text must mean.
#![cfg(feature = "seal")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use bytes::seeded;
use proptest::prelude::*;
use sansio_mcp::limits::MAX_ROUNDS;
use sealed_system::run;

#[path = "support/bytes.rs"]
mod bytes;
#[path = "support/sealed_system.rs"]
mod sealed_system;
#[path = "support/sealing.rs"]
mod sealing;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_sealed_state_means_what_was_sealed(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        run(&bytes);
    }
}

/// The operations reach what they are for: calls through all eight rounds, and every reason.
#[test]
fn long_runs_reach_every_round() {
    let mut rounds = [0; MAX_ROUNDS as usize + 1];
    let mut opened = 0;
    for seed in 0..8 {
        let system = run(&seeded(seed, 3000));
        opened += system.opened;
        for issued in &system.issued {
            rounds[usize::from(issued.expected.round)] += 1;
        }
    }
    assert!(opened > 200 && rounds[1..].iter().all(|count| *count > 0), "{opened} {rounds:?}");
}

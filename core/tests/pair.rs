//! The client against the server, bytes crossing whole, byte by byte and split at random: the same events and outcomes,
//! and identical runs give identical traces (invariants 6 and 14 in `tests/PROMISES.md`).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use bytes::seeded;
use pair_system::{Pair, Split, run};
use proptest::prelude::*;
use sansio_mcp::client::CallSpec;

#[path = "support/bytes.rs"]
mod bytes;
#[path = "support/pair_system.rs"]
mod pair_system;

#[test]
fn bytes_that_cross_whole_singly_or_in_pieces_give_the_same_run() {
    let mut lines = Vec::new();
    for seed in 0..60 {
        // Long and short ones end differently.
        let ops = seeded(seed, 598 + usize::try_from(seed % 4).unwrap());
        let whole = run(&ops, &Split::Whole);
        lines.extend(whole.0.iter().cloned());
        assert_eq!(run(&ops, &Split::Whole), whole, "identical runs give identical traces");
        assert_eq!(run(&ops, &Split::Single), whole);
        assert_eq!(run(&ops, &Split::At(seeded(seed + 1000, 97))), whole);
    }
    assert!(lines.len() > 5000, "too little happened: {}", lines.len());
    for what in [
        "Listening {",
        "change: Tools",
        "change: Resource",
        "round: 1,",
        "round: 4,",
        "inputResponses",
        "Log {",
        "Progress {",
        "Complete(",
        "PeerError",
        "Cancelled",
        "TimedOut(Idle)",
        "TimedOut(Total)",
        "RoundsExceeded",
        "Lost(",
        "Err(Subscription)",
        "Err(NotASubscription)",
        "Err(NotAccepted)",
        "Err(CannotAsk)",
    ] {
        assert!(lines.iter().any(|line| line.contains(what)), "never saw {what}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn however_the_bytes_are_split(
        ops in prop::collection::vec(any::<u8>(), 0..300),
        cuts in prop::collection::vec(0..40u8, 1..30),
    ) {
        prop_assert_eq!(run(&ops, &Split::At(cuts)), run(&ops, &Split::Whole));
    }
}

/// A server that asks, over the same pipes: what it asks and what it is told survives any split.
#[test]
fn a_round_of_input_crosses_however_it_is_split() {
    let run = |split: &Split| {
        let mut pair = Pair::new(split);
        let call = pair.client.call(pair.now, CallSpec::tool("t", &serde_json::json!({})).unwrap());
        pair.calls.push(call.unwrap());
        pair.upstream();
        // The line of a server of another make, with an escape that ours would not write.
        pair.down.bytes.extend_from_slice(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"input_required\",\"requestState\":\"\u{e9}\\u0000\",\"inputRequests\":{\"k\u{e4}\":{\"method\":\"elicitation/create\"}}}}\r\n".as_bytes(),
        );
        pair.downstream();
        pair.upstream();
        assert_eq!(pair.servings.len(), 2);
        (pair.trace, pair.wire)
    };
    let whole = run(&Split::Whole);
    assert!(whole.0.last().unwrap().contains("inputResponses"), "{:?}", whole.0.last());
    assert!(String::from_utf8_lossy(&whole.1).contains("\"requestState\":\"\u{e9}\\u0000\""));
    assert_eq!(run(&Split::Single), whole);
    assert_eq!(run(&Split::At(vec![3, 0, 7, 1])), whole);
}

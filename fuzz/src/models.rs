//! Operations on the engines, beside the naive models of the core's tests.

use sansio_mcp::admission::AdmissionLimits;

use crate::client_model::{self, BINDINGS};
use crate::pair_system::{Split, run};
use crate::{admission_system, client_system, frame, server_model, server_system};

/// So many bytes are read: a model looks through all it ever saw at each step.
const MOST: usize = 3000;

/// The first byte and the rest that is read.
fn split(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    Some((usize::from(*first), &rest[..rest.len().min(MOST)]))
}

/// The client beside its model. The first byte is the binding and the limit of calls.
pub fn client_operations(bytes: &[u8]) {
    let Some((first, ops)) = split(bytes) else { return };
    let setup = client_model::Setup { binding: BINDINGS[first % 3], calls: 1 + first / 3 % 5 };
    frame::replay::<client_system::System>(setup, ops, |_, _, _| true);
}

/// The server, or an exchange, beside its model. The first byte says which, and the limits of requests in flight and
/// of subscriptions.
pub fn server_operations(bytes: &[u8]) {
    let Some((first, ops)) = split(bytes) else { return };
    let (in_flight, subscriptions) = (1 + first / 4 % 5, 1 + first / 20 % 3);
    let setup = server_model::Setup { single: first % 4 == 0, in_flight, subscriptions };
    frame::replay::<server_system::System>(setup, ops, |_, _, _| true);
}

/// Admission beside its model. The first byte is the limits.
pub fn admission(bytes: &[u8]) {
    let Some((first, ops)) = split(bytes) else { return };
    let limits = AdmissionLimits::new(1 + first % 4, first / 4 % 6);
    frame::replay::<admission_system::System>(limits, ops, |_, _, _| true);
}

/// Client and server back to back. The first byte says how many of the next are lengths of pieces; with them, singly and
/// whole the run is the same, each call ends once, and nothing is left.
pub fn pair(bytes: &[u8]) {
    let Some((first, rest)) = split(bytes) else { return };
    let (cuts, ops) = rest.split_at(rest.len().min(first % 16));
    let whole = run(ops, &Split::Whole);
    if !cuts.is_empty() {
        assert_eq!(run(ops, &Split::At(cuts.to_vec())), whole, "in pieces");
    }
    assert_eq!(run(ops, &Split::Single), whole, "singly");
}

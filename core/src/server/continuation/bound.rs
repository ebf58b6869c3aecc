//! What a state is bound to.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::digest::Digest;
use crate::server::Request;

/// Members of params that differ between the attempts of one call.
const OF_ONE_ATTEMPT: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// A request as its continuation state knows it: the method, what was asked, and who asked.
///
/// A state opens only under a bound equal to the one it was sealed under (basic/patterns/mrtr, "Server Requirements").
/// What was asked is all of params but `_meta`, `inputResponses` and `requestState`: the tool, prompt or resource, its
/// arguments, and whatever else a handler could read there. The order of keys, white space, escapes and the spelling
/// of numbers do not matter, so a client may serialise its request anew for each attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    pub(super) method: String,
    pub(super) request: Digest,
    pub(super) caller: Digest,
}

impl Bound {
    /// The bound of a request made by `caller`.
    ///
    /// The caller is whatever names the authenticated principal, the same bytes on each replica: a subject, or issuer
    /// and subject. Empty where the transport knows none, as on stdio; a state then opens for whoever holds it and makes
    /// the same request.
    pub fn of(request: &Request, caller: &[u8]) -> Self {
        Self {
            method: request.method().name().to_owned(),
            request: Digest::of_params(request.message(), &OF_ONE_ATTEMPT),
            caller: Digest::of_bytes(caller),
        }
    }

    /// As [`of`](Self::of), from a method and the text of its params.
    pub fn new(method: &str, params: &str, caller: &[u8]) -> Self {
        Self {
            method: method.to_owned(),
            request: Digest::of_members(params, &OF_ONE_ATTEMPT),
            caller: Digest::of_bytes(caller),
        }
    }
}

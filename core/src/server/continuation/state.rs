//! From a continuation to `requestState` and back.

use alloc::string::String;
use core::fmt;
use core::time::Duration;

use super::bound::Bound;
use super::layout::{DecodeError, Record};
use super::rounds::Continuation;
use super::sealer::{OpenError, SealError, Sealer};
use crate::code::wire;
use crate::limits::{MAX_STATE, STATE_CLOCK_SKEW};
use crate::server::ErrorReply;
use crate::time::Now;

/// The text for `requestState`: a continuation that only this request of this caller can go on from, until `life` has
/// passed (usually [`STATE_LIFE`](crate::limits::STATE_LIFE)). Time is `now.unix_millis`.
///
/// # Errors
/// Nothing was asked ([`Continuation::next_round`] was not called), there is no randomness, or the state is too long.
pub fn seal_state(
    sealer: &(impl Sealer + ?Sized),
    bound: &Bound,
    continuation: &Continuation,
    now: Now,
    life: Duration,
) -> Result<String, SealError> {
    if continuation.round() == 0 {
        return Err(SealError::NothingAsked);
    }
    let issued = now.unix_millis;
    let expires = issued.saturating_add(millis(life));
    let record = Record { issued, expires, bound: bound.clone(), continuation: continuation.clone() };
    let plain = record.encode().filter(|plain| plain.len() <= MAX_STATE).ok_or(SealError::TooLong)?;
    let sealed = sealer.seal(&plain)?;
    if sealed.len() > MAX_STATE {
        return Err(SealError::TooLong);
    }
    Ok(sealed)
}

/// The continuation that a request brought along. The bound is that of the request which carries the state.
///
/// # Errors
/// The state is refused, for a reason that the client does not learn: answer with [`StateRefused::reply`] and do not
/// enter the handler.
pub fn open_state(
    sealer: &(impl Sealer + ?Sized),
    sealed: &str,
    bound: &Bound,
    now: Now,
) -> Result<Continuation, StateRefused> {
    if sealed.len() > MAX_STATE {
        return Err(StateRefused::new(Reason::TooLong));
    }
    let plain = sealer.open(sealed).map_err(|why| {
        StateRefused::new(match why {
            OpenError::Tampered => Reason::Tampered,
            OpenError::Version => Reason::Version,
            OpenError::UnknownKey => Reason::UnknownKey,
        })
    })?;
    let record = Record::decode(&plain).map_err(|why| {
        StateRefused::new(match why {
            DecodeError::Version => Reason::Version,
            DecodeError::Round => Reason::Round,
            DecodeError::Form => Reason::Form,
        })
    })?;
    // All are looked at before any is told, so that a refusal takes as long for one as for another.
    let refusals = [
        (record.bound.method != bound.method, Reason::OtherMethod),
        (!record.bound.request.same(&bound.request), Reason::OtherRequest),
        (!record.bound.caller.same(&bound.caller), Reason::OtherCaller),
        (record.issued > now.unix_millis.saturating_add(millis(STATE_CLOCK_SKEW)), Reason::FromTheFuture),
        (record.expires <= now.unix_millis, Reason::Expired),
    ];
    match refusals.into_iter().rev().fold(None, |found, (wrong, why)| if wrong { Some(why) } else { found }) {
        Some(why) => Err(StateRefused::new(why)),
        None => Ok(record.continuation),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// State that was refused. To the client all refusals look alike; the [`reason`](Self::reason) is for the operator's
/// log.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", MESSAGE)]
pub struct StateRefused {
    reason: Reason,
}

const MESSAGE: &str = "the request state is not valid here; make the call anew without it";

/// The one answer to every refused state, -32602 (on HTTP with status 200).
pub(in crate::server) const STATE_REFUSED: ErrorReply<'static> =
    ErrorReply { code: wire::INVALID_PARAMS, message: MESSAGE, data: None };

impl StateRefused {
    const fn new(reason: Reason) -> Self {
        Self { reason }
    }

    /// Why; not for the client.
    pub const fn reason(self) -> Reason {
        self.reason
    }

    /// The one answer to every refused state, -32602 (on HTTP with status 200).
    pub const fn reply(self) -> ErrorReply<'static> {
        STATE_REFUSED
    }
}

impl fmt::Debug for StateRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StateRefused").field(&self.reason).finish()
    }
}

/// Why a state was refused, for the operator's log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// Longer than [`MAX_STATE`].
    #[error("it is longer than a state may be")]
    TooLong,
    /// Never sealed, or changed since.
    #[error("it was changed, or never sealed")]
    Tampered,
    /// Another version of the format: an older or newer program sealed it.
    #[error("it has another version")]
    Version,
    /// Sealed under a key that is not on the ring: another server's, or one that was taken off.
    #[error("its key is not on the ring")]
    UnknownKey,
    /// Sealed under our key, and still not a state.
    #[error("what was sealed is no state")]
    Form,
    /// Sealed under our key for a round that there is not.
    #[error("it is of a round that there is not")]
    Round,
    /// Belongs to a request of another method.
    #[error("it belongs to a request of another method")]
    OtherMethod,
    /// Belongs to a request for another tool, prompt or resource, or with other arguments.
    #[error("it belongs to a request for something else, or with other arguments")]
    OtherRequest,
    /// Belongs to a request of another caller.
    #[error("it belongs to another caller")]
    OtherCaller,
    /// Sealed ahead of our clock by more than [`STATE_CLOCK_SKEW`].
    #[error("it was sealed in the future")]
    FromTheFuture,
    /// Its life is over.
    #[error("it has expired")]
    Expired,
}

impl Reason {
    /// The stable name of this reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLong => "STATE_TOO_LONG",
            Self::Tampered => "STATE_TAMPERED",
            Self::Version => "STATE_VERSION",
            Self::UnknownKey => "STATE_UNKNOWN_KEY",
            Self::Form => "STATE_FORM",
            Self::Round => "STATE_ROUND",
            Self::OtherMethod => "STATE_OTHER_METHOD",
            Self::OtherRequest => "STATE_OTHER_REQUEST",
            Self::OtherCaller => "STATE_OTHER_CALLER",
            Self::FromTheFuture => "STATE_FROM_THE_FUTURE",
            Self::Expired => "STATE_EXPIRED",
        }
    }
}

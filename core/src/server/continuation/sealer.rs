//! What a seal must do, and where its randomness comes from.

use alloc::string::String;
use alloc::vec::Vec;

/// Encrypts and authenticates bytes that travel through a client, and reads them back.
///
/// [`KeyRing`](super::KeyRing) is one, behind the feature `seal`; without it, or where another cipher is required, bring your own.
pub trait Sealer {
    /// Seals `plain`. The text must be in one form alone: a text that differs in any character does not open.
    ///
    /// # Errors
    /// There is no randomness.
    fn seal(&self, plain: &[u8]) -> Result<String, SealError>;

    /// Opens what [`seal`](Self::seal) made, by this ring or one with the same key. The text is a peer's, and no longer
    /// than [`MAX_STATE`](crate::limits::MAX_STATE).
    ///
    /// # Errors
    /// It was not made under any of the keys, or was changed.
    fn open(&self, sealed: &str) -> Result<Vec<u8>, OpenError>;
}

impl<S: Sealer + ?Sized> Sealer for &S {
    fn seal(&self, plain: &[u8]) -> Result<String, SealError> {
        (**self).seal(plain)
    }

    fn open(&self, sealed: &str) -> Result<Vec<u8>, OpenError> {
        (**self).open(sealed)
    }
}

/// A source of random bytes that nobody can predict: the operating system's, or a cryptographic generator seeded from
/// it.
pub trait Entropy {
    /// Fills `out`.
    ///
    /// # Errors
    /// There is none now. What `out` holds is not used.
    fn fill(&self, out: &mut [u8]) -> Result<(), NoEntropy>;
}

impl<F: Fn(&mut [u8]) -> Result<(), NoEntropy>> Entropy for F {
    fn fill(&self, out: &mut [u8]) -> Result<(), NoEntropy> {
        self(out)
    }
}

/// The source of random bytes has failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no random bytes are to be had")]
pub struct NoEntropy;

/// Why state could not be sealed. The request that needed it fails with -32603.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// No randomness for a nonce.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
    /// Longer than [`MAX_STATE`](crate::limits::MAX_STATE) when sealed: the handler's own part and the answers so far
    /// are too much to send back and forth.
    #[error("the state is longer than it may be")]
    TooLong,
    /// No input was asked for in this call, so there is no round to go on from.
    #[error("nothing has been asked, so there is nothing to go on from")]
    NothingAsked,
}

/// Why a text does not open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Not a sealed text, or changed since.
    #[error("it was changed, or never sealed")]
    Tampered,
    /// Sealed in another version of the format.
    #[error("it has another version")]
    Version,
    /// Sealed under a key that is not, or no longer, on the ring.
    #[error("its key is not on the ring")]
    UnknownKey,
}

//! SHA-256 of a value, of a question, of a caller.

use core::fmt;

use sha2::{Digest as _, Sha256};

use super::canonical;

/// Bytes of a digest.
pub(super) const LEN: usize = 32;

/// The digest of no bytes at all, as which a caller goes that nobody has named.
const OF_NOTHING: [u8; LEN] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
    0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// Stands for a value: equal for every way to write it, different for every other value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; LEN]);

impl Digest {
    /// The digest of a JSON value, by its canonical form: the order of keys, white space, escapes and the spelling of
    /// numbers do not matter, anything else does. Text that is not JSON stands for itself.
    pub fn of_json(text: &str) -> Self {
        Self::of_members(text, &[])
    }

    /// As [`of_json`](Self::of_json), without those members of the object whose keys are in `without`.
    pub(super) fn of_members(text: &str, without: &[&str]) -> Self {
        let mut hash = Sha256::new();
        canonical::feed(text, without, &mut hash);
        Self(hash.finalize().into())
    }

    /// As [`of_members`](Self::of_members), of the params of a message that was read already.
    pub(super) fn of_params(message: &str, without: &[&str]) -> Self {
        let mut hash = Sha256::new();
        canonical::feed_member(message, "params", without, &mut hash);
        Self(hash.finalize().into())
    }

    /// The digest of bytes.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self(OF_NOTHING);
        }
        Self(Sha256::digest(bytes).into())
    }

    pub(super) fn from_bytes(bytes: [u8; LEN]) -> Self {
        Self(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8; LEN] {
        &self.0
    }

    /// Whether they are equal, looking at every byte whatever it finds.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |differ, (one, two)| differ | (one ^ two)) == 0
    }
}

impl fmt::Debug for Digest {
    /// Enough of it to tell two apart in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(")?;
        self.0.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_known() {
        assert_eq!(OF_NOTHING, <[u8; LEN]>::from(Sha256::digest([])));
        assert_eq!(Digest::of_bytes(&[]), Digest(OF_NOTHING));
    }
}

//! Sealing with AES-256-GCM-SIV (RFC 8452) under keys that can be changed while states are out.
//!
//! A sealed text is base64url without padding of: version (1 byte), key id (8), nonce (12), ciphertext, tag (16). A
//! nonce is random, and this cipher forgives when two should meet: it would tell that two states were equal, and nothing
//! else. Version and key id are authenticated with the rest.
//!
//! Where the processor knows AES, a state is sealed and opened again in a microsecond; elsewhere in constant time all the
//! same, only slower.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use aes_gcm_siv::{AeadInOut, Aes256GcmSiv, KeyInit, Nonce, Tag};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroize;

use super::sealer::{Entropy, NoEntropy, OpenError, SealError, Sealer};
use crate::base64::URL;

const VERSION: u8 = 1;
const KEY: usize = 32;
const ID: usize = 8;
const NONCE: usize = 12;
const TAG: usize = 16;
/// Version and id, which are authenticated though not encrypted.
const HEAD: usize = 1 + ID;
/// The shortest sealed bytes.
const LEAST: usize = HEAD + NONCE + TAG;

/// Keeps these seals apart from whatever else the key might be used for.
const PURPOSE: &[u8] = b"sansio-mcp continuation state";

/// A text that is no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a key is 64 hexadecimal digits")]
pub struct NotAKey;

/// A key of 32 random bytes. Its memory is zeroed when it is dropped; what it was made from is its maker's to erase.
///
/// Shown as its id, which is derived from it and therefore the same wherever the key is, and tells nothing about it.
pub struct SealKey {
    bytes: [u8; KEY],
    id: [u8; ID],
}

impl SealKey {
    /// The key of these bytes. They must have come from a random source, not from a password.
    pub fn new(bytes: [u8; KEY]) -> Self {
        let mut id = [0; ID];
        let digest = Sha256::new_with_prefix(PURPOSE).chain_update(bytes).finalize();
        for (to, from) in id.iter_mut().zip(digest) {
            *to = from;
        }
        Self { bytes, id }
    }

    /// The key of these 64 hexadecimal digits, as `openssl rand -hex 32` prints them. White space around them is ignored.
    ///
    /// # Errors
    /// The text is something else. The error does not repeat it.
    pub fn from_hex(text: &str) -> Result<Self, NotAKey> {
        let (pairs, rest) = text.trim().as_bytes().as_chunks::<2>();
        let mut bytes = [0; KEY];
        if pairs.len() != KEY || !rest.is_empty() {
            return Err(NotAKey);
        }
        let mut wrong = false;
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            for digit in pair {
                let value = char::from(*digit).to_digit(16);
                wrong |= value.is_none();
                *byte = *byte << 4 | value.unwrap_or(0) as u8;
            }
        }
        let key = if wrong { Err(NotAKey) } else { Ok(Self::new(bytes)) };
        bytes.zeroize();
        key
    }

    /// A new key, for a single process: after a restart, and on other replicas, its states do not open.
    ///
    /// # Errors
    /// The source of random bytes has failed.
    pub fn random(entropy: &(impl Entropy + ?Sized)) -> Result<Self, NoEntropy> {
        let mut bytes = [0; KEY];
        let key = entropy.fill(&mut bytes).map(|()| Self::new(bytes));
        bytes.zeroize();
        key
    }

    /// The id, eight bytes as a number.
    pub fn id(&self) -> u64 {
        u64::from_be_bytes(self.id)
    }

    fn cipher(&self) -> Aes256GcmSiv {
        Aes256GcmSiv::new((&self.bytes).into())
    }
}

impl Drop for SealKey {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKey({:016x})", self.id())
    }
}

/// The keys of a server: one seals, all open.
///
/// Replicas that share the keys open each other's states. To change the key of a running fleet without refusing a
/// state that is out, take three steps, each on all replicas before the next: add the new key with
/// [`opening`](Self::opening); make it the sealing one and open with the old; once [`STATE_LIFE`](crate::limits::STATE_LIFE)
/// has passed leave the old one out.
pub struct KeyRing<E> {
    sealing: SealKey,
    opening: Vec<SealKey>,
    entropy: E,
}

impl<E: Entropy> KeyRing<E> {
    /// A ring with one key. Nonces come from `entropy`.
    pub fn new(sealing: SealKey, entropy: E) -> Self {
        Self { sealing, opening: Vec::new(), entropy }
    }

    /// Adds a key that opens and does not seal.
    #[must_use]
    pub fn opening(mut self, key: SealKey) -> Self {
        self.opening.push(key);
        self
    }

    /// Seals with `newest` from now on; the key that sealed before still opens.
    pub fn rotate(&mut self, newest: SealKey) {
        let before = core::mem::replace(&mut self.sealing, newest);
        self.opening.push(before);
    }

    /// Removes a key that no longer seals. Whether there was one.
    pub fn remove(&mut self, id: u64) -> bool {
        let before = self.opening.len();
        self.opening.retain(|key| key.id() != id);
        self.opening.len() < before
    }

    /// The ids of the keys, that of the sealing one first.
    pub fn key_ids(&self) -> impl Iterator<Item = u64> {
        self.keys().map(SealKey::id)
    }

    fn keys(&self) -> impl Iterator<Item = &SealKey> {
        core::iter::once(&self.sealing).chain(&self.opening)
    }
}

impl<E> fmt::Debug for KeyRing<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sealing, opening, .. } = self;
        f.debug_struct("KeyRing").field("sealing", sealing).field("opening", opening).finish_non_exhaustive()
    }
}

impl<E: Entropy> Sealer for KeyRing<E> {
    fn seal(&self, plain: &[u8]) -> Result<String, SealError> {
        let mut nonce = [0; NONCE];
        self.entropy.fill(&mut nonce)?;
        let mut sealed = Vec::with_capacity(LEAST + plain.len());
        sealed.push(VERSION);
        sealed.extend_from_slice(&self.sealing.id);
        let known = associated(&sealed);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(plain);
        let body = sealed.get_mut(HEAD + NONCE..).unwrap_or_default();
        let cipher = self.sealing.cipher();
        // Fails beyond 64 GiB alone.
        let tag = cipher
            .encrypt_inout_detached(&Nonce::from(nonce), &known, body.into())
            .map_err(|_| SealError::TooLong)?;
        sealed.extend_from_slice(&tag);
        Ok(URL.encode(&sealed))
    }

    fn open(&self, sealed: &str) -> Result<Vec<u8>, OpenError> {
        // What cannot be opened is worked on like what can: zeros in place of what is not base64, the sealing key in
        // place of one that is not here. The cipher decrypts before it knows whether the tag is right.
        let decoded = URL.decode(sealed).filter(|bytes| bytes.len() >= LEAST);
        let mut wrong = decoded.is_none().then_some(OpenError::Tampered);
        let mut bytes = decoded.unwrap_or_else(|| vec![0; LEAST + sealed.len() / 4 * 3]);
        let Parts { head, nonce, body, tag } = Parts::split(&mut bytes).ok_or(OpenError::Tampered)?;
        let [version, id @ ..] = *head;
        if version != VERSION {
            wrong = wrong.or(Some(OpenError::Version));
        }
        let key = self.keys().find(|key| key.id == id);
        if key.is_none() {
            wrong = wrong.or(Some(OpenError::UnknownKey));
        }
        let key = key.unwrap_or(&self.sealing);
        let (nonce, known) = (Nonce::from(*nonce), associated(head));
        let tag = Tag::from(*tag);
        if key.cipher().decrypt_inout_detached(&nonce, &known, body.into(), &tag).is_err() {
            wrong = wrong.or(Some(OpenError::Tampered));
        }
        if let Some(why) = wrong {
            return Err(why);
        }
        bytes.truncate(bytes.len() - TAG);
        bytes.drain(..HEAD + NONCE);
        Ok(bytes)
    }
}

/// Sealed bytes.
struct Parts<'a> {
    head: &'a [u8; HEAD],
    nonce: &'a [u8; NONCE],
    body: &'a mut [u8],
    tag: &'a [u8; TAG],
}

impl<'a> Parts<'a> {
    fn split(bytes: &'a mut [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk_mut()?;
        let (nonce, rest) = rest.split_first_chunk_mut()?;
        let (body, tag) = rest.split_last_chunk_mut()?;
        Some(Self { head, nonce, body, tag })
    }
}

/// What is authenticated beside the ciphertext.
fn associated(head: &[u8]) -> Vec<u8> {
    [PURPOSE, head].concat()
}

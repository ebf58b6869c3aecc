//! Results that need not be asked for again (server/utilities/caching).

mod hints;
mod store;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sansio_mcp::client::{Answer, CallSpec};
use sansio_mcp::subscription::{Change, Changed};
use sansio_mcp::time::Mono;

use hints::Hints;
use store::{Key, Store};

/// How much a [`Cache`] keeps, and how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CacheLimits {
    /// Results; one more takes the place of the one that was not used for longest. Default 1,024.
    pub entries: usize,
    /// Bytes of results; acts like `entries`, and a result longer than that is not kept. Default 16 MiB.
    pub bytes: usize,
    /// How long a result is kept at most, however long the server says. Default one day.
    pub longest: Duration,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { entries: 1024, bytes: 16 * 1024 * 1024, longest: Duration::from_hours(24) }
    }
}

impl CacheLimits {
    /// Sets how many results are kept.
    #[must_use]
    pub fn with_entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// Sets how many bytes of results are kept.
    #[must_use]
    pub fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets how long a result is kept at most.
    #[must_use]
    pub fn with_longest(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }
}

/// Keeps results of *one server* for as long as it says: of `server/discover`, the lists of tools, prompts, resources and
/// resource templates, page by page, and of `resources/read` (server/utilities/caching). A client gets one through
/// [`ClientBuilder::cache`](super::ClientBuilder::cache).
///
/// * A result is served while `now < received + ttlMs`. Without `ttlMs`, or with 0 or less, it is not kept.
/// * What a notification of one of its clients' subscriptions says has changed is forgotten, also what is just being
///   fetched. Errors are not kept, nor what took input, nor a call that adds members to `_meta`.
/// * Clients may share one, if they are clients of the same server and have the same clock. They share what the server
///   calls public; everything else is kept for the connection that asked, and forgotten with it.
///
/// Clones are the same cache.
#[derive(Clone)]
pub struct Cache {
    inner: Arc<Inner>,
}

struct Inner {
    limits: CacheLimits,
    clients: AtomicU64,
    /// Taken for moments, and nothing else is taken meanwhile.
    store: Mutex<Store>,
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(CacheLimits::default())
    }
}

impl Cache {
    /// Keeps so much.
    pub fn new(limits: CacheLimits) -> Self {
        let store = Mutex::new(Store::default());
        Self { inner: Arc::new(Inner { limits, clients: AtomicU64::new(1), store }) }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.inner.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Results that are kept; some may be stale already.
    pub fn entries(&self) -> usize {
        self.store().len()
    }

    /// Bytes of them.
    pub fn bytes(&self) -> usize {
        self.store().bytes()
    }

    /// Forgets everything, also what is just being fetched.
    pub fn clear(&self) {
        self.store().clear();
    }

    /// Forgets what this change makes stale. Clients do so themselves when a subscription tells of it.
    pub fn invalidate(&self, change: Change<'_>) {
        self.store().invalidate(&change.into());
    }

    pub(super) fn join(&self) -> Member {
        Member { cache: self.clone(), owner: AtomicU64::new(self.next_owner()) }
    }

    fn next_owner(&self) -> u64 {
        self.inner.clients.fetch_add(1, Ordering::Relaxed)
    }
}

/// One client of a cache. What is private to it goes with it.
pub(super) struct Member {
    cache: Cache,
    owner: AtomicU64,
}

/// What a cache knows about a call.
pub(super) enum Found {
    Fresh(Answer),
    /// To be fetched, and kept if nothing speaks against it.
    Missing(Fetch),
    NotCacheable,
}

impl Member {
    pub(super) fn find(&self, spec: &CallSpec, now: Mono, look: bool) -> Found {
        if !is_cacheable(spec) || spec.has_meta() {
            return Found::NotCacheable;
        }
        let topic = topic(spec);
        let owner = self.owner.load(Ordering::Relaxed);
        let key = Key::new(owner, spec);
        let mut store = self.cache.store();
        if look && let Some(answer) = store.find(&key, now) {
            return Found::Fresh(answer);
        }
        let id = store.fetch(owner, topic.clone());
        Found::Missing(Fetch { cache: self.cache.clone(), id, key, topic })
    }

    pub(super) fn invalidate(&self, change: Change<'_>) {
        self.cache.invalidate(change);
    }

    /// Who asks is somebody else from now on.
    pub(super) fn forget_private(&self) {
        let owner = self.owner.swap(self.cache.next_owner(), Ordering::Relaxed);
        self.cache.store().forget(owner);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.cache.store().forget(*self.owner.get_mut());
    }
}

/// A result that is being fetched.
pub(super) struct Fetch {
    cache: Cache,
    id: u64,
    key: Key,
    topic: Option<Changed>,
}

impl Fetch {
    /// The answer was read at `now`.
    pub(super) fn keep(self, answer: &Answer, now: Mono) {
        if answer.is_after_input() {
            return;
        }
        let hints = Hints::of(answer);
        let limits = self.cache.inner.limits;
        let ttl = Duration::from_millis(hints.ttl_ms).min(limits.longest);
        if ttl.is_zero() {
            return;
        }
        let key = if hints.public { self.key.clone().public() } else { self.key.clone() };
        let mut store = self.cache.store();
        // It was made stale meanwhile: by a notification, or because somebody else asks now.
        if store.fetched(self.id) {
            store.keep(key, self.topic.clone(), answer, now + ttl, limits);
        }
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        self.cache.store().fetched(self.id);
    }
}

/// Whether results of this call may be kept (server/utilities/caching, "Cacheable Results"). Of `resources/read` it has
/// to be known what is read: notifications say which resource was updated.
fn is_cacheable(spec: &CallSpec) -> bool {
    match spec.method() {
        "resources/read" => spec.target().is_some(),
        method => method == "server/discover" || topic(spec).is_some(),
    }
}

/// What makes a result of this call stale before its time.
fn topic(spec: &CallSpec) -> Option<Changed> {
    Some(match spec.method() {
        "tools/list" => Changed::Tools,
        "prompts/list" => Changed::Prompts,
        "resources/list" | "resources/templates/list" => Changed::Resources,
        "resources/read" => Changed::Resource(spec.target()?.into()),
        _ => return None,
    })
}

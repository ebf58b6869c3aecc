//! Who calls.

use std::fmt;
use std::sync::Arc;

/// Who makes a request, verified: put it among the request's extensions, in a `tower` layer or a middleware that has checked
/// what the request carries. Handlers find it with [`Context::caller`](sansio_mcp_sdk::server::Context::caller), and the
/// state of a question that one caller was asked opens for no other.
///
/// ```
/// use sansio_mcp_http::server::Caller;
///
/// let mut request = http::Request::post("/mcp").body(())?;
/// // ... after its token was checked:
/// request.extensions_mut().insert(Caller::new("alice@example.com"));
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Caller(pub(super) Arc<[u8]>);

impl Caller {
    /// Whatever names the principal: the same bytes on each replica, and never those of another.
    pub fn new(principal: impl AsRef<[u8]>) -> Self {
        Self(principal.as_ref().into())
    }
}

impl fmt::Debug for Caller {
    /// Who it is may be nobody's business but the application's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}

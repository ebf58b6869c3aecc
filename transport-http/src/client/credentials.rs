//! What a server wants to see before it answers: headers, and what becomes of a 401 or 403.

use std::future::{Future, ready};
use std::pin::Pin;

use http::{HeaderMap, HeaderValue, StatusCode, header};

/// What a hook does meanwhile.
pub type Working<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Attaches credentials to every request, and hears when they are refused.
///
/// Many requests are under way at a time, so that several may be refused for the same outdated token: whoever renews it does
/// so once, and lets the others wait for that. Dropping the futures gives up: their call was.
///
/// The server that a redirection names never sees what was attached: redirections are not followed. Over plain `http` everybody
/// on the way sees it.
pub trait Credentials: Send + Sync + 'static {
    /// Adds to the headers of a request that is about to be sent. An error fails the call.
    fn attach(&self, headers: HeaderMap) -> Working<Result<HeaderMap, CredentialsError>>;

    /// A request was refused with 401 or 403. [`Verdict::Retry`] has it sent once more, with what
    /// [`attach`](Self::attach) gives then; at most once a request for each of the two. The default is to give up.
    fn refused(&self, refusal: Refusal) -> Working<Verdict> {
        drop(refusal);
        Box::pin(ready(Verdict::GiveUp))
    }
}

/// A request that was refused.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// 401 or 403.
    pub status: StatusCode,
    /// The headers of the response; `WWW-Authenticate` among them says what is wanted.
    pub headers: HeaderMap,
    /// The headers of the request: what was tried.
    pub sent: HeaderMap,
}

/// What becomes of a request that was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is sent once more, with credentials asked for anew.
    Retry,
    /// Its call fails with what the server answered.
    GiveUp,
}

/// There are no credentials; the reason, for people.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CredentialsError(pub String);

/// A token that never changes, as `Authorization: Bearer`.
#[derive(Clone)]
pub struct Bearer {
    value: HeaderValue,
}

impl Bearer {
    /// Takes the token.
    ///
    /// # Errors
    /// It holds characters that no header may hold.
    pub fn new(token: &str) -> Result<Self, CredentialsError> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| CredentialsError("the token holds characters that no header may hold".into()))?;
        value.set_sensitive(true);
        Ok(Self { value })
    }
}

impl std::fmt::Debug for Bearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bearer").finish_non_exhaustive()
    }
}

impl Credentials for Bearer {
    fn attach(&self, mut headers: HeaderMap) -> Working<Result<HeaderMap, CredentialsError>> {
        headers.insert(header::AUTHORIZATION, self.value.clone());
        Box::pin(ready(Ok(headers)))
    }
}

/// A closure attaches; nothing is tried again.
impl<F, G> Credentials for F
where
    F: Fn(HeaderMap) -> G + Send + Sync + 'static,
    G: Future<Output = Result<HeaderMap, CredentialsError>> + Send + 'static,
{
    fn attach(&self, headers: HeaderMap) -> Working<Result<HeaderMap, CredentialsError>> {
        Box::pin(self(headers))
    }
}

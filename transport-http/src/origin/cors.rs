//! What a browser is told, so that pages of listed origins may call and read (Fetch, "CORS protocol"). Nobody else is
//! told anything; credentials of the browser are never asked for.

use std::time::Duration;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::{Admitted, Policy};
use crate::status::Rejection;

/// The status of the answer to a preflight; it has no body.
pub const PREFLIGHT_STATUS: StatusCode = StatusCode::NO_CONTENT;

/// How long a browser may remember what a preflight said. Short: lists change, and a preflight is cheap.
pub const PREFLIGHT_AGE: Duration = Duration::from_mins(10);

/// Headers that one preflight may ask for; of more the rest is not allowed. Twice what a tool may have repeated.
pub const MAX_ASKED_HEADERS: usize = 128;

/// Whether a request asks, on a page's behalf, if it may be sent.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

impl Admitted {
    /// Whether its origin is a listed one, whose pages may read the answer.
    pub fn is_listed(&self) -> bool {
        self.listed.is_some()
    }

    /// The headers of the answer to a preflight. Which headers a call carries depends on its tool, so all that a listed origin
    /// asks for are allowed.
    ///
    /// # Errors
    /// [`Rejection::Origin`]: its origin is not listed.
    pub fn preflight(&self, headers: &HeaderMap) -> Result<HeaderMap, Rejection> {
        let origin = self.listed.clone().ok_or(Rejection::Origin)?;
        let mut answer = HeaderMap::new();
        answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
        answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(PREFLIGHT_AGE.as_secs()));
        answer.insert(VARY, HeaderValue::from_static("Origin, Access-Control-Request-Headers"));
        let asked = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
        let names = asked.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        let names = names.filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok());
        let names: Vec<_> = names.take(MAX_ASKED_HEADERS).collect();
        let names: Vec<_> = names.iter().map(HeaderName::as_str).collect();
        if !names.is_empty()
            && let Ok(names) = HeaderValue::try_from(names.join(", "))
        {
            answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, names);
        }
        Ok(answer)
    }
}

impl Policy {
    /// Adds to the head of a response what the browser has to know: that pages of this listed origin may read it, and where
    /// any is listed, that the next origin may be answered differently. Refusals get no `admitted`.
    pub fn mark(&self, admitted: Option<&Admitted>, response: &mut HeaderMap) {
        if self.origins.is_empty() {
            return;
        }
        // A response whose headers are that many carries no more.
        let _ = response.try_append(VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = admitted.and_then(|admitted| admitted.listed.clone()) {
            let _ = response.try_insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            let exposed = HeaderValue::from_static("WWW-Authenticate, Retry-After");
            let _ = response.try_insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
    }
}

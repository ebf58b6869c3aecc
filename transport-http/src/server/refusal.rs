//! Responses that are not a stream.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Deserialize;

use super::body::Body;
use crate::accept::JSON;
use crate::mirror::Refusal;
use crate::origin::{Admitted, Policy};
use crate::status::Rejection;

/// A message as JSON. That of a busy engine says when to come back, which the head repeats.
pub(super) fn json(status: StatusCode, message: Vec<u8>) -> Response<Body> {
    let retry = if status == StatusCode::SERVICE_UNAVAILABLE { retry_after(&message) } else { None };
    with_header(status, message, retry.map(|retry| (header::RETRY_AFTER, retry)))
}

fn with_header(
    status: StatusCode,
    message: Vec<u8>,
    more: Option<(HeaderName, HeaderValue)>,
) -> Response<Body> {
    let mut response = Response::new(Body::full(Bytes::from(message)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.extend(more);
    response
}

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A request that never became a message.
pub(super) fn rejected(rejection: Rejection, policy: &Policy, admitted: Option<&Admitted>) -> Response<Body> {
    let mut body = Vec::new();
    rejection.write(&mut body);
    let mut response = with_header(rejection.status(), body, rejection.header());
    policy.mark(admitted, response.headers_mut());
    response
}

/// A request whose headers are not what they should be.
pub(super) fn mismatched(refusal: &Refusal) -> Response<Body> {
    let mut body = Vec::new();
    refusal.write(&mut body);
    json(refusal.status(), body)
}

/// When to come back, in whole seconds, which is all that the header can say.
fn retry_after(message: &[u8]) -> Option<HeaderValue> {
    #[derive(Deserialize)]
    struct Message {
        error: Failure,
    }
    #[derive(Deserialize)]
    struct Failure {
        data: Busy,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Busy {
        retry_after_ms: u64,
    }
    let message: Message = serde_json::from_slice(message).ok()?;
    Some(HeaderValue::from(message.error.data.retry_after_ms.div_ceil(1000)))
}

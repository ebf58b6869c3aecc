//! Status codes: those of answers, and those of requests that never become a message (basic/transports/streamable-http,
//! "Sending Messages", "Protocol Version Header", "Earlier Streamable HTTP Revisions").

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use sansio_mcp::code::wire;
use sansio_mcp::model::{RawJson, ServerBusy};
use sansio_mcp::server::{ErrorReply, Status};
use sansio_mcp::wire::{Envelope, Message};

use crate::accept::{Form, form};

/// The status of an answer that is sent as JSON, or as the first event of a stream. Once a stream was begun its status has been
/// sent: 200.
pub fn of_answer(status: Status) -> StatusCode {
    match status {
        Status::BadRequest => StatusCode::BAD_REQUEST,
        Status::NotFound => StatusCode::NOT_FOUND,
        Status::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        // What the engine may add later is an answer, too.
        Status::Ok | _ => StatusCode::OK,
    }
}

/// The status of the answer to a notification that was accepted; it has no body.
pub const NOTED: StatusCode = StatusCode::ACCEPTED;

/// When another try at a busy server is worth while.
const RETRY_AFTER_SECONDS: u64 = 1;

/// A request that is refused before its body is a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// Another method than POST, as older clients use: 405.
    #[error("the endpoint takes POST alone")]
    Method,
    /// The client takes neither form of answer: 406.
    #[error("the answer is application/json or text/event-stream")]
    NotAcceptable,
    /// The body is not said to be JSON: 415.
    #[error("the body has to be application/json")]
    UnsupportedMediaType,
    /// The body is longer than a message may be, whatever its `Content-Length` says: 413.
    #[error("the body is longer than this server reads")]
    TooLarge,
    /// The page that sends it is not allowed to: 403.
    #[error("the origin is not allowed")]
    Origin,
    /// It is meant for a host that is not this one: 403.
    #[error("the host is not allowed")]
    Host,
    /// The head or the body did not come in time: 408.
    #[error("the request did not come in time")]
    Timeout,
    /// The body broke off: 400.
    #[error("the body broke off")]
    Broken,
    /// As many requests as may be are being served: 503.
    #[error("too many requests are being served")]
    TooMany,
    /// The server is being shut down: 503.
    #[error("the server is shutting down")]
    Closing,
}

impl Rejection {
    /// The status.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Origin | Self::Host => StatusCode::FORBIDDEN,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::TooMany | Self::Closing => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// A header that belongs to the status: which methods and which media types there are, in how many seconds to try again.
    pub fn header(self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::Method => Some((header::ALLOW, HeaderValue::from_static("POST"))),
            Self::UnsupportedMediaType => Some((header::ACCEPT, crate::accept::JSON)),
            Self::TooMany | Self::Closing => {
                Some((header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS)))
            }
            _ => None,
        }
    }

    /// The code of the error in the body.
    pub fn code(self) -> i64 {
        match self {
            Self::TooLarge | Self::Broken => wire::PARSE_ERROR,
            Self::TooMany | Self::Closing => wire::BUSY,
            _ => wire::INVALID_REQUEST,
        }
    }

    /// Appends the body: a JSON-RPC error without an id, since no message was read.
    pub fn write(self, out: &mut Vec<u8>) {
        let code = self.code();
        // Clients read there how long to wait, whichever transport it came over; `Retry-After` says the same.
        let busy = (code == wire::BUSY).then(
            || serde_json::json!({ "code": ServerBusy::CODE, "retryAfterMs": RETRY_AFTER_SECONDS * 1000 }),
        );
        let busy = busy.and_then(|busy| RawJson::from_value(&busy).ok());
        let message = self.to_string();
        ErrorReply { data: busy.as_ref().map(RawJson::as_raw), ..ErrorReply::new(code, &message) }
            .write(out, None);
    }
}

/// Refuses every method but POST. Preflights (`OPTIONS`) are answered before, by [`origin`](crate::origin).
///
/// # Errors
/// [`Rejection::Method`].
pub fn require_post(method: &Method) -> Result<(), Rejection> {
    if method == Method::POST { Ok(()) } else { Err(Rejection::Method) }
}

/// What a client does with the head of a response to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Arrived {
    /// One message follows, which is the answer or an error.
    Json,
    /// Events follow.
    Events,
    /// Its status is a failure and its body no message: the call fails. The body may be shown to people, and
    /// [`speaks_modern`] was not fulfilled.
    Failed,
    /// A success that carries no answer: 202, 204, or a body of another form. The call fails.
    NoAnswer,
    /// A redirection, which is not followed: headers and body are meant for the server that was named.
    Redirected,
}

/// Judges the head of a response to a request. A body that turns out to be empty is no answer, whatever its head says.
pub fn arrived(status: StatusCode, headers: &HeaderMap) -> Arrived {
    let no_body = matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT);
    match form(headers) {
        _ if status.is_redirection() => Arrived::Redirected,
        _ if no_body => Arrived::NoAnswer,
        Some(Form::Json) => Arrived::Json,
        Some(Form::Events) if status.is_success() => Arrived::Events,
        _ if status.is_success() => Arrived::NoAnswer,
        _ => Arrived::Failed,
    }
}

/// Whether a response of failure comes from a server of this or a later revision: its body is an error that earlier ones did not
/// have, or with 404 the one for an unknown method. Otherwise a client that also speaks earlier revisions falls back with
/// 400, 404 and 405 (basic/transports/streamable-http, "Backward Compatibility"). 401, 403 and failures of the server say nothing
/// about its era.
pub fn speaks_modern(status: StatusCode, body: &[u8]) -> bool {
    let Ok(envelope) = Envelope::parse(body) else { return false };
    let Message::Response(response) = envelope.message() else { return false };
    match response.outcome.as_ref().map_err(|error| error.code) {
        Err(wire::HEADER_MISMATCH | wire::MISSING_CAPABILITY | wire::UNSUPPORTED_VERSION) => true,
        Err(wire::METHOD_NOT_FOUND) => status == StatusCode::NOT_FOUND,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_answers() {
        for (status, code) in [
            (Status::Ok, 200),
            (Status::BadRequest, 400),
            (Status::NotFound, 404),
            (Status::Unavailable, 503),
        ] {
            assert_eq!(of_answer(status), code);
        }
        assert_eq!(NOTED, 202);
    }

    #[test]
    fn of_rejections() {
        for (rejection, status, code, header) in [
            (Rejection::Method, 405, -32600, Some(("allow", "POST"))),
            (Rejection::NotAcceptable, 406, -32600, None),
            (Rejection::UnsupportedMediaType, 415, -32600, Some(("accept", "application/json"))),
            (Rejection::TooLarge, 413, -32700, None),
            (Rejection::Origin, 403, -32600, None),
            (Rejection::Host, 403, -32600, None),
            (Rejection::Timeout, 408, -32600, None),
            (Rejection::Broken, 400, -32700, None),
            (Rejection::TooMany, 503, 1001, Some(("retry-after", "1"))),
            (Rejection::Closing, 503, 1001, Some(("retry-after", "1"))),
        ] {
            assert_eq!(rejection.status(), status);
            let found = rejection.header();
            let found = found.as_ref().map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
            assert_eq!(found, header, "{rejection:?}");
            let mut body = Vec::new();
            rejection.write(&mut body);
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let mut wanted = serde_json::json!({
                "jsonrpc": "2.0", "error": { "code": code, "message": rejection.to_string() }
            });
            if code == 1001 {
                let busy = serde_json::json!({ "code": "SERVER_BUSY", "retryAfterMs": 1000 });
                wanted["error"]["data"] = busy;
            }
            assert_eq!(body, wanted);
        }
    }

    #[test]
    fn post_alone() {
        assert_eq!(require_post(&Method::POST), Ok(()));
        for method in [Method::GET, Method::DELETE, Method::PUT, Method::HEAD, Method::OPTIONS] {
            assert_eq!(require_post(&method), Err(Rejection::Method));
        }
    }

    #[test]
    fn what_arrives() {
        let (json, events) = (Some("application/json; charset=utf-8"), Some("text/event-stream"));
        for (status, kind, wanted) in [
            (200, json, Arrived::Json),
            (200, events, Arrived::Events),
            (400, json, Arrived::Json),
            (404, json, Arrived::Json),
            (503, json, Arrived::Json),
            (200, None, Arrived::NoAnswer),
            (200, Some("text/html"), Arrived::NoAnswer),
            (202, None, Arrived::NoAnswer),
            (202, json, Arrived::NoAnswer),
            (204, None, Arrived::NoAnswer),
            (404, Some("text/html"), Arrived::Failed),
            (500, None, Arrived::Failed),
            (500, events, Arrived::Failed),
            (307, json, Arrived::Redirected),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(kind) = kind {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            assert_eq!(arrived(StatusCode::from_u16(status).unwrap(), &headers), wanted, "{status} {kind:?}");
        }
    }

    #[test]
    fn eras() {
        let error =
            |code: i64| format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"m"}}}}"#);
        for (status, body, modern) in [
            (400, error(-32020), true),
            (400, error(-32021), true),
            (400, error(-32022), true),
            (404, error(-32601), true),
            (400, error(-32022).replace(r#""id":1,"#, ""), true),
            // Such answers older servers give, too.
            (400, error(-32601), false),
            (400, error(-32600), false),
            (400, error(-32000), false),
            (404, error(-32001), false),
            (404, "Not Found".to_owned(), false),
            (400, String::new(), false),
            (405, r#"{"error":"-32022"}"#.to_owned(), false),
            (400, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(), false),
        ] {
            assert_eq!(
                speaks_modern(StatusCode::from_u16(status).unwrap(), body.as_bytes()),
                modern,
                "{status} {body}"
            );
        }
    }
}

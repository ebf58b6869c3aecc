//! What is no answer, and what its call fails with.

use std::error::Error;
use std::fmt::Write;
use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use sansio_mcp::client::TransportError;
use sansio_mcp::model::ServerBusy;

/// The codes of [`TransportError`]s of this transport.
pub mod code {
    /// A success without an answer: 202, 204, another media type than the two, or an empty body.
    pub const NO_ANSWER: &str = "NO_ANSWER";
    /// What came is no message, or none that answers the request.
    pub const BAD_ANSWER: &str = "BAD_ANSWER";
    /// The answer is longer than [`HttpLimits`](super::super::HttpLimits) allow.
    pub const TOO_LARGE: &str = "TOO_LARGE";
    /// 401.
    pub const UNAUTHORIZED: &str = "UNAUTHORIZED";
    /// 403.
    pub const FORBIDDEN: &str = "FORBIDDEN";
    /// Another status of failure without a message as its body.
    pub const HTTP_STATUS: &str = "HTTP_STATUS";
    /// A redirection, which is not followed.
    pub const REDIRECTED: &str = "REDIRECTED";
    /// 503 or 429: the server is busy.
    pub const SERVER_BUSY: &str = super::ServerBusy::CODE;
    /// The answer to `server/discover` is that of a server of an earlier revision.
    pub const LEGACY_SERVER: &str = "LEGACY_SERVER";
    /// The request cannot be sent over HTTP: a header cannot repeat what it has to.
    pub const UNSENDABLE: &str = "UNSENDABLE";
    /// There are no credentials.
    pub const CREDENTIALS: &str = "CREDENTIALS";
}

/// The longest text of a body that is shown to people.
const SHOWN: usize = 300;

/// A status of failure whose body is no message, of which `body` is what came at once.
pub(super) fn of_status(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    discover: bool,
) -> TransportError {
    let mut cause = format!("status {status}");
    if status.is_redirection()
        && let Some(place) = headers.get(header::LOCATION)
    {
        let _ = write!(cause, " to {}, which is not followed", shown(place.as_bytes()));
    }
    if let Some(challenge) = headers.get(header::WWW_AUTHENTICATE) {
        let _ = write!(cause, ", wanted: {}", shown(challenge.as_bytes()));
    }
    if !body.is_empty() {
        let _ = write!(cause, ": {}", shown(body));
    }
    let older = matches!(status.as_u16(), 400 | 404 | 405);
    if older && !discover {
        cause.push_str(" (a server of an earlier revision may answer like this)");
    }
    let code = match status.as_u16() {
        300..=399 => code::REDIRECTED,
        401 => code::UNAUTHORIZED,
        403 => code::FORBIDDEN,
        429 | 503 => code::SERVER_BUSY,
        _ if older && discover => code::LEGACY_SERVER,
        _ => code::HTTP_STATUS,
    };
    let error = TransportError::new(code, cause).with_status(status.as_u16());
    if code == code::SERVER_BUSY { error.as_busy(retry_after(headers)) } else { error }
}

/// `Retry-After` in seconds. Its other form, a date, is passed over: two clocks would have to agree.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Bytes of a peer for people: short, on one line.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..SHOWN).unwrap_or(bytes));
    let mut text: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned();
    if bytes.len() > SHOWN {
        text.push_str("...");
    }
    text
}

/// An error with what stands behind it.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        // Some repeat what they wrap.
        if !text.contains(&more) {
            let _ = write!(text, ": {more}");
        }
        source = error.source();
    }
    text
}

//! What a result says about how long and for whom it may be kept (server/utilities/caching, "Cacheable Model").

use sansio_mcp::client::Answer;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Hints, where what is malformed counts as absent: a hint is no reason to fail a call.
#[derive(Default)]
pub(super) struct Hints {
    pub(super) ttl_ms: u64,
    pub(super) public: bool,
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(rename = "ttlMs", borrow)]
    ttl_ms: Option<&'a RawValue>,
    #[serde(rename = "cacheScope", borrow)]
    scope: Option<&'a RawValue>,
}

impl Hints {
    pub(super) fn of(answer: &Answer) -> Self {
        let Ok(members) = answer.result::<Members<'_>>() else { return Self::default() };
        let ttl_ms = members.ttl_ms.map_or(0, |raw| millis(raw.get()));
        Self { ttl_ms, public: members.scope.is_some_and(|scope| scope.get() == "\"public\"") }
    }
}

/// Negative is 0, a fraction is dropped, what is too large is the largest.
#[allow(clippy::cast_sign_loss)] // the cast saturates, which is what is wanted
fn millis(text: &str) -> u64 {
    text.parse::<u64>().unwrap_or_else(|_| text.parse::<f64>().map_or(0, |value| value as u64))
}

#[cfg(test)]
mod tests {
    use super::millis;

    #[test]
    fn numbers_as_peers_write_them() {
        let cases = [
            ("0", 0),
            ("5", 5),
            ("-5", 0),
            ("2.9", 2),
            ("1e3", 1000),
            ("-1e3", 0),
            ("18446744073709551616", u64::MAX),
            ("1e999", u64::MAX),
            ("\"5\"", 0),
            ("null", 0),
            ("true", 0),
            ("[5]", 0),
        ];
        for (text, value) in cases {
            assert_eq!(millis(text), value, "{text}");
        }
    }
}

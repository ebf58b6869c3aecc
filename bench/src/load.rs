//! What is sent and what has to come back. Everything is made before the clock starts.

use serde_json::json;

/// Progress notifications of a call of `echo_progress`: progress 1 to 10, total 10, with [`PROGRESS_MESSAGE`].
pub const PROGRESS_STEPS: u32 = 10;

/// The message each progress notification carries.
pub const PROGRESS_MESSAGE: &str = "working";

/// Different texts in use at once: a prime, so that texts and slots do not march in step and an answer given to the
/// wrong call is seen.
const SHORT_TEXTS: usize = 61;
const LONG_TEXTS: usize = 7;

/// What is echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// 100 bytes, none of which JSON escapes.
    Short,
    /// 64 KiB, none of which JSON escapes.
    Long,
    /// 64 KiB in lines of 80 bytes, each with a pair of quotation marks.
    LongEscaped,
}

impl Text {
    /// How a table's title says it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Short => "100 B",
            Self::Long => "64 KiB",
            Self::LongEscaped => "64 KiB with line ends and quotation marks",
        }
    }

    /// The texts of this kind, all different; call `n` sends text `n` modulo their number.
    pub fn pool(self) -> Vec<String> {
        let (size, count) = match self {
            Self::Short => (100, SHORT_TEXTS),
            Self::Long | Self::LongEscaped => (64 * 1024, LONG_TEXTS),
        };
        (0..count).map(|number| self.make(number, size)).collect()
    }

    fn make(self, number: usize, size: usize) -> String {
        let filler: &str = match self {
            Self::Short | Self::Long => "The quick brown fox jumps over the lazy dog; ",
            Self::LongEscaped => {
                "He said: \"The quick brown fox jumps over the lazy dog\", and that was all of it.\n"
            }
        };
        let mut text = format!("{number:04} ");
        text.extend(filler.chars().cycle().take(size - text.len()));
        text
    }
}

/// A `tools/call` of `echo` in the form of 2026-07-28, in two pieces with the id between them.
pub fn modern_request(text: &str) -> (String, String) {
    let params = format!(
        concat!(
            r#"{{"name":"echo","arguments":{{"text":{}}},"_meta":{{"#,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1.0.0"}},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{{}}}}}}"#
        ),
        json!(text)
    );
    (
        r#"{"jsonrpc":"2.0","id":"#.into(),
        format!(r#","method":"tools/call","params":{params}}}"#),
    )
}

/// A `tools/call` of `echo_progress` in the form of 2026-07-28 that asks for progress, in three pieces with the id between
/// them, which is the progress token as well.
pub fn progress_request(text: &str) -> [String; 3] {
    let (head, tail) = modern_request(text);
    let tail = tail.replacen(r#""name":"echo""#, r#""name":"echo_progress""#, 1);
    let meta = r#""_meta":{"#;
    let (before, after) = tail.split_once(meta).unwrap_or((&tail, ""));
    [
        head,
        format!("{before}{meta}\"progressToken\":"),
        format!(",{after}"),
    ]
}

/// A `tools/call` of `echo` in the form of the revisions with a handshake, in two pieces with the id between them.
pub fn handshake_request(text: &str) -> (String, String) {
    let params = format!(r#"{{"name":"echo","arguments":{{"text":{}}}}}"#, json!(text));
    (
        r#"{"jsonrpc":"2.0","id":"#.into(),
        format!(r#","method":"tools/call","params":{params}}}"#),
    )
}

/// The answer to [`modern_request`] that the core measurement wants, byte for byte.
pub fn modern_response(id: u64, text: &str) -> String {
    format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"complete","#,
            r#""content":[{{"type":"text","text":{}}}],"#,
            r#""_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"bench","version":"1.0.0"}}}}}}}}"#
        ),
        id,
        json!(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_progress_has_its_id_as_token() {
        let whole = progress_request("x").join("7");
        let read: serde_json::Value = serde_json::from_str(&whole).unwrap();
        assert_eq!(
            (&read["id"], &read["params"]["name"]),
            (&json!(7), &json!("echo_progress"))
        );
        assert_eq!(read["params"]["_meta"]["progressToken"], 7);
        assert_eq!(read["params"]["arguments"]["text"], "x");
    }

    #[test]
    fn texts_have_their_size_and_differ() {
        for (kind, size) in [
            (Text::Short, 100),
            (Text::Long, 65_536),
            (Text::LongEscaped, 65_536),
        ] {
            let pool = kind.pool();
            assert!(pool.iter().all(|text| text.len() == size));
            let mut unique = pool.clone();
            unique.sort();
            unique.dedup();
            assert_eq!(unique.len(), pool.len());
        }
    }
}

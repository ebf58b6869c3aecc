//! The lists of tools that pass by: which arguments headers repeat, and which tools are left out.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::mirror::ParamHeaders;

/// Tools with annotations of which is kept what headers they want, and the bytes of their descriptions. One more forgets the
/// others, whose calls then find out again.
const MAX_TOOLS: usize = 10_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What is known of a server's tools.
#[derive(Default)]
pub(super) struct Tools {
    rules: HashMap<Box<str>, Rules>,
    bytes: usize,
}

struct Rules {
    headers: ParamHeaders,
    /// Of the description: what is kept of it is no more.
    bytes: usize,
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    result: Listed<'a>,
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    tools: &'a RawValue,
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, rename = "inputSchema")]
    schema: Option<&'a RawValue>,
}

impl Tools {
    /// Which arguments of a tool headers repeat; `None` if none do, or nobody knows.
    pub(super) fn rules(&self, tool: &str) -> Option<&ParamHeaders> {
        self.rules.get(tool).map(|rules| &rules.headers)
    }

    /// Learns from the answer to `tools/list`, and leaves out the tools whose annotations break a rule
    /// (basic/transports/streamable-http, "Schema Extension"). What is no such answer passes as it is.
    pub(super) fn screen<'m>(&mut self, message: &'m [u8]) -> Cow<'m, [u8]> {
        let as_it_is = Cow::Borrowed(message);
        let Ok(text) = std::str::from_utf8(message) else { return as_it_is };
        let Ok(Whole { result: Listed { tools } }) = serde_json::from_str(text) else { return as_it_is };
        let Ok(all) = serde_json::from_str::<Vec<&RawValue>>(tools.get()) else { return as_it_is };
        let kept: Vec<&str> = all.iter().map(|tool| tool.get()).filter(|tool| self.learn(tool)).collect();
        if kept.len() == all.len() {
            return as_it_is;
        }
        // The list is a part of the text, so its place there is known.
        let start = tools.get().as_ptr() as usize - text.as_ptr() as usize;
        let (Some(before), Some(behind)) = (text.get(..start), text.get(start + tools.get().len()..)) else {
            return as_it_is;
        };
        Cow::Owned([before, "[", &kept.join(","), "]", behind].concat().into_bytes())
    }

    /// Whether a tool may be listed.
    fn learn(&mut self, tool: &str) -> bool {
        let Ok(Tool { name, schema }) = serde_json::from_str(tool) else { return true };
        match ParamHeaders::from_json(schema.map_or("{}", RawValue::get)) {
            Ok(headers) if headers.is_empty() => self.forget(&name),
            Ok(headers) => {
                self.forget(&name);
                if self.rules.len() >= MAX_TOOLS || self.bytes + tool.len() > MAX_BYTES {
                    tracing::warn!(
                        tools = self.rules.len(),
                        bytes = self.bytes,
                        "too many tools want headers: forgetting what they want"
                    );
                    self.rules.clear();
                    self.bytes = 0;
                }
                self.bytes += tool.len();
                self.rules.insert(name.into(), Rules { headers, bytes: tool.len() });
            }
            Err(error) => {
                tracing::warn!(tool = %name, %error, "a tool is left out of the list: its annotation is invalid");
                self.forget(&name);
                return false;
            }
        }
        true
    }

    fn forget(&mut self, tool: &str) {
        if let Some(Rules { bytes, .. }) = self.rules.remove(tool) {
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, property: &str) -> String {
        format!(
            r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{
                "{property}":{{"type":"string","x-mcp-header":"Region"}}}}}}}}"#
        )
    }

    #[test]
    fn what_is_known_of_tools_is_bounded_in_bytes() {
        let mut tools = Tools::default();
        let long = "x".repeat(MAX_BYTES / 4);
        // The same one again takes the place of the one before.
        for _ in 0..2 {
            assert!(tools.learn(&tool("same", &long)));
        }
        assert!(tools.rules("same").is_some() && tools.bytes < MAX_BYTES / 3, "{}", tools.bytes);
        for name in ["a", "b", "c", "d"] {
            assert!(tools.learn(&tool(name, &long)));
            assert!(tools.rules(name).is_some());
            assert!(tools.bytes <= MAX_BYTES && tools.rules.len() < 4, "{}", tools.bytes);
        }
        let sum: usize = tools.rules.values().map(|rules| rules.bytes).sum();
        assert_eq!(sum, tools.bytes);
    }
}

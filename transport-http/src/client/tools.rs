//! The lists of tools that pass by: which arguments headers repeat, and which tools are left out.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::mirror::ParamHeaders;

/// Tools with annotations of which is kept what headers they want. One more forgets the others, whose calls then find out
/// again.
const MAX_TOOLS: usize = 10_000;

/// What is known of a server's tools.
#[derive(Default)]
pub(super) struct Tools {
    rules: HashMap<Box<str>, ParamHeaders>,
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
        self.rules.get(tool)
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
            Ok(rules) if rules.is_empty() => {
                self.rules.remove(&*name);
            }
            Ok(rules) => {
                if self.rules.len() >= MAX_TOOLS && !self.rules.contains_key(&*name) {
                    tracing::warn!(
                        tools = MAX_TOOLS,
                        "too many tools want headers: forgetting what they want"
                    );
                    self.rules.clear();
                }
                self.rules.insert(name.into(), rules);
            }
            Err(error) => {
                tracing::warn!(tool = %name, %error, "a tool is left out of the list: its annotation is invalid");
                self.rules.remove(&*name);
                return false;
            }
        }
        true
    }
}

//! Messages to and from a language model (client/sampling). Deprecated by the specification.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, slice};

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::annotations::Role;
use super::content::{AudioContent, ImageContent, TextContent};
use super::content_block::ContentBlock;
use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::union::union;
use super::write_json::WriteJson;

open_object! {
    /// A message to or from a language model (client/sampling, "Messages").
    pub struct SamplingMessage {
        /// Who speaks.
        required "role" => role: Role,
        /// What is said.
        required "content" => content: SamplingContent,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl SamplingMessage {
    /// A message of a text, a block or several.
    pub fn new(role: Role, content: impl Into<SamplingContent>) -> Self {
        Self { role, content: content.into(), meta: None, extra: RawMembers::new() }
    }

    /// Something the person says.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// Something the model says.
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

setters! { SamplingMessage {
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

/// What a message says: one block, which the wire carries without brackets, or a list of them.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingContent {
    /// One block.
    One(Box<SamplingBlock>),
    /// A list.
    Many(Vec<SamplingBlock>),
}

impl SamplingContent {
    /// The blocks, however they are carried.
    pub fn blocks(&self) -> &[SamplingBlock] {
        match self {
            Self::One(block) => slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// The first text.
    pub fn first_text(&self) -> Option<&str> {
        self.blocks().iter().find_map(|block| match block {
            SamplingBlock::Text(content) => Some(content.text.as_str()),
            _ => None,
        })
    }
}

impl<T: Into<SamplingBlock>> From<T> for SamplingContent {
    fn from(block: T) -> Self {
        Self::One(Box::new(block.into()))
    }
}

impl From<Vec<SamplingBlock>> for SamplingContent {
    fn from(blocks: Vec<SamplingBlock>) -> Self {
        Self::Many(blocks)
    }
}

impl WriteJson for SamplingContent {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::One(block) => block.write(out),
            Self::Many(blocks) => blocks.write_json(out),
        }
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            Self::Many(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire;
        impl<'de> Visitor<'de> for Wire {
            type Value = SamplingContent;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or an array of objects (SamplingBlock)")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SamplingContent, A::Error> {
                SamplingBlock::read(map).map(SamplingContent::from)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<SamplingContent, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(items)).map(SamplingContent::Many)
            }
        }
        deserializer.deserialize_any(Wire)
    }
}

union! {
    /// A piece of what a message says (client/sampling, "Messages").
    pub enum SamplingBlock {
        /// A text.
        "text" => Text: TextContent as TextContent,
        /// An image.
        "image" => Image: ImageContent as ImageContent,
        /// A sound.
        "audio" => Audio: AudioContent as AudioContent,
        /// The model wants a tool to be used.
        "tool_use" => ToolUse: Box<ToolUseContent> as ToolUseContent,
        /// What a tool said.
        "tool_result" => ToolResult: Box<ToolResultContent> as ToolResultContent,
    }
}

impl From<&str> for SamplingBlock {
    fn from(text: &str) -> Self {
        Self::Text(TextContent::new(text))
    }
}

impl From<String> for SamplingBlock {
    fn from(text: String) -> Self {
        Self::Text(TextContent::new(text))
    }
}

open_object! {
    /// The model wants a tool to be used (client/sampling, "Sampling with Tools").
    pub struct ToolUseContent, tag "type" = "tool_use" {
        /// Names this use; its result repeats it.
        required "id" => id: String,
        /// The tool.
        required "name" => name: String,
        /// Its arguments, by name.
        required "input" => input: RawMembers,
        /// Metadata, an object; a later request of the conversation should repeat it.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ToolUseContent {
    /// A use of a tool.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: RawMembers) -> Self {
        Self { id: id.into(), name: name.into(), input, meta: None, extra: RawMembers::new() }
    }
}

setters! { ToolUseContent {
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// What a tool said to the model that used it (client/sampling, "Tool Result Messages").
    pub struct ToolResultContent, tag "type" = "tool_result" {
        /// The use that this is the result of.
        required "toolUseId" => tool_use_id: String,
        /// What the tool has to say.
        required "content" => content: Vec<ContentBlock>,
        /// The same for programs; any JSON value, `null` too.
        any "structuredContent" => structured_content: Option<RawJson>,
        /// Whether the tool failed; absent is no.
        optional "isError" => is_error: Option<bool>,
        /// Metadata, an object; a later request of the conversation should repeat it.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ToolResultContent {
    /// The result of a use.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            structured_content: None,
            is_error: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { ToolResultContent {
    /// Sets what it says to programs.
    with_structured_content => structured_content: RawJson,
    /// Says whether the tool failed.
    with_is_error => is_error: bool,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

//! A piece of content of any kind, told apart by `type` (server/tools, "Tool Result").

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, marker::PhantomData};

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::content::{AudioContent, ImageContent, TextContent};
use super::members::RawMembers;
use super::raw::RawJson;
use super::resource::{EmbeddedResource, ResourceLink};
use super::source::{Known, Name, Source, at};
use super::write_json::WriteJson;

/// A piece of content (server/tools, "Tool Result").
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// A text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// A sound.
    Audio(AudioContent),
    /// A resource that can be read.
    ResourceLink(Box<ResourceLink>),
    /// A resource, contents included.
    Resource(Box<EmbeddedResource>),
    /// A kind unknown here: the object with its members verbatim and in their order; only the space between
    /// members is gone.
    Unknown(RawJson),
}

impl ContentBlock {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// An image, in base64, of a MIME type.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(data, mime_type))
    }

    /// A sound, in base64, of a MIME type.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(data, mime_type))
    }

    /// The text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }

    /// Appends the block as JSON on one line: what serialising gives, faster.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(content) => content.write(out),
            Self::Image(content) => content.write(out),
            Self::Audio(content) => content.write(out),
            Self::ResourceLink(content) => content.write(out),
            Self::Resource(content) => content.write(out),
            Self::Unknown(raw) => raw.write_json(out),
        }
    }
}

impl WriteJson for ContentBlock {
    fn write_json(&self, out: &mut Vec<u8>) {
        self.write(out);
    }
}

macro_rules! from_content {
    ($($content:ident => $variant:ident $wrap:expr;)*) => {
        $(impl From<$content> for ContentBlock {
            fn from(content: $content) -> Self {
                Self::$variant($wrap(content))
            }
        })*
    };
}

from_content! {
    TextContent => Text core::convert::identity;
    ImageContent => Image core::convert::identity;
    AudioContent => Audio core::convert::identity;
    ResourceLink => ResourceLink Box::new;
    EmbeddedResource => Resource Box::new;
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(content) => content.serialize(serializer),
            Self::Image(content) => content.serialize(serializer),
            Self::Audio(content) => content.serialize(serializer),
            Self::ResourceLink(content) => content.serialize(serializer),
            Self::Resource(content) => content.serialize(serializer),
            Self::Unknown(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Wire)
    }
}

/// The one name that matters before the kind is known.
struct Type;

impl Known for Type {
    fn find(name: &str) -> Option<Self> {
        (name == "type").then_some(Self)
    }
}

enum Kind {
    Text,
    Image,
    Audio,
    ResourceLink,
    Resource,
}

impl Known for Kind {
    fn find(name: &str) -> Option<Self> {
        Some(match name {
            "text" => Self::Text,
            "image" => Self::Image,
            "audio" => Self::Audio,
            "resource_link" => Self::ResourceLink,
            "resource" => Self::Resource,
            _ => return None,
        })
    }
}

/// Reads up to `type` and leaves the rest to the kind it names. Members before `type` are kept raw meanwhile, so a
/// block that starts with its `type`, as most do, is read in one pass.
struct Wire;

impl<'de> Visitor<'de> for Wire {
    type Value = ContentBlock;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object (ContentBlock)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ContentBlock, A::Error> {
        let mut ahead = RawMembers::new();
        while let Some(name) = map.next_key_seed(Name::<Type>(PhantomData))? {
            if let Err(name) = name {
                let value = map.next_value().map_err(|error| at(&name, error))?;
                ahead.push(name, value);
                continue;
            }
            let kind = map.next_value_seed(Name::<Kind>(PhantomData)).map_err(|error| at("type", error))?;
            return match kind {
                Ok(Kind::Text) => TextContent::read(Source::after_tag(map, ahead)).map(ContentBlock::Text),
                Ok(Kind::Image) => ImageContent::read(Source::after_tag(map, ahead)).map(ContentBlock::Image),
                Ok(Kind::Audio) => AudioContent::read(Source::after_tag(map, ahead)).map(ContentBlock::Audio),
                Ok(Kind::ResourceLink) => ResourceLink::read(Source::after_tag(map, ahead))
                    .map(|content| ContentBlock::ResourceLink(Box::new(content))),
                Ok(Kind::Resource) => EmbeddedResource::read(Source::after_tag(map, ahead))
                    .map(|content| ContentBlock::Resource(Box::new(content))),
                Err(kind) => unknown(map, ahead, &kind),
            };
        }
        Err(de::Error::missing_field("type"))
    }
}

/// The slower way: puts the object together again.
fn unknown<'de, A: MapAccess<'de>>(
    mut map: A,
    mut members: RawMembers,
    kind: &str,
) -> Result<ContentBlock, A::Error> {
    members.push("type".into(), RawJson::from_value(kind).map_err(de::Error::custom)?);
    while let Some(name) = map.next_key::<String>()? {
        let value = map.next_value().map_err(|error| at(&name, error))?;
        members.push(name, value);
    }
    if let Some(name) = members.repeated() {
        return Err(de::Error::custom(format_args!("duplicate field `{name}`")));
    }
    RawJson::from_value(&members).map(ContentBlock::Unknown).map_err(de::Error::custom)
}

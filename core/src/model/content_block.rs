//! A piece of content of any kind, told apart by `type` (server/tools, "Tool Result").

use alloc::boxed::Box;
use alloc::string::String;

use super::content::{AudioContent, ImageContent, TextContent};
use super::resource::{EmbeddedResource, ResourceLink};
use super::union::union;

union! {
    /// A piece of content (server/tools, "Tool Result").
    pub enum ContentBlock {
        /// A text.
        "text" => Text: TextContent as TextContent,
        /// An image.
        "image" => Image: ImageContent as ImageContent,
        /// A sound.
        "audio" => Audio: AudioContent as AudioContent,
        /// A resource that can be read.
        "resource_link" => ResourceLink: Box<ResourceLink> as ResourceLink,
        /// A resource, contents included.
        "resource" => Resource: Box<EmbeddedResource> as EmbeddedResource,
    }
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
}

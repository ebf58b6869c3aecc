//! Texts, images and sounds (server/tools, "Tool Result").

use alloc::boxed::Box;
use alloc::string::String;

use super::annotations::Annotations;
use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;

open_object! {
    /// A text.
    pub struct TextContent, tag "type" = "text" {
        /// The text.
        required "text" => text: String,
        /// Hints.
        optional "annotations" => annotations: Option<Box<Annotations>>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl TextContent {
    /// A text without hints.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), annotations: None, meta: None, extra: RawMembers::new() }
    }
}

setters! { TextContent {
    /// Sets the hints.
    with_annotations => annotations: Box<Annotations>,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// An image.
    pub struct ImageContent, tag "type" = "image" {
        /// The image in base64; not checked.
        required "data" => data: String,
        /// Its MIME type.
        required "mimeType" => mime_type: String,
        /// Hints.
        optional "annotations" => annotations: Option<Box<Annotations>>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ImageContent {
    /// An image, in base64, of a MIME type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { ImageContent {
    /// Sets the hints.
    with_annotations => annotations: Box<Annotations>,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// A sound.
    pub struct AudioContent, tag "type" = "audio" {
        /// The sound in base64; not checked.
        required "data" => data: String,
        /// Its MIME type.
        required "mimeType" => mime_type: String,
        /// Hints.
        optional "annotations" => annotations: Option<Box<Annotations>>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl AudioContent {
    /// A sound, in base64, of a MIME type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { AudioContent {
    /// Sets the hints.
    with_annotations => annotations: Box<Annotations>,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

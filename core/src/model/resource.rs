//! Resources inside content: links and contents (server/tools, "Resource Links" and "Embedded Resources").

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::annotations::Annotations;
use super::implementation::Icon;
use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::source::at;
use super::write_json::WriteJson;

open_object! {
    /// A resource that can be read with `resources/read`; it need not be in the server's list
    /// (server/tools, "Resource Links").
    pub struct ResourceLink, tag "type" = "resource_link" {
        /// The URI; not checked.
        required "uri" => uri: String,
        /// Its name for programs, and for people if there is no title.
        required "name" => name: String,
        /// Its name for people.
        optional "title" => title: Option<String>,
        /// What it is.
        optional "description" => description: Option<String>,
        /// Its MIME type, if known.
        optional "mimeType" => mime_type: Option<String>,
        /// Its size in bytes, before base64, if known.
        optional "size" => size: Option<u64>,
        /// Pictures for it.
        optional "icons" => icons: Option<Vec<Icon>>,
        /// Hints.
        optional "annotations" => annotations: Option<Box<Annotations>>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ResourceLink {
    /// A URI and a name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            icons: None,
            annotations: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { ResourceLink {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what it is.
    with_description => description: String,
    /// Sets the MIME type.
    with_mime_type => mime_type: String,
    /// Sets the size in bytes.
    with_size => size: u64,
    /// Sets the pictures.
    with_icons => icons: Vec<Icon>,
    /// Sets the hints.
    with_annotations => annotations: Box<Annotations>,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// A resource with its contents (server/tools, "Embedded Resources").
    pub struct EmbeddedResource, tag "type" = "resource" {
        /// The contents.
        required "resource" => resource: ResourceContents,
        /// Hints.
        optional "annotations" => annotations: Option<Box<Annotations>>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl EmbeddedResource {
    /// These contents.
    pub fn new(resource: impl Into<ResourceContents>) -> Self {
        Self { resource: resource.into(), annotations: None, meta: None, extra: RawMembers::new() }
    }
}

setters! { EmbeddedResource {
    /// Sets the hints.
    with_annotations => annotations: Box<Annotations>,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

/// The contents of a resource, told apart by whether they have `text` or `blob` (server/resources, "Resource
/// Contents"). If they have both they are text, and `blob` is among the extra members.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

impl From<TextResourceContents> for ResourceContents {
    fn from(contents: TextResourceContents) -> Self {
        Self::Text(contents)
    }
}

impl From<BlobResourceContents> for ResourceContents {
    fn from(contents: BlobResourceContents) -> Self {
        Self::Blob(contents)
    }
}

impl WriteJson for ResourceContents {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(contents) => contents.write(out),
            Self::Blob(contents) => contents.write(out),
        }
    }
}

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(contents) => contents.serialize(serializer),
            Self::Blob(contents) => contents.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let AnyContents { uri, mime_type, text, blob, meta, mut extra } =
            AnyContents::deserialize(deserializer)?;
        match (text, blob) {
            (Some(text), blob) => {
                if let Some(blob) = blob {
                    extra.push("blob".into(), RawJson::from_value(&blob).map_err(|error| at("blob", error))?);
                }
                Ok(Self::Text(TextResourceContents { uri, mime_type, text, meta, extra }))
            }
            (None, Some(blob)) => Ok(Self::Blob(BlobResourceContents { uri, mime_type, blob, meta, extra })),
            (None, None) => Err(de::Error::custom("missing field `text` or `blob`")),
        }
    }
}

open_object! {
    /// What the two kinds of contents have between them.
    struct AnyContents {
        required "uri" => uri: String,
        optional "mimeType" => mime_type: Option<String>,
        optional "text" => text: Option<String>,
        optional "blob" => blob: Option<String>,
        object "_meta" => meta: Option<RawJson>,
    }
}

open_object! {
    /// The contents of a resource that is text.
    pub struct TextResourceContents {
        /// The URI; not checked.
        required "uri" => uri: String,
        /// The MIME type, if known.
        optional "mimeType" => mime_type: Option<String>,
        /// The text.
        required "text" => text: String,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl TextResourceContents {
    /// The text at a URI.
    pub fn new(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, text: text.into(), meta: None, extra: RawMembers::new() }
    }
}

setters! { TextResourceContents {
    /// Sets the MIME type.
    with_mime_type => mime_type: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// The contents of a resource that is bytes.
    pub struct BlobResourceContents {
        /// The URI; not checked.
        required "uri" => uri: String,
        /// The MIME type, if known.
        optional "mimeType" => mime_type: Option<String>,
        /// The bytes in base64; not checked.
        required "blob" => blob: String,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl BlobResourceContents {
    /// The bytes, in base64, at a URI.
    pub fn new(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, blob: blob.into(), meta: None, extra: RawMembers::new() }
    }
}

setters! { BlobResourceContents {
    /// Sets the MIME type.
    with_mime_type => mime_type: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

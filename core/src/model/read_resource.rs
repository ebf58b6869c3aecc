//! `resources/read` (server/resources, "Reading Resources").

use alloc::string::String;
use alloc::vec::Vec;

use super::cache::{CacheScope, cacheable};
use super::content::{AudioContent, ImageContent};
use super::content_block::ContentBlock;
use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::resource::{BlobResourceContents, ResourceContents, TextResourceContents};
use super::write_json::result_body;
use crate::base64::{self, Base64Error};

open_object! {
    /// The params of `resources/read` (server/resources, "Reading Resources").
    pub struct ReadResourceParams {
        /// The URI; not checked.
        required "uri" => uri: String,
        /// Answers to the questions of the last `input_required` result, an object with the questions' keys
        /// (basic/patterns/mrtr).
        object "inputResponses" => input_responses: Option<RawJson>,
        /// The state of the last `input_required` result, byte for byte.
        optional "requestState" => request_state: Option<String>,
        /// The request's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ReadResourceParams {
    /// The resource at a URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            input_responses: None,
            request_state: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { ReadResourceParams {
    /// Sets the answers; they must be an object.
    with_input_responses => input_responses: RawJson,
    /// Sets the state of the last `input_required` result.
    with_request_state => request_state: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// The result of `resources/read` (server/resources, "Reading Resources"). No contents at all means a resource
    /// that is empty, never one that does not exist.
    #[derive(Default)]
    pub struct ReadResourceResult, maybe_tag "resultType" = "complete" {
        /// The contents; several if the resource stands for several, as a folder does.
        required "contents" => contents: Vec<ResourceContents>,
        /// How long the result stays fresh, in milliseconds; 0 is not at all.
        millis "ttlMs" => ttl_ms: u64,
        /// Who may be served the result from a cache.
        defaulted "cacheScope" => cache_scope: CacheScope,
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ReadResourceResult {
    /// Contents that may not be cached.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self { contents, ..Self::default() }
    }

    /// The text at a URI.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(alloc::vec![TextResourceContents::new(uri, text).into()])
    }

    /// The bytes at a URI.
    pub fn bytes(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self::new(alloc::vec![BlobResourceContents::from_bytes(uri, bytes).into()])
    }
}

setters! { ReadResourceResult {
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

cacheable!(ReadResourceResult);
result_body!(ReadResourceResult);

impl BlobResourceContents {
    /// The bytes at a URI, which become base64.
    pub fn from_bytes(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self::new(uri, base64::encode(bytes))
    }

    /// The bytes.
    ///
    /// # Errors
    /// `blob` is not base64.
    pub fn bytes(&self) -> Result<Vec<u8>, Base64Error> {
        base64::decode(&self.blob)
    }
}

macro_rules! bytes {
    ($($name:ident, $what:literal;)*) => {
        $(impl $name {
            #[doc = concat!("The bytes of ", $what, " of a MIME type, which become base64.")]
            pub fn from_bytes(bytes: &[u8], mime_type: impl Into<String>) -> Self {
                Self::new(base64::encode(bytes), mime_type)
            }

            /// The bytes.
            ///
            /// # Errors
            /// `data` is not base64.
            pub fn bytes(&self) -> Result<Vec<u8>, Base64Error> {
                base64::decode(&self.data)
            }
        })*
    };
}

bytes! {
    ImageContent, "an image";
    AudioContent, "a sound";
}

impl ContentBlock {
    /// The bytes of an image of a MIME type.
    pub fn image_bytes(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::from_bytes(bytes, mime_type))
    }

    /// The bytes of a sound of a MIME type.
    pub fn audio_bytes(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::from_bytes(bytes, mime_type))
    }
}

//! `resources/list` and `resources/templates/list` (server/resources). Their params are
//! [`PaginatedParams`](super::PaginatedParams).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::annotations::Annotations;
use super::cache::{CacheScope, cacheable};
use super::implementation::Icon;
use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::resource::ResourceLink;
use super::write_json::result_body;

open_object! {
    /// A resource that a server can read (server/resources, "Resource").
    pub struct Resource {
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

impl Resource {
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

    /// The name to show to people.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

impl From<Resource> for ResourceLink {
    /// The same as content that points to it.
    fn from(resource: Resource) -> Self {
        Self {
            uri: resource.uri,
            name: resource.name,
            title: resource.title,
            description: resource.description,
            mime_type: resource.mime_type,
            size: resource.size,
            icons: resource.icons,
            annotations: resource.annotations,
            meta: resource.meta,
            extra: resource.extra,
        }
    }
}

setters! { Resource {
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
    /// The result of `resources/list` (server/resources, "Listing Resources").
    #[derive(Default)]
    pub struct ListResourcesResult, maybe_tag "resultType" = "complete" {
        /// The resources of this page.
        required "resources" => resources: Vec<Resource>,
        /// Where the next page starts; absent on the last.
        optional "nextCursor" => next_cursor: Option<String>,
        /// How long the result stays fresh, in milliseconds; 0 is not at all.
        millis "ttlMs" => ttl_ms: u64,
        /// Who may be served the result from a cache.
        defaulted "cacheScope" => cache_scope: CacheScope,
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ListResourcesResult {
    /// The only page, which may not be cached.
    pub fn new(resources: Vec<Resource>) -> Self {
        Self { resources, ..Self::default() }
    }
}

setters! { ListResourcesResult {
    /// Says where the next page starts.
    with_next_cursor => next_cursor: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// Resources whose URIs have one form (server/resources, "Resource Templates").
    pub struct ResourceTemplate {
        /// The form of the URIs (RFC 6570); not checked. [`UriTemplate`](super::UriTemplate) reads the usual ones.
        required "uriTemplate" => uri_template: String,
        /// Its name for programs, and for people if there is no title.
        required "name" => name: String,
        /// Its name for people.
        optional "title" => title: Option<String>,
        /// What the resources are.
        optional "description" => description: Option<String>,
        /// Their MIME type, if all have the same.
        optional "mimeType" => mime_type: Option<String>,
        /// Pictures for it.
        optional "icons" => icons: Option<Vec<Icon>>,
        /// Hints.
        optional "annotations" => annotations: Option<Box<Annotations>>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ResourceTemplate {
    /// A form of URI and a name.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            icons: None,
            annotations: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }

    /// The name to show to people.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

setters! { ResourceTemplate {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what the resources are.
    with_description => description: String,
    /// Sets their MIME type.
    with_mime_type => mime_type: String,
    /// Sets the pictures.
    with_icons => icons: Vec<Icon>,
    /// Sets the hints.
    with_annotations => annotations: Box<Annotations>,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// The result of `resources/templates/list` (server/resources, "Resource Templates").
    #[derive(Default)]
    pub struct ListResourceTemplatesResult, maybe_tag "resultType" = "complete" {
        /// The templates of this page.
        required "resourceTemplates" => resource_templates: Vec<ResourceTemplate>,
        /// Where the next page starts; absent on the last.
        optional "nextCursor" => next_cursor: Option<String>,
        /// How long the result stays fresh, in milliseconds; 0 is not at all.
        millis "ttlMs" => ttl_ms: u64,
        /// Who may be served the result from a cache.
        defaulted "cacheScope" => cache_scope: CacheScope,
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ListResourceTemplatesResult {
    /// The only page, which may not be cached.
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        Self { resource_templates, ..Self::default() }
    }
}

setters! { ListResourceTemplatesResult {
    /// Says where the next page starts.
    with_next_cursor => next_cursor: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

cacheable!(ListResourcesResult, ListResourceTemplatesResult);
result_body!(ListResourcesResult);
result_body!(ListResourceTemplatesResult);

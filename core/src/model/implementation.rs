//! The name of a program and the pictures that stand for things (basic/index, "`_meta`" and "`icons`").

use alloc::string::String;
use alloc::vec::Vec;

use super::members::RawMembers;
use super::names::open_names;
use super::open::{open_object, setters};

open_object! {
    /// A client or server program, as it describes itself. For display and logs; nothing should depend on it
    /// (basic/index, "`_meta`").
    pub struct Implementation {
        /// Its name for programs, and for people if there is no title.
        required "name" => name: String,
        /// Its name for people.
        optional "title" => title: Option<String>,
        /// Its version; any string.
        required "version" => version: String,
        /// What it does.
        optional "description" => description: Option<String>,
        /// Its web site, a URL; not checked.
        optional "websiteUrl" => website_url: Option<String>,
        /// Pictures for it.
        optional "icons" => icons: Option<Vec<Icon>>,
    }
}

impl Implementation {
    /// A name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            description: None,
            website_url: None,
            icons: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { Implementation {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what it does.
    with_description => description: String,
    /// Sets the web site.
    with_website_url => website_url: String,
    /// Sets the pictures.
    with_icons => icons: Vec<Icon>,
}}

open_object! {
    /// A picture. Whoever shows it decides whether its source can be trusted; SVG may carry scripts.
    pub struct Icon {
        /// Where it is: an `http`, `https` or `data` URL; not checked.
        required "src" => src: String,
        /// Its MIME type, where the source does not say.
        optional "mimeType" => mime_type: Option<String>,
        /// Sizes it can be shown at, each `48x48` in pixels or `any`; absent is any.
        optional "sizes" => sizes: Option<Vec<String>>,
        /// The background it is made for; absent is any.
        optional "theme" => theme: Option<IconTheme>,
    }
}

impl Icon {
    /// The picture at a URL.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: None, theme: None, extra: RawMembers::new() }
    }
}

setters! { Icon {
    /// Sets the MIME type.
    with_mime_type => mime_type: String,
    /// Sets the sizes.
    with_sizes => sizes: Vec<String>,
    /// Sets the background.
    with_theme => theme: IconTheme,
}}

open_names! {
    /// The background a picture is made for.
    pub enum IconTheme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}

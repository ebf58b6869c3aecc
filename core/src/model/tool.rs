//! A tool as a server describes it (server/tools, "Tool").

use alloc::string::String;
use alloc::vec::Vec;

use super::implementation::Icon;
use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::schema::{InputSchema, OutputSchema};

open_object! {
    /// A tool that a client can call (server/tools, "Tool").
    pub struct Tool {
        /// Its name, by which it is called; unique within a server.
        required "name" => name: String,
        /// Its name for people; then comes `annotations.title`, then the name.
        optional "title" => title: Option<String>,
        /// What it does, for the model.
        optional "description" => description: Option<String>,
        /// The schema of its arguments.
        required "inputSchema" => input_schema: InputSchema,
        /// The schema of its structured content.
        optional "outputSchema" => output_schema: Option<OutputSchema>,
        /// Hints about what it does.
        optional "annotations" => annotations: Option<ToolAnnotations>,
        /// Pictures for it.
        optional "icons" => icons: Option<Vec<Icon>>,
        /// Metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl Tool {
    /// A name and the schema of the arguments.
    pub fn new(name: impl Into<String>, input_schema: InputSchema) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema,
            output_schema: None,
            annotations: None,
            icons: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }

    /// The name to show to people.
    pub fn display_name(&self) -> &str {
        let hint = self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or(hint).unwrap_or(&self.name)
    }
}

setters! { Tool {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what it does.
    with_description => description: String,
    /// Sets the schema of the structured content.
    with_output_schema => output_schema: OutputSchema,
    /// Sets the hints.
    with_annotations => annotations: ToolAnnotations,
    /// Sets the pictures.
    with_icons => icons: Vec<Icon>,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

open_object! {
    /// Hints about a tool. A server may be wrong about them or lie, so no decision should rest on them unless the
    /// server is trusted (server/tools, "Tool").
    #[derive(Default)]
    pub struct ToolAnnotations {
        /// A name for people.
        optional "title" => title: Option<String>,
        /// It changes nothing; absent is false.
        optional "readOnlyHint" => read_only_hint: Option<bool>,
        /// It may destroy rather than only add, if it changes anything; absent is true.
        optional "destructiveHint" => destructive_hint: Option<bool>,
        /// A second call with the same arguments changes nothing more; absent is false.
        optional "idempotentHint" => idempotent_hint: Option<bool>,
        /// It deals with things outside the server's control, such as the web; absent is true.
        optional "openWorldHint" => open_world_hint: Option<bool>,
    }
}

setters! { ToolAnnotations {
    /// Sets a name for people.
    with_title => title: String,
    /// Says whether it changes nothing.
    with_read_only_hint => read_only_hint: bool,
    /// Says whether it may destroy.
    with_destructive_hint => destructive_hint: bool,
    /// Says whether a second call changes nothing more.
    with_idempotent_hint => idempotent_hint: bool,
    /// Says whether it deals with things outside the server's control.
    with_open_world_hint => open_world_hint: bool,
}}

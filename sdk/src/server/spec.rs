//! What a tool tells about itself, and how its calls are kept apart.

use std::sync::Arc;

use sansio_mcp::model::{ClientCapabilities, Icon, RawJson, Tool, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ConfigError;
use super::stale::Stale;

type KeyOf = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Which calls of a tool exclude each other.
#[derive(Default)]
pub(crate) enum Lane {
    /// None: they run side by side.
    #[default]
    None,
    /// All.
    Tool,
    /// Those whose arguments give the same key.
    Computed(Box<KeyOf>),
}

/// The description of a tool: a name, and whatever else is to be told. `&str` converts into one.
pub struct ToolSpec {
    pub(crate) name: String,
    title: Option<String>,
    description: Option<String>,
    annotations: Option<ToolAnnotations>,
    icons: Vec<Icon>,
    meta: Option<RawJson>,
    input: Option<RawJson>,
    output: Option<RawJson>,
    pub(crate) lane: Lane,
    pub(crate) requires: Option<ClientCapabilities>,
    stale: Vec<String>,
}

impl From<&str> for ToolSpec {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for ToolSpec {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl ToolSpec {
    /// A tool of this name (server/tools, "Tool Names").
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
            input: None,
            output: None,
            lane: Lane::None,
            requires: None,
            stale: Vec::new(),
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What the tool does, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Hints about its behaviour, in place of those given before.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// A hint: it changes nothing. Without this a client has to assume that it does.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.annotations.get_or_insert_default().read_only_hint = Some(true);
        self
    }

    /// A hint: whether it may destroy rather than only add. Without this a client has to assume that it may.
    #[must_use]
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.annotations.get_or_insert_default().destructive_hint = Some(destructive);
        self
    }

    /// A hint: a second call with the same arguments changes nothing more. Without this a client has to assume
    /// that it does.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.annotations.get_or_insert_default().idempotent_hint = Some(true);
        self
    }

    /// A hint: whether it deals with things outside the server's control, such as the web. Without this a
    /// client has to assume that it does.
    #[must_use]
    pub fn open_world(mut self, open: bool) -> Self {
        self.annotations.get_or_insert_default().open_world_hint = Some(open);
        self
    }

    /// A picture to show beside it.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// The tool's own metadata: an object.
    #[must_use]
    pub fn meta(mut self, meta: RawJson) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The schema of its arguments, in place of the one derived from their type. What arrives is read as the handler's
    /// type; with the feature `validate` it is held against the schema too (JSON Schema 2020-12, or the dialect
    /// that `$schema` names; no format is asserted, nothing outside the schema is fetched). Without it, nothing
    /// but the type is checked.
    #[must_use]
    pub fn input_schema(mut self, schema: RawJson) -> Self {
        self.input = Some(schema);
        self
    }

    /// The schema of its structured output, in place of the one derived from its type. A handler of a tool with such a
    /// schema has to give structured content, or fail: anything else is an internal error, told to the client and
    /// logged. With the feature `validate` the content is held against the schema, as the specification demands of
    /// servers (server/tools, "Output Schema"); without it, it is the handler that has to see to that. What a
    /// layer answers in a handler's place is not checked.
    #[must_use]
    pub fn output_schema(mut self, schema: RawJson) -> Self {
        self.output = Some(schema);
        self
    }

    /// Capabilities that the client must declare; a call without them is refused with -32021, which names them.
    #[must_use]
    pub fn requires(mut self, capabilities: ClientCapabilities) -> Self {
        self.requires = Some(capabilities);
        self
    }

    /// One call at a time, first come first served: a mutation. Cancelled work counts until it is really over.
    /// This holds in this process; replicas of a server must exclude each other by what they share, a row lock
    /// or an idempotency key.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.lane = Lane::Tool;
        self
    }

    /// One call at a time among those whose arguments give the same key: per invoice, per tenant. Arguments
    /// that cannot be read as `A` share the tool's own lane.
    #[must_use]
    pub fn one_at_a_time_per<A: DeserializeOwned, K: ToString>(
        mut self,
        key: impl Fn(&A) -> K + Send + Sync + 'static,
    ) -> Self {
        self.lane = Lane::Computed(Box::new(move |arguments| {
            serde_json::from_str::<A>(arguments).ok().map(|arguments| key(&arguments).to_string())
        }));
        self
    }

    /// The resources that a successful call makes stale: a URI, all that begin with the text before a `*` at the end
    /// (`invoice://*`), or all that a template makes (`invoice://{id}/lines`, RFC 6570 level 1). May be said several times.
    ///
    /// When the handler has succeeded, in whatever form it is written, everybody who subscribed to one of these is told that it was
    /// updated, before the answer is handed over. Nobody is told after a failure (an `Err`, a result with `isError`,
    /// a panic), a question, or a cancellation; nor when a layer answers in the tool's place, since the tool has done nothing
    /// then. What layers make of its answer changes nothing.
    ///
    /// The server has to declare [`resource_updates`](super::Builder::resource_updates); the tool is refused otherwise.
    #[must_use]
    pub fn invalidates(mut self, resources: impl Into<String>) -> Self {
        self.stale.push(resources.into());
        self
    }

    pub(crate) fn stale(&mut self) -> Result<Option<Arc<Stale>>, ConfigError> {
        if self.stale.is_empty() {
            return Ok(None);
        }
        let stale = Stale::new(std::mem::take(&mut self.stale));
        stale
            .map(|stale| Some(Arc::new(stale)))
            .map_err(|why| ConfigError::new("tool.invalidates", format!("of {:?}: {why}", self.name)))
    }

    /// What is listed, checked.
    pub(crate) fn tool(
        &mut self,
        input: Option<RawJson>,
        output: Option<RawJson>,
    ) -> Result<Tool, ConfigError> {
        use sansio_mcp::model::{InputSchema, OutputSchema};
        let name = &self.name;
        if name.is_empty() {
            return Err(ConfigError::new("tool.name", "is empty"));
        }
        let at_fault =
            |field, why: &dyn std::fmt::Display| ConfigError::new(field, format!("of {name:?}: {why}"));
        let missing =
            "is missing: the type of its arguments has none, so ToolSpec::input_schema must give it";
        let by_hand = self.input.is_some();
        let input = self.input.take().or(input).ok_or_else(|| at_fault("tool.input_schema", &missing))?;
        let input = InputSchema::new(input).map_err(|error| {
            if by_hand {
                return at_fault("tool.input_schema", &error);
            }
            let way_out = "that of its arguments' type is not; make that type a field of a struct, or write \
                           the schema by hand with ToolSpec::input_schema";
            at_fault("tool.input_schema", &format_args!("{error}: {way_out}"))
        })?;
        let mut tool = Tool::new(name.clone(), input);
        if let Some(output) = self.output.take().or(output) {
            let output = OutputSchema::new(output).map_err(|error| at_fault("tool.output_schema", &error))?;
            tool.output_schema = Some(output);
        }
        if self.meta.as_ref().is_some_and(|meta| !meta.is_object()) {
            return Err(at_fault("tool.meta", &"is not an object"));
        }
        tool.title = self.title.take();
        tool.description = self.description.take();
        tool.annotations = self.annotations.take();
        tool.icons = (!self.icons.is_empty()).then(|| std::mem::take(&mut self.icons));
        tool.meta = self.meta.take();
        Ok(tool)
    }
}

/// A schema written by hand, for [`ToolSpec::input_schema`] and [`ToolSpec::output_schema`].
///
/// # Errors
/// It cannot be written as JSON.
pub fn schema(value: &impl Serialize) -> Result<RawJson, ConfigError> {
    RawJson::from_value(value).map_err(|error| ConfigError::new("schema", error.to_string()))
}

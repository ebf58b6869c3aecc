//! What prompts and resources tell about themselves.

use sansio_mcp::model::{
    Annotations, CacheScope, Icon, Prompt, PromptArgument, RawJson, Resource, ResourceTemplate, UriTemplate,
};

use super::ConfigError;

/// The description of a prompt (server/prompts, "Prompt"): a name, and whatever else is to be told. `&str` converts into
/// one.
#[derive(Clone, Debug)]
pub struct PromptSpec(Prompt);

/// The description of a resource (server/resources, "Resource").
#[derive(Clone, Debug)]
pub struct ResourceSpec {
    resource: Resource,
    pub(crate) cache: Option<(u64, CacheScope)>,
}

/// The description of all resources whose URIs a template makes (server/resources, "Resource Templates").
#[derive(Clone, Debug)]
pub struct TemplateSpec {
    template: ResourceTemplate,
    pub(crate) cache: Option<(u64, CacheScope)>,
}

impl From<&str> for PromptSpec {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for PromptSpec {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl PromptSpec {
    /// A prompt of this name, without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self(Prompt::new(name))
    }

    /// Something that can be filled in. A request without a required one is refused before the handler is entered.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.0.arguments.get_or_insert_default().push(argument);
        self
    }

    pub(crate) fn checked(self) -> Result<Prompt, ConfigError> {
        let Self(prompt) = self;
        if prompt.name.is_empty() {
            return Err(ConfigError::new("prompt.name", "is empty"));
        }
        let mut known = std::collections::BTreeSet::new();
        for argument in prompt.arguments.iter().flatten() {
            if argument.name.is_empty() || !known.insert(&argument.name) {
                let why = format!("of {:?}: {:?} is empty or there twice", prompt.name, argument.name);
                return Err(ConfigError::new("prompt.arguments", why));
            }
        }
        object("prompt.meta", &prompt.name, prompt.meta.as_ref())?;
        Ok(prompt)
    }
}

impl ResourceSpec {
    /// The resource at a URI, and its name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { resource: Resource::new(uri, name), cache: None }
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.resource.size = Some(bytes);
        self
    }

    pub(crate) fn checked(self) -> Result<Resource, ConfigError> {
        let Self { resource, .. } = self;
        if resource.uri.is_empty() {
            return Err(ConfigError::new("resource.uri", "is empty"));
        }
        if resource.name.is_empty() {
            return Err(ConfigError::new("resource.name", format!("of {:?}: is empty", resource.uri)));
        }
        object("resource.meta", &resource.uri, resource.meta.as_ref())?;
        Ok(resource)
    }
}

impl TemplateSpec {
    /// The resources whose URIs this template makes (RFC 6570, level 1; see [`UriTemplate`]), and a name for them.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self { template: ResourceTemplate::new(uri_template, name), cache: None }
    }

    pub(crate) fn checked(self) -> Result<super::offers::Template, ConfigError> {
        let Self { template, .. } = self;
        let text = template.uri_template.clone();
        let at_fault = |why: &dyn std::fmt::Display| {
            ConfigError::new("template.uri_template", format!("of {text:?}: {why}"))
        };
        if template.name.is_empty() {
            return Err(ConfigError::new("template.name", format!("of {text:?}: is empty")));
        }
        let compiled = UriTemplate::new(text.as_str()).map_err(|error| at_fault(&error))?;
        object("template.meta", &text, template.meta.as_ref())?;
        Ok(super::offers::Template { listed: template, compiled })
    }
}

fn object(field: &'static str, of: &str, meta: Option<&RawJson>) -> Result<(), ConfigError> {
    if meta.is_some_and(|meta| !meta.is_object()) {
        return Err(ConfigError::new(field, format!("of {of:?}: is not an object")));
    }
    Ok(())
}

macro_rules! described {
    ($($name:ident => $($place:tt).+;)*) => {
        $(impl $name {
            /// A name for people.
            #[must_use]
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.$($place).+.title = Some(title.into());
                self
            }

            /// What it is.
            #[must_use]
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.$($place).+.description = Some(description.into());
                self
            }

            /// A picture to show beside it.
            #[must_use]
            pub fn icon(mut self, icon: Icon) -> Self {
                self.$($place).+.icons.get_or_insert_default().push(icon);
                self
            }

            /// Its own metadata: an object.
            #[must_use]
            pub fn meta(mut self, meta: RawJson) -> Self {
                self.$($place).+.meta = Some(meta);
                self
            }
        })*
    };
}

described! {
    PromptSpec => 0;
    ResourceSpec => resource;
    TemplateSpec => template;
}

macro_rules! contained {
    ($($name:ident => $place:ident;)*) => {
        $(impl $name {
            /// The MIME type, which is also that of the texts and bytes that the handler gives.
            #[must_use]
            pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
                self.$place.mime_type = Some(mime_type.into());
                self
            }

            /// Hints about who it is for and how much it matters.
            #[must_use]
            pub fn annotations(mut self, annotations: Annotations) -> Self {
                self.$place.annotations = Some(Box::new(annotations));
                self
            }

            /// How long, in milliseconds, clients may keep what was read, and for whom. A handler that gives a result with
            /// a time of its own has the last word; 0 there is no word, so what may never be kept must not be said to be
            /// cacheable here. Default: not at all.
            #[must_use]
            pub fn cache(mut self, ttl_ms: u64, scope: CacheScope) -> Self {
                self.cache = Some((ttl_ms, scope));
                self
            }

            pub(crate) fn said_mime_type(&self) -> Option<String> {
                self.$place.mime_type.clone()
            }
        })*
    };
}

contained! {
    ResourceSpec => resource;
    TemplateSpec => template;
}

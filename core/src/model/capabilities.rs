//! What each side can do (server/discover, and "Capabilities" on the page of each feature).

use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;

open_object! {
    /// What a client can do for a server that needs input. Declared with every request and valid for that request.
    #[derive(Default)]
    pub struct ClientCapabilities {
        /// Capabilities outside the specification.
        optional "experimental" => experimental: Option<RawMembers>,
        /// It can list its roots (client/roots). Deprecated.
        object "roots" => roots: Option<RawJson>,
        /// It can ask its language model (client/sampling). Deprecated.
        optional "sampling" => sampling: Option<SamplingCapability>,
        /// It can ask its user (client/elicitation).
        optional "elicitation" => elicitation: Option<ElicitationCapability>,
        /// Extensions by identifier, each with its settings object.
        optional "extensions" => extensions: Option<RawMembers>,
    }
}

setters! { ClientCapabilities {
    /// Sets the capabilities outside the specification.
    with_experimental => experimental: RawMembers,
    /// Says that it can list its roots; the value is an object.
    with_roots => roots: RawJson,
    /// Says that it can ask its language model.
    with_sampling => sampling: SamplingCapability,
    /// Says that it can ask its user.
    with_elicitation => elicitation: ElicitationCapability,
    /// Sets the extensions.
    with_extensions => extensions: RawMembers,
}}

open_object! {
    /// What a client's sampling can do (client/sampling, "Capabilities").
    #[derive(Default)]
    pub struct SamplingCapability {
        /// It understands `includeContext`; an object.
        object "context" => context: Option<RawJson>,
        /// It understands `tools` and `toolChoice`; an object.
        object "tools" => tools: Option<RawJson>,
    }
}

open_object! {
    /// How a client can ask its user (client/elicitation, "Capabilities"). Neither means a form.
    #[derive(Default)]
    pub struct ElicitationCapability {
        /// By a form; an object.
        object "form" => form: Option<RawJson>,
        /// By sending the user to a URL; an object.
        object "url" => url: Option<RawJson>,
    }
}

impl ElicitationCapability {
    /// Whether a form may be asked for: it is named, or nothing is.
    pub fn accepts_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }
}

open_object! {
    /// What a server offers (server/discover).
    #[derive(Default)]
    pub struct ServerCapabilities {
        /// Capabilities outside the specification.
        optional "experimental" => experimental: Option<RawMembers>,
        /// It sends log messages; an object. Deprecated.
        object "logging" => logging: Option<RawJson>,
        /// It completes arguments (server/utilities/completion); an object.
        object "completions" => completions: Option<RawJson>,
        /// It has prompts.
        optional "prompts" => prompts: Option<PromptsCapability>,
        /// It has resources.
        optional "resources" => resources: Option<ResourcesCapability>,
        /// It has tools.
        optional "tools" => tools: Option<ToolsCapability>,
        /// Extensions by identifier, each with its settings object.
        optional "extensions" => extensions: Option<RawMembers>,
    }
}

setters! { ServerCapabilities {
    /// Sets the capabilities outside the specification.
    with_experimental => experimental: RawMembers,
    /// Says that it sends log messages; the value is an object.
    with_logging => logging: RawJson,
    /// Says that it completes arguments; the value is an object.
    with_completions => completions: RawJson,
    /// Says that it has prompts.
    with_prompts => prompts: PromptsCapability,
    /// Says that it has resources.
    with_resources => resources: ResourcesCapability,
    /// Says that it has tools.
    with_tools => tools: ToolsCapability,
    /// Sets the extensions.
    with_extensions => extensions: RawMembers,
}}

open_object! {
    /// How a server offers tools (server/tools, "Capabilities").
    #[derive(Default)]
    pub struct ToolsCapability {
        /// It tells when the list changes; absent is no.
        optional "listChanged" => list_changed: Option<bool>,
    }
}

setters! { ToolsCapability {
    /// Says whether it tells when the list changes.
    with_list_changed => list_changed: bool,
}}

open_object! {
    /// How a server offers prompts (server/prompts, "Capabilities").
    #[derive(Default)]
    pub struct PromptsCapability {
        /// It tells when the list changes; absent is no.
        optional "listChanged" => list_changed: Option<bool>,
    }
}

setters! { PromptsCapability {
    /// Says whether it tells when the list changes.
    with_list_changed => list_changed: bool,
}}

open_object! {
    /// How a server offers resources (server/resources, "Capabilities").
    #[derive(Default)]
    pub struct ResourcesCapability {
        /// It tells when one resource changes, to those who subscribe; absent is no.
        optional "subscribe" => subscribe: Option<bool>,
        /// It tells when the list changes; absent is no.
        optional "listChanged" => list_changed: Option<bool>,
    }
}

setters! { ResourcesCapability {
    /// Says whether it tells when one resource changes.
    with_subscribe => subscribe: bool,
    /// Says whether it tells when the list changes.
    with_list_changed => list_changed: bool,
}}

//! The methods that reach the application.

use alloc::boxed::Box;

use super::config::tells_of;
use crate::model::{ServerCapabilities, may_ask};
use crate::subscription::Change;

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $offered:ident;)*) => {
        /// The methods whose requests reach the application.
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[non_exhaustive]
        pub enum Method {
            $($(#[$doc])* $variant,)*
            /// A method that was added with [`method`](super::ServerConfigBuilder::method).
            Other(Box<str>),
        }

        impl Method {
            pub(super) fn of(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    other => Self::Other(other.into()),
                }
            }

            /// The name on the wire.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Other(name) => name,
                }
            }
        }

        /// The methods that a server has by one of these capabilities. A client that calls another learns that there is no
        /// such method (schema, "`MethodNotFoundError`").
        pub(super) fn offered(capabilities: &ServerCapabilities) -> impl Iterator<Item = &'static str> {
            [$(($name, $offered(capabilities)),)*]
                .into_iter()
                .filter_map(|(name, offered)| offered.then_some(name))
        }
    };
}

methods! {
    /// `tools/list` (server/tools, "Listing Tools").
    ToolsList = "tools/list", tools;
    /// `tools/call` (server/tools, "Calling Tools").
    ToolsCall = "tools/call", tools;
    /// `prompts/list` (server/prompts, "Listing Prompts").
    PromptsList = "prompts/list", prompts;
    /// `prompts/get` (server/prompts, "Getting a Prompt").
    PromptsGet = "prompts/get", prompts;
    /// `resources/list` (server/resources, "Listing Resources").
    ResourcesList = "resources/list", resources;
    /// `resources/templates/list` (server/resources, "Resource Templates").
    ResourceTemplatesList = "resources/templates/list", resources;
    /// `resources/read` (server/resources, "Reading Resources").
    ResourcesRead = "resources/read", resources;
    /// `completion/complete` (server/utilities/completion, "Requesting Completions").
    Complete = "completion/complete", completions;
    /// `subscriptions/listen` (basic/patterns/subscriptions): answered with
    /// [`acknowledge`](super::Server::acknowledge) or an error.
    SubscriptionsListen = "subscriptions/listen", changes;
}

fn tools(capabilities: &ServerCapabilities) -> bool {
    capabilities.tools.is_some()
}

fn prompts(capabilities: &ServerCapabilities) -> bool {
    capabilities.prompts.is_some()
}

fn resources(capabilities: &ServerCapabilities) -> bool {
    capabilities.resources.is_some()
}

fn completions(capabilities: &ServerCapabilities) -> bool {
    capabilities.completions.is_some()
}

fn changes(capabilities: &ServerCapabilities) -> bool {
    [Change::Tools, Change::Prompts, Change::Resources, Change::Resource("")]
        .into_iter()
        .any(|change| tells_of(capabilities, change))
}

impl Method {
    /// Whether it may be answered with a question, and its requests carry `inputResponses` and `requestState`
    /// (basic/patterns/mrtr, "Supported Requests"). `None` for methods of extensions, which give such names to
    /// whatever they like.
    pub fn takes_input(&self) -> Option<bool> {
        match self {
            Self::Other(_) => None,
            known => Some(may_ask(known.name())),
        }
    }
}

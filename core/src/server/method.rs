//! The methods that reach the application.

use alloc::boxed::Box;

use crate::model::ServerCapabilities;

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal $(, $capability:ident)?;)*) => {
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
            [$($(($name, capabilities.$capability.is_some()),)?)*]
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
    /// [`acknowledge`](super::Server::acknowledge) or an error. A server has it if there is anything to listen for.
    SubscriptionsListen = "subscriptions/listen";
}

impl Method {
    /// Whether it may be answered with a question, and its requests carry `inputResponses` and `requestState`
    /// (basic/patterns/mrtr, "Supported Requests").
    pub fn may_ask(&self) -> bool {
        may_ask(self.name())
    }
}

/// The same by the name on the wire.
pub(crate) fn may_ask(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

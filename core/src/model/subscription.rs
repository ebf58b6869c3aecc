//! `subscriptions/listen` and the notifications that it brings (basic/patterns/subscriptions).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;
use super::write_json::result_body;
use crate::id::RequestId;

/// The key of `_meta` that names a subscription.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

open_object! {
    /// What a client wants to hear of (basic/patterns/subscriptions, "Notification Filter").
    #[derive(Default)]
    pub struct SubscriptionFilter {
        /// That the list of tools has changed; absent is no.
        optional "toolsListChanged" => tools_list_changed: Option<bool>,
        /// That the list of prompts has changed; absent is no.
        optional "promptsListChanged" => prompts_list_changed: Option<bool>,
        /// That the list of resources has changed; absent is no.
        optional "resourcesListChanged" => resources_list_changed: Option<bool>,
        /// That one of these resources has changed.
        optional "resourceSubscriptions" => resource_subscriptions: Option<Vec<String>>,
    }
}

impl SubscriptionFilter {
    /// Whether nothing at all is wanted.
    pub fn is_empty(&self) -> bool {
        let lists = [self.tools_list_changed, self.prompts_list_changed, self.resources_list_changed];
        !lists.contains(&Some(true)) && self.resource_subscriptions.as_ref().is_none_or(Vec::is_empty)
    }

    /// What of it a server honours that can do this: what its acknowledgement says (basic/patterns/subscriptions,
    /// "Acknowledgment"). Each URI stands there once; kinds unknown here are left out.
    #[must_use]
    pub fn honoured(&self, server: &super::ServerCapabilities) -> Self {
        self.honoured_within(server, usize::MAX)
    }

    /// As [`honoured`](Self::honoured), with so many resources at most: the first that are named.
    pub(crate) fn honoured_within(&self, server: &super::ServerCapabilities, most: usize) -> Self {
        let both = |wanted: Option<bool>, can: Option<bool>| {
            (wanted == Some(true) && can == Some(true)).then_some(true)
        };
        let resources = server.resources.as_ref();
        let subscribe = resources.is_some_and(|resources| resources.subscribe == Some(true));
        let mut seen = BTreeSet::new();
        let subscribe = subscribe && most > 0;
        let uris = self.resource_subscriptions.as_ref().filter(|uris| subscribe && !uris.is_empty());
        Self {
            tools_list_changed: both(
                self.tools_list_changed,
                server.tools.as_ref().and_then(|tools| tools.list_changed),
            ),
            prompts_list_changed: both(
                self.prompts_list_changed,
                server.prompts.as_ref().and_then(|prompts| prompts.list_changed),
            ),
            resources_list_changed: both(
                self.resources_list_changed,
                resources.and_then(|resources| resources.list_changed),
            ),
            resource_subscriptions: uris.map(|uris| {
                uris.iter().filter(|uri| seen.insert(uri.as_str())).take(most).cloned().collect()
            }),
            extra: RawMembers::new(),
        }
    }
}

setters! { SubscriptionFilter {
    /// Says whether changes of the list of tools are wanted.
    with_tools_list_changed => tools_list_changed: bool,
    /// Says whether changes of the list of prompts are wanted.
    with_prompts_list_changed => prompts_list_changed: bool,
    /// Says whether changes of the list of resources are wanted.
    with_resources_list_changed => resources_list_changed: bool,
    /// Sets the resources whose changes are wanted.
    with_resource_subscriptions => resource_subscriptions: Vec<String>,
}}

open_object! {
    /// The params of `subscriptions/listen` (basic/patterns/subscriptions, "Opening a Stream").
    #[derive(Default)]
    pub struct SubscriptionsListenParams {
        /// What the client wants to hear of.
        required "notifications" => notifications: SubscriptionFilter,
        /// The request's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl SubscriptionsListenParams {
    /// Listens for this.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self { notifications, ..Self::default() }
    }
}

open_object! {
    /// The result of `subscriptions/listen`: the server has ended it in good order (basic/patterns/subscriptions,
    /// "Graceful Closure").
    #[derive(Default)]
    pub struct SubscriptionsListenResult, maybe_tag "resultType" = "complete" {
        /// The result's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

result_body!(SubscriptionsListenResult);

open_object! {
    /// The params of `notifications/subscriptions/acknowledged`, which come before all others of a subscription
    /// (basic/patterns/subscriptions, "Acknowledgment").
    #[derive(Default)]
    pub struct SubscriptionsAcknowledgedParams {
        /// What the server will tell of.
        required "notifications" => notifications: SubscriptionFilter,
        /// The notification's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl SubscriptionsAcknowledgedParams {
    /// The server will tell of this.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self { notifications, ..Self::default() }
    }
}

open_object! {
    /// The params of `notifications/tools/list_changed`, `notifications/prompts/list_changed` and
    /// `notifications/resources/list_changed`: metadata and nothing else.
    #[derive(Default)]
    pub struct ListChangedParams {
        /// The notification's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

open_object! {
    /// The params of `notifications/resources/updated` (server/resources, "Subscriptions").
    pub struct ResourceUpdatedParams {
        /// The resource that has changed; it may be part of one that was subscribed to.
        required "uri" => uri: String,
        /// The notification's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ResourceUpdatedParams {
    /// This resource has changed.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), meta: None, extra: RawMembers::new() }
    }
}

macro_rules! of_a_subscription {
    ($($name:ident),*) => {
        $(impl $name {
            /// The subscription that it belongs to: the id of its `subscriptions/listen`. `None` if it is not said, or
            /// is no id.
            pub fn subscription_id(&self) -> Option<RequestId> {
                let meta: RawMembers = self.meta.as_ref()?.parse().ok()?;
                meta.get(SUBSCRIPTION_ID)?.parse().ok()
            }

            /// Says which subscription it belongs to; other metadata stays.
            #[must_use]
            pub fn with_subscription_id(mut self, id: &RequestId) -> Self {
                let mut meta: RawMembers = self.meta.take().and_then(|meta| meta.parse().ok()).unwrap_or_default();
                meta.insert(SUBSCRIPTION_ID, RawJson::written(id));
                self.meta = Some(RawJson::written(&meta));
                self
            }
        })*
    };
}

of_a_subscription!(
    SubscriptionsListenResult,
    SubscriptionsAcknowledgedParams,
    ListChangedParams,
    ResourceUpdatedParams
);

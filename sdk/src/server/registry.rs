//! What a server offers, as one request finds it.

use std::sync::Arc;

use sansio_mcp::model::{
    CacheScope, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Tool,
};

use super::offers::Offers;
use super::reply::{Answer, Reply};
use crate::mode::Mode;

/// A state of what is offered, which never changes: the next one is another registry. Layers from the outside in.
pub(crate) struct Registry<M: Mode> {
    pub(crate) layers: Arc<[Box<M::Layer>]>,
    pub(crate) hook: Option<Arc<M::Hook>>,
    pub(crate) offers: Offers<M>,
    pub(crate) page: usize,
    pub(crate) ttl_ms: u64,
    pub(crate) scope: CacheScope,
}

impl<M: Mode> Registry<M> {
    /// The same server with other offers.
    pub(super) fn with(&self, offers: Offers<M>) -> Self {
        Self {
            layers: Arc::clone(&self.layers),
            hook: self.hook.clone(),
            offers,
            page: self.page,
            ttl_ms: self.ttl_ms,
            scope: self.scope.clone(),
        }
    }
}

macro_rules! lists {
    ($($list:ident: $shelf:ident, $listed:expr => $result:ident, $answer:ident;)*) => {
        impl<M: Mode> Registry<M> {
            $(
                pub(super) fn $list(&self, cursor: Option<&str>) -> Reply {
                    match self.offers.$shelf.page(cursor, self.page, $listed) {
                        Ok((page, next)) => {
                            let mut list = $result::new(page).with_cache(self.ttl_ms, self.scope.clone());
                            list.next_cursor = next;
                            Reply::Answer(Answer::$answer(list))
                        }
                        Err(refusal) => refusal,
                    }
                }
            )*
        }
    };
}

lists! {
    list_tools: tools, |tool| Tool::clone(&tool.listed) => ListToolsResult, Tools;
    list_prompts: prompts, Clone::clone => ListPromptsResult, Prompts;
    list_resources: resources, Clone::clone => ListResourcesResult, Resources;
    list_templates: templates, |template| template.listed.clone() => ListResourceTemplatesResult, Templates;
}

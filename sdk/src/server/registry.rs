//! What a server offers.

use std::collections::BTreeMap;
use std::sync::Arc;

use sansio_mcp::code::wire;
use sansio_mcp::model::{CacheScope, ListToolsResult, Tool};

use super::reply::{Answer, Reply};
use super::shelf::Offers;
use crate::mode::Mode;

/// Tools in the order of their registration, layers from the outside in.
pub(crate) struct Registry<M: Mode> {
    pub(crate) listed: Vec<Tool>,
    pub(crate) handlers: Vec<Box<M::Tool>>,
    pub(crate) by_name: BTreeMap<String, usize>,
    pub(crate) layers: Vec<Box<M::Layer>>,
    pub(crate) hook: Option<Arc<M::Hook>>,
    pub(crate) offers: Offers<M>,
    pub(crate) page: usize,
    pub(crate) ttl_ms: u64,
    pub(crate) scope: CacheScope,
}

impl<M: Mode> Registry<M> {
    pub(crate) fn tool(&self, name: &str) -> Option<&M::Tool> {
        self.handlers.get(*self.by_name.get(name)?).map(|handler| &**handler)
    }

    /// One page of the list. The cursor is the name of the last tool of the page before.
    pub(crate) fn list(&self, cursor: Option<&str>) -> Reply {
        let start = match cursor.map(|cursor| self.by_name.get(cursor)) {
            None => 0,
            Some(Some(last)) => last + 1,
            Some(None) => {
                return Reply::error(wire::INVALID_PARAMS, "unknown cursor; list again from the beginning");
            }
        };
        let rest = self.listed.get(start..).unwrap_or_default();
        let page = rest.get(..self.page).unwrap_or(rest);
        let mut list = ListToolsResult::new(page.to_vec()).with_cache(self.ttl_ms, self.scope.clone());
        if page.len() < rest.len() {
            list.next_cursor = page.last().map(|tool| tool.name.clone());
        }
        Reply::Answer(Answer::Tools(list))
    }
}

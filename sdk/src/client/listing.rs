//! Lists that come in pages (server/utilities/pagination).

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use sansio_mcp::model::{
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt, Resource,
    ResourceTemplate, Tool,
};
use sansio_mcp::subscription::Change;

use super::error::{CallError, ListError};
use super::{Call, Client};

/// Pages of one list. A list this long is a server that has lost count.
const MAX_PAGES: usize = 1_000;
/// Items of one list.
const MAX_ITEMS: usize = 100_000;

/// One page of a list.
pub(super) trait Page {
    type Item;
    /// What makes it stale.
    const CHANGE: Change<'static>;
    fn into_parts(self) -> (Vec<Self::Item>, Option<String>);
}

macro_rules! page {
    ($($page:ident: $items:ident of $item:ident, $change:ident;)*) => {
        $(impl Page for $page {
            type Item = $item;
            const CHANGE: Change<'static> = Change::$change;
            fn into_parts(self) -> (Vec<$item>, Option<String>) {
                (self.$items, self.next_cursor)
            }
        })*
    };
}

page! {
    ListToolsResult: tools of Tool, Tools;
    ListPromptsResult: prompts of Prompt, Prompts;
    ListResourcesResult: resources of Resource, Resources;
    ListResourceTemplatesResult: resource_templates of ResourceTemplate, Resources;
}

/// All pages. A cursor that came from a page in the cache may have become invalid: then all of them are forgotten, and
/// the list is read once more from the beginning (server/utilities/caching, "Interaction with Pagination").
pub(super) async fn all<P: Page>(
    client: &Client,
    page: fn(&Client, Option<&str>) -> Call<P>,
) -> Result<Vec<P::Item>, CallError> {
    match from_beginning(client, page).await {
        Err((CallError::Peer(_), true)) if client.forget(P::CHANGE) => from_beginning(client, page).await,
        result => result,
    }
    .map_err(|(error, _)| error)
}

/// All pages; an error, and whether it was a cursor that gave it.
async fn from_beginning<P: Page>(
    client: &Client,
    page: fn(&Client, Option<&str>) -> Call<P>,
) -> Result<Vec<P::Item>, (CallError, bool)> {
    let mut items = Vec::new();
    let mut cursors = Cursors::default();
    let mut next: Option<String> = None;
    loop {
        let page = page(client, next.as_deref()).await.map_err(|error| (error, next.is_some()))?;
        let (mut some, cursor) = page.into_parts();
        items.append(&mut some);
        if items.len() > MAX_ITEMS {
            return Err((CallError::List(ListError::TooLong), false));
        }
        // Any string is a cursor, the empty one too; only its absence is the end.
        let Some(cursor) = cursor else { return Ok(items) };
        cursors.follow(&cursor).map_err(|error| (error, false))?;
        next = Some(cursor);
    }
}

/// The cursors followed so far, as hashes: a peer's cursors may be long.
#[derive(Default)]
struct Cursors {
    state: RandomState,
    seen: HashSet<u64>,
}

impl Cursors {
    fn follow(&mut self, cursor: &str) -> Result<(), CallError> {
        if !self.seen.insert(self.state.hash_one(cursor)) {
            return Err(CallError::List(ListError::RepeatedCursor));
        }
        // The first page has no cursor.
        if self.seen.len() >= MAX_PAGES {
            return Err(CallError::List(ListError::TooLong));
        }
        Ok(())
    }
}

//! Lists that come in pages (server/utilities/pagination).

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use sansio_mcp::model::Tool;

use super::Client;
use super::error::{CallError, ListError};

/// Pages of one list. A list this long is a server that has lost count.
const MAX_PAGES: usize = 1_000;
/// Items of one list.
const MAX_ITEMS: usize = 100_000;

pub(super) async fn tools(client: &Client) -> Result<Vec<Tool>, CallError> {
    let mut tools = Vec::new();
    let mut cursors = Cursors::default();
    let mut page = client.list_tools_page(None).await?;
    loop {
        tools.append(&mut page.tools);
        if tools.len() > MAX_ITEMS {
            return Err(CallError::List(ListError::TooLong));
        }
        // Any string is a cursor, the empty one too; only its absence is the end.
        let Some(cursor) = page.next_cursor else {
            return Ok(tools);
        };
        cursors.follow(&cursor)?;
        page = client.list_tools_page(Some(&cursor)).await?;
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

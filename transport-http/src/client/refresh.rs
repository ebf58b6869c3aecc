//! The list of tools, read again because a call's headers were refused (basic/transports/streamable-http, "Client
//! Behavior"). Its answers pass by [`Tools`](super::tools::Tools) like all others.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sansio_mcp::id::CallId;
use sansio_mcp_sdk::client::{CallError, Client, ClientConnection};

/// Pages of the list. A longer one is a server that has lost count.
const PAGES: usize = 1000;
/// How long one page may take: calls wait for it.
const PAGE: Duration = Duration::from_mins(1);

type Reading = Pin<Box<dyn Future<Output = Result<(), CallError>> + Send>>;

/// One reading of the list, and the calls that wait for it.
#[derive(Default)]
pub(super) struct Refresh {
    waiting: Vec<CallId>,
    reading: Option<Reading>,
}

impl Refresh {
    /// Goes on with it, and takes in the calls that were refused meanwhile.
    pub(super) fn poll(&mut self, connection: &ClientConnection, cx: &mut Context<'_>) -> bool {
        while let Some(call) = connection.refused_headers() {
            self.waiting.push(call);
        }
        if self.waiting.is_empty() {
            return false;
        }
        let reading = match &mut self.reading {
            Some(reading) => reading,
            None => match connection.client() {
                Some(client) => self.reading.insert(Box::pin(read(client))),
                // Nobody is there who could wait.
                None => return false,
            },
        };
        let Poll::Ready(read) = reading.as_mut().poll(cx) else { return false };
        self.reading = None;
        if let Err(error) = &read {
            tracing::debug!(%error, "the list of tools could not be read again");
        }
        for call in self.waiting.drain(..) {
            connection.corrected(call, read.is_ok());
        }
        true
    }
}

async fn read(client: Client) -> Result<(), CallError> {
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let page = client.list_tools_page(cursor.as_deref()).fresh().total_timeout(Some(PAGE)).await?;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(())
}

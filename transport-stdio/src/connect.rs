//! The client's side.

use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp_sdk::client::{Client, ClientConnection, ClientSetup};
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::lines::{Pump, pump};

use crate::LINE_LIMIT;

/// A client on a pair of byte streams, and the future that moves its bytes: poll or spawn it. Dropping that
/// future ends the connection; every call that is open then fails as lost.
pub fn connect_on<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    setup: impl Into<ClientSetup>,
    reader: R,
    writer: W,
    clock: Arc<dyn Clock>,
) -> (Client, Pump<ClientConnection, R, W>) {
    let (client, connection) = Client::connect(setup, Arc::clone(&clock));
    (client, pump(connection, reader, writer, clock, LINE_LIMIT))
}

//! Sockets as hyper wants them.

use std::io;
use std::pin::Pin;

use hyper::rt::{Read, Write};

/// A connected socket, whatever is below.
pub(in crate::client) trait Socket: Read + Write + Unpin + Send {}
impl<T: Read + Write + Unpin + Send> Socket for T {}

/// A connection, and whether HTTP/2 was agreed on.
pub(in crate::client) type Connected = io::Result<(Box<dyn Socket>, bool)>;
/// One that is being made.
pub(in crate::client) type Connecting = Pin<Box<dyn Future<Output = Connected> + Send>>;
/// Makes connections.
pub(in crate::client) type Connector = Box<dyn Fn() -> Connecting + Send + Sync>;

//! Servers on plain threads: one reads, one writes, the calling one does the work.

use std::io::{self, Read, Write};
use std::sync::Arc;

use sansio_mcp_sdk::Mode;
use sansio_mcp_sdk::server::Server;

use super::SystemClock;
use crate::system::own;
use crate::system::threaded::{Reader, Writer};

/// Serves this process's stdin and stdout until the input has ended and everything accepted is over, or as much of it as is
/// within [the bounds](crate#the-end-of-a-server). Handlers run on
/// the calling thread.
///
/// On Unix both are taken away from the rest of the process for good: `println!` goes to stderr, and reading stdin
/// finds its end. So a process can do this once. Elsewhere they are not: nothing else may write to stdout.
///
/// # Errors
/// Stdin or stdout is closed, or there are no threads left.
pub fn serve<M: Mode>(server: Server<M>) -> io::Result<()> {
    let (input, output) = own::take()?;
    serve_on(server, input, output)
}

/// Serves a pair of blocking streams until the input has ended and everything accepted is over, or as much of it as is
/// within [the bounds](crate#the-end-of-a-server). Handlers run on the
/// calling thread; `write` is dropped when everything is written.
///
/// # Errors
/// There are no threads left.
pub fn serve_on<M: Mode>(
    server: Server<M>,
    read: impl Read + Send + 'static,
    write: impl Write + Send + 'static,
) -> io::Result<()> {
    let clock = SystemClock::new();
    let (reader, writer) = (Reader::new(read)?, Writer::new(write)?);
    clock.block_on(crate::serve_on(server, reader, writer, Arc::new(clock.clone())));
    Ok(())
}

//! The process's own stdin and stdout on smol.
//!
//! Pipes are opened anew where the system allows it, so that making them non-blocking touches nobody else's
//! descriptor; everything else (files, terminals, sockets) is read and written on a thread of its own.

use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp_sdk::Mode;
use sansio_mcp_sdk::server::Server;

use super::SystemClock;
use crate::serve::serve_on;
use crate::system::own;
use crate::system::threaded::{Reader, Writer};

/// Serves this process's stdin and stdout until the input has ended and everything accepted is over, or as much of it as is
/// within [the bounds](crate#the-end-of-a-server). Run it on
/// any executor, `smol::block_on` for one.
///
/// On Unix both are taken away from the rest of the process for good: `println!` goes to stderr, and reading stdin
/// finds its end. So a process can do this once. Elsewhere they are not: nothing else may write to stdout.
///
/// # Errors
/// Stdin or stdout is closed, or there are no threads left.
pub async fn serve<M: Mode>(server: Server<M>) -> io::Result<()> {
    let (input, output) = own::take()?;
    #[cfg(unix)]
    let (reader, writer) = {
        use async_io::Async;
        let reader = own::non_blocking(&input, own::Access::Read).and_then(|pipe| Async::new(pipe).ok());
        let writer = own::non_blocking(&output, own::Access::Write).and_then(|pipe| Async::new(pipe).ok());
        let reader = reader.map(|pipe| -> Box<dyn AsyncRead + Unpin> { Box::new(pipe) });
        let writer = writer.map(|pipe| -> Box<dyn AsyncWrite + Unpin> { Box::new(pipe) });
        (reader, writer)
    };
    #[cfg(not(unix))]
    let (reader, writer) = (None::<Box<dyn AsyncRead + Unpin>>, None::<Box<dyn AsyncWrite + Unpin>>);
    let reader = match reader {
        Some(reader) => reader,
        None => Box::new(Reader::new(input)?),
    };
    let writer = match writer {
        Some(writer) => writer,
        None => Box::new(Writer::new(output)?),
    };
    serve_on(server, reader, writer, Arc::new(SystemClock::new())).await;
    Ok(())
}

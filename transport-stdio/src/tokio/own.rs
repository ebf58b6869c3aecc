//! The process's own stdin and stdout on tokio.

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
/// within [the bounds](crate#the-end-of-a-server). Run it in a
/// runtime of either kind, with I/O and time enabled.
///
/// On Unix both are taken away from the rest of the process for good: `println!` goes to stderr, and reading stdin
/// finds its end. So a process can do this once. Elsewhere they are not: nothing else may write to stdout.
///
/// What is not a pipe is read and written on threads that are not tokio's: a runtime that ends does not wait for
/// somebody to type another line.
///
/// # Errors
/// Stdin or stdout is closed, or there are no threads left.
pub async fn serve<M: Mode>(server: Server<M>) -> io::Result<()> {
    let (input, output) = own::take()?;
    #[cfg(unix)]
    let (reader, writer) = {
        use super::Compat;
        use ::tokio::net::unix::pipe::{Receiver, Sender};
        let reader =
            own::non_blocking(&input, own::Access::Read).and_then(|pipe| Receiver::from_file(pipe).ok());
        let writer =
            own::non_blocking(&output, own::Access::Write).and_then(|pipe| Sender::from_file(pipe).ok());
        let reader = reader.map(|pipe| -> Box<dyn AsyncRead + Unpin> { Box::new(Compat(pipe)) });
        let writer = writer.map(|pipe| -> Box<dyn AsyncWrite + Unpin> { Box::new(Compat(pipe)) });
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

//! The process's own stdin and stdout.
//!
//! On Unix both are taken away from the rest of the process first: `println!` in a handler goes to stderr and can
//! not break the protocol, reading stdin finds its end at once.
//!
//! Pipes are opened anew where the system allows it, so that making them non-blocking touches nobody else's
//! descriptor; everything else (files, terminals, sockets) is read and written on a thread of its own.

use std::io;
use std::sync::Arc;

use sansio_mcp_sdk::Mode;
use sansio_mcp_sdk::server::Server;

use crate::clock::SystemClock;
use crate::serve::serve_on;

/// Bytes handed over at a time between a blocking descriptor's thread and the server.
const CHUNK: usize = 64 * 1024;

/// Serves this process's stdin and stdout until the input has ended and everything accepted is over, or as much of it as
/// is within [the bounds](crate#the-end-of-a-server). Run it on any executor, `smol::block_on` for one.
///
/// On Unix both are taken away from the rest of the process for good: `println!` goes to stderr, and reading stdin
/// finds its end. So a process can do this once. Elsewhere they are not: nothing else may write to stdout.
///
/// # Errors
/// Stdin or stdout is closed.
pub async fn serve<M: Mode>(server: Server<M>) -> io::Result<()> {
    let clock = Arc::new(SystemClock::new());
    let (input, output) = streams::take()?;
    match (streams::non_blocking(&input, Access::Read), streams::non_blocking(&output, Access::Write)) {
        (Some(reader), Some(writer)) => serve_on(server, reader, writer, clock).await,
        (Some(reader), None) => serve_on(server, reader, streams::threaded(output), clock).await,
        (None, Some(writer)) => serve_on(server, streams::threaded(input), writer, clock).await,
        (None, None) => serve_on(server, streams::threaded(input), streams::threaded(output), clock).await,
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
}

#[cfg(unix)]
mod streams {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::fs::OpenOptionsExt;

    use async_io::Async;
    use blocking::Unblock;

    use super::{Access, CHUNK};

    /// The original descriptors; their numbers now lead elsewhere.
    pub(super) fn take() -> io::Result<(File, File)> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let nothing = OpenOptions::new().read(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(io::stderr().as_fd())?;
        Ok((input, output))
    }

    /// A pipe, opened anew: the flag belongs to the description, which others may share.
    pub(super) fn non_blocking(file: &File, access: Access) -> Option<Async<File>> {
        let fifo = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(file).ok()?.st_mode).is_fifo();
        if !fifo || !cfg!(target_os = "linux") {
            return None;
        }
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let mut options = OpenOptions::new();
        // Opening a pipe with a name would wait for its other end, which may have come and gone.
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        match access {
            Access::Read => options.read(true),
            Access::Write => options.write(true),
        };
        Async::new(options.open(path).ok()?).ok()
    }

    pub(super) fn threaded(file: File) -> Unblock<File> {
        Unblock::with_capacity(CHUNK, file)
    }
}

#[cfg(not(unix))]
mod streams {
    use std::io::{self, Stdin, Stdout};

    use async_io::Async;
    use blocking::Unblock;

    use super::{Access, CHUNK};

    pub(super) fn take() -> io::Result<(Stdin, Stdout)> {
        Ok((io::stdin(), io::stdout()))
    }

    pub(super) fn non_blocking<T>(_: &T, _: Access) -> Option<Async<std::net::TcpStream>> {
        None
    }

    pub(super) fn threaded<T>(stream: T) -> Unblock<T> {
        Unblock::with_capacity(CHUNK, stream)
    }
}

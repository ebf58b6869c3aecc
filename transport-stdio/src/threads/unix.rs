//! Unix sockets on plain threads: one accepts, and each connection has one that reads and one that writes.

use std::future::Future;
use std::io::{self, ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;

use futures_io::AsyncRead;
use rustix::event::{PollFd, PollFlags};
use sansio_mcp_sdk::Mode;
use sansio_mcp_sdk::client::{Client, ClientSetup};
use sansio_mcp_sdk::server::Server;

use super::SystemClock;
use super::connect::background;
use crate::connect_on;
use crate::system::threaded::{Reader, Writer, keep, spawn, wake};
use crate::system::unix::{self, Accept, Listener};

/// Serves whoever connects to a Unix socket, all by one engine, until `stop` completes; then everything running is
/// cancelled, and its clean-up runs within its bounds. `std::future::pending()` never stops. Handlers run on the calling
/// thread.
///
/// # Errors
/// The socket cannot be used, or there are no threads left.
pub fn serve_unix<M: Mode>(
    server: Server<M>,
    listener: Listener,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (socket, max, _file) = listener.into_parts();
    let clock = SystemClock::new();
    let acceptor = Acceptor::new(socket)?;
    clock.block_on(unix::serve(server, acceptor, max, stop, Arc::new(clock.clone())))
}

/// A client of a server on a Unix socket, whose calls are awaited by [`Wait::wait`](super::Wait::wait). The thread ends after the
/// client was closed, or its last clone dropped, or the connection was lost.
///
/// # Errors
/// Nobody listens there, this user may not, or there are no threads left.
pub fn connect_unix(
    path: impl AsRef<Path>,
    config: impl Into<ClientSetup>,
) -> io::Result<(Client, JoinHandle<()>)> {
    let clock = SystemClock::new();
    let (reader, writer) = split(UnixStream::connect(path)?)?;
    let (client, pump) = connect_on(config, reader, writer, Arc::new(clock.clone()));
    Ok((client, background(clock, pump)?))
}

fn split(stream: UnixStream) -> io::Result<(SocketReader, Writer)> {
    let (read, write) = (stream.try_clone()?, stream.try_clone()?);
    let writer = Writer::new(WriteHalf(write))?;
    Ok((SocketReader { reader: Reader::new(read)?, stream }, writer))
}

/// Dropping it ends both directions: a thread that reads or writes is called back.
struct SocketReader {
    reader: Reader,
    stream: UnixStream,
}

impl AsyncRead for SocketReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.reader).poll_read(cx, buffer)
    }
}

impl Drop for SocketReader {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Dropping it lets the peer see the end of its input; the other direction goes on.
struct WriteHalf(UnixStream);

impl Write for WriteHalf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for WriteHalf {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

/// The end to which the accepting thread hands connections, one at a time.
struct Acceptor {
    shared: Arc<Shared>,
    /// Dropped, it calls the thread back.
    _present: UnixStream,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    taken: Condvar,
}

#[derive(Default)]
struct State {
    accepted: Option<io::Result<UnixStream>>,
    waker: Option<Waker>,
    dropped: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a connection over, and waits until it is taken. Whether to go on.
    fn hand_over(&self, accepted: io::Result<UnixStream>) -> bool {
        let mut state = self.lock();
        state.accepted = Some(accepted);
        let waker = state.waker.take();
        drop(state);
        wake(waker);
        let mut state = self.lock();
        while state.accepted.is_some() && !state.dropped {
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.dropped
    }
}

impl Acceptor {
    fn new(socket: UnixListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let (present, watched) = UnixStream::pair()?;
        let shared = Arc::new(Shared::default());
        let by_thread = Arc::clone(&shared);
        spawn("accept", move || {
            while let Some(accepted) = accept(&socket, &watched) {
                if !by_thread.hand_over(accepted) {
                    return;
                }
            }
        })?;
        Ok(Self { shared, _present: present })
    }
}

/// Waits for a connection; `None` once nobody wants one.
fn accept(socket: &UnixListener, watched: &UnixStream) -> Option<io::Result<UnixStream>> {
    loop {
        let mut ready =
            [PollFd::new(socket, PollFlags::IN), PollFd::new(watched, PollFlags::IN | PollFlags::HUP)];
        match rustix::event::poll(&mut ready, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Some(Err(error.into())),
        }
        if ready.last().is_some_and(|watched| !watched.revents().is_empty()) {
            return None;
        }
        match socket.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            accepted => {
                // Some systems hand the flag on to what is accepted.
                return Some(accepted.and_then(|(stream, _)| {
                    stream.set_nonblocking(false)?;
                    Ok(stream)
                }));
            }
        }
    }
}

impl Accept for Acceptor {
    type Reader = SocketReader;
    type Writer = Writer;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<UnixStream>> {
        let _old: Option<Waker>;
        let mut state = self.shared.lock();
        if let Some(accepted) = state.accepted.take() {
            self.shared.taken.notify_one();
            return Poll::Ready(accepted);
        }
        _old = keep(&mut state.waker, cx);
        drop(state);
        Poll::Pending
    }

    fn split(&self, stream: UnixStream) -> io::Result<(SocketReader, Writer)> {
        split(stream)
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        let _old = {
            let mut state = self.shared.lock();
            state.dropped = true;
            state.waker.take()
        };
        self.shared.taken.notify_one();
    }
}

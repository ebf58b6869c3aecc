//! A server on a listening socket.

use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use rustix::io::Errno;
use sansio_mcp_sdk::clock::{Clock, Sleep};
use sansio_mcp_sdk::server::Server;
use sansio_mcp_sdk::{Engine, Mode};

use super::set::Set;
use crate::serve::serve_engine;

/// How long nobody is accepted when the system has no descriptor or memory left for one more.
const PAUSE: Duration = Duration::from_millis(100);
/// Clients accepted before those that are there get a turn.
const ACCEPTS: usize = 32;

/// A runtime's way to accept connections and to read and write them.
pub(crate) trait Accept {
    type Reader: AsyncRead + Unpin;
    type Writer: AsyncWrite + Unpin;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<UnixStream>>;

    /// Closing the writer must let the peer see the end of its input.
    fn split(&self, stream: UnixStream) -> io::Result<(Self::Reader, Self::Writer)>;
}

/// Serves whoever connects until `stop`; then everything running is cancelled, its clean-up runs, and what is left
/// to be written is written, all within its bounds.
pub(crate) async fn serve<M: Mode, A: Accept>(
    server: Server<M>,
    mut listener: A,
    max_connections: usize,
    stop: impl Future<Output = ()>,
    clock: Arc<dyn Clock>,
) -> io::Result<()> {
    let (engine, driver) = Engine::new(server, Arc::clone(&clock));
    let mut driver = pin!(driver);
    let mut stop = pin!(stop);
    let mut set = Set::new();
    let mut pause: Option<Sleep> = None;
    let mut failure = None;
    let mut open = true;
    poll_fn(|cx| {
        if open && stop.as_mut().poll(cx).is_ready() {
            open = false;
            engine.shutdown();
        }
        if let Some(sleep) = &mut pause
            && sleep.as_mut().poll(cx).is_ready()
        {
            pause = None;
        }
        let mut accepts = 0;
        while open && pause.is_none() {
            if accepts == ACCEPTS {
                cx.waker().wake_by_ref();
                break;
            }
            accepts += 1;
            match listener.poll_accept(cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(_)) if set.len() >= max_connections => {
                    tracing::warn!(max_connections, "a client was turned away: there are too many");
                }
                Poll::Ready(Ok(stream)) => match listener.split(stream) {
                    Ok((reader, writer)) => {
                        set.push(serve_engine(&engine, reader, writer, Arc::clone(&clock)));
                    }
                    Err(error) => tracing::warn!(%error, "a client was turned away"),
                },
                Poll::Ready(Err(error)) if of_the_client(&error) => {}
                Poll::Ready(Err(error)) if exhausted(&error) => {
                    tracing::warn!(%error, "nobody is accepted for a moment");
                    let mut sleep = clock.sleep(PAUSE);
                    // Asked once, so that it wakes.
                    if sleep.as_mut().poll(cx).is_pending() {
                        pause = Some(sleep);
                    }
                }
                Poll::Ready(Err(error)) => {
                    failure = Some(error);
                    open = false;
                    engine.shutdown();
                }
            }
        }
        set.poll(cx);
        let driven = driver.as_mut().poll(cx).is_ready();
        // What the channels read was served; what that gave is written at once.
        set.poll(cx);
        if driven && set.len() == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    failure.map_or(Ok(()), Err)
}

/// A client that went away before it was accepted, say.
fn of_the_client(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted | ErrorKind::ConnectionReset)
}

/// The system may have more later.
fn exhausted(error: &io::Error) -> bool {
    let of = Errno::from_io_error(error);
    matches!(of, Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}

//! A server on a pair of byte streams.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::lines::{Pump, pump};
use sansio_mcp_sdk::protocol::limits::MAX_MESSAGE;
use sansio_mcp_sdk::server::Server;
use sansio_mcp_sdk::{Connection, Engine, Mode};

/// Bytes of one line, line end not counted; a longer one is refused and costs only itself.
pub const LINE_LIMIT: usize = MAX_MESSAGE;

/// Bytes of requests that are served before what came of them is written. The client is another process, which goes on
/// with the first answers meanwhile; less would cost a system call for too few.
const PART: usize = 8 * 1024;
/// Parts that are served before the executor gets its turn, once there has been much for a while. It
/// begins with one: going back to a reactor costs several system calls, and not going back at first makes smol's
/// helper thread take it.
const MAX_TURNS: usize = 8;

/// Serves one pair of byte streams until the input has ended and everything accepted is over, handlers and
/// bytes in one future. What is not over 1.5 s after the end of input is cancelled, and waited for no longer than
/// the server's closing bound (3 s unless set).
pub async fn serve_on<M: Mode>(
    server: Server<M>,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    clock: Arc<dyn Clock>,
) {
    let (engine, driver) = Engine::new(server, Arc::clone(&clock));
    let mut driver = pin!(driver);
    {
        let mut channel = pin!(serve_engine(&engine, reader, writer, clock));
        let mut driven = false;
        let mut turns = 1;
        poll_fn(|cx| {
            let granted = std::mem::replace(&mut turns, 1);
            for _ in 0..granted {
                let done = channel.as_mut().poll(cx).is_ready();
                // What the channel read is served at once, and what that gave is written at once.
                driven = driven || driver.as_mut().poll(cx).is_ready();
                if done {
                    return Poll::Ready(());
                }
                if !channel.has_input() {
                    return channel.as_mut().poll(cx);
                }
            }
            turns = MAX_TURNS.min(granted * 2);
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        if driven {
            return;
        }
    }
    engine.shutdown();
    driver.await;
}

/// Serves one pair of byte streams as a channel of an engine whose driver runs elsewhere.
///
/// A channel that is lost is logged where that is noticed, and everything on it is cancelled.
pub fn serve_engine<R, W>(
    engine: &Engine,
    reader: R,
    writer: W,
    clock: Arc<dyn Clock>,
) -> Pump<Connection, R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    pump(engine.connect(), reader, writer, clock, LINE_LIMIT).by_parts(PART)
}

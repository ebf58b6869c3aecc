//! The life of a child: lines until one side ends it, then the ladder.

use std::fmt::{self, Write};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp_sdk::clock::{Alarm, Clock};
use sansio_mcp_sdk::lines::{Port, Pump};

use super::launch::Waits;
use super::port::{ChildPort, Input};
use super::process::{Process, Signal};

/// Reads of a server's last words in one poll.
const READS: usize = 16;

/// How far the ladder had to be climbed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// The server exited by itself, and was not signalled.
    ByItself,
    /// It was terminated.
    Terminated,
    /// It was killed.
    Killed,
}

/// How a server ended.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Ended {
    /// Its exit status; `None` if it has not exited although it was killed, or another part of this process took the
    /// status.
    pub status: Option<ExitStatus>,
    /// What it took.
    pub stopped: Stopped,
    /// The last it wrote to stderr.
    pub stderr: String,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "the server exited ({status})")?,
            None => f.write_str("the server has ended")?,
        }
        match self.stopped {
            Stopped::ByItself => Ok(()),
            Stopped::Terminated => f.write_str(", terminated"),
            Stopped::Killed => f.write_str(", killed"),
        }
    }
}

/// Moves the bytes between a client and the server it launched, and sees to the end of the server: poll or spawn it.
///
/// Completes when the server has ended: because it exited, or because the client was closed or dropped and the
/// ladder of [`Launch`](super::Launch) was climbed. Calls open at a server's end fail as lost, with its exit status and the end of its
/// stderr as the cause.
///
/// Dropping this ends the connection and leaves the ladder to a thread, in the system's time. A process that exits before
/// that thread is done leaves behind a server that ignores the end of its input.
#[must_use = "the client is served only while this is polled"]
pub struct Running(Pin<Box<dyn Future<Output = Ended> + Send>>);

impl Running {
    pub(super) fn new(future: impl Future<Output = Ended> + Send + 'static) -> Self {
        Self(Box::pin(future))
    }
}

impl Future for Running {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Running")
    }
}

/// See [`Running`].
pub(super) async fn run<R, W>(
    mut process: Process,
    port: Arc<ChildPort>,
    pump: Pump<Arc<ChildPort>, R, Input<W>>,
    clock: Arc<dyn Clock>,
    waits: Waits,
) -> Ended
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let reader = connected(&process, &port, pump, &*clock, waits).await;
    let mut rest = Rest { reader, chunk: vec![0; 4096] };
    let mut exits = async |bound| rest.until_exit(&process, &*clock, bound).await;
    let stopped = if exits(waits.exit).await {
        Stopped::ByItself
    } else {
        process.signal(Signal::Terminate);
        if exits(waits.terminate).await {
            Stopped::Terminated
        } else {
            process.signal(Signal::Kill);
            if !exits(waits.kill).await {
                tracing::warn!("a server that was killed has not exited");
            }
            Stopped::Killed
        }
    };
    if process.has_exited() {
        let mut late = after(&*clock, waits.settle);
        poll_fn(
            |cx| if process.poll_silent(cx).is_ready() { Poll::Ready(()) } else { late.poll(&*clock, cx) },
        )
        .await;
    }
    process.waited = true;
    Ended { status: process.status(), stopped, stderr: process.tail() }
}

/// Moves lines until the client is closed or the server has gone. Gives the server's stdout; its stdin is closed.
async fn connected<R, W>(
    process: &Process,
    port: &ChildPort,
    pump: Pump<Arc<ChildPort>, R, Input<W>>,
    clock: &dyn Clock,
    waits: Waits,
) -> Option<R>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut pump = Some(pump);
    let mut reader = None;
    let mut late: Option<Alarm> = None;
    poll_fn(|cx| {
        loop {
            if let Some(lines) = &mut pump
                && Pin::new(lines).poll(cx).is_ready()
            {
                reader = pump.take().map(|pump| pump.into_streams().0);
            }
            if port.is_closing() {
                return if pump.is_none() { Poll::Ready(()) } else { Poll::Pending };
            }
            if process.poll_exited(cx).is_pending() && !port.is_cut() {
                return Poll::Pending;
            }
            // One end of it is known. The others will be soon, and the cause is better with them.
            let all = port.output_ended() && process.poll_silent(cx).is_ready();
            let late = late.get_or_insert_with(|| after(clock, waits.settle));
            if !all && late.poll(clock, cx).is_pending() {
                return Poll::Pending;
            }
            port.tell(&cause(process, port.failure()));
        }
    })
    .await;
    reader
}

fn after(clock: &dyn Clock, time: Duration) -> Alarm {
    Alarm::new(clock, clock.now().mono + time)
}

/// What calls are told that were open when the server went.
fn cause(process: &Process, failure: Option<String>) -> String {
    let mut cause = match (process.has_exited(), process.status(), failure) {
        (true, Some(status), _) => format!("the server exited ({status})"),
        (true, None, _) => "the server exited".to_owned(),
        (false, _, Some(failure)) => failure,
        (false, _, None) => "the server closed its output".to_owned(),
    };
    let tail = process.tail();
    if !tail.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(cause, "; the last it wrote to stderr:\n{tail}");
    }
    cause
}

/// What a server still says while it is waited for: read, so that saying it does not keep the server from its end.
struct Rest<R> {
    reader: Option<R>,
    chunk: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Rest<R> {
    /// Whether the server exits within `bound`.
    async fn until_exit(&mut self, process: &Process, clock: &dyn Clock, bound: Duration) -> bool {
        let mut alarm = after(clock, bound);
        poll_fn(|cx| {
            if process.poll_exited(cx).is_ready() {
                return Poll::Ready(true);
            }
            self.drain(cx);
            alarm.poll(clock, cx).map(|()| false)
        })
        .await
    }

    fn drain(&mut self, cx: &mut Context<'_>) {
        for _ in 0..READS {
            let Some(reader) = &mut self.reader else { return };
            match Pin::new(reader).poll_read(cx, &mut self.chunk) {
                Poll::Pending => return,
                Poll::Ready(Ok(n)) if n > 0 => {}
                Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Poll::Ready(_) => self.reader = None,
            }
        }
        cx.waker().wake_by_ref();
    }
}

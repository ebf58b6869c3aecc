//! A stream of events.
//!
//! What reads a body and stops doing so polls it no more: whether a client is reading is known only by a part that was handed out and
//! not asked for the next. So the time of such a part is kept by an alarm that does not wake the body's task: it ends
//! the request itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use sansio_mcp_sdk::clock::{Clock, Sleep};
use sansio_mcp_sdk::protocol::time::Mono;
use sansio_mcp_sdk::{Exchange, Framing};

use super::body::BodyError;
use super::limits::Limits;
use super::open::Open;
use crate::sse;

/// How a message becomes an event; see [`sse::message`].
pub(super) const EVENT: Framing = Framing::new(b"data: ", b"\n\n");

/// The events of one request.
pub(super) struct Stream {
    /// What was ready when the stream began.
    first: Option<Bytes>,
    watch: Arc<Watch>,
    over: bool,
}

/// What the stream and its alarm share.
struct Watch {
    seat: Mutex<Seat>,
    clock: Arc<dyn Clock>,
    write_time: Duration,
    keep_alive: Duration,
    frame_bytes: usize,
}

struct Seat {
    request: Option<Request>,
    /// When the last part was handed out, if the next was not asked for since.
    handed: Option<Mono>,
    /// When something was last sent.
    sent: Mono,
    alarm: Option<(Mono, Sleep)>,
    /// The task that waits for the next part.
    task: Option<Waker>,
    /// The alarm has gone off.
    rang: bool,
    /// The request was cancelled because its client does not read.
    stalled: bool,
}

struct Request {
    exchange: Exchange,
    _open: Open,
}

impl Stream {
    /// The stream of a request that is not answered yet. `first` are the events that were taken already.
    pub(super) fn new(
        exchange: Exchange,
        open: Open,
        first: Vec<u8>,
        limits: &Limits,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let now = clock.mono();
        let seat = Seat {
            request: Some(Request { exchange, _open: open }),
            // The head of the response is what waits to be read.
            handed: Some(now),
            sent: now,
            alarm: None,
            task: None,
            rang: false,
            stalled: false,
        };
        let watch = Arc::new(Watch {
            seat: Mutex::new(seat),
            clock,
            write_time: limits.write_time,
            keep_alive: limits.keep_alive,
            frame_bytes: limits.frame_bytes,
        });
        watch.arm(now + watch.write_time);
        Self { first: (!first.is_empty()).then(|| first.into()), watch, over: false }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// The next part: everything that is ready.
    pub(super) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        if self.over {
            return Poll::Ready(None);
        }
        let part = ready!(self.watch.poll(self.first.take(), cx));
        self.over = part.last;
        Poll::Ready(part.bytes)
    }
}

impl Drop for Stream {
    /// The client has gone, unless it was answered.
    fn drop(&mut self) {
        let left = self.watch.seat().take();
        drop(left);
    }
}

/// One step of a stream.
struct Part {
    /// Absent only at its end.
    bytes: Option<Result<Bytes, BodyError>>,
    /// Nothing follows.
    last: bool,
}

impl Seat {
    /// What hangs on the request, to be dropped where nothing is locked.
    fn take(&mut self) -> (Option<Request>, Option<(Mono, Sleep)>, Option<Waker>) {
        (self.request.take(), self.alarm.take(), self.task.take())
    }

    /// Whether the alarm has to be set for this time. One that goes off earlier does: it is set again then.
    fn lacks_alarm(&self, at: Mono) -> bool {
        self.rang || self.alarm.as_ref().is_none_or(|(armed, _)| *armed > at)
    }
}

impl Watch {
    fn seat(&self) -> MutexGuard<'_, Seat> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(self: &Arc<Self>, first: Option<Bytes>, cx: &mut Context<'_>) -> Poll<Part> {
        let now = self.clock.mono();
        // Dropped where nothing is locked.
        let (mut _left, mut _old) = (None, None);
        let mut guard = self.seat();
        let seat = &mut *guard;
        seat.handed = None;
        if seat.stalled {
            return Poll::Ready(Part { bytes: Some(Err(BodyError::Stalled)), last: true });
        }
        let Some(request) = &seat.request else { return Poll::Ready(Part { bytes: None, last: true }) };
        let (bytes, last) = match first {
            Some(first) => (first, false),
            None => self.events(&request.exchange, now >= seat.sent + self.keep_alive, cx),
        };
        if last {
            _left = Some(seat.take());
            drop(guard);
            return Poll::Ready(Part { bytes: (!bytes.is_empty()).then_some(Ok(bytes)), last });
        }
        let at = if bytes.is_empty() {
            if !seat.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
                _old = seat.task.replace(cx.waker().clone());
            }
            Some(seat.sent + self.keep_alive).filter(|at| seat.lacks_alarm(*at))
        } else {
            seat.sent = now;
            seat.handed = Some(now);
            Some(now + self.write_time)
        };
        drop(guard);
        if let Some(at) = at {
            self.arm(at);
        }
        if bytes.is_empty() { Poll::Pending } else { Poll::Ready(Part { bytes: Some(Ok(bytes)), last }) }
    }

    /// The events that are ready, and whether they are the last. Without any, a comment if it is time for one.
    fn events(&self, exchange: &Exchange, quiet: bool, cx: &mut Context<'_>) -> (Bytes, bool) {
        let mut out = Vec::new();
        let last = match exchange.poll_fill(cx, &mut out, self.frame_bytes, EVENT) {
            Poll::Ready(filled) => filled.is_last(),
            Poll::Pending => {
                if quiet {
                    sse::comment(&mut out, "");
                }
                false
            }
        };
        (out.into(), last)
    }

    /// Sets the alarm. It is polled where nothing is locked: it may wake at once.
    fn arm(self: &Arc<Self>, at: Mono) {
        let waker = Waker::from(Arc::clone(self));
        let mut sleep = self.clock.sleep_until(at);
        self.seat().rang = false;
        if sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            return self.ring();
        }
        let old = self.seat().alarm.replace((at, sleep));
        drop(old);
    }

    /// The alarm went off: the client has not read for too long, or it is time for a comment.
    fn ring(&self) {
        let now = self.clock.mono();
        let (request, task) = {
            let mut seat = self.seat();
            seat.rang = true;
            let stalled = seat.handed.is_some_and(|handed| now >= handed + self.write_time);
            seat.stalled |= stalled && seat.request.is_some();
            (if stalled { seat.request.take() } else { None }, seat.task.take())
        };
        if let Some(request) = request {
            tracing::debug!(code = "STALLED", "a client does not read its stream: the request is cancelled");
            drop(request);
        }
        task.into_iter().for_each(Waker::wake);
    }
}

impl Wake for Watch {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

//! The future that moves lines between a [`Port`] and a pair of byte streams.
//!
//! It reads and writes at the same time, in batches: many lines a system call, a flush only when there is nothing
//! more to write, and no sleep before every source was looked at once more in vain. Memory is bounded: one chunk
//! read, one batch to write, one line that is not complete yet; and while the writer is stuck and the port takes
//! nothing, what a peer had still sent before it ended its input.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp::wire::Framer;

use super::Port;
use crate::clock::{Alarm, Clock};

/// Size of the read buffer at first: most connections are mostly idle.
const READ_MIN: usize = 4 * 1024;
/// Size it grows to as soon as a read fills it.
const READ_MAX: usize = 64 * 1024;
/// Bytes read ahead, without being taken, from a peer that reads nothing: its end lies behind what it had sent,
/// and what it had sent fits a pipe. An end that is further away is noticed when the port takes input again.
pub(super) const AHEAD: usize = 256 * 1024;
/// Bytes after which a batch of lines is written.
pub(super) const BATCH: usize = 64 * 1024;
/// Bytes moved in one poll before the executor gets a turn.
pub(super) const BUDGET: usize = 128 * 1024;
/// What a step costs at least, so that steps without bytes end too.
const STEP: usize = 1024;
/// How long the last bytes may take once everything is finished, and how long a peer may take nothing once it has
/// ended its input or the port is closing.
pub(super) const LINGER: Duration = Duration::from_millis(1500);

/// Moves lines until `port` is finished or the connection is lost.
///
/// `line_limit` is the length of a line in bytes, line end not counted. When the port is finished its last bytes are
/// written (for at most 1.5 s), and the writer is closed. Dropping the future drops the port.
pub fn pump<P, R, W>(port: P, reader: R, writer: W, clock: Arc<dyn Clock>, line_limit: usize) -> Pump<P, R, W>
where
    P: Port,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    Pump {
        port,
        reader,
        writer,
        clock,
        framer: Framer::new(line_limit),
        chunk: Vec::new(),
        unfed: 0..0,
        part: usize::MAX,
        out: Vec::new(),
        written: 0,
        unflushed: false,
        alarm: None,
        stuck: None,
        stage: Stage::Open,
    }
}

/// See [`pump`].
#[must_use = "futures do nothing unless polled"]
pub struct Pump<P, R, W> {
    port: P,
    reader: R,
    writer: W,
    clock: Arc<dyn Clock>,
    framer: Framer,
    chunk: Vec<u8>,
    /// What of the chunk was read and not taken by the port.
    unfed: Range<usize>,
    /// Bytes of whole lines that are handed in at a time.
    part: usize,
    /// A batch, of which the first `written` bytes have been written.
    out: Vec<u8>,
    written: usize,
    /// Something was written and not flushed.
    unflushed: bool,
    alarm: Option<Alarm>,
    /// The end is near and the peer takes nothing: how long it may go on so.
    stuck: Option<Alarm>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Both ways.
    Open,
    /// The peer sends nothing more; what was read of it waits for the port to take it.
    InputEnding,
    /// The peer sends nothing more, and the port knows.
    InputEnded,
    /// The port is finished: what is left is written, until the alarm, and the writer closed.
    Closing,
    /// Over.
    Done,
}

impl<P, R, W> Pump<P, R, W> {
    /// The streams, once the pump has completed: whoever owns them may have more to do with them. Bytes that were
    /// read and not taken, or not written, are lost.
    pub fn into_streams(self) -> (R, W) {
        (self.reader, self.writer)
    }
}

/// What a step has achieved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nothing can be done now.
    Idle,
    /// So many bytes; there may be more.
    Moved(usize),
    /// So many bytes, and there is no more now: who brings more wakes this.
    Last(usize),
    /// Nothing, since the port wants no input.
    Unwanted,
}

impl<P, R, W> Future for Pump<P, R, W>
where
    P: Port + Unpin,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut budget = BUDGET;
        loop {
            let (read, written) = (this.read(cx), this.write(cx));
            for step in [read, written] {
                if let Step::Moved(bytes) | Step::Last(bytes) = step {
                    budget = budget.saturating_sub(bytes.max(STEP));
                }
            }
            let mut idle = match (read, written) {
                // What was written may have made the port want input again.
                (Step::Moved(_), _) | (_, Step::Moved(_)) | (Step::Unwanted, Step::Last(_)) => false,
                _ => true,
            };
            if idle || budget == 0 {
                if this.time(cx) != Step::Idle {
                    idle = false;
                    budget = budget.saturating_sub(STEP);
                } else if idle && this.finish() {
                    continue;
                }
            }
            if this.stage == Stage::Done {
                return Poll::Ready(());
            }
            if budget == 0 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if idle {
                return Poll::Pending;
            }
        }
    }
}

impl<P, R, W> Pump<P, R, W>
where
    P: Port,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    /// Hands input in by parts of at most `bytes` of whole lines, not all that was read at once.
    ///
    /// What came of a part is then written before the next is begun, so a peer in another process works at the same
    /// time. Within one thread it only makes more turns.
    pub fn by_parts(mut self, bytes: usize) -> Self {
        self.part = bytes;
        self
    }

    /// Input that was read waits, and the port wants it: polling again at once gets on. An executor need not be asked
    /// for a turn in between, since it is not waiting for the peer.
    pub fn has_input(&self) -> bool {
        matches!(self.stage, Stage::Open | Stage::InputEnding)
            && !self.unfed.is_empty()
            && self.port.wants_input()
    }

    fn read(&mut self, cx: &mut Context<'_>) -> Step {
        if !matches!(self.stage, Stage::Open | Stage::InputEnding) {
            return Step::Idle;
        }
        if !self.port.wants_input() {
            return match self.read_ahead(cx) {
                Step::Idle => Step::Unwanted,
                step => step,
            };
        }
        if !self.unfed.is_empty() {
            return self.feed();
        }
        if self.stage == Stage::InputEnding {
            return self.input_end();
        }
        if self.chunk.is_empty() {
            self.chunk = vec![0; READ_MIN];
        } else if self.chunk.len() > READ_MAX
            || self.unfed.end == self.chunk.len() && self.chunk.len() < READ_MAX
        {
            self.chunk = vec![0; READ_MAX];
        }
        self.unfed = 0..0;
        match self.read_some(cx) {
            Step::Moved(n) if n > 0 => self.feed(),
            step => step,
        }
    }

    /// Reads behind what was not taken yet.
    fn read_some(&mut self, cx: &mut Context<'_>) -> Step {
        let room = self.chunk.get_mut(self.unfed.end..).unwrap_or_default();
        let length = room.len();
        match Pin::new(&mut self.reader).poll_read(cx, room) {
            Poll::Pending => Step::Idle,
            Poll::Ready(Ok(0)) => self.input_end(),
            Poll::Ready(Ok(n)) => {
                self.unfed.end += n.min(length);
                Step::Moved(n)
            }
            Poll::Ready(Err(error)) => self.failed("read", &error),
        }
    }

    /// The port takes nothing: if that is because the peer takes nothing, whether that has ended its input is
    /// still to be noticed, or it would be waited for without end.
    fn read_ahead(&mut self, cx: &mut Context<'_>) -> Step {
        let held = self.unfed.len();
        if self.stage == Stage::InputEnding || self.written == self.out.len() || held >= AHEAD {
            return Step::Idle;
        }
        self.chunk.copy_within(self.unfed.clone(), 0);
        self.unfed = 0..held;
        if self.chunk.len() == held {
            self.chunk.resize(AHEAD.min(held + READ_MAX), 0);
        }
        self.read_some(cx)
    }

    /// The input has ended. The port hears of it behind what it has yet to take.
    fn input_end(&mut self) -> Step {
        if !self.unfed.is_empty() {
            self.stage = Stage::InputEnding;
            return Step::Moved(0);
        }
        self.stage = Stage::InputEnded;
        self.chunk = Vec::new();
        self.unfed = 0..0;
        self.port.input_end(&mut self.framer);
        Step::Moved(0)
    }

    /// Hands in what was read, or a part of it. A line that is longer than a part is not cut.
    fn feed(&mut self) -> Step {
        let unfed = self.chunk.get(self.unfed.clone()).unwrap_or_default();
        let lines = unfed.get(..self.part).and_then(|slice| slice.iter().rposition(|byte| *byte == b'\n'));
        let unfed = lines.and_then(|last| unfed.get(..=last)).unwrap_or(unfed);
        let taken = self.port.feed(&mut self.framer, unfed);
        self.unfed.start = self.unfed.end.min(self.unfed.start + taken);
        Step::Moved(taken)
    }

    fn write(&mut self, cx: &mut Context<'_>) -> Step {
        if self.stage == Stage::Done {
            return Step::Idle;
        }
        let mut moved = 0;
        loop {
            if self.stage != Stage::Closing {
                self.fill(cx);
            }
            let rest = self.out.get(self.written..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let length = rest.len();
            match Pin::new(&mut self.writer).poll_write(cx, rest) {
                Poll::Pending if moved > 0 => return Step::Moved(moved),
                Poll::Pending => return self.stuck(cx),
                Poll::Ready(Ok(0)) => return self.failed("write", &ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(n)) => {
                    self.stuck = None;
                    self.written += n.min(length);
                    self.unflushed = true;
                    moved += n;
                    if n < length || moved >= BATCH {
                        return Step::Moved(moved);
                    }
                }
                Poll::Ready(Err(error)) => return self.failed("write", &error),
            }
        }
        if self.stage == Stage::Closing {
            return match Pin::new(&mut self.writer).poll_close(cx) {
                Poll::Pending => Step::Idle,
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => Step::Moved(0),
                // Whatever came of it, there is nothing to be done about it any more.
                Poll::Ready(_) => {
                    self.stage = Stage::Done;
                    Step::Moved(0)
                }
            };
        }
        if self.unflushed {
            return match Pin::new(&mut self.writer).poll_flush(cx) {
                Poll::Pending => Step::Idle,
                Poll::Ready(Ok(())) => {
                    self.unflushed = false;
                    Step::Last(moved)
                }
                Poll::Ready(Err(error)) => self.failed("flush", &error),
            };
        }
        Step::Idle
    }

    /// The peer takes nothing. That is its own affair, unless it is all that keeps this from its end.
    fn stuck(&mut self, cx: &mut Context<'_>) -> Step {
        let ended = matches!(self.stage, Stage::InputEnding | Stage::InputEnded);
        let ending = ended || self.port.is_closing();
        if self.stage == Stage::Closing || !ending {
            return Step::Idle;
        }
        let at = self.clock.now().mono + LINGER;
        let stuck = self.stuck.get_or_insert_with(|| Alarm::new(&*self.clock, at));
        if stuck.poll(&*self.clock, cx).is_pending() {
            return Step::Idle;
        }
        self.port.lost("the peer did not take the last bytes in time");
        self.stage = Stage::Done;
        Step::Moved(0)
    }

    /// Takes the next batch once the last is written.
    fn fill(&mut self, cx: &mut Context<'_>) {
        let mut max = 0;
        if self.written == self.out.len() {
            self.out.clear();
            self.out.shrink_to(2 * BATCH);
            self.written = 0;
            max = BATCH;
        }
        // Also while the writer is stuck: the port must know whom to wake. Pending or not, what is there is there.
        let _: Poll<()> = self.port.poll_fill(cx, &mut self.out, max);
    }

    /// Looks at the clock; `Moved` if something was due.
    fn time(&mut self, cx: &mut Context<'_>) -> Step {
        if self.stage == Stage::Done {
            return Step::Idle;
        }
        if self.stage != Stage::Closing
            && let Some(at) = self.port.next_timeout()
        {
            // A deadline that was moved on is noticed when the alarm goes off.
            if self.alarm.as_ref().is_none_or(|armed| at < armed.at()) {
                self.alarm = Some(Alarm::new(&*self.clock, at));
            }
        }
        let Some(alarm) = &mut self.alarm else {
            return Step::Idle;
        };
        if alarm.poll(&*self.clock, cx).is_pending() {
            return Step::Idle;
        }
        self.alarm = None;
        if self.stage == Stage::Closing {
            tracing::debug!("the peer did not take the last bytes in time");
            self.stage = Stage::Done;
        } else {
            self.port.handle_timeout();
        }
        Step::Moved(0)
    }

    /// Begins to close if the port is finished; whether there is something to do now.
    fn finish(&mut self) -> bool {
        if matches!(self.stage, Stage::Closing | Stage::Done) || !self.port.is_finished() {
            return false;
        }
        self.stage = Stage::Closing;
        let at = self.clock.now().mono + LINGER;
        self.alarm = Some(Alarm::new(&*self.clock, at));
        true
    }

    fn failed(&mut self, what: &str, error: &io::Error) -> Step {
        if error.kind() != ErrorKind::Interrupted {
            self.port.lost(&format!("{what} failed: {error}"));
            self.stage = Stage::Done;
        }
        Step::Moved(0)
    }
}

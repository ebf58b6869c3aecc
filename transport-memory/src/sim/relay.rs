//! Carries the bytes of one stream between two pipes in each direction.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp::wire::{Frame, Framer};

use super::dice::Dice;
use super::link::Way;
use super::trace::{Trace, What, Who};
use crate::duplex::Duplex;
use crate::lab::Lab;
use crate::pipe::{PipeReader, PipeWriter};

/// Taken at one time, at most.
const CHUNK: usize = 16 * 1024;

/// Longer lines are not noted.
const NOTED: usize = 1 << 20;

/// A knife for one stream.
#[derive(Default)]
pub(super) struct Knife {
    used: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Knife {
    pub(super) fn cut(&self) {
        self.used.set(true);
        let waker = self.waker.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.used.get() {
            return Poll::Ready(());
        }
        *self.waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// What both directions of a stream share.
#[derive(Clone)]
pub(super) struct Stream {
    pub(super) lab: Lab,
    pub(super) trace: Trace,
    pub(super) number: u64,
    pub(super) knife: Rc<Knife>,
}

/// Carries until both ways have ended or the stream is cut. `client` and `server` are the far ends of theirs.
pub(super) async fn carry(stream: Stream, client: Duplex, server: Duplex, ways: (Way, Way), dice: Dice) {
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let up = Carrier::new(&stream, Who::Client, Who::Server, ways.0, dice.fork());
    let down = Carrier::new(&stream, Who::Server, Who::Client, ways.1, dice.fork());
    let mut up = pin!(up.run(from_client, to_server));
    let mut down = pin!(down.run(from_server, to_client));
    let (mut up_ended, mut down_ended) = (false, false);
    let cut = poll_fn(|cx| {
        up_ended = up_ended || up.as_mut().poll(cx).is_ready();
        down_ended = down_ended || down.as_mut().poll(cx).is_ready();
        if stream.knife.poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        if up_ended && down_ended { Poll::Ready(false) } else { Poll::Pending }
    });
    if cut.await {
        stream.trace.add(Who::Network, Some(stream.number), What::Cut);
    }
}

struct Carrier {
    stream: Stream,
    from: Who,
    to: Who,
    way: Way,
    dice: Dice,
    framer: Framer,
    carried: u64,
}

impl Carrier {
    fn new(stream: &Stream, from: Who, to: Who, way: Way, dice: Dice) -> Self {
        Self { stream: stream.clone(), from, to, way, dice, framer: Framer::new(NOTED), carried: 0 }
    }

    fn note(&self, who: &Who, what: What) {
        self.stream.trace.add(who.clone(), Some(self.stream.number), what);
    }

    async fn run(mut self, mut reader: PipeReader, mut writer: PipeWriter) {
        let mut chunk = vec![0; CHUNK];
        loop {
            if let Some((_, time)) = self.way.stall.take_if(|(after, _)| *after <= self.carried) {
                self.note(&self.from, What::Stalled(time));
                self.stream.lab.sleep(time).await;
            }
            // Not beyond where it stalls or is cut.
            let until = [self.way.stall.map(|(after, _)| after), self.way.cut].into_iter().flatten().min();
            let room = until.map_or(CHUNK, |until| usize::try_from(until - self.carried).unwrap_or(CHUNK));
            if room == 0 {
                // Only the cut is that near: a stall was over.
                self.stream.knife.cut();
                return std::future::pending().await;
            }
            let Some(buffer) = chunk.get_mut(..room.min(CHUNK)) else { return };
            let Some(taken) = take(&mut reader, &mut writer, buffer).await else {
                self.note(&self.to, What::Ended);
                return;
            };
            self.note(&self.from, What::Wrote(taken));
            if !self.give(&mut writer, chunk.get(..taken).unwrap_or_default()).await {
                return;
            }
        }
    }

    /// Lets bytes arrive; false if nobody is there.
    async fn give(&mut self, writer: &mut PipeWriter, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let delay = self.dice.time(&self.way.delay);
            if !delay.is_zero() {
                self.stream.lab.sleep(delay).await;
            }
            let piece = match &self.way.pieces {
                None => bytes.len(),
                Some(range) => self.dice.within(range).clamp(1, bytes.len()),
            };
            let (piece, rest) = bytes.split_at(piece);
            let mut left = piece;
            while !left.is_empty() {
                let Ok(n) = poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, left)).await else {
                    return false;
                };
                let arrived = left.get(..n).unwrap_or_default();
                self.carried += arrived.len() as u64;
                self.note(&self.to, What::Got(arrived.len()));
                self.arrived(arrived);
                left = left.get(n..).unwrap_or_default();
            }
            bytes = rest;
        }
        true
    }

    fn arrived(&mut self, bytes: &[u8]) {
        let mut frames = self.framer.feed(bytes);
        while let Some(frame) = frames.next() {
            if let Frame::Line(line) = frame {
                let line = String::from_utf8_lossy(line).into_owned();
                self.stream.trace.add(self.to.clone(), Some(self.stream.number), What::Line(line));
            }
        }
    }
}

/// Reads; `None` at the end, or if nobody would ever get it.
async fn take(reader: &mut PipeReader, writer: &mut PipeWriter, buffer: &mut [u8]) -> Option<usize> {
    poll_fn(|cx| {
        if writer.poll_closed(cx).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut *reader).poll_read(cx, buffer).map(|read| read.ok().filter(|n| *n > 0))
    })
    .await
}

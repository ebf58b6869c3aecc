//! What the pump needs of the end of a connection.

use std::ops::Deref;
use std::task::{Context, Poll};

use sansio_mcp::time::Mono;
use sansio_mcp::wire::Framer;

/// One end of a connection, server or client, as a pump sees it. Every method takes `&self`: the state behind it is
/// locked for the length of one call, so a whole chunk costs one lock.
///
/// The waker of the last [`poll_fill`](Self::poll_fill) is kept, whatever that returned, and woken once when any of
/// these may have changed from outside: there is something to send, input is wanted again, everything is finished, or
/// there is a nearer deadline.
pub trait Port {
    /// Bytes were read. Takes the frames that the framer makes of them, while input is wanted. Returns how many
    /// bytes were taken; the rest is handed in again once input is wanted.
    fn feed(&self, framer: &mut Framer, chunk: &[u8]) -> usize;

    /// Nothing more will be read. Takes the last line if it had no line end.
    fn input_end(&self, framer: &mut Framer);

    /// Reading or writing failed: the connection has gone.
    fn lost(&self, cause: &str);

    /// Whether to read on.
    fn wants_input(&self) -> bool;

    /// Appends whole messages, a line feed after each, until there are about `max` new bytes or no more messages.
    /// Pending if there is nothing to append. With a `max` of 0 nothing is appended and the waker kept.
    fn poll_fill(&self, cx: &mut Context<'_>, out: &mut Vec<u8>, max: usize) -> Poll<()>;

    /// Nothing will ever be sent any more.
    fn is_finished(&self) -> bool;

    /// Nothing new will be accepted: what is left to be sent is all there is, and a peer that does not take it
    /// is not waited for.
    fn is_closing(&self) -> bool {
        false
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    fn next_timeout(&self) -> Option<Mono>;

    /// Time has passed. Early and repeated calls are harmless.
    fn handle_timeout(&self);
}

/// A port behind a pointer: `&P`, `Arc<P>`, `Box<P>`.
impl<T: Deref> Port for T
where
    T::Target: Port,
{
    fn feed(&self, framer: &mut Framer, chunk: &[u8]) -> usize {
        (**self).feed(framer, chunk)
    }

    fn input_end(&self, framer: &mut Framer) {
        (**self).input_end(framer);
    }

    fn lost(&self, cause: &str) {
        (**self).lost(cause);
    }

    fn wants_input(&self) -> bool {
        (**self).wants_input()
    }

    fn poll_fill(&self, cx: &mut Context<'_>, out: &mut Vec<u8>, max: usize) -> Poll<()> {
        (**self).poll_fill(cx, out, max)
    }

    fn is_finished(&self) -> bool {
        (**self).is_finished()
    }

    fn is_closing(&self) -> bool {
        (**self).is_closing()
    }

    fn next_timeout(&self) -> Option<Mono> {
        (**self).next_timeout()
    }

    fn handle_timeout(&self) {
        (**self).handle_timeout();
    }
}

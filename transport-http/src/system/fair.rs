//! How much of a socket is read in one turn.

use std::task::{Context, Poll};

/// Reads of one turn. More wait until others had theirs.
const MOST: u8 = 2;

/// Counts the reads of a turn. Neither hyper nor h2 stops of its own while bytes are there: whoever sends frames of control
/// (HTTP/2) or interim responses (HTTP/1.1) faster than they are read would have the thread to himself, and no deadline of
/// anybody would be looked at.
#[derive(Default)]
pub(crate) struct Reads(u8);

impl Reads {
    /// Reads, unless the turn is over: then it is to be polled again.
    pub(crate) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        read: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        if self.0 == MOST {
            self.0 = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let read = read(cx);
        self.0 = if read.is_ready() { self.0 + 1 } else { 0 };
        read
    }
}

//! What waits to be sent for one request, in order.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::transmit::Kind;
use crate::limits::{MAX_UNSENT_BYTES, MAX_UNSENT_PROGRESS};
use crate::wire::write;

/// Messages back to back in one buffer, with a mark for each.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    /// Where the first unsent message begins.
    head: usize,
    marks: VecDeque<Mark>,
    /// How many of the marks are progress.
    progress: usize,
}

#[derive(Debug)]
struct Mark {
    len: usize,
    kind: Kind,
    /// What its sender wants to recognise it by.
    mark: u32,
}

/// Bytes of memory that an emptied outbox may keep for reuse.
pub(super) const KEEP: usize = 4096;
/// Copying a message of this size costs more than handing its buffer over.
const HAND_OVER: usize = 4096;

impl Outbox {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.head
    }

    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Queues what `write` appends; if it fails, nothing is queued.
    pub(super) fn push<E>(
        &mut self,
        kind: Kind,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.bytes.len();
        if let Err(error) = write(&mut self.bytes) {
            self.bytes.truncate(start);
            return Err(error);
        }
        write::one_line(self.bytes.get_mut(start..).unwrap_or_default());
        self.progress += usize::from(kind == Kind::Progress);
        self.marks.push_back(Mark { len: self.bytes.len() - start, kind, mark: 0 });
        Ok(())
    }

    /// Queues what `write` appends, to be recognised by `mark` when it is taken.
    pub(super) fn push_marked(&mut self, kind: Kind, mark: u32, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.marks.push_back(Mark { len: self.bytes.len() - start, kind, mark });
    }

    /// Queues a progress notification. Past the limits it takes the place of the newest unsent one, unless
    /// something else was queued behind that. Returns whether one was replaced.
    pub(super) fn push_progress(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> bool {
        let full = self.progress >= MAX_UNSENT_PROGRESS || self.len() >= MAX_UNSENT_BYTES;
        let replace = full && self.marks.back().is_some_and(|mark| mark.kind == Kind::Progress);
        if replace && let Some(mark) = self.marks.pop_back() {
            self.bytes.truncate(self.bytes.len() - mark.len);
            self.progress -= 1;
        }
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.progress += 1;
        self.marks.push_back(Mark { len: self.bytes.len() - start, kind: Kind::Progress, mark: 0 });
        replace
    }

    /// Appends the next message to `out`.
    pub(super) fn pop(&mut self, out: &mut Vec<u8>) -> Option<Kind> {
        self.pop_marked(out).map(|(kind, _)| kind)
    }

    /// As [`pop`](Self::pop); zero is the mark of what has none.
    pub(super) fn pop_marked(&mut self, out: &mut Vec<u8>) -> Option<(Kind, u32)> {
        let mark = self.marks.pop_front()?;
        self.progress -= usize::from(mark.kind == Kind::Progress);
        if self.marks.is_empty() && self.head == 0 && mark.len >= HAND_OVER && out.is_empty() {
            core::mem::swap(out, &mut self.bytes);
            self.bytes.clear();
            return Some((mark.kind, mark.mark));
        }
        if let Some(message) = self.bytes.get(self.head..self.head + mark.len) {
            out.extend_from_slice(message);
        }
        self.head += mark.len;
        if self.marks.is_empty() {
            self.bytes.clear();
            self.bytes.shrink_to(MAX_UNSENT_BYTES);
            self.head = 0;
        } else if self.head >= MAX_UNSENT_BYTES {
            // A queue that is never quite empty must not keep what it has sent.
            self.bytes.drain(..self.head);
            self.head = 0;
        }
        Some((mark.kind, mark.mark))
    }

    /// Forgets everything; the buffers stay for reuse, with at most `keep` bytes.
    pub(super) fn clear(&mut self, keep: usize) {
        self.bytes.clear();
        self.bytes.shrink_to(keep);
        self.head = 0;
        self.marks.clear();
        self.marks.shrink_to(MAX_UNSENT_PROGRESS + 1);
        self.progress = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::transmit::Status;
    use core::convert::Infallible;

    fn push(outbox: &mut Outbox, kind: Kind, text: &str) {
        let done: Result<(), Infallible> = outbox.push(kind, |out| {
            out.extend_from_slice(text.as_bytes());
            Ok(())
        });
        done.unwrap();
    }

    fn drain(outbox: &mut Outbox) -> Vec<alloc::string::String> {
        let mut all = Vec::new();
        let mut out = Vec::new();
        while outbox.pop(&mut out).is_some() {
            all.push(alloc::string::String::from_utf8(core::mem::take(&mut out)).unwrap());
        }
        all
    }

    #[test]
    fn past_the_limit_the_newest_progress_takes_the_place_of_the_last_unsent_one() {
        let mut outbox = Outbox::default();
        for n in 0..20 {
            let replaced =
                outbox.push_progress(|out| out.extend_from_slice(alloc::format!("p{n}").as_bytes()));
            assert_eq!(replaced, n >= MAX_UNSENT_PROGRESS);
        }
        push(&mut outbox, Kind::Response(Status::Ok), "answer");
        let sent = drain(&mut outbox);
        assert_eq!(sent.len(), MAX_UNSENT_PROGRESS + 1);
        assert_eq!(&sent[..2], ["p0", "p1"]);
        assert_eq!(&sent[15..], ["p19", "answer"]);
        assert_eq!(outbox.len(), 0);
    }

    #[test]
    fn progress_is_never_replaced_across_another_message() {
        let mut outbox = Outbox::default();
        for _ in 0..MAX_UNSENT_PROGRESS {
            outbox.push_progress(|out| out.push(b'p'));
        }
        push(&mut outbox, Kind::Notification, "log");
        assert!(!outbox.push_progress(|out| out.push(b'q')));
        assert!(outbox.push_progress(|out| out.push(b'r')));
        assert_eq!(&drain(&mut outbox)[15..], ["p", "log", "r"]);
    }

    #[test]
    fn a_failed_write_queues_nothing() {
        let mut outbox = Outbox::default();
        push(&mut outbox, Kind::Notification, "one");
        assert_eq!(
            outbox.push(Kind::Response(Status::Ok), |out| {
                out.extend_from_slice(b"half");
                Err(7)
            }),
            Err(7)
        );
        assert_eq!(drain(&mut outbox), ["one"]);
    }

    #[test]
    fn a_large_answer_is_handed_over_whole() {
        let mut outbox = Outbox::default();
        let large = "x".repeat(HAND_OVER);
        push(&mut outbox, Kind::Response(Status::Ok), &large);
        push(&mut outbox, Kind::Notification, "n");
        assert_eq!(drain(&mut outbox), [large.as_str(), "n"]);
        push(&mut outbox, Kind::Response(Status::Ok), &large);
        assert_eq!(drain(&mut outbox), [large.as_str()]);
        assert!(outbox.is_empty());
    }
}

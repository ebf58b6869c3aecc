//! Lines: one JSON-RPC message each (basic/transports/stdio).
//!
//! [`Framer`] cuts a byte stream into lines before anything is parsed, so that a bad line costs that line
//! alone. CRLF is read as LF, one byte order mark at the very start is dropped, blank lines are skipped.

use alloc::vec::Vec;

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// One line without its line end; never empty.
    Line(&'a [u8]),
    /// A line longer than the limit. Reported once, as soon as the limit is passed; its remaining bytes are
    /// skipped without being kept.
    TooLong,
}

/// Capacity kept between lines; a buffer that one long line has grown beyond this is given back.
const KEEP: usize = 128 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Cuts a byte stream into lines of at most `limit` bytes, however the stream was split into reads.
#[derive(Debug)]
pub struct Framer {
    limit: usize,
    /// The beginning of a line whose end has not been read yet; at most `limit` + 1 bytes (a CR may follow).
    partial: Vec<u8>,
    /// `partial` was handed out as a complete line and is to be cleared.
    handed_out: bool,
    /// The rest of a line that was too long is being skipped.
    skipping: bool,
    /// Nothing of the stream has been consumed: a byte order mark may follow.
    at_start: bool,
}

impl Framer {
    /// A framer whose lines hold at most `limit` bytes, line end not counted.
    pub fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), handed_out: false, skipping: false, at_start: true }
    }

    /// Takes the next bytes of the stream. Frames that were not taken with [`Frames::next`] are lost with the
    /// iterator, unless what it left [unread](Frames::unread) is fed again.
    pub fn feed<'a>(&'a mut self, chunk: &'a [u8]) -> Frames<'a> {
        Frames { framer: self, rest: chunk }
    }

    /// The stream has ended: what was read of a last line without line end is a line too.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        self.clear_handed_out();
        if self.skipping {
            self.skipping = false;
            return None;
        }
        self.handed_out = true;
        line(&self.partial, &mut self.at_start, self.limit)
    }

    /// Bytes held of a line whose end has not been read.
    pub fn buffered(&self) -> usize {
        if self.handed_out { 0 } else { self.partial.len() }
    }

    fn clear_handed_out(&mut self) {
        if self.handed_out {
            self.handed_out = false;
            self.partial.clear();
            self.partial.shrink_to(KEEP);
        }
    }

    /// Keeps the beginning of a line; true when this passes the limit.
    fn keep(&mut self, bytes: &[u8]) -> bool {
        // A carriage return and, on the first line, a byte order mark are not counted; whether the last byte
        // is a line end's CR is only known later, so one byte more is held.
        let allowed = self.limit + 1 + if self.at_start { BOM.len() } else { 0 };
        let room = allowed.saturating_sub(self.partial.len());
        if bytes.len() <= room {
            self.partial.extend_from_slice(bytes);
            let counted = content(&self.partial, self.at_start).len();
            // Half a byte order mark is no content yet.
            let mark_begins = self.at_start && BOM.starts_with(&self.partial);
            if counted <= self.limit || mark_begins {
                return false;
            }
        }
        self.partial.clear();
        self.partial.shrink_to(KEEP);
        self.at_start = false;
        true
    }
}

/// Without a trailing CR and, at the start of the stream, without the byte order mark.
fn content(bytes: &[u8], at_start: bool) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if at_start { bytes.strip_prefix(BOM).unwrap_or(bytes) } else { bytes }
}

fn line<'a>(bytes: &'a [u8], at_start: &mut bool, limit: usize) -> Option<Frame<'a>> {
    let bytes = content(bytes, core::mem::take(at_start));
    if bytes.len() > limit {
        Some(Frame::TooLong)
    } else if bytes.iter().all(u8::is_ascii_whitespace) {
        None
    } else {
        Some(Frame::Line(bytes))
    }
}

/// The frames completed by one chunk; see [`Framer::feed`].
#[derive(Debug)]
pub struct Frames<'a> {
    framer: &'a mut Framer,
    rest: &'a [u8],
}

impl Frames<'_> {
    /// Bytes at the end of the chunk that no frame was made of yet, and that the framer has not kept.
    pub fn unread(&self) -> usize {
        self.rest.len()
    }

    /// The next frame, or `None` when the chunk is used up.
    #[allow(clippy::should_implement_trait)] // lends from itself, so it cannot be an `Iterator`
    pub fn next(&mut self) -> Option<Frame<'_>> {
        let framer = &mut *self.framer;
        framer.clear_handed_out();
        loop {
            let Some(end) = memchr::memchr(b'\n', self.rest) else {
                let tail = core::mem::take(&mut self.rest);
                if tail.is_empty() || framer.skipping || !framer.keep(tail) {
                    return None;
                }
                framer.skipping = true;
                return Some(Frame::TooLong);
            };
            let (head, tail) = self.rest.split_at(end);
            self.rest = tail.get(1..).unwrap_or_default();
            if core::mem::take(&mut framer.skipping) {
                continue;
            }
            if framer.partial.is_empty() {
                match line(head, &mut framer.at_start, framer.limit) {
                    Some(frame) => return Some(frame),
                    None => continue,
                }
            }
            if framer.keep(head) {
                return Some(Frame::TooLong);
            }
            if content(&framer.partial, framer.at_start).iter().all(u8::is_ascii_whitespace) {
                framer.partial.clear();
                framer.at_start = false;
                continue;
            }
            framer.handed_out = true;
            return line(&framer.partial, &mut framer.at_start, framer.limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    /// The frames of `chunks`, lines copied out and `None` for one that was too long.
    fn frames(limit: usize, chunks: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let mut framer = Framer::new(limit);
        let mut out = Vec::new();
        let own = |frame: Frame<'_>| match frame {
            Frame::Line(line) => Some(line.to_vec()),
            Frame::TooLong => None,
        };
        for chunk in chunks {
            let mut frames = framer.feed(chunk);
            while let Some(frame) = frames.next() {
                out.push(own(frame));
            }
        }
        out.extend(framer.finish().map(own));
        out
    }

    #[test]
    fn a_byte_order_mark_in_pieces_is_no_content_however_low_the_limit() {
        for limit in 0..4 {
            for stream in [&b"\xef\xbb\xbf\na\n"[..], b"\xef\xbb\xbfab", b"\xef\xbb\n\n", b"\xef"] {
                let singly: Vec<&[u8]> = stream.chunks(1).collect();
                assert_eq!(frames(limit, &singly), frames(limit, &[stream]), "{limit} {stream:?}");
            }
        }
    }

    #[test]
    fn a_chunk_may_be_left_and_taken_up_again_after_any_frame() {
        let chunk = b"\xef\xbb\xbfone\r\n\ntwo\nmuch too long\nthree\nfo";
        for pause in 1..5 {
            let mut framer = Framer::new(6);
            let (mut rest, mut out) = (&chunk[..], Vec::new());
            while !rest.is_empty() {
                let mut frames = framer.feed(rest);
                for _ in 0..pause {
                    match frames.next() {
                        Some(Frame::Line(line)) => out.push(Some(line.to_vec())),
                        Some(Frame::TooLong) => out.push(None),
                        None => break,
                    }
                }
                rest = &rest[rest.len() - frames.unread()..];
            }
            let mut want = some(&["one", "two", "three"]);
            want.insert(2, None);
            assert_eq!(out, want, "pausing after {pause}");
            assert_eq!(framer.finish(), Some(Frame::Line(b"fo")));
        }
    }

    fn some(lines: &[&str]) -> Vec<Option<Vec<u8>>> {
        lines.iter().map(|line| Some(line.as_bytes().to_vec())).collect()
    }

    #[test]
    fn crlf_bom_and_blank_lines() {
        assert_eq!(frames(9, &[b"\xef\xbb\xbfa\r\n\n \t\r\nb\n\r\nc"]), some(&["a", "b", "c"]));
    }

    #[test]
    fn a_byte_order_mark_is_dropped_once_and_only_at_the_start() {
        assert_eq!(frames(9, &[b"\xef\xbb\xbf\xef\xbb\xbfa\n"]), some(&["\u{feff}a"]));
        assert_eq!(frames(9, &[b"a\n\xef\xbb\xbfb\n"]), some(&["a", "\u{feff}b"]));
    }

    #[test]
    fn exactly_the_limit_passes_and_one_byte_more_is_refused() {
        assert_eq!(frames(3, &[b"abc\nabcd\nxyz\r\nw\n"]), {
            let mut want = some(&["abc"]);
            want.push(None);
            want.extend(some(&["xyz", "w"]));
            want
        });
        assert_eq!(frames(3, &[b"\xef\xbb\xbfabc\r\n"]), some(&["abc"]));
        assert_eq!(frames(3, &[b"abcd"]), vec![None]);
        assert_eq!(frames(3, &[b"abc\r"]), some(&["abc"]));
    }

    #[test]
    fn a_line_too_long_is_reported_before_its_end_and_not_kept() {
        let mut framer = Framer::new(8);
        let mut frames = framer.feed(b"0123456789");
        assert_eq!(frames.next(), Some(Frame::TooLong));
        assert_eq!(frames.next(), None);
        for _ in 0..1000 {
            assert_eq!(framer.feed(&[b'x'; 1000]).next(), None);
            assert_eq!(framer.buffered(), 0);
        }
        let mut frames = framer.feed(b"\nok\n");
        assert_eq!(frames.next(), Some(Frame::Line(b"ok")));
    }

    #[test]
    fn a_multi_byte_character_split_across_reads_survives() {
        assert_eq!(frames(99, &[b"gr\xc3", b"\xbc\xc3\x9fe\n"]), some(&["gr\u{fc}\u{df}e"]));
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"\n".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(BOM.to_vec()),
            Just(b" ".to_vec()),
            proptest::collection::vec(b'a'..b'e', 1..12),
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        /// Whole, byte by byte and split at random give the same frames (invariant 6).
        #[test]
        fn chunking_changes_nothing(bytes in stream(), cuts in proptest::collection::vec(0usize..200, 0..8)) {
            let whole = frames(6, &[&bytes]);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(&frames(6, &single), &whole);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces: Vec<&[u8]> = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(&frames(6, &pieces), &whole);
        }
    }
}

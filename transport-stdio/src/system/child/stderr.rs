//! What a server writes to stderr: drained always, told line by line, and its end kept.

use std::collections::VecDeque;

/// The longest line that is told in one piece, in bytes.
const LINE: usize = 4096;

/// The last bytes.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    limit: usize,
    cut: bool,
}

impl Tail {
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::new(), limit, cut: false }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        let from = chunk.len().saturating_sub(self.limit);
        let chunk = chunk.get(from..).unwrap_or_default();
        let too_many = (self.bytes.len() + chunk.len()).saturating_sub(self.limit);
        self.cut |= from > 0 || too_many > 0;
        self.bytes.drain(..too_many);
        self.bytes.extend(chunk);
    }

    /// As text, without the line of which only the end is known, if there is another.
    pub(super) fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let whole = bytes.iter().position(|byte| *byte == b'\n').and_then(|end| bytes.get(end + 1..));
        let kept = match whole {
            Some(whole) if self.cut && !whole.is_empty() => whole,
            _ => &bytes,
        };
        printable(kept).trim().to_owned()
    }
}

/// Text that does nothing to a terminal.
fn printable(bytes: &[u8]) -> String {
    let shown = |c: char| c == '\n' || c == '\t' || !c.is_control();
    String::from_utf8_lossy(bytes)
        .replace("\r\n", "\n")
        .chars()
        .map(|c| if shown(c) { c } else { char::REPLACEMENT_CHARACTER })
        .collect()
}

/// Puts lines together.
#[derive(Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Gives every line that is complete or too long to wait for its end.
    pub(super) fn push(&mut self, chunk: &[u8], mut tell: impl FnMut(&str)) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            for part in piece.chunks(LINE) {
                if self.begun.len() + part.len() > LINE {
                    self.flush(&mut tell);
                }
                self.begun.extend_from_slice(part);
            }
            if piece.ends_with(b"\n") {
                self.flush(&mut tell);
            }
        }
    }

    /// Gives what has no line end.
    pub(super) fn flush(&mut self, mut tell: impl FnMut(&str)) {
        let line = printable(&self.begun);
        self.begun.clear();
        let line = line.trim_end();
        if !line.is_empty() {
            tell(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(limit: usize, chunks: &[&str]) -> String {
        let mut tail = Tail::new(limit);
        for chunk in chunks {
            tail.push(chunk.as_bytes());
            assert!(tail.bytes.len() <= limit);
        }
        tail.text()
    }

    #[test]
    fn the_tail_is_the_last_whole_lines() {
        assert_eq!(tail(64, &["one\n", "two\n"]), "one\ntwo");
        assert_eq!(tail(8, &["one\ntwo\n", "three\n"]), "three");
        assert_eq!(tail(8, &["a line that is longer than all"]), "than all");
        assert_eq!(tail(4, &["abcdefg\n"]), "efg");
        assert_eq!(tail(0, &["one\n"]), "");
    }

    #[test]
    fn neither_tail_nor_lines_reach_a_terminal_as_commands() {
        assert_eq!(tail(64, &["\u{1b}[31mred\u{7}\r\n"]), "\u{fffd}[31mred\u{fffd}");
        let mut lines = Vec::new();
        Lines::default().push(b"\x1b]0;title\x07\xff\n", |line| lines.push(line.to_owned()));
        assert_eq!(lines, ["\u{fffd}]0;title\u{fffd}\u{fffd}"]);
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let text = format!("one\n\n{}\nlast", "x".repeat(LINE + 7));
        let whole = lines(&text, text.len());
        assert_eq!(whole, ["one", &"x".repeat(LINE), &"x".repeat(7), "last"]);
        assert_eq!(lines(&text, 1), whole);
    }

    fn lines(text: &str, size: usize) -> Vec<String> {
        let (mut lines, mut told) = (Lines::default(), Vec::new());
        for chunk in text.as_bytes().chunks(size) {
            lines.push(chunk, |line| told.push(line.to_owned()));
            assert!(lines.begun.len() <= LINE);
        }
        lines.flush(|line| told.push(line.to_owned()));
        told
    }
}

//! Lines, however the bytes are cut.

use sansio_mcp::wire::{Frame, Framer};

/// Lines copied out; `None` for one that was too long.
type Lines = Vec<Option<Vec<u8>>>;

/// The first byte is the limit, the second says how many of the next are lengths of pieces, the rest is the stream. Cut
/// in these pieces, singly, or not at all, the frames are those that a plain reading of the whole finds; no line is longer
/// than the limit, and no more than a line is held.
pub fn framer(bytes: &[u8]) {
    let [limit, cuts, rest @ ..] = bytes else { return };
    let limit = usize::from(*limit);
    let (cuts, stream) = rest.split_at(rest.len().min(usize::from(cuts % 16)));
    let plain = plainly(limit, stream);
    assert_eq!(cut(limit, stream, &[]), plain, "whole");
    assert_eq!(cut(limit, stream, &[1]), plain, "singly");
    assert_eq!(cut(limit, stream, cuts), plain, "in pieces");
}

fn plainly(limit: usize, stream: &[u8]) -> Lines {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let line = |line: &[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > limit {
            return Some(None);
        }
        let blank = line.iter().all(u8::is_ascii_whitespace);
        (!blank).then(|| Some(line.to_vec()))
    };
    stream.split(|byte| *byte == b'\n').filter_map(line).collect()
}

fn cut(limit: usize, mut stream: &[u8], cuts: &[u8]) -> Lines {
    let mut framer = Framer::new(limit);
    let mut lines = Lines::new();
    let own = |frame: Frame<'_>| match frame {
        Frame::Line(line) => Some(line.to_vec()),
        Frame::TooLong => None,
    };
    let mut lengths = cuts.iter().cycle();
    while !stream.is_empty() {
        let len = lengths.next().map_or(stream.len(), |len| usize::from(*len).clamp(1, stream.len()));
        let (piece, rest) = stream.split_at(len);
        let mut frames = framer.feed(piece);
        while let Some(frame) = frames.next() {
            lines.push(own(frame));
        }
        // A byte order mark, and a CR, may come on top.
        assert!(framer.buffered() <= limit + 4, "{} held at a limit of {limit}", framer.buffered());
        stream = rest;
    }
    lines.extend(framer.finish().map(own));
    lines
}

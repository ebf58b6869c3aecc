//! What comes out of a stream, however it is cut.

use proptest::prelude::*;

use super::*;
use crate::sse::{Fields, comment, event};

fn read_in(limits: SseLimits, stream: &[u8], cuts: &[usize]) -> (Vec<Read>, Reader) {
    let mut reader = Reader::new(limits);
    let mut found = Vec::new();
    let mut rest = stream;
    let mut cuts = cuts.iter().cycle();
    while !rest.is_empty() {
        let len = cuts.next().map_or(rest.len(), |len| (*len).clamp(1, rest.len()));
        let (mut chunk, tail) = rest.split_at(len);
        while let Some(read) = reader.read(&mut chunk) {
            found.push(read);
        }
        assert!(chunk.is_empty());
        rest = tail;
    }
    (found, reader)
}

/// Whole, byte by byte and in twos: the same.
fn read(stream: &[u8]) -> (Vec<Read>, Reader) {
    let whole = read_in(SseLimits::default(), stream, &[]);
    for cuts in [1, 2, 3] {
        assert_eq!(read_in(SseLimits::default(), stream, &[cuts]).0, whole.0, "in {cuts}: {stream:?}");
    }
    whole
}

fn ev(kind: &str, data: &str, id: &str) -> Read {
    Read::Event(Event { kind: kind.into(), data: data.into(), id: id.into() })
}

#[test]
fn streams_and_their_events() {
    let data = |data| ev("", data, "");
    for (stream, events) in [
        ("", vec![]),
        ("data: a\n\n", vec![data("a")]),
        ("data:a\r\n\r\n", vec![data("a")]),
        ("data: a\r\rdata: b\r\r", vec![data("a"), data("b")]),
        ("data: a\r\n\ndata: b\n\r\n", vec![data("a"), data("b")]),
        ("\u{feff}data: a\n\n", vec![data("a")]),
        // Only one mark, and only at the begin.
        ("\u{feff}\u{feff}data: a\n\ndata: b\n\n", vec![data("b")]),
        ("data: b\n\n\u{feff}data: a\n\n", vec![data("b")]),
        ("data: a\ndata: b\ndata\ndata:c\n\n", vec![data("a\nb\n\nc")]),
        ("data:  a \n\n", vec![data(" a ")]),
        ("data\n\n", vec![data("")]),
        ("data\ndata\n\n", vec![data("\n")]),
        (":\r\n\r\n: ping\n\n:data: x\n\ndata: a\n:c\n\n", vec![data("a")]),
        ("data: a\u{2028}b\u{2029}c\u{85}d\n\n", vec![data("a\u{2028}b\u{2029}c\u{85}d")]),
        ("id: 1\ndata: \n\n", vec![ev("", "", "1")]),
        // An id stays until another comes; without data there is no event, but the id counts.
        ("id: 1\n\ndata: a\n\nid\ndata: b\n\n", vec![ev("", "a", "1"), data("b")]),
        ("id: 1\nid: 2\0\ndata: a\n\n", vec![ev("", "a", "1")]),
        // A type is its event's alone, also where that has no data.
        (
            "event: x\n\ndata: a\n\nevent: y\ndata: b\n\ndata: c\n\n",
            vec![data("a"), ev("y", "b", ""), data("c")],
        ),
        ("event: message\ndata: a\n\n", vec![ev("message", "a", "")]),
        ("Data: a\n\n data: b\n\ndata : c\n\nunknown: d\n\n", vec![]),
        // An event without its blank line is not one.
        ("data: a\n\ndata: b\n", vec![data("a")]),
        ("data: {\"a\": \"b: c\"}\n\n", vec![data("{\"a\": \"b: c\"}")]),
    ] {
        assert_eq!(read(stream.as_bytes()).0, events, "{stream:?}");
    }
    assert_eq!(read(b"data: a\xff\n\n").0, vec![data("a\u{fffd}")]);
    assert_eq!(read(b"\xef\xbbdata: a\n\ndata: b\n\n").0, vec![data("b")]);
}

#[test]
fn retry_is_digits_alone() {
    for (stream, retry) in [
        ("retry: 500\n", Some(500)),
        ("retry: 500\nretry: 5s\nretry: -1\nretry:\nretry: +7\n", Some(500)),
        ("retry: 99999999999999999999999\n", Some(u64::MAX)),
        ("data: a\n\n", None),
    ] {
        assert_eq!(read(stream.as_bytes()).1.retry(), retry, "{stream:?}");
    }
}

#[test]
fn a_cut_stream_is_seen() {
    for (stream, within) in [
        ("", false),
        ("data: a\n\n", false),
        (":\n\n", false),
        ("data: a\n", true),
        ("data: a", true),
        ("data: a\r\n\r", false),
    ] {
        assert_eq!(read(stream.as_bytes()).1.is_within_event(), within, "{stream:?}");
    }
}

#[test]
fn what_is_too_long_costs_its_event_alone() {
    let limits = SseLimits { line: 10, event: 6 };
    let data = |data| ev("", data, "");
    for (stream, events) in [
        // Exactly the limits.
        ("data: 1234\n\n", vec![data("1234")]),
        ("data:12345\n\n", vec![data("12345")]),
        ("data: 1234\ndata:x\n\n", vec![data("1234\nx")]),
        // One more.
        ("data:123456\n\ndata:a\n\n", vec![Read::TooLong, data("a")]),
        ("data: 1234\ndata:xy\n\ndata:a\n\n", vec![Read::TooLong, data("a")]),
        // Nothing of what follows in the same event.
        (":0123456789\r\ndata:a\r\n\r\ndata:b\r\n\r\n", vec![Read::TooLong, data("b")]),
        ("data:123456\rdata:a\rid:1\r\rdata:b\r\r", vec![Read::TooLong, data("b")]),
        ("event:xx\ndata:123456\n\ndata:b\n\n", vec![Read::TooLong, data("b")]),
        ("data:123456", vec![]),
    ] {
        for cuts in [1, 2, 3, 100] {
            assert_eq!(read_in(limits, stream.as_bytes(), &[cuts]).0, events, "{stream:?} in {cuts}");
        }
    }
}

#[test]
fn no_more_than_the_limits_is_kept() {
    let limits = SseLimits { line: 16, event: 16 };
    let mut reader = Reader::new(limits);
    for piece in ["data: xxxxxxx\n", "id: 1234567\n", "event: abcdef\n", "xxxxxxxxx", "\u{feff}"] {
        for _ in 0..1000 {
            let mut chunk = piece.as_bytes();
            while reader.read(&mut chunk).is_some() {}
            assert!(reader.buffered() <= 4 * 16, "{}", reader.buffered());
        }
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read_in_any_pieces(
        events in prop::collection::vec((
            prop::option::of("[a-z:é ]{0,6}"), prop::option::of("[0-9: é]{0,6}"), "[a\\u{2028}:{} \r\n]{0,12}", any::<bool>(),
        ), 0..6),
        cuts in prop::collection::vec(1_usize..9, 1..9),
    ) {
        let mut wire = Vec::new();
        let mut wanted = Vec::new();
        let mut last = String::new();
        for (kind, id, text, keep_alive) in &events {
            if *keep_alive {
                comment(&mut wire, text);
            }
            let fields = Fields { kind: kind.as_deref(), id: id.as_deref(), retry: None };
            event(&mut wire, &fields, text.as_bytes()).unwrap();
            if let Some(id) = id {
                last.clone_from(id);
            }
            let text = text.replace("\r\n", "\n").replace('\r', "\n");
            wanted.push(ev(kind.as_deref().unwrap_or_default(), &text, &last));
        }
        prop_assert_eq!(&read_in(SseLimits::default(), &wire, &cuts).0, &wanted);
    }

    #[test]
    fn any_bytes_in_any_pieces(stream: Vec<u8>, cuts in prop::collection::vec(1_usize..9, 1..9), line in 0_usize..9, event in 0_usize..9) {
        let limits = SseLimits { line, event };
        prop_assert_eq!(read_in(limits, &stream, &cuts).0, read_in(limits, &stream, &[]).0);
    }
}

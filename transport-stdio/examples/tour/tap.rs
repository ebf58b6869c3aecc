//! Lines of the wire, as they pass, cut to what tells something.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::AsyncWrite;

use crate::timeline::Timeline;

/// Columns that a line may take.
const WIDTH: usize = 110;
/// Characters of a sealed state that are shown.
const STATE: usize = 8;

/// A writer that shows each line as it passes.
pub(crate) struct Tap<W> {
    inner: W,
    timeline: Timeline,
    way: &'static str,
    line: Vec<u8>,
}

impl<W> Tap<W> {
    pub(crate) fn new(inner: W, timeline: &Timeline, way: &'static str) -> Self {
        Self { inner, timeline: timeline.clone(), way, line: Vec::new() }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Tap<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let written = Pin::new(&mut this.inner).poll_write(cx, bytes);
        if let Poll::Ready(Ok(n)) = written {
            for byte in bytes.iter().take(n) {
                if *byte == b'\n' {
                    this.timeline.wire(this.way, &shortened(&String::from_utf8_lossy(&this.line)));
                    this.line.clear();
                } else {
                    this.line.push(*byte);
                }
            }
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_close(cx)
    }
}

/// A line without what every line has, cut to the width. What was left out shows as an ellipsis.
pub(crate) fn shortened(line: &str) -> String {
    let mut text = line.to_owned();
    for (from, to) in [
        (r#"{"jsonrpc":"2.0","#, "{…"),
        (r#""resultType":"complete","#, "…"),
        (r#""method":"elicitation/create","params":"#, "…"),
    ] {
        text = text.replacen(from, to, 1);
    }
    if text.contains(r#""inputResponses""#) {
        // What is asked anew is known; the answers are what is new.
        text = text.replacen(r#""method":"tools/call","#, "…", 1);
        empty(&mut text, r#""arguments":{"#, None);
        text = text.replacen(r#""arguments":{…},"#, "…", 1);
    }
    empty(&mut text, r#""_meta":{"#, Some(r#","progressToken""#));
    let state = cut_state(&mut text);
    let length = text.chars().count();
    if length > WIDTH {
        // The state stays in sight, behind what is left out before it.
        let tail = state.map_or_else(|| "…".to_owned(), |state| format!("…{state}…"));
        let head = WIDTH - tail.chars().count();
        text = text.chars().take(head).chain(tail.chars()).collect();
    }
    text
}

/// Leaves out what the object behind `opening` holds, but for what begins with `kept`.
fn empty(text: &mut String, opening: &str, kept: Option<&str>) {
    let Some(start) = text.find(opening).map(|at| at + opening.len()) else { return };
    let mut depth = 1;
    let mut quoted = false;
    let mut escaped = false;
    let end = text.get(start..).unwrap_or_default().char_indices().find_map(|(at, char)| {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '{' if !quoted => depth += 1,
            '}' if !quoted => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(start + at)
    });
    if let Some(end) = end {
        let kept = kept.zip(text.get(start..end)).and_then(|(kept, inside)| inside.find(kept));
        text.replace_range(start..kept.map_or(end, |kept| start + kept), "…");
    }
}

/// Leaves the last characters of a sealed state; gives it as it is shown now.
fn cut_state(text: &mut String) -> Option<String> {
    let opening = r#""requestState":""#;
    let start = text.find(opening)?;
    let begun = start + opening.len();
    let end = begun + text.get(begun..)?.find('"')?;
    if end - begun > STATE {
        text.replace_range(begun..end - STATE, "…");
    }
    let end = begun + text.get(begun..)?.find('"')?;
    text.get(start..=end).map(str::to_owned)
}

//! Events as they are written. Whatever the text, one call writes one event: a line end inside it becomes a further
//! `data` line or is refused, so that nothing a handler says can forge a field.

/// What an event has beside its data.
///
/// The modern revision needs none of it: its streams cannot be resumed, so ids would promise what is not there.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Fields<'a> {
    /// `event`; absent means "message".
    pub kind: Option<&'a str>,
    /// `id`; empty resets the reader's last id.
    pub id: Option<&'a str>,
    /// `retry`, in milliseconds.
    pub retry: Option<u64>,
}

/// A field that cannot be written; nothing was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// `event` holds a line end.
    #[error("the event's type holds a line end")]
    Kind,
    /// `id` holds a line end, or the character NUL, at which readers ignore it.
    #[error("the event's id holds a line end or NUL")]
    Id,
}

/// Appends one JSON-RPC message as an event without further fields.
///
/// JSON of more than one line becomes several `data` lines, which a reader joins with LF: between tokens that changes
/// nothing, and inside a JSON string no line end can stand.
pub fn message(out: &mut Vec<u8>, json: &[u8]) {
    data(out, json);
    out.push(b'\n');
}

/// Appends an event. A CR or CRLF in `text` comes out of a reader as LF.
///
/// # Errors
/// A field that would end its line; nothing was appended.
pub fn event(out: &mut Vec<u8>, fields: &Fields<'_>, text: &[u8]) -> Result<(), FieldError> {
    let line_end = |byte| byte == b'\n' || byte == b'\r';
    if fields.kind.is_some_and(|kind| kind.bytes().any(line_end)) {
        return Err(FieldError::Kind);
    }
    if fields.id.is_some_and(|id| id.bytes().any(|byte| line_end(byte) || byte == 0)) {
        return Err(FieldError::Id);
    }
    if let Some(kind) = fields.kind {
        field(out, b"event", kind.as_bytes());
    }
    if let Some(id) = fields.id {
        field(out, b"id", id.as_bytes());
    }
    if let Some(retry) = fields.retry {
        field(out, b"retry", retry.to_string().as_bytes());
    }
    message(out, text);
    Ok(())
}

/// Appends a comment, which readers ignore: a keep-alive. A line end in `text` begins a further line of the comment.
pub fn comment(out: &mut Vec<u8>, text: &str) {
    for line in lines(text.as_bytes()) {
        out.push(b':');
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    // Some readers look for the blank line only, and would take the comment for the head of the next event.
    out.push(b'\n');
}

fn data(out: &mut Vec<u8>, text: &[u8]) {
    for line in lines(text) {
        field(out, b"data", line);
    }
}

fn field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    // The space is the one that a reader takes away, so a value that begins with one keeps it.
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.push(b'\n');
}

/// The lines of a text, at least one; LF, CR and CRLF end one.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            rest = None;
            return Some(text);
        };
        let (line, tail) = text.split_at(end);
        rest = tail.strip_prefix(b"\r\n").or_else(|| tail.get(1..));
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(fields: Fields<'_>, text: &str) -> String {
        let mut out = Vec::new();
        event(&mut out, &fields, text.as_bytes()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn events_as_they_are_written() {
        let none = Fields::default();
        let all = Fields { kind: Some("message"), id: Some("7"), retry: Some(500) };
        for (fields, text, wire) in [
            (none, "{}", "data: {}\n\n"),
            (none, "", "data: \n\n"),
            (none, " x", "data:  x\n\n"),
            (none, "a\nb", "data: a\ndata: b\n\n"),
            (none, "a\rb", "data: a\ndata: b\n\n"),
            (none, "a\r\nb\n", "data: a\ndata: b\ndata: \n\n"),
            (none, "a\n\nid: 1", "data: a\ndata: \ndata: id: 1\n\n"),
            (none, "a\u{2028}b\u{85}c", "data: a\u{2028}b\u{85}c\n\n"),
            (all, "x", "event: message\nid: 7\nretry: 500\ndata: x\n\n"),
        ] {
            assert_eq!(written(fields, text), wire, "{text:?}");
        }
    }

    #[test]
    fn a_field_that_would_end_its_line_is_refused_and_nothing_written() {
        let mut out = b"before".to_vec();
        for (fields, why) in [
            (Fields { kind: Some("a\nb"), ..Fields::default() }, FieldError::Kind),
            (Fields { kind: Some("a\r"), ..Fields::default() }, FieldError::Kind),
            (Fields { id: Some("\n"), ..Fields::default() }, FieldError::Id),
            (Fields { id: Some("a\rb"), ..Fields::default() }, FieldError::Id),
            (Fields { kind: Some("fine"), id: Some("a\0"), ..Fields::default() }, FieldError::Id),
        ] {
            assert_eq!(event(&mut out, &fields, b"x"), Err(why), "{fields:?}");
            assert_eq!(out, b"before");
        }
    }

    #[test]
    fn a_comment_stays_one() {
        for (text, wire) in [("", ":\n\n"), ("hi", ":hi\n\n"), ("a\ndata: x\r\nb", ":a\n:data: x\n:b\n\n")] {
            let mut out = Vec::new();
            comment(&mut out, text);
            assert_eq!(out, wire.as_bytes(), "{text:?}");
        }
    }
}

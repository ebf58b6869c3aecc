//! Events as they are read: any chunks, bounded memory (WHATWG HTML, "Interpreting an event stream").

/// How much a reader keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SseLimits {
    /// Bytes of one line, its end not counted.
    pub line: usize,
    /// Bytes of one event's data, its lines joined.
    pub event: usize,
}

impl Default for SseLimits {
    /// An event holds a message of [`MAX_MESSAGE`](sansio_mcp::limits::MAX_MESSAGE), a line as much with its field's name.
    fn default() -> Self {
        let event = sansio_mcp::limits::MAX_MESSAGE;
        Self { line: event + 64, event }
    }
}

/// What a reader found.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Read {
    /// One event.
    Event(Event),
    /// An event that is longer than the limits allow, or has a line that is. It was dropped, and what follows it is read.
    TooLong,
}

/// One event. Its data may be empty, which the protocol gives no meaning but "here is an id".
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Event {
    /// `event`; empty where the field was, and means "message".
    pub kind: String,
    /// The `data` lines, joined with LF. What is not UTF-8 stands as U+FFFD.
    pub data: String,
    /// The last id that the stream named, by this event or one before.
    pub id: String,
}

impl Event {
    /// Whether it is of the type that carries messages: "message", or none.
    pub fn is_message(&self) -> bool {
        matches!(self.kind.as_str(), "" | "message")
    }
}

/// Reads one stream from its first byte.
#[derive(Debug)]
pub struct Reader {
    limits: SseLimits,
    /// The line that is not over, past its mark. Never longer than its limit.
    line: Vec<u8>,
    at_mark: Mark,
    /// A CR ended the last line: an LF now belongs to it.
    after_cr: bool,
    /// The rest of this line, or of this event, is dropped.
    skip: Skip,
    data: Vec<u8>,
    has_data: bool,
    kind: Vec<u8>,
    id: Vec<u8>,
    retry: Option<u64>,
}

/// How much of a byte order mark stands at the stream's begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    Expected(usize),
    Past,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Skip {
    Nothing,
    /// All until the blank line.
    Event {
        in_line: bool,
    },
}

const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

impl Reader {
    /// A stream that nothing was read from yet.
    pub fn new(limits: SseLimits) -> Self {
        Self {
            limits,
            line: Vec::new(),
            at_mark: Mark::Expected(0),
            after_cr: false,
            skip: Skip::Nothing,
            data: Vec::new(),
            has_data: false,
            kind: Vec::new(),
            id: Vec::new(),
            retry: None,
        }
    }

    /// Bytes that are kept for an event that is not over, and the last id.
    pub fn buffered(&self) -> usize {
        self.line.len() + self.data.len() + self.kind.len() + self.id.len()
    }

    /// The last `retry` that the stream named, in milliseconds.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Whether an event has begun and is not over. At the end of a stream such an event is dropped, as the rules want; its
    /// request was not answered.
    pub fn is_within_event(&self) -> bool {
        self.has_data || !self.line.is_empty() || self.skip != Skip::Nothing
    }

    /// Reads on, and takes what it read off `chunk`. `None`: the chunk is used up.
    pub fn read(&mut self, chunk: &mut &[u8]) -> Option<Read> {
        while let Some(&first) = chunk.first() {
            if self.after_cr {
                self.after_cr = false;
                if first == b'\n' {
                    *chunk = &chunk[1..];
                    continue;
                }
            }
            if let Mark::Expected(seen) = self.at_mark {
                if MARK.get(seen) == Some(&first) {
                    *chunk = &chunk[1..];
                    self.at_mark = if seen == 2 { Mark::Past } else { Mark::Expected(seen + 1) };
                    continue;
                }
                // It was none: what looked like its begin belongs to the first line.
                self.at_mark = Mark::Past;
                self.keep(&MARK[..seen]);
            }
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let Some((line, rest)) = end.map(|end| chunk.split_at(end)) else {
                self.keep(chunk);
                *chunk = &[];
                return None;
            };
            self.keep(line);
            self.after_cr = rest.first() == Some(&b'\r');
            *chunk = rest.get(1..).unwrap_or_default();
            if let Some(read) = self.end_line() {
                return Some(read);
            }
        }
        None
    }

    fn keep(&mut self, part: &[u8]) {
        if let Skip::Event { in_line } = &mut self.skip {
            *in_line |= !part.is_empty();
        } else if part.len() > self.limits.line - self.line.len() {
            self.too_long(true);
        } else {
            self.line.extend_from_slice(part);
        }
    }

    /// Drops the event that is being read.
    fn too_long(&mut self, in_line: bool) {
        self.skip = Skip::Event { in_line };
        self.line = Vec::new();
        self.data = Vec::new();
        self.has_data = false;
        self.kind.clear();
    }

    fn end_line(&mut self) -> Option<Read> {
        if let Skip::Event { in_line } = &mut self.skip {
            if !std::mem::take(in_line) {
                self.skip = Skip::Nothing;
                return Some(Read::TooLong);
            }
            return None;
        }
        let line = std::mem::take(&mut self.line);
        let read = if line.is_empty() {
            self.dispatch()
        } else {
            self.field(&line);
            None
        };
        // Its memory serves the next line.
        if self.skip == Skip::Nothing {
            self.line = line;
            self.line.clear();
        }
        read
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            None => (line, &[][..]),
            Some(colon) => {
                let (name, value) = line.split_at(colon);
                let value = value.get(1..).unwrap_or_default();
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
        };
        match name {
            b"data" => {
                let joined = self.data.len() + usize::from(self.has_data) + value.len();
                if joined > self.limits.event {
                    self.too_long(false);
                    return;
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => value.clone_into(&mut self.kind),
            b"id" if !value.contains(&0) => value.clone_into(&mut self.id),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                // Digits that are too many for a number say "very long".
                let digits = std::str::from_utf8(value).unwrap_or_default();
                self.retry = Some(digits.parse().unwrap_or(u64::MAX));
            }
            // Comments, which have an empty name, and fields that nobody knows.
            _ => {}
        }
    }

    fn dispatch(&mut self) -> Option<Read> {
        let kind = std::mem::take(&mut self.kind);
        if !std::mem::take(&mut self.has_data) {
            return None;
        }
        let data = std::mem::take(&mut self.data);
        Some(Read::Event(Event { kind: text(kind), data: text(data), id: text(self.id.clone()) }))
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
#[path = "read_test.rs"]
mod tests;

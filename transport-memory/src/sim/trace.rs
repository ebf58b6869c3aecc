//! What happened, as JSON Lines.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use crate::clock::VirtualClock;

/// Who did or saw something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Who {
    /// The client's end.
    Client,
    /// The server's end.
    Server,
    /// What lies between them.
    Network,
    /// Whoever took a [note](super::Sim::note).
    Other(String),
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum What {
    /// A stream was opened.
    Opened,
    /// So many bytes were taken from this end.
    Wrote(usize),
    /// So many bytes reached this end.
    Got(usize),
    /// This line, without its end, has reached this end whole. What is not UTF-8 is replaced.
    Line(String),
    /// Nothing more will reach this end.
    Ended,
    /// Nothing is taken from this end for so long.
    Stalled(Duration),
    /// The stream was cut.
    Cut,
    /// Anything that somebody wanted to have said.
    Note(String),
}

/// One line of a [`Trace`]. Its text is a JSON object: `at_ns` (nanoseconds of virtual time), `who`, `stream` (0 is the
/// first; absent in notes), `what`, and `bytes`, `line`, `for_ns` or `note` as `what` has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// When, since the start of virtual time.
    pub at: Duration,
    /// Who.
    pub who: Who,
    /// On which stream.
    pub stream: Option<u64>,
    /// What.
    pub what: What,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let who = match &self.who {
            Who::Client => "client",
            Who::Server => "server",
            Who::Network => "network",
            Who::Other(name) => name,
        };
        write!(f, "{{\"at_ns\":{},\"who\":{}", self.at.as_nanos(), text(who))?;
        if let Some(stream) = self.stream {
            write!(f, ",\"stream\":{stream}")?;
        }
        match &self.what {
            What::Opened => f.write_str(",\"what\":\"opened\"")?,
            What::Wrote(bytes) => write!(f, ",\"what\":\"wrote\",\"bytes\":{bytes}")?,
            What::Got(bytes) => write!(f, ",\"what\":\"got\",\"bytes\":{bytes}")?,
            What::Line(line) => write!(f, ",\"what\":\"line\",\"line\":{}", text(line))?,
            What::Ended => f.write_str(",\"what\":\"ended\"")?,
            What::Stalled(time) => write!(f, ",\"what\":\"stalled\",\"for_ns\":{}", time.as_nanos())?,
            What::Cut => f.write_str(",\"what\":\"cut\"")?,
            What::Note(note) => write!(f, ",\"what\":\"note\",\"note\":{}", text(note))?,
        }
        f.write_str("}")
    }
}

/// Everything that happened, in order. Clones are the same trace. Grows with the run.
#[derive(Clone)]
pub struct Trace {
    clock: VirtualClock,
    entries: Rc<RefCell<Vec<Entry>>>,
}

impl Trace {
    pub(super) fn new(clock: VirtualClock) -> Self {
        Self { clock, entries: Rc::default() }
    }

    pub(super) fn add(&self, who: Who, stream: Option<u64>, what: What) {
        let at = self.clock.elapsed();
        self.entries.borrow_mut().push(Entry { at, who, stream, what });
    }

    /// The entries so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.entries.borrow().clone()
    }
}

/// JSON Lines.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.borrow().iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

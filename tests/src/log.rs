//! The operator's log, collected.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Level, Metadata, Subscriber};

/// One line of the log.
#[derive(Clone, Debug)]
pub struct Event {
    pub level: Level,
    pub fields: BTreeMap<&'static str, String>,
}

/// Everything that this thread logs while the guard lives.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<Event>>>);

impl Log {
    pub fn collect() -> (Self, DefaultGuard) {
        let log = Self::default();
        let guard = tracing::subscriber::set_default(Collector(log.clone()));
        (log, guard)
    }

    pub fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The `code` of every line that has one, in order.
    pub fn codes(&self) -> Vec<String> {
        self.events().iter().filter_map(|event| event.fields.get("code").cloned()).collect()
    }

    pub fn has(&self, code: &str) -> bool {
        self.codes().iter().any(|known| known == code)
    }

    /// Whether any field of any line holds this text.
    pub fn mentions(&self, text: &str) -> bool {
        self.events().iter().any(|event| event.fields.values().any(|value| value.contains(text)))
    }
}

struct Collector(Log);

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("sansio_mcp")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields(BTreeMap::new());
        event.record(&mut fields);
        let event = Event { level: *event.metadata().level(), fields: fields.0 };
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

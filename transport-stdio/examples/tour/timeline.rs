//! What happened, when: printed as it happens, and kept for the summary.
//!
//! Nothing here knows what is going to happen. States come from the events that the sdk emits about its requests
//! ([`sansio_mcp_sdk::server`], "Watching requests"), lines of the wire from a [`Tap`](crate::tap::Tap) on the pipes.

use std::fmt::{self, Debug, Write as _};
use std::future::poll_fn;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use sansio_mcp_memory::VirtualClock;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer;

/// Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(crate) struct Timeline {
    clock: VirtualClock,
    colours: bool,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    quiet: bool,
    begin: Duration,
    scenes: usize,
    facts: Vec<Fact>,
    waiting: Vec<Waker>,
    checks: Vec<(String, bool)>,
}

/// One event about a request.
#[derive(Clone, Default)]
pub(crate) struct Fact {
    pub(crate) at: Duration,
    pub(crate) state: String,
    pub(crate) id: String,
    /// The tool's; of what is no call of a tool, the method.
    pub(crate) name: String,
    pub(crate) code: String,
    reason: String,
    pub(crate) started: Option<bool>,
    error: bool,
}

#[derive(Clone, Copy)]
enum Ink {
    Faint,
    Bold,
    Green,
    Red,
    Blue,
    Yellow,
}

impl Timeline {
    pub(crate) fn new(clock: VirtualClock) -> Self {
        Self { clock, colours: io::stdout().is_terminal(), kept: Arc::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ink(&self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Faint => 2,
            Ink::Bold => 1,
            Ink::Green => 32,
            Ink::Red => 31,
            Ink::Blue => 36,
            Ink::Yellow => 33,
        };
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Begins a scene; its time starts at zero.
    pub(crate) fn scene(&self, title: &str) {
        let mut kept = self.kept();
        kept.scenes += 1;
        kept.begin = self.clock.elapsed();
        kept.facts.clear();
        let title = format!("{}. {title}", kept.scenes);
        say!("\n{}\n", self.ink(Ink::Bold, &title));
    }

    /// Whether what happens from here on passes without a line.
    pub(crate) fn quiet(&self, quiet: bool) {
        self.kept().quiet = quiet;
    }

    fn line(&self, who: &str, ink: Ink, text: &str) {
        let kept = self.kept();
        if kept.quiet {
            return;
        }
        let at = self.clock.elapsed().saturating_sub(kept.begin).as_micros();
        let time = format!("{:>7}.{} ms", at / 1000, at / 100 % 10);
        say!("{}  {who:<9} {}", self.ink(Ink::Faint, &time), self.ink(ink, text));
    }

    /// A line of the wire.
    pub(crate) fn wire(&self, way: &str, text: &str) {
        self.line(way, Ink::Blue, text);
    }

    /// The client's side of the story.
    pub(crate) fn client(&self, text: impl fmt::Display) {
        self.line("client", Ink::Bold, &text.to_string());
    }

    /// Something that has to hold; it comes up again in the summary.
    pub(crate) fn check(&self, what: impl Into<String>, holds: bool) {
        self.kept().checks.push((what.into(), holds));
    }

    /// Completes once this scene has seen such an event.
    pub(crate) async fn until(&self, name: &str, state: &str) {
        poll_fn(|cx| {
            let mut kept = self.kept();
            if kept.facts.iter().any(|fact| fact.name == name && fact.state == state) {
                return Poll::Ready(());
            }
            kept.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The states that the `nth` request of a name in this scene went through.
    pub(crate) fn states(&self, name: &str, nth: usize) -> Vec<String> {
        self.kept().of(name, nth).map(|fact| fact.state.clone()).collect()
    }

    /// The first time that the `nth` request of a name in this scene came to a state.
    pub(crate) fn fact(&self, name: &str, nth: usize, state: &str) -> Option<Fact> {
        self.kept().of(name, nth).find(|fact| fact.state == state).cloned()
    }

    /// Prints what held; true if everything did.
    pub(crate) fn summary(&self) -> bool {
        let kept = self.kept();
        say!("\n{}\n", self.ink(Ink::Bold, "What held"));
        for (what, holds) in &kept.checks {
            let (mark, ink) = if *holds { ("held  ", Ink::Green) } else { ("BROKEN", Ink::Red) };
            say!("  {} {what}", self.ink(ink, mark));
        }
        let broken = kept.checks.iter().filter(|(_, holds)| !holds).count();
        say!("\n{} of {} held.", kept.checks.len() - broken, kept.checks.len());
        broken == 0
    }
}

impl Kept {
    /// What is known of the `nth` request of a name, counted from zero.
    fn of(&self, name: &str, nth: usize) -> impl Iterator<Item = &Fact> {
        let mut ids: Vec<&str> = Vec::new();
        for fact in self.facts.iter().filter(|fact| fact.name == name) {
            if !ids.contains(&&*fact.id) {
                ids.push(&fact.id);
            }
        }
        // A client counts its requests up.
        ids.sort_unstable_by_key(|id| (id.len(), *id));
        let id = ids.get(nth).copied();
        self.facts.iter().filter(move |fact| Some(&*fact.id) == id)
    }
}

/// Listens to the sdk.
impl<S: tracing::Subscriber> layer::Layer<S> for Timeline {
    fn on_event(&self, event: &tracing::Event<'_>, _: layer::Context<'_, S>) {
        if event.metadata().target() != "sansio_mcp_sdk::request" {
            return;
        }
        let mut fact = Fact { at: self.clock.elapsed(), ..Fact::default() };
        event.record(&mut fact);
        let mut text = format!("{} #{}  {}", fact.name, fact.id, fact.state);
        let mut detail = Vec::new();
        if !fact.code.is_empty() {
            detail.push(fact.code.clone());
        }
        if !fact.reason.is_empty() {
            detail.push(format!("{:?}", fact.reason));
        }
        match fact.started {
            Some(true) => detail.push("while its handler ran".into()),
            Some(false) => detail.push("before its handler began".into()),
            None => {}
        }
        if fact.error {
            detail.push("with an error".into());
        }
        if !detail.is_empty() {
            let _ = write!(text, ": {}", detail.join(", "));
        }
        let ink = match &*fact.state {
            "busy" | "refused" => Ink::Red,
            "stopped" | "draining" | "cleanup" | "asks" => Ink::Yellow,
            _ => Ink::Green,
        };
        self.line("server", ink, &text);
        let mut kept = self.kept();
        kept.facts.push(fact);
        let waiting = std::mem::take(&mut kept.waiting);
        drop(kept);
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Visit for Fact {
    fn record_str(&mut self, field: &Field, value: &str) {
        let place = match field.name() {
            "state" => &mut self.state,
            "name" if !value.is_empty() => &mut self.name,
            "method" if self.name.is_empty() => &mut self.name,
            "code" => &mut self.code,
            "reason" => &mut self.reason,
            _ => return,
        };
        value.clone_into(place);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        match field.name() {
            "started" => self.started = Some(value),
            "error" => self.error = value,
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "id" {
            self.id = format!("{value:?}");
        }
    }
}

//! Plays a flow and compares its trace.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use sansio_mcp::server::continuation::NoEntropy;
use sansio_mcp_memory::Lab;
use sansio_mcp_memory::sim::{Link, Sim, Way, What, Who};
use sansio_mcp_sdk::client::{Client, ClientBuilder};
use sansio_mcp_sdk::model::Implementation;
use sansio_mcp_sdk::server::{Builder, KeyRing, SealKey, Server};
use sansio_mcp_sdk::{Engine, Local};
use serde::Deserialize;
use serde_json::Value;

/// Set, it has the traces written instead of compared.
const WRITE: &str = "SANSIO_WRITE_GOLDEN";

/// A server and a client, and everything that happens between them.
#[derive(Clone)]
pub(crate) struct Stage {
    sim: Rc<Sim>,
    link: Link,
    kept: Rc<RefCell<Vec<Box<dyn Any>>>>,
}

/// A server that knows its own keys.
pub(crate) fn server() -> Builder<Local> {
    let nonces = AtomicU8::new(1);
    let ring = KeyRing::new(SealKey::new([7; 32]), move |out: &mut [u8]| {
        out.fill(nonces.fetch_add(1, Ordering::Relaxed));
        Ok::<(), NoEntropy>(())
    });
    Server::local("ferries", "3.1").state_keys(ring)
}

/// A client without handlers.
pub(crate) fn client() -> ClientBuilder {
    Client::builder(Implementation::new("desk", "0.4"))
}

impl Stage {
    pub(crate) fn lab(&self) -> &Lab {
        self.sim.lab()
    }

    /// Writes into the trace what is not on the wire.
    pub(crate) fn note(&self, who: &str, what: &str) {
        self.sim.note(who, what);
    }

    /// Everything that the client sends takes this long.
    pub(crate) fn slow_client(mut self, delay: Duration) -> Self {
        self.link = Link::shared().ways(Way::clear().delay(delay..=delay), Way::clear());
        self
    }

    pub(crate) fn connect<S: 'static>(&self, server: Builder<Local, S>, client: ClientBuilder) -> Client {
        self.connect_both(server, client).0
    }

    pub(crate) fn connect_both<S: 'static>(
        &self,
        server: Builder<Local, S>,
        client: ClientBuilder,
    ) -> (Client, Engine) {
        let (engine, driver) = Engine::new(server.build().unwrap(), Arc::new(self.lab().clock()));
        self.lab().spawn(driver);
        let (client, _) = self.sim.connect(&engine, client, self.link.clone()).unwrap();
        (client, engine)
    }

    /// Keeps something until the trace was taken: dropping it might say something.
    pub(crate) fn keep(&self, what: impl Any) {
        self.kept.borrow_mut().push(Box::new(what));
    }

    /// Lets everything happen that can happen without time going on.
    pub(crate) async fn settle(&self) {
        self.lab().sleep(Duration::from_nanos(1)).await;
    }

    /// Somebody who is asked by handlers of a client, which may be on any thread: it is noted what they do, and when.
    pub(crate) fn person(&self, name: &'static str) -> Person {
        let (asked, questions) = smol::channel::unbounded::<Does>();
        let this = self.clone();
        self.lab().spawn(async move {
            while let Ok(does) = questions.recv().await {
                this.lab().sleep(does.after).await;
                this.note(name, does.what);
                does.done.close();
            }
        });
        Person { asked }
    }

    fn lines(&self) -> Vec<(bool, String)> {
        let entries = self.sim.trace().entries();
        let line = |what| match what {
            What::Line(line) => Some(line),
            _ => None,
        };
        // A line is noted where it arrives.
        entries.into_iter().filter_map(|entry| Some((entry.who == Who::Server, line(entry.what)?))).collect()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for entry in self.sim.trace().entries() {
            let (who, what) = match (entry.who, entry.what) {
                (Who::Server, What::Line(line)) => ("client", line),
                (Who::Client, What::Line(line)) => ("server", line),
                (Who::Other(who), What::Note(note)) => {
                    writeln!(text, "{} ms ({who} {note})", entry.at.as_millis()).unwrap();
                    continue;
                }
                _ => continue,
            };
            writeln!(text, "{} ms {who}: {what}", entry.at.as_millis()).unwrap();
        }
        text
    }
}

struct Does {
    what: &'static str,
    after: Duration,
    /// Closed when it is done.
    done: smol::channel::Sender<()>,
}

/// See [`Stage::person`].
#[derive(Clone)]
pub(crate) struct Person {
    asked: smol::channel::Sender<Does>,
}

impl Person {
    /// Does something after a time; comes back when it is done.
    pub(crate) async fn does(&self, after: Duration, what: &'static str) {
        let (done, wait) = smol::channel::bounded(1);
        self.asked.send(Does { what, after, done }).await.unwrap();
        let _ = wait.recv().await;
    }
}

/// What kind of message a line is: `> tools/list` from the client, `< result`, `< input_required`, `< error -32602`,
/// `< notifications/progress` from the server.
pub(crate) fn kind(to_server: bool, line: &str) -> String {
    #[derive(Deserialize)]
    struct Message {
        method: Option<String>,
        result: Option<Value>,
        error: Option<Value>,
    }
    let message: Message = serde_json::from_str(line).unwrap();
    let what = match message {
        Message { method: Some(method), result: None, error: None } => method,
        Message { method: None, result: Some(result), error: None } => match result["resultType"].as_str() {
            Some("complete") => "result".to_owned(),
            Some(other) => other.to_owned(),
            None => panic!("a result that does not say what it is: {line}"),
        },
        Message { method: None, result: None, error: Some(error) } => format!("error {}", error["code"]),
        _ => panic!("not a message: {line}"),
    };
    format!("{} {what}", if to_server { '>' } else { '<' })
}

/// Plays a flow, again and again: `drawn` is what it says on the wire, kind by kind; its trace is that of `tests/golden/{name}.txt`.
pub(crate) fn play(name: &str, drawn: &[&str], flow: impl AsyncFn(Stage)) {
    let played = |seed: u64, link: Link| {
        let stage = Stage { sim: Rc::new(Sim::new(seed)), link, kept: Rc::default() };
        stage.lab().run(flow(stage.clone()));
        stage.lab().run_until_idle();
        stage
    };
    let stage = played(0, Link::shared());
    let kinds: Vec<String> = stage.lines().iter().map(|(up, line)| kind(*up, line)).collect();
    assert_eq!(kinds, drawn, "{name}: what is drawn, and what went over the wire");
    let text = stage.text();
    for seed in 1..4 {
        let cut = Way::clear().pieces(1..=40);
        let again = played(seed, Link::shared().ways(cut.clone(), cut));
        same(&again.text(), &text, &format!("{name}: it depends on chance (seed {seed})"));
    }
    let streams = played(4, Link::per_request());
    same(&kept(&streams.text()), &kept(&text), &format!("{name}: with a stream for each request"));
    compare(name, &text);
}

/// Without what tells that something is given up: where each request has a stream, closing it says so.
fn kept(text: &str) -> String {
    let is_kept = |line: &&str| !line.contains("notifications/cancelled");
    text.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

/// Whether traces are written instead of compared.
pub(crate) fn writing() -> bool {
    std::env::var_os(WRITE).is_some()
}

pub(crate) fn compare(name: &str, text: &str) {
    let path = golden(name);
    if writing() {
        assert!(std::env::var_os("CI").is_none(), "{WRITE} is set: traces are not written in CI");
        fs::write(&path, text).unwrap();
        return;
    }
    let known = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; {WRITE}=1 writes it", path.display()));
    same(text, &known, &format!("{name}: now, and as it was written down"));
}

/// Tells the first line that differs.
fn same(a: &str, b: &str, what: &str) {
    for (number, (a, b)) in a.lines().zip(b.lines()).enumerate() {
        assert_eq!(a, b, "{what}; line {}", number + 1);
    }
    assert_eq!(a.lines().count(), b.lines().count(), "{what}; lines");
    assert_eq!(a, b, "{what}");
}

/// Where the trace of a flow is.
pub(crate) fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(format!("{name}.txt"))
}

/// Makes a test of each flow: its name, and the kinds of messages that are drawn.
#[macro_export]
macro_rules! flows {
    ($($name:ident: [$($kind:literal)*];)*) => {
        pub(crate) const PLAYED: &[&str] = &[$(stringify!($name)),*];

        mod played {
            $(
                #[test]
                fn $name() {
                    $crate::stage::play(stringify!($name), &[$($kind),*], super::$name);
                }
            )*
        }
    };
}

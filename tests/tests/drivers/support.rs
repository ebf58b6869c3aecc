//! What the rows share: a client's configuration, a place for sockets, and news from children.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sansio_mcp_memory::VirtualClock;
use sansio_mcp_sdk::client::{CallError, Client, ClientConfig};
use sansio_mcp_sdk::model::{CallToolResult, ClientCapabilities, Implementation};
use sansio_mcp_stdio::threads::Wait;
use serde_json::{Value, json};

/// How long anything may take. Nothing comes near it unless it hangs.
const BOUND: Duration = Duration::from_mins(1);

pub(crate) fn config() -> Arc<ClientConfig> {
    let me = Implementation::new("drivers", "1");
    Arc::new(ClientConfig::builder(me, ClientCapabilities::default()).build().unwrap())
}

/// Calls a tool and waits for what comes of it.
pub(crate) fn call(client: &Client, tool: &str, arguments: &Value) -> Result<CallToolResult, CallError> {
    client.call_tool(tool, arguments).wait()
}

/// The structured result of a tool without arguments.
pub(crate) fn ask(client: &Client, tool: &str) -> Value {
    let result = call(client, tool, &json!({})).unwrap();
    serde_json::from_str(result.first_text().unwrap()).unwrap()
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + BOUND;
    while !holds() {
        assert!(Instant::now() < end, "it never comes: {what}");
        thread::yield_now();
    }
}

/// Waits until this much time is the next thing that is waited for, and lets it pass.
pub(crate) fn step(clock: &VirtualClock, time: Duration) {
    let due = clock.elapsed() + time;
    until("somebody waits for the clock", || {
        clock.next_alarm().is_some_and(|at| Duration::from_nanos(at.as_nanos()) == due)
    });
    clock.advance(time);
}

/// A folder of one test, removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mcp-drivers-{}-{number}", std::process::id()));
        // What a test of this number left that was killed.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where children with bad manners tell what they see.
pub(crate) struct Post {
    folder: Folder,
    listener: UnixListener,
}

impl Post {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        let listener = UnixListener::bind(folder.path("post")).unwrap();
        Self { folder, listener }
    }

    /// A child with bad manners that tells here.
    pub(crate) fn child(&self, manner: &str) -> Command {
        let mut command = rough(manner);
        command.arg(self.folder.path("post"));
        command
    }

    /// The next child that comes.
    pub(crate) fn next(&self) -> News {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        let mut news = News { lines: BufReader::new(stream), id: 0 };
        news.id = news.line().parse().unwrap();
        news
    }
}

/// What one child tells.
pub(crate) struct News {
    lines: BufReader<UnixStream>,
    /// The child's process.
    pub(crate) id: i32,
}

impl News {
    /// The next line; empty once the child has gone.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// Lets a child that waits for it go on.
    pub(crate) fn go(&mut self) {
        self.lines.get_mut().write_all(b".").unwrap();
    }

    /// Waits until the child has gone.
    pub(crate) fn gone(mut self) {
        while !self.line().is_empty() {}
    }
}

/// A child with bad manners that tells nobody.
pub(crate) fn rough(manner: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rough"));
    command.arg(manner);
    command
}

//! An example as a child process.

use std::io::{BufRead, BufReader, Read, Write};
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// How long a line may take: one that never comes is a failure and not a test without end.
const BOUND: Duration = Duration::from_mins(1);

/// Where an example is. `cargo test` builds examples only if no target was named, so they are built here, which
/// changes nothing where they are there.
pub(crate) fn example(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let this = std::env::current_exe().unwrap();
        let profile = this.ancestors().nth(2).unwrap();
        let profile_name = match profile.file_name().unwrap().to_str().unwrap() {
            "debug" => "dev",
            other => other,
        };
        // The whole workspace, as `cargo test` does: with other features everything would be built again.
        let done = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--workspace", "--profile", profile_name])
            .args(["--example", "bookshop", "--example", "stray_output", "--example", "tour"])
            .arg("--target-dir")
            .arg(profile.parent().unwrap())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .unwrap();
        assert!(done.success(), "the examples cannot be built");
        profile.join("examples")
    });
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// One request as a line.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}))
}

/// One call of a tool as a line.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

/// The cancellation of a request as a line.
pub(crate) fn cancelled(id: &str) -> String {
    let params = json!({"requestId": id});
    format!("{}\n", json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
}

/// A running example. It is killed if the test ends before it.
pub(crate) struct Child {
    process: std::process::Child,
    pub(crate) stdin: Option<ChildStdin>,
    /// Until it is read.
    stdout: Option<ChildStdout>,
    lines: Receiver<Value>,
    sender: Option<Sender<Value>>,
    asked: usize,
    /// Messages that were read while something else was waited for.
    held: Vec<Value>,
}

impl Child {
    /// Starts an example and reads what it writes.
    pub(crate) fn start(name: &str) -> Self {
        let mut child = Self::start_unread(name);
        child.read();
        child
    }

    /// Starts an example whose output nobody reads yet.
    pub(crate) fn start_unread(name: &str) -> Self {
        Self::spawn(name, Stdio::null())
    }

    /// Starts an example, reads what it writes, and collects its stderr.
    pub(crate) fn start_with_stderr(name: &str) -> (Self, JoinHandle<String>) {
        let mut child = Self::spawn(name, Stdio::piped());
        child.read();
        let mut stderr = child.process.stderr.take().unwrap();
        let collected = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        (child, collected)
    }

    /// A pipe for stderr must be read, or the example stops when it is full.
    fn spawn(name: &str, stderr: Stdio) -> Self {
        Self::of(Command::new(example(name)).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr))
    }

    /// Starts the bookshop on these, and reads what it writes if that can be read here.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_with(stdin: Stdio, stdout: Stdio) -> Self {
        let mut command = Command::new(example("bookshop"));
        let mut child = Self::of(command.stdin(stdin).stdout(stdout).stderr(Stdio::null()));
        if child.stdout.is_some() {
            child.read();
        }
        child
    }

    fn of(command: &mut Command) -> Self {
        let mut process = command.spawn().unwrap();
        let (sender, lines) = channel();
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        Self { process, stdin, stdout, lines, sender: Some(sender), asked: 0, held: Vec::new() }
    }

    /// Begins to read.
    pub(crate) fn read(&mut self) {
        let (stdout, sender) = (self.stdout.take().unwrap(), self.sender.take().unwrap());
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n') {
                // A line that is no message ends the reading, and with it the test.
                let message = serde_json::from_slice(&line.unwrap()).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
    }

    /// Closes the end that its output goes to.
    pub(crate) fn hang_up(&mut self) {
        self.stdout = None;
        self.sender = None;
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Writes lines, closes stdin, and gives every message that came.
    pub(crate) fn run(mut self, lines: &[String]) -> Vec<Value> {
        for line in lines {
            self.write(line);
        }
        self.finish()
    }

    /// Asks a tool without arguments until its structured content is as wanted.
    pub(crate) fn until(&mut self, tool: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            self.asked += 1;
            let id = format!("{tool}-{}", self.asked);
            self.write(&call(&*id, tool, "{}"));
            let answer = loop {
                let message = self.lines.recv_timeout(BOUND).unwrap();
                if message["id"] == *id {
                    break message;
                }
                self.held.push(message);
            };
            let content = &answer["result"]["structuredContent"];
            if wanted(content) {
                return content.clone();
            }
        }
    }

    /// Closes stdin, takes every message up to the end of stdout, and wants exit code 0.
    pub(crate) fn finish(&mut self) -> Vec<Value> {
        self.stdin = None;
        let mut messages = std::mem::take(&mut self.held);
        loop {
            match self.lines.recv_timeout(BOUND) {
                Ok(message) => messages.push(message),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("stdout has no end"),
            }
        }
        self.ended();
        messages
    }

    /// Waits for its exit with code 0.
    pub(crate) fn ended(&mut self) {
        let status = self.process.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// Waits until every thread of it sleeps, and `other` with them: nobody is left who could wake one.
    #[cfg(target_os = "linux")]
    pub(crate) fn until_all_sleep(&self, other: &Path) {
        let threads = PathBuf::from(format!("/proc/{}/task", self.process.id()));
        let look = || -> Option<Vec<(PathBuf, String)>> {
            let threads = std::fs::read_dir(&threads).unwrap().map(|thread| thread.unwrap().path());
            threads.chain([other.to_owned()]).map(|thread| Some((thread.clone(), sleeps(&thread)?))).collect()
        };
        // Whoever sleeps at both looks, and was not woken in between, has slept when the first of them ended.
        let mut before = None;
        loop {
            let now = look();
            if now.is_some() && now == before {
                return;
            }
            before = now;
            std::thread::yield_now();
        }
    }

    /// The memory it uses, where the system tells.
    #[cfg(target_os = "linux")]
    pub(crate) fn resident_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    }
}

/// Where the system tells about this thread.
#[cfg(target_os = "linux")]
pub(crate) fn this_thread() -> PathBuf {
    Path::new("/proc").join(std::fs::read_link("/proc/thread-self").unwrap())
}

/// How often a thread was woken, if it sleeps.
#[cfg(target_os = "linux")]
fn sleeps(thread: &Path) -> Option<String> {
    // It may be over since it was listed.
    let status = std::fs::read_to_string(thread.join("status")).ok()?;
    let line = |name| status.lines().find(|line: &&str| line.starts_with(name));
    let woken = [line("voluntary_ctxt_switches:")?, line("nonvoluntary_ctxt_switches:")?].concat();
    line("State:")?.contains("(sleeping)").then_some(woken)
}

impl Drop for Child {
    fn drop(&mut self) {
        // It is over already, unless the test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

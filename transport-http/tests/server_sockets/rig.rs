//! A server on loopback, on a thread of its own, and clients that are nothing but bytes.

use std::future::Future;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use sansio_mcp_http::server::{Caller, Config, Endpoint, Handle, Limits};
use sansio_mcp_sdk::server::{Builder, Context, NoArguments, RawArguments, Server};
use serde_json::{Value, json};

/// What the tools have done.
#[derive(Clone, Default)]
pub struct Log {
    pub started: Arc<AtomicUsize>,
    pub cleaned: Arc<AtomicUsize>,
}

impl Log {
    pub fn cleaned(&self) -> usize {
        self.cleaned.load(Ordering::SeqCst)
    }

    pub fn started(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }
}

type Cx = Context<Log>;

pub fn shop(log: Log) -> Builder<sansio_mcp_sdk::Shared, Log> {
    Server::shared("shop", "1")
        .list_changes()
        .state(log)
        .tool("add", async |_: NoArguments, _: Cx| Ok("two"))
        .tool("echo", async |arguments: RawArguments, _: Cx| Ok(arguments.0.to_string()))
        .tool("who", async |_: NoArguments, cx: Cx| {
            let caller = cx.caller().map(|caller| caller.to_vec()).unwrap_or_default();
            Ok(String::from_utf8_lossy(&caller).into_owned())
        })
        .tool("hour", async |_: NoArguments, cx: Cx| {
            begun(&cx);
            cx.sleep(Duration::from_hours(1)).await;
            Ok("awake")
        })
        .tool("waits", async |_: NoArguments, cx: Cx| {
            begun(&cx);
            while !cx.state().released() {
                cx.sleep(Duration::from_millis(1)).await;
            }
            Ok("done")
        })
        .tool("floods", async |_: NoArguments, cx: Cx| {
            begun(&cx);
            let text = "x".repeat(4000);
            for percent in 1..100_000 {
                cx.progress(f64::from(percent) / 1000.0, &text);
                cx.sleep(Duration::from_micros(10)).await;
            }
            Ok("done")
        })
}

impl Log {
    /// Lets the tool `waits` go on.
    pub fn release(&self) {
        self.started.fetch_add(RELEASED, Ordering::SeqCst);
    }

    fn released(&self) -> bool {
        self.started() >= RELEASED
    }
}

const RELEASED: usize = 1 << 32;

fn begun(cx: &Cx) {
    let log = cx.state().clone();
    log.started.fetch_add(1, Ordering::SeqCst);
    drop(cx.on_exit(async move {
        log.cleaned.fetch_add(1, Ordering::SeqCst);
    }));
}

pub struct Rig {
    pub address: SocketAddr,
    pub handle: Handle,
    pub log: Log,
    thread: Option<JoinHandle<()>>,
}

/// A server that nobody has polled yet.
pub struct Still {
    pub address: SocketAddr,
    pub handle: Handle,
    pub serve: Pin<Box<dyn Future<Output = std::io::Result<()>>>>,
}

/// The runtimes in turn, each on the thread of the test: nothing happens there between two awaits of its.
pub fn on_each_here<F: Future<Output = ()>>(test: impl Fn(Still) -> F) {
    let (endpoint, _) = endpoint(Config::new());
    let bound = sansio_mcp_http::server::smol::bind(endpoint).unwrap();
    let (address, handle) = (bound.local_addr(), bound.handle());
    smol::block_on(test(Still { address, handle, serve: Box::pin(bound.serve()) }));
    #[cfg(feature = "tokio")]
    {
        let (endpoint, _) = self::endpoint(Config::new());
        let bound = sansio_mcp_http::server::tokio::bind(endpoint).unwrap();
        let (address, handle) = (bound.local_addr(), bound.handle());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test(Still { address, handle, serve: Box::pin(bound.serve()) }));
    }
}

/// The runtimes, in turn.
pub fn on_each(test: impl Fn(fn(Config) -> Rig)) {
    test(Rig::on_smol);
    #[cfg(feature = "tokio")]
    test(Rig::on_tokio);
}

/// Who has a token is known, and the token has to be the right one.
fn token(head: &mut http::request::Parts) -> Result<(), http::Response<()>> {
    match head.headers.get("authorization").map(http::HeaderValue::as_bytes) {
        None => {}
        Some(b"Bearer good") => drop(head.extensions.insert(Caller::new("alice"))),
        Some(_) => {
            let refused = http::Response::builder().status(401).header("www-authenticate", "Bearer");
            return Err(refused.body(()).unwrap());
        }
    }
    Ok(())
}

fn endpoint(config: Config) -> (Endpoint, Log) {
    let log = Log::default();
    let server = shop(log.clone()).build().unwrap();
    let endpoint = Endpoint::new(server).config(config).address(([127, 0, 0, 1], 0));
    (endpoint.check(token), log)
}

impl Rig {
    pub fn on_smol(config: Config) -> Self {
        let (endpoint, log) = endpoint(config);
        let bound = sansio_mcp_http::server::smol::bind(endpoint).unwrap();
        let (address, handle) = (bound.local_addr(), bound.handle());
        let thread = std::thread::spawn(move || smol::block_on(bound.serve()).unwrap());
        Self { address, handle, log, thread: Some(thread) }
    }

    #[cfg(feature = "tokio")]
    pub fn on_tokio(config: Config) -> Self {
        let (endpoint, log) = endpoint(config);
        let bound = sansio_mcp_http::server::tokio::bind(endpoint).unwrap();
        let (address, handle) = (bound.local_addr(), bound.handle());
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(bound.serve()).unwrap();
        });
        Self { address, handle, log, thread: Some(thread) }
    }

    pub fn connect(&self) -> Wire {
        Wire::connect(self.address)
    }

    /// A call on a connection of its own.
    pub fn call(&self, tool: &str) -> Wire {
        let mut wire = self.connect();
        wire.send(&post(&call(tool, &json!({}))));
        wire
    }

    /// It serves.
    #[track_caller]
    pub fn assert_serves(&self) {
        let mut wire = self.call("add");
        let (head, body) = wire.response();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(body.contains("two"), "{body}");
    }

    /// Nothing is kept of those who have gone.
    pub fn assert_free(&self) {
        until(|| self.handle.connections() == 0);
        until(|| self.handle.facts().streams == 0 && self.handle.facts().held_bytes == 0);
        until(|| {
            let facts = self.handle.engine().facts();
            facts.running + facts.waiting + facts.channels + facts.subscriptions == 0
        });
    }

    pub fn join(mut self) {
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.handle.shutdown();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking());
        }
    }
}

/// Waits for a condition that is sure to come.
pub fn until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}

pub fn limits(change: impl FnOnce(&mut Limits)) -> Config {
    let mut limits = Limits::default();
    change(&mut limits);
    Config::new().limits(limits)
}

pub fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

pub fn message(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 1,
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

pub fn call(tool: &str, arguments: &Value) -> Value {
    message("tools/call", json!({"name": tool, "arguments": arguments}))
}

pub fn listen() -> Value {
    message("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
}

/// The POST of a message as bytes.
pub fn post(body: &Value) -> Vec<u8> {
    let text = body.to_string();
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {}\r\n\
         content-length: {}\r\n",
        body["method"].as_str().unwrap(),
        text.len()
    );
    if let Some(name) = body["params"]["name"].as_str() {
        request += &format!("mcp-name: {name}\r\n");
    }
    request += "\r\n";
    (request + &text).into_bytes()
}

/// One connection.
pub struct Wire {
    pub stream: TcpStream,
    held: Vec<u8>,
}

impl Wire {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, held: Vec::new() }
    }

    /// The server may close while this is being written.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Reads more; false at the end.
    pub fn more(&mut self) -> bool {
        let mut chunk = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return false,
                Ok(read) => {
                    self.held.extend_from_slice(&chunk[..read]);
                    return true;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Reads until this is there, and returns what stands before it.
    #[track_caller]
    pub fn until(&mut self, mark: &str) -> String {
        loop {
            let found = self.held.windows(mark.len()).position(|part| part == mark.as_bytes());
            if let Some(at) = found {
                let rest = self.held.split_off(at + mark.len());
                let before = std::mem::replace(&mut self.held, rest);
                return String::from_utf8(before[..at].to_vec()).unwrap();
            }
            assert!(self.more(), "closed before {mark:?}: {}", String::from_utf8_lossy(&self.held));
        }
    }

    /// A response with a length: its head and its body.
    #[track_caller]
    pub fn response(&mut self) -> (String, String) {
        let head = self.until("\r\n\r\n");
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
        (head, String::from_utf8(self.take(length)).unwrap())
    }

    #[track_caller]
    pub fn take(&mut self, length: usize) -> Vec<u8> {
        self.try_take(length).expect("closed early")
    }

    /// So many bytes; `None` if the connection ends before.
    pub fn try_take(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.held.len() < length {
            if !self.more() {
                return None;
            }
        }
        let rest = self.held.split_off(length);
        Some(std::mem::replace(&mut self.held, rest))
    }

    /// Everything up to the end of the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.more() {}
        std::mem::take(&mut self.held)
    }

    pub fn end(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}

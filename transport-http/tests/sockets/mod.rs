//! A server of raw sockets, a thread for each connection; and a client of it on either runtime.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use sansio_mcp_http::client::{self, Options};
use sansio_mcp_sdk::client::{Client, ClientSetup};
use sansio_mcp_sdk::model::Implementation;
use serde_json::{Value, json};

pub trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// One request that was read.
pub struct Request {
    pub head: String,
    pub message: Value,
}

impl Request {
    pub fn name(&self) -> &str {
        self.message["params"]["name"].as_str().unwrap_or_default()
    }

    pub fn id(&self) -> &Value {
        &self.message["id"]
    }

    pub fn answer(&self, text: &str) -> String {
        let result = json!({"content": [{"type": "text", "text": text}]});
        json!({"jsonrpc": "2.0", "id": self.id(), "result": result}).to_string()
    }
}

/// One connection.
pub struct Connection {
    stream: BufReader<Box<dyn Stream>>,
    /// Which it is, from 0.
    pub number: usize,
    /// Requests before this one.
    pub served: usize,
}

impl Connection {
    /// The next request; `None` at the end.
    pub fn read(&mut self) -> Option<Request> {
        let mut head = String::new();
        let mut length = 0;
        loop {
            let start = head.len();
            if self.stream.read_line(&mut head).unwrap_or(0) == 0 {
                return None;
            }
            let line = head[start..].trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        Some(Request { head, message: serde_json::from_slice(&body).unwrap() })
    }

    pub fn write(&mut self, text: &str) {
        let _ = self.stream.get_mut().write_all(text.as_bytes());
        let _ = self.stream.get_mut().flush();
    }

    pub fn json(&mut self, body: &str) {
        let length = body.len();
        self.write(&format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
    }

    pub fn events(&mut self) {
        self.write(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        );
    }

    pub fn chunk(&mut self, data: &str) {
        self.write(&format!("{:x}\r\n{data}\r\n", data.len()));
    }

    /// Completes when the client has closed the connection.
    pub fn closed(&mut self) {
        let _ = self.stream.read_to_end(&mut Vec::new());
    }
}

#[derive(Clone)]
pub struct Server {
    pub url: String,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Serves each request by `handler`; false closes the connection.
pub fn serve(handler: impl Fn(&mut Connection, &Request) -> bool + Send + Sync + 'static) -> Server {
    serve_with("http", |stream| Some(Box::new(stream)), handler)
}

pub fn serve_with(
    scheme: &str,
    wrap: impl Fn(TcpStream) -> Option<Box<dyn Stream>> + Send + Sync + 'static,
    handler: impl Fn(&mut Connection, &Request) -> bool + Send + Sync + 'static,
) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("{scheme}://localhost:{}/mcp", listener.local_addr().unwrap().port());
    let connections = Arc::new(AtomicUsize::new(0));
    let server = Server { url, connections: Arc::clone(&connections) };
    let shared = Arc::new((wrap, handler));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let number = connections.fetch_add(1, Ordering::SeqCst);
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (wrap, handler) = &*shared;
                let Some(stream) = wrap(stream.unwrap()) else { return };
                let mut connection = Connection { stream: BufReader::new(stream), number, served: 0 };
                while let Some(request) = connection.read() {
                    if !handler(&mut connection, &request) {
                        return;
                    }
                    connection.served += 1;
                }
            });
        }
    });
    server
}

pub fn setup() -> ClientSetup {
    Client::builder(Implementation::new("test", "1")).build().unwrap()
}

/// Runs a scenario with a client on each runtime.
pub fn on_each<F: Future<Output = ()>>(url: &str, options: &Options, scenario: impl Fn(Client) -> F) {
    #[cfg(feature = "smol")]
    smol::block_on(async {
        let (client, driver) = client::smol::connect_with(url, setup(), options.clone()).unwrap();
        let driver = smol::spawn(driver);
        scenario(client.clone()).await;
        client.close();
        driver.await;
    });
    #[cfg(feature = "tokio")]
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let (client, driver) = client::tokio::connect_with(url, setup(), options.clone()).unwrap();
        let driver = tokio::spawn(driver);
        scenario(client.clone()).await;
        client.close();
        driver.await.unwrap();
    });
}

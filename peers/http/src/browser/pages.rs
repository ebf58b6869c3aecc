//! The server of the page, which also hears what came of it.

use std::io;

use serde_json::Value;
use smol::Task;
use smol::channel::{Receiver, Sender, unbounded};
use smol::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use smol::net::{TcpListener, TcpStream};

use crate::stage::ANYWHERE;
use crate::tally::Failure;

const PAGE: &str = include_str!("page.html");
/// The longest text that tells what came of it.
const OUTCOME: usize = 64 * 1024;

pub(crate) struct Pages {
    pub(crate) port: u16,
    outcomes: Receiver<Value>,
    _serving: Task<io::Result<()>>,
}

impl Pages {
    pub(crate) async fn open() -> io::Result<Self> {
        let listener = TcpListener::bind(ANYWHERE).await?;
        let port = listener.local_addr()?.port();
        let (told, outcomes) = unbounded();
        let serving = smol::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await?;
                // One that says nothing, as a browser opens them ahead, is left alone.
                smol::spawn(serve(stream, told.clone())).detach();
            }
        });
        Ok(Self { port, outcomes, _serving: serving })
    }

    /// What came of a page.
    pub(crate) async fn outcome(&self) -> Result<Value, Failure> {
        Ok(self.outcomes.recv().await.map_err(|error| error.to_string())?)
    }
}

/// One request.
async fn serve(stream: TcpStream, told: Sender<Value>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    stream.read_line(&mut first).await?;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or(0);
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length.min(OUTCOME)];
    stream.read_exact(&mut body).await?;
    let (status, page) = match first.split(' ').nth(1).unwrap_or_default() {
        "/outcome" => {
            let _ = told.try_send(serde_json::from_slice(&body).unwrap_or_default());
            ("200 OK", "")
        }
        path if path.starts_with("/?") => ("200 OK", PAGE),
        _ => ("404 Not Found", ""),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(format!("{head}{page}").as_bytes()).await?;
    stream.close().await
}

//! Lines on a pipe by hand, for who is no client and no server of this library.

use std::future::poll_fn;
use std::pin::Pin;

use futures_io::{AsyncRead, AsyncWrite};
use serde_json::Value;

pub(crate) struct Wire<R, W> {
    reader: R,
    writer: W,
    held: Vec<u8>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Wire<R, W> {
    pub(crate) fn new(reader: R, writer: W) -> Self {
        Self { reader, writer, held: Vec::new() }
    }

    /// The next message; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap_or_default());
            }
            let mut chunk = [0; 4096];
            match poll_fn(|cx| Pin::new(&mut self.reader).poll_read(cx, &mut chunk)).await {
                Ok(0) | Err(_) => return None,
                Ok(n) => self.held.extend(chunk.iter().take(n)),
            }
        }
    }

    /// Writes a message; false if nobody reads any more.
    pub(crate) async fn send(&mut self, message: &str) -> bool {
        let line = format!("{message}\n");
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            let written = poll_fn(|cx| Pin::new(&mut self.writer).poll_write(cx, rest)).await;
            let Ok(n) = written else { return false };
            rest = rest.get(n..).unwrap_or_default();
        }
        true
    }
}

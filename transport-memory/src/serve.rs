//! The server's side of a transport with a stream for each request.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp::wire::{Frame, Framer};
use sansio_mcp_sdk::{Engine, Exchange, Framing};

use crate::duplex::Duplex;
use crate::lab::Lab;
use crate::per_request::StreamAcceptor;

const BATCH: usize = 64 * 1024;

/// Serves every stream that a client of an engine [opens](crate::StreamOpener), each in a task of the lab; completes when
/// no more will come. `line_limit` is the length of a line in bytes.
pub async fn serve_streams(lab: Lab, engine: Engine, mut acceptor: StreamAcceptor, line_limit: usize) {
    while let Some(io) = acceptor.accept().await {
        let mut stream = Stream {
            exchange: engine.exchange(),
            io,
            framer: Framer::new(line_limit),
            read: false,
            out: Vec::new(),
            last: false,
        };
        lab.spawn(async move { poll_fn(|cx| stream.poll(cx)).await });
    }
}

/// One stream; dropping it is what the engine hears of a lost client.
struct Stream {
    exchange: Exchange,
    io: Duplex,
    framer: Framer,
    /// The request was read; the stream carries no other.
    read: bool,
    out: Vec<u8>,
    /// The response is in `out`, or there will be none.
    last: bool,
}

impl Stream {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.io.writer.poll_closed(cx).is_ready() {
            return Poll::Ready(());
        }
        if !self.read && self.poll_request(cx).is_pending() {
            return Poll::Pending;
        }
        loop {
            while !self.out.is_empty() {
                match Pin::new(&mut self.io.writer).poll_write(cx, &self.out) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(_)) => return Poll::Ready(()),
                    Poll::Ready(Ok(n)) => drop(self.out.drain(..n)),
                }
            }
            if self.last {
                return Poll::Ready(());
            }
            match self.exchange.poll_fill(cx, &mut self.out, BATCH, Framing::LINES) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(filled) => self.last = filled.is_last(),
            }
        }
    }

    fn poll_request(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut chunk = [0; 4096];
        while !self.read {
            match Pin::new(&mut self.io.reader).poll_read(cx, &mut chunk) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(n)) if n > 0 => {
                    let mut frames = self.framer.feed(chunk.get(..n).unwrap_or_default());
                    while let Some(frame) = frames.next() {
                        self.read = true;
                        match frame {
                            Frame::Line(line) => self.exchange.handle_message(line),
                            Frame::TooLong => self.exchange.handle_oversized(),
                        }
                    }
                }
                Poll::Ready(_) => {
                    self.read = true;
                    self.last = true;
                }
            }
        }
        Poll::Ready(())
    }
}

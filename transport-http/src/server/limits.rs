//! Every bound of the server: its default, why, and what happens at it.

use std::time::Duration;

use sansio_mcp_sdk::protocol::limits::MAX_MESSAGE;
use sansio_mcp_sdk::server::ConfigError;

/// Bounds of a [`Service`](super::Service), and of the sockets around it. None may be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one body. A longer one is answered with 413, whatever its `Content-Length` says, and not kept.
    /// Default 4 MiB: a message.
    pub body_bytes: usize,
    /// Bytes of all bodies that are being read, or whose requests are being served. One more is answered with 503.
    /// Default 256 MiB: the longest body 64 times.
    pub held_bytes: usize,
    /// How long a body may take once it has made the server wait. Then: 408. Default 30 s: the longest body at one megabit a
    /// second.
    pub body_time: Duration,
    /// Requests that are being read or served, listens among them. One more is answered with 503. Default 32,768: twice
    /// the subscriptions that an engine accepts.
    pub streams: usize,
    /// How long the answer of a request may take to be decided on: after it a stream of events begins, with status 200. Default
    /// 15 s: shorter than the time-outs for the head of an answer that proxies and clients commonly have.
    pub commit_time: Duration,
    /// After how much silence a stream of events gets a comment. Default 15 s: the shortest idle time-outs in use are 30 s.
    pub keep_alive: Duration,
    /// How long a part of a stream that is ready may wait for its client to read what came before. Then the request is
    /// cancelled, and the stream ends in the middle. Default 30 s. For sockets the same holds of each connection, which is
    /// closed: also one that leaves a plain answer unread.
    pub write_time: Duration,
    /// Bytes of events that are handed to HTTP at once. What waits beyond this stays in the engine, where newer progress takes the
    /// place of older and a subscriber that is far behind is ended. Default 64 KiB.
    pub frame_bytes: usize,
    /// Connections, of sockets alone. One more is accepted when another has ended. Default 16,384.
    pub connections: usize,
    /// How long the head of a request may take from its first byte on, that of the first from the connection's beginning on, of
    /// sockets alone. Then the connection is closed. Later heads of HTTP/2 are bounded by [`idle_time`](Self::idle_time) alone.
    /// Default 10 s.
    pub header_time: Duration,
    /// How long a connection may be open without a request, of sockets alone. Then it is closed. Default 2 minutes.
    pub idle_time: Duration,
    /// Bytes of a request's head, of sockets alone. A longer one is answered with 431. Default 64 KiB: a hundred headers, and
    /// what `Mcp-Param-*` repeats. Not below 8 KiB.
    pub header_bytes: usize,
    /// Requests at one time on one HTTP/2 connection. More wait at the client. Default 1,024.
    pub concurrent_streams: u32,
    /// Requests of one HTTP/2 connection that were reset before they were looked at. One more closes the connection, as a flood.
    /// Default 64.
    pub pending_resets: usize,
    /// How long accepted calls may go on while sockets are being shut down. Then they are cancelled, and the engine's
    /// [closing bound](sansio_mcp_sdk::server::Builder::closing_bound) begins. Default 3 s.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: MAX_MESSAGE,
            held_bytes: 64 * MAX_MESSAGE,
            body_time: Duration::from_secs(30),
            streams: 32_768,
            commit_time: Duration::from_secs(15),
            keep_alive: Duration::from_secs(15),
            write_time: Duration::from_secs(30),
            frame_bytes: 64 * 1024,
            connections: 16_384,
            header_time: Duration::from_secs(10),
            idle_time: Duration::from_mins(2),
            header_bytes: 64 * 1024,
            concurrent_streams: 1024,
            pending_resets: 64,
            drain_time: Duration::from_secs(3),
        }
    }
}

impl Limits {
    /// # Errors
    /// Names the limit that is zero.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let numbers = [
            ("limits.body_bytes", self.body_bytes),
            ("limits.held_bytes", self.held_bytes),
            ("limits.streams", self.streams),
            ("limits.frame_bytes", self.frame_bytes),
            ("limits.connections", self.connections),
            ("limits.concurrent_streams", self.concurrent_streams as usize),
            ("limits.pending_resets", self.pending_resets),
        ];
        let times = [
            ("limits.body_time", self.body_time),
            ("limits.commit_time", self.commit_time),
            ("limits.keep_alive", self.keep_alive),
            ("limits.write_time", self.write_time),
            ("limits.header_time", self.header_time),
            ("limits.idle_time", self.idle_time),
            ("limits.drain_time", self.drain_time),
        ];
        let zero = numbers.into_iter().filter(|(_, number)| *number == 0).map(|(name, _)| name);
        let none = times.into_iter().filter(|(_, time)| time.is_zero()).map(|(name, _)| name);
        if let Some(name) = zero.chain(none).next() {
            return Err(ConfigError::new(name, "is zero: nothing would ever be served"));
        }
        if self.header_bytes < 8 * 1024 {
            return Err(ConfigError::new("limits.header_bytes", "is less than 8 KiB"));
        }
        Ok(())
    }
}

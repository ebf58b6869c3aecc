//! Every bound of the engine: its default, why, and what happens at it.

use core::time::Duration;

/// Rounds of input that one call may ask for. The eighth is asked and answered; a ninth ends the call with
/// `ROUNDS_EXCEEDED`. The specification leaves the number open; eight is far beyond what a person would sit
/// through.
pub const MAX_ROUNDS: u8 = 8;

/// Bytes of one message, line end not counted. A longer line is skipped and answered with -32700, without
/// being kept. Four MiB holds an image in base64 and is what the HTTP binding accepts as a body.
pub const MAX_MESSAGE: usize = 4 * 1024 * 1024;

/// Bytes of one sealed continuation state, as text. A longer one that comes in is refused unread; one that would go
/// out fails its call. A quarter of a message: the state travels both ways, beside arguments and answers.
pub const MAX_STATE: usize = 1024 * 1024;

/// How long sealed state is good for, unless it is told otherwise. Long enough for a person who is called away from a
/// dialog, short enough that an old state is of little use to whoever finds it.
pub const STATE_LIFE: Duration = Duration::from_hours(1);

/// How far ahead of our clock a state may have been sealed: replicas' clocks differ. Beyond it the state is refused.
pub const STATE_CLOCK_SKEW: Duration = Duration::from_mins(1);

/// Levels of objects and arrays that the canonical form of JSON goes into, as many as `serde_json` reads. What is nested
/// deeper is compared as it is written.
pub const MAX_NESTING: usize = 128;

/// Unsent progress notifications of one request. Past it the newest replaces the last unsent one, so that a
/// slow reader costs bounded memory and still learns the latest state.
pub const MAX_UNSENT_PROGRESS: usize = 16;

/// Bytes of unsent notifications of one request, whatever their number; acts like [`MAX_UNSENT_PROGRESS`], and for a
/// subscription like [`MAX_UNSENT_CHANGES`], where changes that are published together count as one.
pub const MAX_UNSENT_BYTES: usize = 64 * 1024;

/// Unsent notifications of one subscription, each about something else: equal ones are one. One more ends it, with
/// its response: a reader so far behind does better to look at everything again.
pub const MAX_UNSENT_CHANGES: usize = 1024;

/// Events of progress that one call of a client may have waiting for the application. Past it the newest
/// replaces the last waiting one.
pub const MAX_WAITING_PROGRESS: usize = 16;

/// Log messages of a server that wait for the application of a client; past it the newest are counted and dropped.
pub const MAX_WAITING_LOGS: usize = 256;

/// Bytes of those log messages; acts like [`MAX_WAITING_LOGS`], except that one message may always wait.
pub const MAX_WAITING_LOG_BYTES: usize = 1024 * 1024;

/// Facts about a misbehaving peer that wait for the application; past it they are counted and dropped.
pub const MAX_WAITING_VIOLATIONS: usize = 64;

/// Bounds of one server channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Requests whose answer was not yet taken. One more is refused as busy; what the engine answers itself it still
    /// answers, but such an answer and that refusal are not withdrawn by a cancel. The default, 16,384, is far above what
    /// one client keeps in flight; all of them with short answers that nobody reads cost some 25 MiB.
    pub in_flight: usize,
    /// Bytes that those requests hold, what was read of their metadata included. One more is refused as busy,
    /// unless it is the only one. The default, 256 MiB, is the longest message in each of 64 handlers.
    pub in_flight_bytes: usize,
    /// Subscriptions that have not ended. One more is refused as busy. Default 1,024.
    pub subscriptions: usize,
    /// Resources that those subscriptions name, all together. What is named beyond is not granted, and the acknowledgement
    /// says so: each change of many resources looks at all that are named, on every channel. Default 65,536.
    pub named_resources: usize,
    /// Unsent bytes at which [`Server::is_congested`](crate::server::Server::is_congested) becomes true: the
    /// driver starts no more work for this channel until its reader catches up. Default 1 MiB.
    pub congested_bytes: usize,
    /// Unsent bytes at which [`Server::wants_input`](crate::server::Server::wants_input) becomes false: the
    /// driver stops reading. Messages handed in all the same are dropped and counted. Default 4 MiB.
    pub outgoing_bytes: usize,
    /// How long accepted requests may still finish after the end of input. Default 1.5 s: shorter than the
    /// two seconds that common hosts wait before they terminate a server.
    pub half_close_grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            in_flight: 16_384,
            in_flight_bytes: 64 * MAX_MESSAGE,
            subscriptions: 1024,
            named_resources: 65_536,
            congested_bytes: 1024 * 1024,
            outgoing_bytes: 4 * 1024 * 1024,
            half_close_grace: Duration::from_millis(1500),
        }
    }
}

/// Bounds of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientLimits {
    /// Calls that have not finished. One more is refused. Default 65,536.
    pub calls: usize,
    /// Unsent bytes of requests. A call beyond it is refused. Default 64 MiB.
    pub outgoing_bytes: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self { calls: 65_536, outgoing_bytes: 64 * 1024 * 1024 }
    }
}

/// Pause before a retry that carries state alone, by round: short enough not to be noticed, long enough that
/// eight rounds do not spin.
pub(crate) fn retry_pause(round: u8) -> Duration {
    match round {
        0 | 1 => Duration::from_millis(50),
        2 => Duration::from_millis(100),
        3 => Duration::from_millis(200),
        _ => Duration::from_millis(250),
    }
}

//! What client and server share of the system: a clock on each runtime, and byte streams.

#[cfg(any(feature = "server", feature = "smol", feature = "tls"))]
pub(crate) mod fair;
#[cfg(feature = "smol")]
pub(crate) mod smol;
#[cfg(any(feature = "smol", feature = "tls"))]
pub(crate) mod stream;
#[cfg(feature = "tokio")]
pub(crate) mod tokio;

//! The runnable parts on smol's reactor; the futures run on any executor.

mod child;
mod clock;
mod own;
#[cfg(unix)]
mod unix;

pub use child::launch;
pub use clock::SystemClock;
pub use own::serve;
#[cfg(unix)]
pub use unix::{Half, connect_unix, serve_unix};

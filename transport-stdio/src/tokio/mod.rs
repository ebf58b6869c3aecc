//! The runnable parts on tokio. Neither of its macros nor its `full` feature is needed, a runtime with I/O and time
//! enabled is.

mod child;
mod clock;
mod compat;
mod own;
#[cfg(unix)]
mod unix;

pub use child::launch;
pub use clock::SystemClock;
pub use compat::Compat;
pub use own::serve;
#[cfg(unix)]
pub use unix::{connect_unix, serve_unix};

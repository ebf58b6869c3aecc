//! What the runnable parts share: descriptors, processes and sockets of the system, and threads that read and write.

pub(crate) mod child;
pub(crate) mod own;
pub(crate) mod threaded;
#[cfg(unix)]
pub(crate) mod unix;

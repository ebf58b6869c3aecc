//! The client: a task for each POST, hyper below it.

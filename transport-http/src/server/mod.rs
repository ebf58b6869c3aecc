//! The server: a service for each POST, and hyper around it.

//! Bytes: lines, envelopes, and writing JSON.

pub mod envelope;
pub mod frame;
pub(crate) mod known;
pub(crate) mod params;
pub(crate) mod quick;
pub(crate) mod raw;
pub(crate) mod serialize;
mod skip;
pub(crate) mod text;
pub mod write;

pub(crate) use envelope::ResultText;
pub use envelope::{Envelope, ErrorHead, Malformed, Message, Response, ResultHead};
pub use frame::{Frame, Framer, Frames};
pub use params::{Meta, Params, ParamsError};
pub use raw::JsonText;
pub use text::Text;

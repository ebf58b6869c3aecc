//! `notifications/progress` (basic/patterns/progress).

use alloc::string::String;

use super::members::RawMembers;
use super::open::{open_object, setters};
use super::raw::RawJson;
use crate::id::ProgressToken;

open_object! {
    /// The params of `notifications/progress` (basic/patterns/progress).
    pub struct ProgressParams {
        /// The token of the request this is about.
        required "progressToken" => progress_token: ProgressToken,
        /// How far it is, in units of its own; grows with every notification. Finite.
        number "progress" => progress: f64,
        /// How far it has to go, in the same units, if known. Finite.
        maybe_number "total" => total: Option<f64>,
        /// What it is doing, for people.
        optional "message" => message: Option<String>,
        /// The notification's metadata, an object.
        object "_meta" => meta: Option<RawJson>,
    }
}

impl ProgressParams {
    /// How far the request with this token is.
    pub fn new(progress_token: impl Into<ProgressToken>, progress: f64) -> Self {
        Self {
            progress_token: progress_token.into(),
            progress,
            total: None,
            message: None,
            meta: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { ProgressParams {
    /// Says how far it has to go.
    with_total => total: f64,
    /// Says what it is doing.
    with_message => message: String,
    /// Sets the metadata; it must be an object.
    with_meta => meta: RawJson,
}}

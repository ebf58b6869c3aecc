//! A JSON string borrowed from the message where it has no escapes.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::ops::Deref;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A string of a message: borrowed unless it contained an escape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// The characters between the quotes, as they stand in the message.
    Borrowed(&'a str),
    /// Unescaped.
    Owned(Box<str>),
}

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Owned(text) => text,
        }
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire;
        impl<'de> Visitor<'de> for Wire {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text::Borrowed(text))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text::Owned(text.into()))
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text::Owned(text.into()))
            }
        }
        deserializer.deserialize_str(Wire)
    }
}

/// A piece of a message that is kept: where it stands in the kept copy, or its own text where unescaping
/// changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    At { start: u32, len: u32 },
    Own(Box<str>),
}

impl Piece {
    /// The place of `part`, which is a slice of `whole`, or a copy if it is not.
    pub(crate) fn of(whole: &str, part: &str) -> Self {
        let base = whole.as_ptr().addr();
        let start = part.as_ptr().addr().wrapping_sub(base);
        match (u32::try_from(start), u32::try_from(part.len())) {
            (Ok(at), Ok(len)) if whole.get(start..).is_some_and(|rest| rest.len() >= part.len()) => {
                Self::At { start: at, len }
            }
            _ => Self::Own(part.into()),
        }
    }

    pub(crate) fn text(whole: &str, text: &Text<'_>) -> Self {
        match text {
            Text::Borrowed(part) => Self::of(whole, part),
            Text::Owned(own) => Self::Own(own.clone()),
        }
    }

    /// The piece, if it is a place in `whole` and not a text of its own.
    pub(crate) fn place<'a>(&self, whole: &'a str) -> Option<&'a str> {
        match self {
            Self::At { start, len } => {
                let start = *start as usize;
                whole.get(start..start + *len as usize)
            }
            Self::Own(_) => None,
        }
    }

    /// The piece, given the copy it was taken from.
    pub(crate) fn get<'a>(&'a self, whole: &'a str) -> &'a str {
        match self {
            Self::At { .. } => self.place(whole).unwrap_or_default(),
            Self::Own(text) => text,
        }
    }
}

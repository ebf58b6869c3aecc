//! The fast way out: values append themselves to a buffer of bytes, with [`wire::write`](crate::wire::write).
//!
//! What is written equals what serialising with `serde_json` gives, except that it never spans lines.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::members::Members;
use super::raw::RawJson;
use crate::wire::write;

pub(super) trait WriteJson {
    fn write_json(&self, out: &mut Vec<u8>);
}

/// Appends a name that may need escapes, and the colon.
pub(super) fn member_name(out: &mut Vec<u8>, name: &str) {
    write::string(out, name);
    out.push(b':');
}

/// Ends an object or array whose items were each followed by a comma.
pub(super) fn close(out: &mut Vec<u8>, with: u8) {
    match out.last_mut() {
        Some(last) if *last == b',' => *last = with,
        _ => out.push(with),
    }
}

impl WriteJson for String {
    fn write_json(&self, out: &mut Vec<u8>) {
        write::string(out, self);
    }
}

impl WriteJson for bool {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl WriteJson for i64 {
    fn write_json(&self, out: &mut Vec<u8>) {
        write::int(out, *self);
    }
}

impl WriteJson for u64 {
    fn write_json(&self, out: &mut Vec<u8>) {
        write::uint(out, *self);
    }
}

impl WriteJson for f64 {
    fn write_json(&self, out: &mut Vec<u8>) {
        write::number(out, *self);
    }
}

impl WriteJson for RawJson {
    fn write_json(&self, out: &mut Vec<u8>) {
        write::raw(out, self.get());
    }
}

impl<T: WriteJson> WriteJson for Box<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        self.as_ref().write_json(out);
    }
}

impl<T: WriteJson> WriteJson for Vec<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for item in self {
            item.write_json(out);
            out.push(b',');
        }
        close(out, b']');
    }
}

impl<T: WriteJson> WriteJson for Members<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (name, value) in self.iter() {
            member_name(out, name);
            value.write_json(out);
            out.push(b',');
        }
        close(out, b'}');
    }
}

macro_rules! wire_id {
    ($($name:ident),*) => {
        $(impl WriteJson for crate::id::$name {
            fn write_json(&self, out: &mut Vec<u8>) {
                match self {
                    Self::Int(value) => write::int(out, *value),
                    Self::Str(value) => write::string(out, value),
                }
            }
        })*
    };
}

wire_id!(RequestId, ProgressToken);

/// What a response needs of a result: its members apart, since `resultType` and `_meta` are the response's to write.
macro_rules! result_body {
    ($name:ident) => {
        impl $name {
            /// Appends the members of the result, separated by commas and on one line, without the braces,
            /// `resultType` and `_meta`. Appends nothing if there are none.
            pub fn write_members(&self, out: &mut Vec<u8>) {
                let start = out.len();
                self.put(out, false);
                if out.len() > start {
                    out.pop();
                }
            }

            /// The result's `_meta`.
            pub fn meta(&self) -> Option<$crate::wire::JsonText<'_>> {
                self.meta.as_ref().map(RawJson::as_raw)
            }
        }
    };
}

pub(in crate::model) use result_body;

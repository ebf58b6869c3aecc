//! Sealed state: what is inside a seal, and what is done to the outside.

use std::sync::OnceLock;

use sansio_mcp::server::continuation::{Bound, Continuation, Record, open_state};

use crate::bytes::Bytes;
use crate::sealed_system;
use crate::sealing::{Ring, asking, call, day, ring, seal};

/// By the first byte: any bytes as what was inside a seal (nothing panics, and what is read is written as the same
/// bytes); changes to a sealed text (always refused); or calls over many rounds beside the reference of the model test.
pub fn sealed_state(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind % 4 {
        0 => inside(rest),
        1 | 2 => outside(rest),
        _ => drop(sealed_system::run(rest)),
    }
}

fn inside(bytes: &[u8]) {
    let Ok(record) = Record::decode(bytes) else { return };
    let written = record.encode().expect("what was read can be written");
    assert_eq!(written, bytes, "one record, one form");
    assert_eq!(Record::decode(&written), Ok(record));
}

struct Sealed {
    ring: Ring,
    bound: Bound,
    text: String,
}

fn sealed() -> &'static Sealed {
    static SEALED: OnceLock<Sealed> = OnceLock::new();
    SEALED.get_or_init(|| {
        let (ring, bound) = (ring(0), call(r#""name":"t","arguments":{"x":1}"#));
        let mut continuation =
            Continuation::first().next_round(asking(&[("a", 1), ("b", 2)]), None).expect("1");
        continuation.absorb(r#"{"a":{"action":"accept"}}"#);
        let continuation = continuation.next_round(asking(&[("c", 1)]), None).expect("2");
        let text = seal(&ring, &bound, &continuation, day(0));
        assert!(open_state(&ring, &text, &bound, day(1)).is_ok());
        Sealed { ring, bound, text }
    })
}

/// Edits: a place, what to do there, and a byte. What comes out, unless it is the same, does not open; nor do the bytes
/// themselves.
fn outside(bytes: &[u8]) {
    let Sealed { ring, bound, text } = sealed();
    let mut edited = text.clone().into_bytes();
    let mut edits = Bytes(bytes);
    while let (Some(at), Some(how), Some(byte)) = (edits.next(), edits.next(), edits.next()) {
        let len = edited.len();
        let at = (usize::from(at) | usize::from(how / 8) << 8) % (len + 1);
        match how % 8 {
            0 => edited.truncate(at),
            1 => edited.insert(at, byte),
            2 if at < len => drop(edited.remove(at)),
            3 => edited.rotate_left(at),
            4 if at < len => edited[at] ^= 1 << (byte % 8),
            _ if at < len => edited[at] = byte,
            _ => edited.push(byte),
        }
    }
    for changed in [String::from_utf8_lossy(&edited), String::from_utf8_lossy(bytes)] {
        if changed != *text {
            let refused = open_state(ring, &changed, bound, day(1)).expect_err("a forged state opened");
            assert_eq!(refused.reply().code, -32602);
        }
    }
}

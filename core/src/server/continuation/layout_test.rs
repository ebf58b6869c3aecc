//! What is written is read, and nothing else is.

use super::*;
use alloc::collections::BTreeMap;
use alloc::vec;
use proptest::prelude::*;

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest::from_bytes)
}

fn json(text: &str) -> RawJson {
    RawJson::from_text(text).unwrap()
}

fn record() -> impl Strategy<Value = Record> {
    let own = prop_oneof![
        Just(None),
        any::<String>().prop_map(|text| RawJson::from_value(&text).ok()),
        Just(Some(json("null"))),
        Just(Some(json("{ \"a\" : 1.0 }"))),
    ];
    let answer = (digest(), any::<String>()).prop_map(|(question, text)| Answer {
        question,
        result: RawJson::from_value(&BTreeMap::from([(text, 1)])).unwrap(),
    });
    let pending = proptest::collection::btree_map(any::<String>(), digest(), 0..4);
    let answers = proptest::collection::btree_map(any::<String>(), answer, 0..4);
    let continuation = (1..=MAX_ROUNDS, answers, pending, own)
        .prop_map(|(round, answers, pending, own)| Continuation { round, answers, pending, own });
    let bound = ("[a-z/]{0,12}", digest(), digest()).prop_map(|(method, request, caller)| Bound {
        method,
        request,
        caller,
    });
    (any::<[u64; 2]>(), bound, continuation).prop_map(|([issued, expires], bound, continuation)| Record {
        issued,
        expires,
        bound,
        continuation,
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(record in record()) {
        let bytes = record.encode().unwrap();
        prop_assert_eq!(Record::decode(&bytes), Ok(record));
    }

    #[test]
    fn what_is_read_was_written_that_way(record in record(), at: proptest::sample::Index, byte: u8, more: Vec<u8>) {
        let bytes = record.encode().unwrap();
        let mut changed = bytes.clone();
        changed[at.index(bytes.len())] = byte;
        let longer = [&bytes[..], &more].concat();
        for bytes in [changed, longer, more] {
            if let Ok(read) = Record::decode(&bytes) {
                prop_assert_eq!(read.encode(), Some(bytes));
            }
        }
    }

    #[test]
    fn any_shorter_bytes_are_refused(record in record()) {
        let bytes = record.encode().unwrap();
        for len in 0..bytes.len() {
            prop_assert_eq!(Record::decode(&bytes[..len]), Err(DecodeError::Form));
        }
    }
}

/// A record and where its parts begin.
fn plain() -> (Vec<u8>, usize) {
    let zero = Digest::from_bytes([0; 32]);
    let bound = Bound { method: "m".into(), request: zero, caller: zero };
    let continuation =
        Continuation { round: 1, answers: BTreeMap::new(), pending: Questions::new(), own: None };
    let bytes = Record { issued: 1, expires: 2, bound, continuation }.encode().unwrap();
    let own = bytes.len() - 9;
    (bytes, own)
}

#[test]
fn the_layout_is_the_documented_one() {
    let (bytes, own) = plain();
    let mut expected = vec![1, 1];
    expected.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
    expected.extend([0, 0, 0, 1, b'm']);
    expected.extend([0; 64]);
    assert_eq!(own, expected.len());
    expected.extend([0; 9]);
    assert_eq!(bytes, expected);
}

#[test]
fn other_forms_of_the_same_are_refused() {
    let (bytes, own) = plain();
    let with = |tail: &[&[u8]]| Record::decode(&[&bytes[..own], &tail.concat()].concat());
    let text = |text: &str| [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat();
    let entry = |key: &str| [text(key), vec![0; 32]].concat();
    let none = [0; 4];
    let two = [0, 0, 0, 2];
    assert!(with(&[&[0], &none, &none]).is_ok());
    assert!(with(&[&[1], &text("1"), &none, &none]).is_ok());
    assert!(with(&[&[0], &two, &entry("a"), &entry("b"), &none]).is_ok());
    let wrong: &[&[&[u8]]] = &[
        &[&[2], &none, &none],
        &[&[1], &text(" 1"), &none, &none],
        &[&[1], &text("1 "), &none, &none],
        &[&[1], &text("1 1"), &none, &none],
        &[&[1], &text(""), &none, &none],
        // Keys twice, and not in order.
        &[&[0], &two, &entry("a"), &entry("a"), &none],
        &[&[0], &two, &entry("b"), &entry("a"), &none],
        // An answer that is no object, and one that is no text.
        &[&[0], &none, &[0, 0, 0, 1], &entry("a"), &text("null")],
        &[&[0], &none, &[0, 0, 0, 1], &entry("a"), &[0, 0, 0, 2, b'{', 0xff]],
        // Counts and lengths beyond what is there: no memory is taken for them.
        &[&[0], &[0xff; 4], &none],
        &[&[0], &none, &[0xff; 4]],
        &[&[1], &[0xff; 4], b"1"],
        &[&[0], &none, &none, &[0]],
    ];
    for tail in wrong {
        assert_eq!(with(tail), Err(DecodeError::Form), "{tail:?}");
    }
    assert_eq!(Record::decode(&[&[3], &bytes[1..]].concat()), Err(DecodeError::Version));
    for round in [0, MAX_ROUNDS + 1, 0xff] {
        assert_eq!(Record::decode(&[&[1, round], &bytes[2..]].concat()), Err(DecodeError::Round));
    }
}

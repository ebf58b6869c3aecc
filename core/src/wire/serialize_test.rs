//! Against `serde_json`, over every kind of value that serde knows.
#![allow(clippy::unwrap_used)]

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::model::RawJson;

/// Written here and by `serde_json`: the same, or refused by both.
fn agree<T: Serialize + ?Sized>(value: &T) -> Option<String> {
    let mut out = b"> ".to_vec();
    let ours = super::value(&mut out, value).map(|()| String::from_utf8(out).unwrap());
    match serde_json::to_string(value) {
        Ok(theirs) => {
            assert_eq!(ours.unwrap(), ["> ", &theirs].concat());
            Some(theirs)
        }
        Err(error) => {
            assert!(ours.is_err(), "{error}");
            None
        }
    }
}

#[derive(Clone, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Unit,
    Newtype(String),
    Tuple(u8, Option<char>),
    Empty(),
    Struct { a: Vec<Kind>, b: () },
    Hollow {},
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Newtype<T>(T);

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Pair(i128, u128);

/// Serialised by `serialize_bytes`.
struct Bytes(&'static [u8]);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// A key that is a real.
#[derive(Serialize)]
struct Reals {
    #[serde(serialize_with = "by_real")]
    reals: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the form that serde wants
fn by_real<S: serde::Serializer>(real: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([(real, 1)])
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[a-z\"\\\\\u{0}-\u{20}é😀]{0,40}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            proptest::collection::btree_map("[a-z\"\n]{0,12}", inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    let leaf = prop_oneof![
        Just(Kind::Unit),
        any::<String>().prop_map(Kind::Newtype),
        any::<(u8, Option<char>)>().prop_map(|(a, b)| Kind::Tuple(a, b)),
        Just(Kind::Empty()),
        Just(Kind::Hollow {}),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        proptest::collection::vec(inner, 0..4).prop_map(|a| Kind::Struct { a, b: () })
    })
}

proptest! {
    #[test]
    fn any_json(value in json()) {
        agree(&value);
    }

    #[test]
    fn any_type(
        kinds in proptest::collection::vec(kind(), 0..4),
        signed in any::<(i8, i16, i32, i64, i128)>(),
        unsigned in any::<(u8, u16, u32, u64, u128)>(),
        reals in any::<(f32, f64)>(),
        texts in any::<(char, String, Option<String>)>(),
        keys in any::<(i64, bool, char)>(),
    ) {
        agree(&(&kinds, signed, unsigned, reals, &texts, Unit, Bytes(b"ab"), Pair(-1, 1), ()));
        agree(&BTreeMap::from([(keys.0, 1)]));
        agree(&BTreeMap::from([(keys.1, texts.1)]));
        agree(&BTreeMap::from([(Newtype(keys.2), kinds)]));
        agree(&Reals { reals: reals.1 });
    }
}

#[test]
fn keys_that_are_none_are_refused() {
    assert_eq!(agree(&BTreeMap::from([((1, 2), 3)])), None);
    assert_eq!(agree(&BTreeMap::from([(Kind::Newtype("a".into()), 3)])), None);
    assert_eq!(agree(&BTreeMap::from([(None::<u8>, 3)])), None);
    assert_eq!(agree(&Reals { reals: f64::NAN }), None);
    assert_eq!(agree(&BTreeMap::from([(Kind::Unit, 3)])).as_deref(), Some(r#"{"Unit":3}"#));
    assert_eq!(agree(&BTreeMap::from([(Some(7), 3)])).as_deref(), Some(r#"{"7":3}"#));
}

#[test]
fn what_is_json_already_is_passed_on() {
    let text = "{\"b\" : 1.0e2,\n\"a\":\"\\u00e9\\\\\"}".to_string();
    let raw: Box<RawValue> = RawValue::from_string(text.clone()).unwrap();
    assert_eq!(agree(&raw).as_deref(), Some(&*text));
    let json = RawJson::from_text(text.clone()).unwrap();
    assert_eq!(agree(&Newtype([&json])), Some(["[", &text, "]"].concat()));
}

//! Which texts share a digest, against `serde_json` and by hand.

use super::*;
use alloc::format;
use alloc::string::{String, ToString};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

fn digest_without(text: &str, without: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    feed(text, without, &mut hash);
    hash.finalize().into()
}

fn digest(text: &str) -> [u8; 32] {
    digest_without(text, &[])
}

/// Values whose numbers are whole, so that `serde_json` compares them as they are.
fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-c]{0,2}", "[\u{0}-\u{7f}]{0,4}", any::<String>()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-20_i64..20).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let key = prop_oneof!["[a-c]{0,2}", any::<String>()];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Another way to write the value, of those that `choices` picks from.
fn respell(value: &Value, choices: &mut dyn FnMut(usize) -> usize) -> String {
    let space = |choices: &mut dyn FnMut(usize) -> usize| [" ", "", "\t", "\r\n  "][choices(4)].to_string();
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(number) => {
            let plain = number.to_string();
            match choices(4) {
                0 => plain,
                3 if plain == "0" => "-0.0e-7".into(),
                1 => format!("{plain}.0"),
                2 => format!("{plain}e+0"),
                _ => format!("{plain}00.000E-2"),
            }
        }
        Value::String(text) => {
            let mut out = String::from("\"");
            for c in text.chars() {
                if choices(3) == 0 || c < ' ' || c == '"' || c == '\\' {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.push_str(&if choices(2) == 0 {
                            format!("\\u{unit:04x}")
                        } else {
                            format!("\\u{unit:04X}")
                        });
                    }
                } else {
                    out.push(c);
                }
            }
            out + "\""
        }
        Value::Array(items) => {
            let mut out = String::from("[");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out += &space(choices);
                out += &respell(item, choices);
                out += &space(choices);
            }
            out + "]"
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            let mut out = String::from("{");
            while !members.is_empty() {
                let (key, value) = members.remove(choices(members.len()));
                out += &space(choices);
                out += &respell(&Value::from(key.as_str()), choices);
                out += &format!("{}:{}", space(choices), space(choices));
                out += &respell(value, choices);
                if !members.is_empty() {
                    out.push(',');
                }
            }
            out + "}"
        }
    }
}

/// Changes one leaf, key or length.
fn change(value: &mut Value, at: Index) {
    match value {
        Value::Null => *value = Value::from(false),
        Value::Bool(bool) => *bool = !*bool,
        Value::Number(number) => *value = Value::from(number.as_i64().unwrap_or(0).wrapping_add(1)),
        Value::String(text) => text.push('x'),
        Value::Array(items) if items.is_empty() => items.push(Value::Null),
        Value::Array(items) => {
            let place = at.index(items.len() + 1);
            match items.get_mut(place) {
                Some(item) => change(item, at),
                None => items.push(Value::from(0)),
            }
        }
        Value::Object(members) if members.is_empty() => {
            members.insert("new".into(), Value::Null);
        }
        Value::Object(members) => {
            let key = members.keys().nth(at.index(members.len())).cloned().unwrap_or_default();
            if let Some(mut inner) = members.remove(&key) {
                if at.index(2) == 0 {
                    change(&mut inner, at);
                    members.insert(key, inner);
                } else {
                    members.insert(key + "'", inner);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn two_values_share_a_digest_exactly_when_they_are_equal(one in value(), two in value()) {
        prop_assert_eq!(digest(&one.to_string()) == digest(&two.to_string()), one == two);
    }

    #[test]
    fn how_a_value_is_written_does_not_matter(value in value(), picks in proptest::collection::vec(any::<Index>(), 64)) {
        let mut next = 0;
        let text = respell(&value, &mut |of| {
            next += 1;
            picks[next % picks.len()].index(of)
        });
        prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok(), "{}", text);
        prop_assert_eq!(digest(&text), digest(&value.to_string()), "{}", text);
    }

    #[test]
    fn any_change_of_a_value_matters(value in value(), at in any::<Index>()) {
        let mut changed = value.clone();
        change(&mut changed, at);
        prop_assume!(changed != value);
        prop_assert_ne!(digest(&changed.to_string()), digest(&value.to_string()));
    }

    #[test]
    fn any_text_has_a_digest(text in any::<String>(), json in "[\\[\\]{}\",:\\\\u0-9a-f eE.+-]{0,40}") {
        digest(&text);
        digest(&json);
        digest_without(&json, &["a"]);
    }

    #[test]
    fn members_left_out_do_not_matter(value in value(), left in value()) {
        let text = |more: &str| format!(r#"{{"v":{value}{more}}}"#);
        let with = text(&format!(r#","_m\u0065ta":{left},"_meta":0"#));
        prop_assert_eq!(digest_without(&with, &["_meta"]), digest(&text("")));
        prop_assert_ne!(digest(&with), digest(&text("")));
    }
}

#[test]
fn kinds_of_value_are_told_apart() {
    let texts = [
        "null",
        "false",
        "true",
        "0",
        "1",
        "\"\"",
        "\"0\"",
        "\"1\"",
        "\"null\"",
        "[]",
        "{}",
        "[0]",
        "[[]]",
        "[{}]",
        "[0,0]",
        "[[0],0]",
        "[0,[0]]",
        "[[0,0]]",
        r#"{"":0}"#,
        r#"{"0":0}"#,
        r#"{"a":{}}"#,
        r#"{"a":[]}"#,
        r#"{"a":"b"}"#,
        r#"{"a":"","b":""}"#,
        r#"["a","b"]"#,
        r#"["ab"]"#,
        r#"["a",["b"]]"#,
        r#"{"a":{"b":0}}"#,
        r#"{"a":0,"b":0}"#,
        // Repeated keys, in either order, are neither one of the values alone.
        r#"{"a":1,"a":2}"#,
        r#"{"a":2,"a":1}"#,
        r#"{"a":1}"#,
        r#"{"a":2}"#,
        // Halves of a surrogate pair, which no other text may stand for.
        r#""\ud800""#,
        r#""\ud801""#,
        r#""\udc00""#,
        r#""\ud800\ud800\udc00""#,
        r#""\ud800\udc00""#,
        r#""\udc00\ud800""#,
        r#""\ufffd""#,
        r#""\\ud800""#,
        // No JSON.
        "",
        "[",
        "[0",
        "[0,]",
        "{\"a\"}",
        "{\"a\":}",
        "nul",
        "0 0",
        "\"\\x\"",
        "\"\\u12\"",
        "\"",
        "]",
        "-",
    ];
    for (at, one) in texts.iter().enumerate() {
        for (other, two) in texts.iter().enumerate() {
            assert_eq!(digest(one) == digest(two), at == other, "{one} {two}");
        }
    }
    // Nor does what one value ends with run into what the next begins with.
    let ends = [
        "{\"a\":null,\"x\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0001\":1}",
        "{\"a\":null,\"d0\":1}",
        "{\"a\":0,\"\":1}",
        "{\"a\":[null,0]}",
        "{\"a\":[null],\"d0]\":0}",
        "{\"a\":\"\",\"b\":null}",
        "{\"a\":\"\u{7f}b\"}",
    ];
    for (at, one) in ends.iter().enumerate() {
        for (other, two) in ends.iter().enumerate() {
            assert_eq!(digest(one) == digest(two), at == other, "{one} {two}");
        }
    }
    assert_eq!(digest(r#""\ud83d\ude00""#), digest("\"\u{1f600}\""));
    assert_eq!(digest(r#"{"\u0062":1,"a\/":2}"#), digest(r#"{ "a/" : 2.0, "b" : 1e0 }"#));
}

#[test]
fn a_member_is_fed_like_a_value_of_its_own() {
    let member = |text: &str| {
        let mut hash = Sha256::new();
        feed_member(text, "params", &["_meta"], &mut hash);
        <[u8; 32]>::from(hash.finalize())
    };
    let params = r#"{ "b" : [1, {}], "a" : "\u0041", "_meta" : {"params":0} }"#;
    for text in [
        format!(r#"{{"params":{params},"id":1}}"#),
        format!(r#" {{ "id" : "params" , "x" : {{"params":[1]}} , "par\u0061ms" :{params} }} "#),
    ] {
        assert_eq!(member(&text), digest(r#"{"a":"A","b":[1.0,{}]}"#), "{text}");
    }
    assert_ne!(member(r#"{"id":1}"#), digest("null"));
    assert_ne!(member(r#"{"params":{"a":1}}"#), member(r#"{"params":{"a":2}}"#));
}

#[test]
fn long_objects_are_in_order_too() {
    let long = |first: &str, last: &str| {
        let member = |key: &str| format!("\"{key}\":{{\"b\":\"{}\",\"a\":1}}", key.repeat(INLINE));
        format!("{{{},{},\"in\":{{{},{}}}}}", member(first), member(last), member(last), member(first))
    };
    assert_eq!(digest(&long("x", "y")), digest(&long("y", "x")));
    assert_ne!(digest(&long("x", "y")), digest(&long("x", "z")));
    let hash = "0".repeat(32);
    assert_ne!(digest(&format!("{{\"h{hash}\":1}}")), digest(&format!("\"h{hash}\"")));
}

#[test]
fn nesting_beyond_the_limit_is_taken_as_written() {
    let nested = |levels: usize, inner: &str| format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels));
    let deep = MAX_NESTING;
    assert_eq!(digest(&nested(deep, "1")), digest(&nested(deep, " 1.0 ")));
    assert_ne!(digest(&nested(deep + 1, "1")), digest(&nested(deep + 1, "1.0")));
    assert_ne!(digest(&nested(deep + 1, "1")), digest(&nested(deep + 1, "2")));
    // What surrounds the deep part is still read, and brackets in its strings do not count.
    let around = |deep: &str| [format!(r#"{{"a":{deep},"b":1}}"#), format!(r#"{{"b":1.0,"a":{deep}}}"#)];
    let [one, two] = around(&nested(deep, r#"[{"]\"}":"["}]"#));
    assert_eq!(digest(&one), digest(&two));
    // A hundred thousand levels: no recursion into them.
    let levels = 100_000;
    let all: [_; 2] = ["1", "2"].map(|inner| digest(&format!(r#"{{"a":{},"b":0}}"#, nested(levels, inner))));
    assert_ne!(all[0], all[1]);
    digest(&"[".repeat(levels));
    digest(&r#"{"a":"#.repeat(levels));
}

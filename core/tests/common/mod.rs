//! Short ways to read and write JSON.
#![allow(dead_code, unreachable_pub)] // Not every test file uses all of it.
#![allow(clippy::unwrap_used)]

use sansio_mcp::model::RawJson;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub fn read<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

pub fn refusal<T: DeserializeOwned>(json: &str) -> String {
    match serde_json::from_str::<T>(json) {
        Ok(_) => panic!("accepted: {json}"),
        Err(error) => error.to_string(),
    }
}

pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

pub fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

pub fn raw(json: &str) -> RawJson {
    RawJson::from_text(json).unwrap()
}

#[track_caller]
pub fn same<T: DeserializeOwned + Serialize>(text: &str) {
    assert_eq!(json(&read::<T>(text)), text);
}

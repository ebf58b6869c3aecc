//! `PROMISES.md` names what there is: every row for a promise or an edge case stands in it, and what stands in it exists.
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Whether a test speaks for a promise (`p4_..`, `c10_..`, `e6_..`) or for an edge case (`edge_07_..`).
fn speaks_for_something(name: &str) -> bool {
    let id = name.split('_').next().unwrap_or_default();
    let numbered = id.len() > 1 && id[1..].bytes().all(|byte| byte.is_ascii_digit());
    name.starts_with("edge_") || numbered && id.starts_with(['p', 'c', 'e', 'm'])
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && speaks_for_something(text)
}

fn sources(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(path).unwrap();
            let names = text.split("fn ").skip(1).filter_map(|rest| rest.split('(').next());
            found.extend(names.filter(|name| is_name(name)).map(str::to_owned));
        }
    }
}

#[test]
fn every_row_is_named_and_every_name_is_a_row() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = BTreeSet::new();
    for folder in ["tests", "../core/tests", "../sdk/src", "../transport-http/tests"] {
        sources(&here.join(folder), &mut rows);
    }
    assert!(rows.len() > 100, "{} rows: where are they?", rows.len());
    let document = fs::read_to_string(here.join("PROMISES.md")).unwrap();
    // A name in full stands between backquotes; shortened it has dots, or is its number alone.
    let named: BTreeSet<String> = document
        .split('`')
        .filter(|text| is_name(text) && text.split('_').count() > 2)
        .map(str::to_owned)
        .collect();
    let unnamed: Vec<&String> = rows.difference(&named).collect();
    assert!(unnamed.is_empty(), "not in PROMISES.md: {unnamed:#?}");
    let unknown: Vec<&String> = named.difference(&rows).collect();
    assert!(unknown.is_empty(), "in PROMISES.md and nowhere else: {unknown:#?}");
}

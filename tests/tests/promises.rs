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

/// The names of such tests in a text, each of which `begins` comes before.
fn names_after<'a>(text: &'a str, begins: &str) -> impl Iterator<Item = &'a str> {
    let name = |rest: &'a str| {
        let end =
            rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        &rest[..end]
    };
    text.split(begins).skip(1).map(name).filter(|name| speaks_for_something(name))
}

fn sources(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(path).unwrap();
            found.extend(names_after(&text, "fn ").map(str::to_owned));
        }
    }
}

#[test]
fn every_row_is_named_and_every_name_is_a_row() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = BTreeSet::new();
    for folder in ["tests", "../core/tests", "../sdk/src"] {
        sources(&here.join(folder), &mut rows);
    }
    assert!(rows.len() > 100, "{} rows: where are they?", rows.len());
    let document = fs::read_to_string(here.join("PROMISES.md")).unwrap();
    // Outside the tables of breakages a name may be shortened: `p4_..`.
    let named: BTreeSet<String> =
        names_after(&document, "`").filter(|name| !name.ends_with('_')).map(str::to_owned).collect();
    let unnamed: Vec<&String> = rows.difference(&named).collect();
    assert!(unnamed.is_empty(), "not in PROMISES.md: {unnamed:#?}");
    let unknown: Vec<&String> = named.difference(&rows).filter(|name| name.len() > "edge_36".len()).collect();
    assert!(unknown.is_empty(), "in PROMISES.md and nowhere else: {unknown:#?}");
}

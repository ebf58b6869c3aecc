//! The judge, against results that are as they should be and against each way in which they can be otherwise.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use sansio_mcp_conformance::judge::{Fault, Found, ResultsError, Side, Table, TableError, judge, read};

const TABLE: &str = "# a comment
-\ttasks-
server\ttools-list\tSUCCESS\ttools-list\t1
server\ttools-list\tSUCCESS\twire-schema-valid\t1
server\tstateless\tSUCCESS\tmeta-400\t3
client\theaders\tSUCCESS\theader\t9
client\theaders\tSKIPPED\theader\t2
";

fn table() -> Table {
    let mut table = Table::default();
    table.add(TABLE).unwrap();
    table
}

type All = BTreeMap<String, Vec<Found>>;

fn check(id: &str, status: &str) -> Found {
    let error_message = (status != "SUCCESS").then(|| "why".to_owned());
    Found { id: id.to_owned(), status: status.to_owned(), name: "Name".to_owned(), error_message }
}

/// As the table wants it.
fn server() -> All {
    let list = vec![check("tools-list", "SUCCESS"), check("wire-schema-valid", "SUCCESS")];
    let stateless = vec![check("meta-400", "SUCCESS"); 3];
    [("tools-list".to_owned(), list), ("stateless".to_owned(), stateless)].into()
}

fn faults(side: Side, found: &All) -> Vec<(String, Vec<Fault>)> {
    let verdicts = judge(&table(), side, found).into_iter();
    verdicts.filter(|it| !it.faults.is_empty()).map(|it| (it.scenario, it.faults)).collect()
}

/// The faults of results that were changed, of which there is one scenario.
fn broken(change: impl FnOnce(&mut All)) -> (String, Vec<String>) {
    let mut found = server();
    change(&mut found);
    let mut faults = faults(Side::Server, &found);
    assert_eq!(faults.len(), 1, "{faults:?}");
    let (scenario, faults) = faults.remove(0);
    (scenario, faults.iter().map(Fault::to_string).collect())
}

fn of(scenario: &str, faults: &[&str]) -> (String, Vec<String>) {
    (scenario.to_owned(), faults.iter().map(|&fault| fault.to_owned()).collect())
}

#[test]
fn what_is_as_it_has_to_be_passes() {
    assert_eq!(faults(Side::Server, &server()), []);
    let verdicts = judge(&table(), Side::Server, &server());
    let counts: Vec<_> = verdicts.iter().map(|it| (it.scenario.as_str(), it.successes, it.skipped)).collect();
    assert_eq!(counts, [("tools-list", 2, 0), ("stateless", 3, 0)]);
    let mut headers = vec![check("header", "SUCCESS"); 9];
    headers.extend(vec![check("header", "SKIPPED"); 2]);
    assert_eq!(faults(Side::Client, &[("headers".to_owned(), headers)].into()), []);
}

#[test]
fn a_failure_and_a_warning_are_faults() {
    let failed = broken(|all| all.get_mut("stateless").unwrap()[1].status = "FAILURE".to_owned());
    let faults = ["FAILURE meta-400: Name: no reason given", "meta-400: 2 times SUCCESS, and not 3"];
    assert_eq!(failed, of("stateless", &faults));
    // One more than there has to be is no better.
    let warned = broken(|all| all.get_mut("stateless").unwrap().push(check("meta-400", "WARNING")));
    assert_eq!(warned, of("stateless", &["WARNING meta-400: Name: why"]));
    let other = broken(|all| all.get_mut("tools-list").unwrap().push(check("other", "FAILURE")));
    assert_eq!(other, of("tools-list", &["FAILURE other: Name: why"]));
}

#[test]
fn what_is_missing_is_a_fault() {
    let scenario = broken(|all| drop(all.remove("tools-list")));
    assert_eq!(scenario, of("tools-list", &["there is no result of it"]));
    let check = broken(|all| drop(all.get_mut("tools-list").unwrap().remove(0)));
    assert_eq!(check, of("tools-list", &["tools-list: 0 times SUCCESS, and not 1"]));
    let one_of_three = broken(|all| drop(all.get_mut("stateless").unwrap().pop()));
    assert_eq!(one_of_three, of("stateless", &["meta-400: 2 times SUCCESS, and not 3"]));
    let all = broken(|all| all.get_mut("stateless").unwrap().clear());
    assert_eq!(all, of("stateless", &["meta-400: 0 times SUCCESS, and not 3"]));
}

#[test]
fn skipped_and_informed_are_not_success() {
    for status in ["SKIPPED", "INFO"] {
        let instead = broken(|all| all.get_mut("tools-list").unwrap()[0].status = status.to_owned());
        let faults = [
            "tools-list: 0 times SUCCESS, and not 1".to_owned(),
            format!("tools-list: 1 times {status}, and not 0"),
        ];
        assert_eq!(instead, ("tools-list".to_owned(), faults.to_vec()));
    }
    let headers = vec![check("header", "SUCCESS"); 11];
    let better = faults(Side::Client, &[("headers".to_owned(), headers)].into());
    assert_eq!(better[0].1.len(), 2, "a check that was thought not to apply did: {better:?}");
}

#[test]
fn more_than_expected_is_listed_too() {
    let more = broken(|all| all.get_mut("stateless").unwrap().push(check("meta-400", "SUCCESS")));
    assert_eq!(more, of("stateless", &["meta-400: 4 times SUCCESS, and not 3"]));
    let new = broken(|all| all.get_mut("tools-list").unwrap().push(check("new", "SUCCESS")));
    assert_eq!(new, of("tools-list", &["new: 1 times SUCCESS, and not 0"]));
    let scenario = broken(|all| drop(all.insert("brand-new".to_owned(), vec![check("x", "SUCCESS")])));
    assert_eq!(scenario, of("brand-new", &["the table does not know it"]));
    let mut left_out = server();
    left_out.insert("tasks-lifecycle".to_owned(), vec![check("x", "FAILURE")]);
    assert_eq!(faults(Side::Server, &left_out), []);
}

#[test]
fn a_later_table_stands_in_place_of_an_earlier_one() {
    let mut table = table();
    table.add("server\tstateless\tINFO\tmeta-400\t1\n").unwrap();
    let mut found = server();
    found.insert("stateless".to_owned(), vec![check("meta-400", "INFO")]);
    assert!(judge(&table, Side::Server, &found).iter().all(|it| it.faults.is_empty()));
    assert_eq!(table.of(Side::Server).count(), 2);
}

#[test]
fn a_table_that_is_none_is_refused() {
    for line in [
        "server\ttools-list\tSUCCESS\ttools-list",
        "server\ttools-list\tSUCCESS\ttools-list\t0",
        "server\ttools-list\tSUCCESS\ttools-list\tmany",
        "proxy\ttools-list\tSUCCESS\ttools-list\t1",
        "server tools-list SUCCESS tools-list 1",
        "server\ttools-list\tSUCCESS\ta\t1\nserver\ttools-list\tSUCCESS\ta\t2",
    ] {
        let number = line.lines().count();
        assert_eq!(Table::default().add(line), Err(TableError(number)), "{line:?}");
    }
}

/// The table that is used: as many checks as the suite is known to make.
#[test]
fn the_table_has_every_scenario() {
    let mut table = Table::default();
    table.add(include_str!("../expected.tsv")).unwrap();
    let sum = |side| -> (usize, usize) {
        (table.of(side).count(), table.of(side).flat_map(|(_, counts)| counts.values()).sum())
    };
    assert_eq!((sum(Side::Server), sum(Side::Client)), ((40, 153), (8, 66)));
    assert!(
        table.leaves_out("tasks-lifecycle")
            && table.leaves_out("auth/dpop")
            && !table.leaves_out("tools-list")
    );
}

#[test]
fn results_are_read_from_the_folders_of_the_suite() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("judge");
    drop(fs::remove_dir_all(&folder));
    let put = |name: &str, text: &str| {
        let at = folder.join(name);
        fs::create_dir_all(&at).unwrap();
        fs::write(at.join("checks.json"), text).unwrap();
    };
    let json =
        r#"[{"id":"a","name":"A","description":"","status":"SUCCESS","timestamp":"","details":{"x":1}}]"#;
    put("server-tools-list-2026-11-30T09-41-00-123Z", json);
    put("auth/dpop-2026-11-30T09-41-00-123Z", "[]");
    fs::create_dir_all(folder.join("server-ended-early-2026-11-30T09-41-00-123Z")).unwrap();
    let found = read(&folder, Side::Server).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["auth/dpop", "tools-list"]);
    assert_eq!(
        (found["tools-list"][0].id.as_str(), found["tools-list"][0].status.as_str()),
        ("a", "SUCCESS")
    );
    put("server-tools-list-2026-11-30T09-42-00-123Z", json);
    assert!(matches!(read(&folder, Side::Server), Err(ResultsError::Twice(name)) if name == "tools-list"));
    put("server-tools-list-2026-11-30T09-42-00-123Z", "{");
    assert!(matches!(read(&folder, Side::Server), Err(ResultsError::Json(..))));
    assert!(matches!(read(&folder.join("nothing"), Side::Server), Err(ResultsError::Io(..))));
}

//! What came of it.

use std::collections::BTreeMap;
use std::fmt;

use super::results::Found;
use super::table::{Counts, Side, Table};

/// What is wrong with a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It was not run, or not to its end.
    Missing,
    /// The table does not know it.
    Unknown,
    /// A check failed or warned, and why.
    Bad {
        /// `FAILURE` or `WARNING`.
        status: String,
        /// Which check.
        check: String,
        /// What of it, and why.
        why: String,
    },
    /// A check was not made as often as it has to be, with this status.
    Count {
        /// The status that it has to have.
        status: String,
        /// Which check.
        check: String,
        /// How often it has to be made.
        expected: usize,
        /// How often it was made.
        found: usize,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no result of it"),
            Self::Unknown => f.write_str("the table does not know it"),
            Self::Bad { status, check, why } => write!(f, "{status} {check}: {why}"),
            Self::Count { status, check, expected, found } => {
                write!(f, "{check}: {found} times {status}, and not {expected}")
            }
        }
    }
}

/// What came of one scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Its name.
    pub scenario: String,
    /// Checks that succeeded.
    pub successes: usize,
    /// Checks that did not apply.
    pub skipped: usize,
    /// Nothing of this, or it fails.
    pub faults: Vec<Fault>,
}

/// Judges every scenario of a side: those of the table in its order, then those it does not know.
pub fn judge(table: &Table, side: Side, found: &BTreeMap<String, Vec<Found>>) -> Vec<Verdict> {
    let of_table = table.of(side).map(|(name, counts)| one(name, counts, found.get(name).map(Vec::as_slice)));
    let known = |name: &str| table.of(side).any(|(there, _)| there == name) || table.leaves_out(name);
    let unknown = found.iter().filter(|(name, _)| !known(name)).map(|(name, checks)| Verdict {
        scenario: name.clone(),
        successes: of_status(checks, "SUCCESS"),
        skipped: of_status(checks, "SKIPPED"),
        faults: vec![Fault::Unknown],
    });
    of_table.chain(unknown).collect()
}

fn of_status(checks: &[Found], status: &str) -> usize {
    checks.iter().filter(|check| check.status == status).count()
}

fn one(scenario: &str, expected: &Counts, found: Option<&[Found]>) -> Verdict {
    let mut faults = Vec::new();
    if found.is_none() {
        faults.push(Fault::Missing);
    }
    let found = found.unwrap_or_default();
    let mut counts = Counts::new();
    for check in found {
        if matches!(check.status.as_str(), "FAILURE" | "WARNING") {
            let why = check.error_message.as_deref().unwrap_or("no reason given");
            faults.push(Fault::Bad {
                status: check.status.clone(),
                check: check.id.clone(),
                why: format!("{}: {why}", check.name),
            });
        } else {
            *counts.entry((check.id.clone(), check.status.clone())).or_default() += 1;
        }
    }
    let both = expected.keys().chain(counts.keys().filter(|key| !expected.contains_key(*key)));
    for key in both {
        let (expected, found) =
            (expected.get(key).copied().unwrap_or(0), counts.get(key).copied().unwrap_or(0));
        if expected != found && !faults.contains(&Fault::Missing) {
            let (check, status) = key.clone();
            faults.push(Fault::Count { status, check, expected, found });
        }
    }
    Verdict {
        scenario: scenario.to_owned(),
        successes: of_status(found, "SUCCESS"),
        skipped: of_status(found, "SKIPPED"),
        faults,
    }
}

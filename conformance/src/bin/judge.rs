//! Judges what the conformance suite found.
//!
//! ```text
//! judge server|client RESULTS TABLE...
//! ```
//!
//! `RESULTS` is the folder that the suite was told to write to. The scenarios of a later table stand in place of those of an
//! earlier one. The exit code is 0 when nothing is at fault, 1 when something is, 2 when it cannot be judged.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use sansio_mcp_conformance::judge::{self, Side, Table, Verdict};

fn main() -> ExitCode {
    let words: Vec<_> = env::args().skip(1).collect();
    match judged(&words) {
        Ok(verdicts) => told(&verdicts),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn judged(words: &[String]) -> Result<Vec<Verdict>, String> {
    let usage = || "usage: judge server|client RESULTS TABLE...".to_owned();
    let [side, results, tables @ ..] = words else { return Err(usage()) };
    let side: Side = side.parse().map_err(|()| usage())?;
    if tables.is_empty() {
        return Err(usage());
    }
    let mut table = Table::default();
    for path in tables {
        let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        table.add(&text).map_err(|error| format!("{path}: {error}"))?;
    }
    let found = judge::read(Path::new(results), side).map_err(|error| error.to_string())?;
    Ok(judge::judge(&table, side, &found))
}

/// One line a scenario, and one for each thing that is wrong with it.
fn told(verdicts: &[Verdict]) -> ExitCode {
    for Verdict { scenario, successes, skipped, faults } in verdicts {
        let word = if faults.is_empty() { "PASS" } else { "FAIL" };
        let beside = if *skipped > 0 { format!(" ({skipped} skipped)") } else { String::new() };
        println!("{word} {scenario}: {successes}{beside}");
        for fault in faults {
            println!("     {fault}");
        }
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.faults.is_empty()).count();
    let checks: usize = verdicts.iter().map(|verdict| verdict.successes).sum();
    println!("{} scenarios passed with {checks} checks, {failed} failed", verdicts.len() - failed);
    if failed == 0 && !verdicts.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

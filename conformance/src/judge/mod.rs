//! Holds what the suite found against a table of what it has to find.
//!
//! The suite's own exit code lets warnings and skipped checks through, and says nothing of a check that was never made. Here
//! every scenario of the table has to be there, with exactly the checks that the table has, each with the status that it
//! has there; a failure or a warning is a fault whatever the table says. What a table does not know is a fault too,
//! except for the scenarios that it leaves out by name: so a newer suite is looked at before it is believed.

mod results;
mod table;
mod verdict;

pub use results::{Found, ResultsError, read};
pub use table::{Counts, Side, Table, TableError};
pub use verdict::{Fault, Verdict, judge};

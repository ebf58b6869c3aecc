//! What has to be found.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// How often each check of a scenario is made with each status.
pub type Counts = BTreeMap<(String, String), usize>;

/// What is tested.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// The server.
    Server,
    /// The client.
    Client,
}

impl FromStr for Side {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "server" => Ok(Self::Server),
            "client" => Ok(Self::Client),
            _ => Err(()),
        }
    }
}

/// Scenarios and their checks, in the order of the table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    scenarios: Vec<(Side, String, Counts)>,
    left_out: Vec<String>,
}

/// A line of a table that is not of its form; the number of the line, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableError(pub usize);

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the table is not `side scenario status check count`, nor `- prefix`", self.0)
    }
}

impl std::error::Error for TableError {}

impl Table {
    /// Adds the scenarios of a text, in place of those that are there already. Its lines have five columns, apart by tabs:
    /// side, scenario, status, check, count; or two, `-` and how the names of scenarios begin that are left out. What
    /// begins with `#` is a comment.
    ///
    /// # Errors
    /// A line is of another form.
    pub fn add(&mut self, text: &str) -> Result<(), TableError> {
        let mut added: Vec<(Side, String, Counts)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["-", prefix] => self.left_out.push(prefix.to_owned()),
                [side, scenario, status, check, count] => {
                    let side = side.parse().map_err(|()| TableError(number))?;
                    let count = count.parse().ok().filter(|count| *count > 0).ok_or(TableError(number))?;
                    let at = added.iter().position(|(s, name, _)| *s == side && name == scenario);
                    let at = at.unwrap_or_else(|| {
                        added.push((side, scenario.to_owned(), Counts::new()));
                        added.len() - 1
                    });
                    if added[at].2.insert((check.to_owned(), status.to_owned()), count).is_some() {
                        return Err(TableError(number));
                    }
                }
                _ => return Err(TableError(number)),
            }
        }
        for (side, name, counts) in added {
            match self.scenarios.iter_mut().find(|(s, there, _)| *s == side && *there == name) {
                Some((.., there)) => *there = counts,
                None => self.scenarios.push((side, name, counts)),
            }
        }
        Ok(())
    }

    /// The scenarios of a side.
    pub fn of(&self, side: Side) -> impl Iterator<Item = (&str, &Counts)> {
        self.scenarios.iter().filter(move |(s, ..)| *s == side).map(|(_, name, counts)| (&**name, counts))
    }

    /// Whether a scenario is left out by its name.
    pub fn leaves_out(&self, scenario: &str) -> bool {
        self.left_out.iter().any(|prefix| scenario.starts_with(prefix.as_str()))
    }
}

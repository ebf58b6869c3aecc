//! What was found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use serde::Deserialize;

use super::table::Side;

/// One check of the suite.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// Which check.
    pub id: String,
    /// `SUCCESS`, `FAILURE`, `WARNING`, `SKIPPED`, `INFO`.
    pub status: String,
    /// What of it: several checks of one scenario may have one id.
    #[serde(default)]
    pub name: String,
    /// Why it is no success.
    #[serde(default)]
    pub error_message: Option<String>,
}

/// Why results cannot be read.
#[derive(Debug)]
pub enum ResultsError {
    /// A folder or file cannot be read.
    Io(PathBuf, io::Error),
    /// A `checks.json` is not one.
    Json(PathBuf, serde_json::Error),
    /// A scenario was run twice: which of the two counts?
    Twice(String),
}

impl fmt::Display for ResultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Json(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Twice(scenario) => write!(f, "there are two results of {scenario}"),
        }
    }
}

impl std::error::Error for ResultsError {}

/// The checks of each scenario in a folder of the suite's, which has one for each run: `server-NAME-TIME`, or `NAME-TIME` for
/// a client, where a `/` in the name is a folder in between.
///
/// # Errors
/// Something cannot be read, or a scenario is there twice. A folder without `checks.json` is a scenario that did not come to its
/// end: it is not there.
pub fn read(folder: &Path, side: Side) -> Result<BTreeMap<String, Vec<Found>>, ResultsError> {
    let mut found = BTreeMap::new();
    walk(folder, "", side, &mut found)?;
    Ok(found)
}

fn walk(
    folder: &Path,
    above: &str,
    side: Side,
    found: &mut BTreeMap<String, Vec<Found>>,
) -> Result<(), ResultsError> {
    let io = |error| ResultsError::Io(folder.to_owned(), error);
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_dir()) else {
            continue;
        };
        let name = format!("{above}{name}");
        let checks = path.join("checks.json");
        if !checks.is_file() {
            walk(&path, &format!("{name}/"), side, found)?;
            continue;
        }
        let text = fs::read_to_string(&checks).map_err(|error| ResultsError::Io(checks.clone(), error))?;
        let list = serde_json::from_str(&text).map_err(|error| ResultsError::Json(checks, error))?;
        let scenario = scenario(&name, side);
        if found.insert(scenario.to_owned(), list).is_some() {
            return Err(ResultsError::Twice(scenario.to_owned()));
        }
    }
    Ok(())
}

/// The name of a scenario from that of its folder.
fn scenario(folder: &str, side: Side) -> &str {
    const TIME: usize = "-2026-01-31T12-34-56-789Z".len();
    let name = match side {
        Side::Server => folder.strip_prefix("server-").unwrap_or(folder),
        Side::Client => folder,
    };
    let begin = name.len().saturating_sub(TIME);
    match name.get(begin..) {
        Some(time) if time.starts_with('-') && time.ends_with('Z') && time.contains('T') => &name[..begin],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_the_name_of_its_scenario_and_the_time() {
        let time = "2026-11-30T09-41-00-123Z";
        assert_eq!(scenario(&format!("server-tools-list-{time}"), Side::Server), "tools-list");
        assert_eq!(scenario(&format!("server-server-stateless-{time}"), Side::Server), "server-stateless");
        assert_eq!(scenario(&format!("auth/iss-supported-{time}"), Side::Client), "auth/iss-supported");
        assert_eq!(scenario(&format!("tools_call-{time}"), Side::Client), "tools_call");
        assert_eq!(scenario("tools-list", Side::Server), "tools-list");
        assert_eq!(scenario("", Side::Client), "");
    }
}

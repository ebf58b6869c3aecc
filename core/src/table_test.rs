//! Compares a table's documentation with what its `step` does.

use alloc::string::String;

/// The rows between the markers of `source` must be `rendered`.
pub(crate) fn assert_documented(source: &str, rendered: &str) {
    let rows: String = source
        .lines()
        .skip_while(|line| !line.contains("<!-- table -->"))
        .take_while(|line| !line.contains("<!-- end -->"))
        .filter(|line| line.starts_with("//! | "))
        .skip(2) // heading and rule
        .flat_map(|line| [line, "\n"])
        .collect();
    assert!(rows == rendered, "the documented table is not what step() does; it should read:\n{rendered}");
}

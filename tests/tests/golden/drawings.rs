//! Which drawings there are, and what plays each.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::stage::{golden, writing};
use crate::{asking, basic, changes, http, lists, sampling};

/// Why a drawing is not played.
enum Shown {
    /// The flows that play it; several where it draws alternatives.
    By(&'static [&'static str]),
    /// It is not played yet, for this reason.
    Later(&'static str),
}

use Shown::{By, Later};

const OAUTH: &str = "draws OAuth over HTTP: no message of the protocol but what follows it";

/// Page, which of its drawings, how many arrows it has, and what plays it.
const DRAWINGS: &[(&str, usize, usize, Shown)] = &[
    ("architecture/index.mdx", 1, 13, By(&["architecture"])),
    ("basic/authorization/authorization-server-discovery.mdx", 1, 14, Later(OAUTH)),
    ("basic/authorization/client-registration.mdx", 1, 14, Later(OAUTH)),
    ("basic/authorization/index.mdx", 1, 18, Later(OAUTH)),
    ("basic/patterns/cancellation.mdx", 1, 2, By(&["cancellation", "cancellation_too_late"])),
    ("basic/patterns/index.mdx", 1, 3, By(&["request_and_response"])),
    ("basic/patterns/index.mdx", 2, 4, By(&["multi_round_trip"])),
    ("basic/patterns/index.mdx", 3, 3, By(&["subscription"])),
    ("basic/patterns/mrtr.mdx", 1, 4, By(&["more_input"])),
    ("basic/patterns/mrtr.mdx", 2, 6, By(&["more_input_with_state"])),
    ("basic/patterns/progress.mdx", 1, 5, By(&["progress"])),
    ("basic/transports/streamable-http.mdx", 1, 8, By(&["http_responses"])),
    ("basic/transports/streamable-http.mdx", 2, 4, By(&["http_more_input"])),
    ("basic/transports/streamable-http.mdx", 3, 4, By(&["http_subscription"])),
    ("basic/versioning.mdx", 1, 3, By(&["version_supported", "version_unsupported", "version_hopeless"])),
    ("client/elicitation.mdx", 1, 5, By(&["form"])),
    ("client/elicitation.mdx", 2, 8, By(&["url"])),
    ("client/elicitation.mdx", 3, 15, By(&["url_for_a_third_party"])),
    ("client/roots.mdx", 1, 3, By(&["roots"])),
    ("client/sampling.mdx", 1, 18, By(&["sampling_with_tools"])),
    ("client/sampling.mdx", 2, 9, By(&["sampling"])),
    ("server/prompts.mdx", 1, 9, By(&["prompts"])),
    ("server/resources.mdx", 1, 11, By(&["resources"])),
    ("server/tools.mdx", 1, 11, By(&["tools"])),
    ("server/utilities/caching.mdx", 1, 9, By(&["caching"])),
    ("server/utilities/completion.mdx", 1, 4, By(&["completion"])),
    ("server/utilities/pagination.mdx", 1, 3, By(&["pagination"])),
];

/// Flows that the pages describe and do not draw.
const NOT_DRAWN: &[&str] = &["discover", "logging", "subscription_ends"];

#[test]
fn every_flow_is_listed_and_every_listed_flow_is_played() {
    let played: BTreeSet<&str> =
        [asking::PLAYED, basic::PLAYED, changes::PLAYED, http::PLAYED, lists::PLAYED, sampling::PLAYED]
            .concat()
            .into_iter()
            .collect();
    let mut listed: BTreeSet<&str> = NOT_DRAWN.iter().copied().collect();
    for (page, _, _, shown) in DRAWINGS {
        match shown {
            By(flows) => listed.extend(*flows),
            Later(reason) => assert!(!reason.is_empty(), "{page}"),
        }
    }
    assert_eq!(played, listed, "flows that are played, and those that are listed");
    if writing() {
        return;
    }
    let folder = golden("any");
    let traces: BTreeSet<String> = fs::read_dir(folder.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().and_then(OsStr::to_str).unwrap().to_owned())
        .collect();
    let traces: BTreeSet<&str> = traces.iter().map(String::as_str).collect();
    assert_eq!(traces, played, "traces in tests/golden, and flows that are played");
}

#[test]
fn every_drawing_of_the_pages_is_listed() {
    let Some(spec) = std::env::var_os("MCP_SPEC_DIR") else {
        assert!(std::env::var_os("CI").is_none(), "MCP_SPEC_DIR is not set");
        println!("skipped: MCP_SPEC_DIR is not set");
        return;
    };
    let revision = Path::new(&spec).join("2026-07-28");
    let mut drawn = BTreeSet::new();
    find(&revision, &revision, &mut drawn);
    let listed: BTreeSet<(String, usize, usize)> =
        DRAWINGS.iter().map(|(page, nth, arrows, _)| ((*page).to_owned(), *nth, *arrows)).collect();
    let unlisted: Vec<_> = drawn.difference(&listed).collect();
    let unknown: Vec<_> = listed.difference(&drawn).collect();
    assert!(
        unlisted.is_empty() && unknown.is_empty(),
        "drawn, not listed: {unlisted:#?}; listed, not drawn: {unknown:#?}"
    );
}

/// The sequence diagrams of all pages: page, which of its diagrams, arrows.
fn find(root: &Path, folder: &Path, drawn: &mut BTreeSet<(String, usize, usize)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(root, &path, drawn);
        } else if path.extension().is_some_and(|extension| extension == "mdx" || extension == "md") {
            let page = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            let text = fs::read_to_string(&path).unwrap();
            for (at, arrows) in diagrams(&text).into_iter().enumerate() {
                drawn.insert((page.clone(), at + 1, arrows));
            }
        }
    }
}

/// The arrows of each sequence diagram of a page, in order.
fn diagrams(page: &str) -> Vec<usize> {
    let mut all = Vec::new();
    let mut within = false;
    for line in page.lines().map(str::trim) {
        if line == "sequenceDiagram" {
            all.push(0);
            within = true;
        } else if line.starts_with("```") {
            within = false;
        } else if within
            && let Some((from_to, _)) = line.split_once(':')
            && ["->", "--)", "-)", "-x"].iter().any(|arrow| from_to.contains(arrow))
            && let Some(arrows) = all.last_mut()
        {
            *arrows += 1;
        }
    }
    all
}

#[test]
fn arrows_are_counted_and_notes_are_not() {
    let page = "a -> b: c\n```mermaid\nsequenceDiagram\n  participant A\n  A->>B: x\n  Note over A,B: y->z\n  B--)A: n\n\
                B-->>A: r\n```\nA->>B: outside\n```mermaid\nsequenceDiagram\nA-)B: x\n```\n";
    assert_eq!(diagrams(page), [3, 1]);
}

//! The two programs, one launched by the other.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

fn client(scenario: &str, to: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_client"))
        .args(to)
        .env("MCP_CONFORMANCE_SCENARIO", scenario)
        .env("MCP_CONFORMANCE_CONTEXT", r#"{"toolCalls":[{"name":"greet","arguments":{"name":"Ada"}}]}"#)
        .output()
        .unwrap()
}

const STDIO: [&str; 3] = ["--stdio", env!("CARGO_BIN_EXE_server"), "--stdio"];

/// A server over HTTP, until it is dropped.
struct Http {
    server: Child,
    url: String,
}

impl Http {
    fn start(form: &str) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_server"))
            .args(["--http", "127.0.0.1:0", form])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { server, url: url.trim_end().to_owned() }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

/// Every tool, resource and prompt, with whatever they ask.
fn goes_through_everything(to: &[&str]) {
    let Output { status, stdout, stderr } = client("http-standard-headers", to);
    let (said, complained) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert!(status.success(), "{said}{complained}");
    for tool in include_str!("tools.txt").lines() {
        assert!(said.contains(&format!("{tool}: ")), "{tool} was not called: {said}");
    }
    for line in [
        "test_input_required_result_multi_round: test likes test.",
        "test_input_required_result_request_state: state-ok, confirmed: true",
        "test_input_required_result_sampling: This is a test response.",
        "test_input_required_result_list_roots: 1 roots: file:///workspace",
        "test_missing_capability: The client declared sampling.",
        "slow_compute: Computed for 0 s: ",
        "test_x_mcp_header: Region: test",
        "test://static-binary: 1 contents",
        "test_input_required_result_prompt: 1 messages",
    ] {
        assert!(said.lines().any(|said| said == line), "not said: {line}\n{said}");
    }
}

#[test]
fn the_client_goes_through_all_that_the_server_has() {
    goes_through_everything(&STDIO);
}

#[test]
fn over_http_it_does_so_in_every_form_of_answers() {
    for form in ["--auto", "--json", "--events"] {
        let http = Http::start(form);
        assert!(http.url.starts_with("http://127.0.0.1:") && http.url.ends_with("/mcp"), "{}", http.url);
        goes_through_everything(&[&http.url]);
    }
}

#[test]
fn the_exit_code_says_how_it_went() {
    let told = client("http-custom-headers", &STDIO);
    assert_eq!((told.status.code(), told.stdout), (Some(0), b"greet: Hello, Ada!\n".to_vec()));
    let not_offered = client("tools_call", &STDIO);
    assert_eq!(not_offered.status.code(), Some(1));
    assert!(String::from_utf8(not_offered.stderr).unwrap().contains("the server does not offer add_numbers"));
    assert_eq!(client("auth/metadata-default", &STDIO).status.code(), Some(2));
    // Nobody listens there.
    assert_eq!(client("tools_call", &["http://127.0.0.1:1/mcp"]).status.code(), Some(1));
    let server = Command::new(env!("CARGO_BIN_EXE_server")).output().unwrap();
    assert_eq!(server.status.code(), Some(2));
}

#[test]
fn the_judge_passes_fails_and_refuses() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("judged");
    drop(fs::remove_dir_all(&folder));
    let results = folder.join("results");
    let scenario = results.join("tools_call-2026-11-30T09-41-00-123Z");
    fs::create_dir_all(&scenario).unwrap();
    let table = folder.join("table.tsv");
    fs::write(&table, "client\ttools_call\tSUCCESS\ttool-add-numbers\t1\n").unwrap();
    let judged = |checks: &str| {
        fs::write(scenario.join("checks.json"), checks).unwrap();
        let judge = Command::new(env!("CARGO_BIN_EXE_judge"))
            .arg("client")
            .args([&results, &table])
            .output()
            .unwrap();
        (judge.status.code(), String::from_utf8(judge.stdout).unwrap())
    };
    let passed = judged(r#"[{"id":"tool-add-numbers","name":"Adds","status":"SUCCESS"}]"#);
    assert_eq!(
        passed,
        (Some(0), "PASS tools_call: 1\n1 scenarios passed with 1 checks, 0 failed\n".to_owned())
    );
    let (code, said) =
        judged(r#"[{"id":"tool-add-numbers","name":"Adds","status":"WARNING","errorMessage":"late"}]"#);
    assert_eq!(code, Some(1));
    assert!(said.starts_with("FAIL tools_call: 0\n     WARNING tool-add-numbers: Adds: late\n"), "{said}");
    assert_eq!(judged("{").0, Some(2));
    assert_eq!(Command::new(env!("CARGO_BIN_EXE_judge")).output().unwrap().status.code(), Some(2));
}

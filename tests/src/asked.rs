//! Short ways to ask, and to read what was asked and said.

use sansio_mcp_sdk::model::RawMembers;
use sansio_mcp_sdk::server::{Form, StringSchema};
use serde_json::Value;

/// A form of one text.
pub fn form(message: impl Into<String>) -> Form {
    Form::new(message).required("text", StringSchema::new())
}

/// What was filled in.
pub fn text(members: &RawMembers) -> String {
    members.get("text").and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The text of a tool's answer.
pub fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// The keys of a round.
pub fn kinds(answer: &Value) -> Vec<&str> {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"]["inputRequests"]
        .as_object()
        .map(|all| all.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

/// An error has this code, and a message that names something or says what to do.
pub fn check(error: &Value, code: i64, says: &str) {
    assert_eq!(error["code"], code, "{error}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains(says), "{message:?} should say {says:?}");
}

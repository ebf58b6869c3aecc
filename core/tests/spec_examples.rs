//! The specification's own examples, read from `$MCP_SPEC_DIR/2026-07-28/schema/examples`. Nothing of them is kept
//! here. Without the variable there is nothing to read and the tests pass.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use sansio_mcp::model::{
    AudioContent, BlobResourceContents, BooleanSchema, CallToolParams, CallToolResult, CancelledParams,
    ClientCapabilities, CompleteParams, CompleteResult, ContentBlock, CreateMessageParams,
    CreateMessageResult, DiscoverParams, DiscoverResult, ElicitFormParams, ElicitResult, ElicitUrlParams,
    EmbeddedResource, EnumSchema, ErrorObject, FieldSchema, GetPromptParams, GetPromptResult, ImageContent,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ListChangedParams, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, ListToolsResult, LoggingMessageParams,
    MissingRequiredClientCapability, ModelPreferences, MultiSelectSchema, NumberSchema, PaginatedParams,
    ProgressParams, RawJson, RawMembers, ReadResourceParams, ReadResourceResult, Resource, ResourceContents,
    ResourceLink, ResourceUpdatedParams, Root, SamplingBlock, SamplingMessage, ServerCapabilities,
    StringSchema, SubscriptionsAcknowledgedParams, SubscriptionsListenParams, SubscriptionsListenResult,
    TextContent, TextResourceContents, TitledEnumSchema, TitledMultiSelectSchema, Tool, ToolResultContent,
    ToolUseContent, UnsupportedProtocolVersion,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A folder, where in its examples the value is, and the check of that value.
type Case = (&'static str, &'static [&'static str], fn(&str));

const COVERED: &[Case] = &[
    ("AudioContent", &[], open::<AudioContent>),
    ("AudioContent", &[], open::<ContentBlock>),
    ("BlobResourceContents", &[], open::<BlobResourceContents>),
    ("BlobResourceContents", &[], open::<ResourceContents>),
    ("CallToolRequest", &["params"], open::<CallToolParams>),
    ("CallToolRequestParams", &[], open::<CallToolParams>),
    ("CallToolResult", &[], open::<CallToolResult>),
    ("CallToolResultResponse", &["result"], open::<CallToolResult>),
    ("CancelledNotification", &["params"], open::<CancelledParams>),
    ("CancelledNotificationParams", &[], open::<CancelledParams>),
    ("ClientCapabilities", &[], open::<ClientCapabilities>),
    ("DiscoverRequest", &["params"], open::<DiscoverParams>),
    ("DiscoverResult", &[], open::<DiscoverResult>),
    ("DiscoverResultResponse", &["result"], open::<DiscoverResult>),
    ("EmbeddedResource", &[], open::<EmbeddedResource>),
    ("EmbeddedResource", &[], open::<ContentBlock>),
    ("HeaderMismatchError", &["error"], open::<ErrorObject>),
    ("ImageContent", &[], open::<ImageContent>),
    ("ImageContent", &[], open::<ContentBlock>),
    ("InputRequests", &[], round::<InputRequests>),
    ("InputRequiredResult", &[], open::<InputRequiredResult>),
    ("InputResponses", &[], round::<RawMembers>),
    ("InternalError", &[], open::<ErrorObject>),
    ("InvalidParamsError", &[], open::<ErrorObject>),
    ("ListToolsRequest", &["params"], open::<PaginatedParams>),
    ("ListToolsResult", &[], open::<ListToolsResult>),
    ("ListToolsResultResponse", &["result"], open::<ListToolsResult>),
    ("MethodNotFoundError", &[], open::<ErrorObject>),
    ("MissingRequiredClientCapabilityError", &["error"], open::<ErrorObject>),
    ("MissingRequiredClientCapabilityError", &["error", "data"], open::<MissingRequiredClientCapability>),
    ("PaginatedRequestParams", &[], open::<PaginatedParams>),
    ("ParseError", &[], open::<ErrorObject>),
    ("ProgressNotification", &["params"], open::<ProgressParams>),
    ("ProgressNotificationParams", &[], open::<ProgressParams>),
    ("ResourceLink", &[], open::<ResourceLink>),
    ("ResourceLink", &[], open::<ContentBlock>),
    ("ServerCapabilities", &[], open::<ServerCapabilities>),
    ("TextContent", &[], open::<TextContent>),
    ("TextContent", &[], open::<ContentBlock>),
    ("TextResourceContents", &[], open::<TextResourceContents>),
    ("TextResourceContents", &[], open::<ResourceContents>),
    ("Tool", &[], open::<Tool>),
    ("UnsupportedProtocolVersionError", &["error"], open::<ErrorObject>),
    ("UnsupportedProtocolVersionError", &["error", "data"], open::<UnsupportedProtocolVersion>),
    ("BooleanSchema", &[], open::<BooleanSchema>),
    ("BooleanSchema", &[], open::<FieldSchema>),
    ("CreateMessageRequest", &[], open::<InputRequest>),
    ("CreateMessageRequest", &["params"], open::<CreateMessageParams>),
    ("CreateMessageRequestParams", &[], open::<CreateMessageParams>),
    ("CreateMessageResult", &[], open::<CreateMessageResult>),
    ("ElicitRequest", &[], open::<InputRequest>),
    ("ElicitRequest", &["params"], open::<ElicitFormParams>),
    ("ElicitRequestFormParams", &[], open::<ElicitFormParams>),
    ("ElicitRequestURLParams", &[], open::<ElicitUrlParams>),
    ("ElicitResult", &[], open::<ElicitResult>),
    ("ListRootsRequest", &[], open::<InputRequest>),
    ("ListRootsResult", &[], open::<ListRootsResult>),
    ("ModelPreferences", &[], open::<ModelPreferences>),
    ("NumberSchema", &[], open::<NumberSchema>),
    ("NumberSchema", &[], open::<FieldSchema>),
    ("Root", &[], open::<Root>),
    ("SamplingMessage", &[], open::<SamplingMessage>),
    ("StringSchema", &[], open::<StringSchema>),
    ("StringSchema", &[], open::<FieldSchema>),
    ("TitledMultiSelectEnumSchema", &[], open::<TitledMultiSelectSchema>),
    ("TitledMultiSelectEnumSchema", &[], open::<FieldSchema>),
    ("TitledSingleSelectEnumSchema", &[], open::<TitledEnumSchema>),
    ("TitledSingleSelectEnumSchema", &[], open::<FieldSchema>),
    ("ToolResultContent", &[], open::<ToolResultContent>),
    ("ToolResultContent", &[], open::<SamplingBlock>),
    ("ToolUseContent", &[], open::<ToolUseContent>),
    ("ToolUseContent", &[], open::<SamplingBlock>),
    ("UntitledMultiSelectEnumSchema", &[], open::<MultiSelectSchema>),
    ("UntitledMultiSelectEnumSchema", &[], open::<FieldSchema>),
    ("UntitledSingleSelectEnumSchema", &[], open::<EnumSchema>),
    ("UntitledSingleSelectEnumSchema", &[], open::<FieldSchema>),
    ("CompleteRequest", &["params"], open::<CompleteParams>),
    ("CompleteRequestParams", &[], open::<CompleteParams>),
    ("CompleteResult", &[], open::<CompleteResult>),
    ("CompleteResultResponse", &["result"], open::<CompleteResult>),
    ("GetPromptRequest", &["params"], open::<GetPromptParams>),
    ("GetPromptRequestParams", &[], open::<GetPromptParams>),
    ("GetPromptResult", &[], open::<GetPromptResult>),
    ("GetPromptResultResponse", &["result"], open::<GetPromptResult>),
    ("ListPromptsRequest", &["params"], open::<PaginatedParams>),
    ("ListPromptsResult", &[], open::<ListPromptsResult>),
    ("ListPromptsResultResponse", &["result"], open::<ListPromptsResult>),
    ("ListResourceTemplatesRequest", &["params"], open::<PaginatedParams>),
    ("ListResourceTemplatesResult", &[], open::<ListResourceTemplatesResult>),
    ("ListResourceTemplatesResultResponse", &["result"], open::<ListResourceTemplatesResult>),
    ("ListResourcesRequest", &["params"], open::<PaginatedParams>),
    ("ListResourcesResult", &[], open::<ListResourcesResult>),
    ("ListResourcesResultResponse", &["result"], open::<ListResourcesResult>),
    ("LoggingMessageNotification", &["params"], open::<LoggingMessageParams>),
    ("LoggingMessageNotificationParams", &[], open::<LoggingMessageParams>),
    ("PromptListChangedNotification", &["params"], open::<ListChangedParams>),
    ("ReadResourceRequest", &["params"], open::<ReadResourceParams>),
    ("ReadResourceResult", &[], open::<ReadResourceResult>),
    ("ReadResourceResultResponse", &["result"], open::<ReadResourceResult>),
    ("Resource", &[], open::<Resource>),
    ("ResourceListChangedNotification", &["params"], open::<ListChangedParams>),
    ("ResourceUpdatedNotification", &["params"], open::<ResourceUpdatedParams>),
    ("ResourceUpdatedNotificationParams", &[], open::<ResourceUpdatedParams>),
    ("SubscriptionsAcknowledgedNotification", &["params"], open::<SubscriptionsAcknowledgedParams>),
    ("SubscriptionsListenRequest", &["params"], open::<SubscriptionsListenParams>),
    ("SubscriptionsListenResult", &[], open::<SubscriptionsListenResult>),
    ("SubscriptionsListenResultResponse", &["result"], open::<SubscriptionsListenResult>),
    ("ToolListChangedNotification", &["params"], open::<ListChangedParams>),
    // Kinds of content that only sampling has are unknown ones in a tool's result, and pass through.
    ("ToolResultContent", &[], round::<ContentBlock>),
    ("ToolUseContent", &[], round::<ContentBlock>),
];

const UNKNOWN: &str = r#""x-unknown": [1.0e2, {"a":null}]"#;

fn examples() -> Option<PathBuf> {
    let Some(spec) = std::env::var_os("MCP_SPEC_DIR") else {
        // Set by all common runners: there a test that checks nothing must not count as passed.
        assert!(std::env::var_os("CI").is_none(), "MCP_SPEC_DIR is not set");
        println!("skipped: MCP_SPEC_DIR is not set");
        return None;
    };
    Some(PathBuf::from(spec).join("2026-07-28/schema/examples"))
}

/// Reads and writes; nothing is lost and nothing added.
fn round<T: DeserializeOwned + Serialize>(json: &str) {
    let value: T = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error} in {json}"));
    let again = serde_json::to_string(&value).unwrap();
    let [before, mut after] = [json, &again].map(|text| serde_json::from_str::<Value>(text).unwrap());
    // Required of results, left out by some examples: what absent means is then said.
    for (name, absent) in [("ttlMs", Value::from(0)), ("cacheScope", Value::from("private"))] {
        if before.get(name).is_none() && after.get(name) == Some(&absent) {
            after.as_object_mut().unwrap().remove(name);
        }
    }
    assert_eq!(before, after);
}

/// The same, and again with a member nobody knows: once in front of the others, once behind them.
fn open<T: DeserializeOwned + Serialize>(json: &str) {
    round::<T>(json);
    let inner =
        json.trim().strip_prefix('{').and_then(|json| json.strip_suffix('}')).expect("an object").trim();
    let comma = if inner.is_empty() { "" } else { "," };
    let first = format!("{{{UNKNOWN}{comma}{inner}}}");
    let last = format!("{{{inner}{comma}{UNKNOWN}}}");
    for with in [&first, &last] {
        round::<T>(with);
        let value: T = serde_json::from_str(with).unwrap();
        let again = serde_json::to_string(&value).unwrap();
        // White space between name and value is not part of either.
        let unknown = UNKNOWN.replacen(": ", ":", 1);
        assert!(again.contains(&unknown), "{unknown} is not in {again}");
        // Behind what is known, and in the order they came where the example itself has more of them.
        assert!(with == &first || again.ends_with(&format!("{unknown}}}")), "{again}");
    }
}

/// The text of the value found by following `path`.
fn part(json: &str, path: &[&str]) -> String {
    let mut value = RawJson::from_text(json).unwrap();
    for name in path {
        value = value.parse::<RawMembers>().unwrap().get(name).unwrap_or_else(|| panic!("no {name}")).clone();
    }
    value.get().to_owned()
}

#[test]
fn examples_come_through() {
    let Some(root) = examples() else { return };
    let mut checked = 0;
    for (folder, path, check) in COVERED {
        let mut any = false;
        for file in fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}")) {
            let file = file.unwrap().path();
            println!("{}", file.display());
            check(&part(&fs::read_to_string(&file).unwrap(), path));
            any = true;
            checked += 1;
        }
        assert!(any, "{folder} is empty");
    }
    println!("{checked} checks");
}

/// The questions of the examples are ones that the pages allow, and the answers fit them.
#[test]
fn example_answers_fit_their_questions() {
    let Some(root) = examples() else { return };
    let only = |folder: &str| {
        let file = fs::read_dir(root.join(folder)).unwrap().next().unwrap().unwrap().path();
        fs::read_to_string(file).unwrap()
    };
    let requests: InputRequests = serde_json::from_str(&only("InputRequests")).unwrap();
    let responses: InputResponses = serde_json::from_str(&only("InputResponses")).unwrap();
    assert!(!requests.is_empty());
    for (key, request) in requests.iter() {
        request.validate().unwrap_or_else(|error| panic!("{key}: {error}"));
        request.accept(responses.get(key).unwrap()).unwrap_or_else(|error| panic!("{key}: {error}"));
    }
    for folder in ["CreateMessageRequest", "ElicitRequest", "ListRootsRequest"] {
        let request: InputRequest = serde_json::from_str(&only(folder)).unwrap();
        request.validate().unwrap_or_else(|error| panic!("{folder}: {error}"));
    }
    for file in fs::read_dir(root.join("CreateMessageRequestParams")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        serde_json::from_str::<CreateMessageParams>(&text).unwrap().check().unwrap();
    }
}

#[test]
fn every_folder_of_examples_is_accounted_for() {
    let Some(root) = examples() else { return };
    let found: BTreeSet<String> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let covered: BTreeSet<String> = COVERED.iter().map(|(folder, ..)| (*folder).to_owned()).collect();
    assert_eq!(found, covered);
}

//! Values of the model as they are made and written.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, raw, read, refusal, same, written};
use sansio_mcp::model::{
    Annotations, CacheScope, CallToolResult, CancelledParams, ContentBlock, Icon, InputRequiredResult,
    InputSchema, ListToolsResult, LoggingLevel, Members, OutputSchema, ProgressParams, ResourceLink, Role,
    SchemaError, ServerBusy, ServerCapabilities, TextContent, Tool, ToolAnnotations,
};

#[test]
fn an_extra_member_cannot_stand_in_for_a_known_one() {
    let mut text = TextContent::new("a");
    text.extra.insert("text", raw("1"));
    text.extra.insert("type", raw("2"));
    text.extra.insert("other", raw("3"));
    let expected = r#"{"type":"text","text":"a","other":3}"#;
    assert_eq!(json(&text), expected);
    assert_eq!(written(|out| text.write(out)), expected);
}

#[test]
fn an_input_schema_is_for_objects() {
    for (schema, expected) in [
        (r#"{"type":"object","x":1.0}"#, Ok(())),
        (r#"{"properties":{}, "type" : "object"}"#, Ok(())),
        ("[]", Err(SchemaError::NotAnObject)),
        ("true", Err(SchemaError::NotAnObject)),
        ("{}", Err(SchemaError::NotForObjects)),
        (r#"{"type":"array"}"#, Err(SchemaError::NotForObjects)),
        (r#"{"type":["object"]}"#, Err(SchemaError::NotForObjects)),
        (r#"{"type":"object","type":"object"}"#, Err(SchemaError::NotForObjects)),
        (r#"{"Type":"object"}"#, Err(SchemaError::NotForObjects)),
    ] {
        assert_eq!(
            InputSchema::new(raw(schema)).map(|made| assert_eq!(made.as_json().get(), schema)),
            expected
        );
    }
    // Read from a peer, an odd one costs only itself.
    let tool: Tool = read(r#"{"name":"t","inputSchema":{"type":"string"}}"#);
    assert!(!tool.input_schema.is_for_objects());
    assert!(OutputSchema::new(raw(r#"{"type":"array"}"#)).is_ok());
    assert_eq!(OutputSchema::new(raw("1")), Err(SchemaError::NotAnObject));
    assert!(
        refusal::<Tool>(r#"{"name":"t","inputSchema":{},"outputSchema":true}"#).starts_with("outputSchema: ")
    );
}

#[test]
fn numbers_are_written_plainly() {
    same::<Annotations>(r#"{"audience":["user","assistant"],"priority":1}"#);
    same::<Annotations>(r#"{"priority":0.7}"#);
    let progress = ProgressParams::new("t", 50.0).with_total(100.5);
    assert_eq!(json(&progress), r#"{"progressToken":"t","progress":50,"total":100.5}"#);
    assert_eq!(
        written(|out| ProgressParams::new(1, f64::NAN).write(out)),
        r#"{"progressToken":1,"progress":null}"#
    );
}

#[test]
fn closed_lists_of_names() {
    assert!(LoggingLevel::Debug < LoggingLevel::Emergency);
    assert_eq!(read::<LoggingLevel>(r#""warning""#), LoggingLevel::Warning);
    assert!(refusal::<LoggingLevel>(r#""Warning""#).contains("warning error"));
    assert!(refusal::<Icon>(r#"{"src":"s","theme":1}"#).starts_with("theme: "));
}

#[test]
fn results_that_tools_make() {
    assert_eq!(
        json(&CallToolResult::text("a\"b")),
        r#"{"resultType":"complete","content":[{"type":"text","text":"a\"b"}]}"#
    );
    let failed = CallToolResult::error("no");
    assert_eq!((failed.is_error(), failed.first_text()), (true, Some("no")));
    let structured = CallToolResult::structured(&[1.5]).unwrap();
    assert_eq!(
        json(&structured),
        r#"{"resultType":"complete","content":[{"type":"text","text":"[1.5]"}],"structuredContent":[1.5]}"#
    );
    assert!(CallToolResult::structured(&std::collections::BTreeMap::from([((1, 2), 3)])).is_err());
}

#[test]
fn members_of_a_result_without_what_the_response_writes() {
    let mut result = CallToolResult::error("a").with_meta(raw("{\"k\":\n1}"));
    result.extra.insert("x", raw("[\r\n1]"));
    assert_eq!(
        written(|out| result.write_members(out)),
        r#""content":[{"type":"text","text":"a"}],"isError":true,"x":[  1]"#
    );
    assert_eq!(result.meta().unwrap().get(), "{\"k\":\n1}");
    let list = ListToolsResult::new(Vec::new()).with_cache(7, CacheScope::Public).with_next_cursor("n");
    assert_eq!(
        written(|out| list.write_members(out)),
        r#""tools":[],"nextCursor":"n","ttlMs":7,"cacheScope":"public""#
    );
    assert!(list.meta().is_none());
    // Whatever was in the buffer stays.
    let mut out = b"{,".to_vec();
    InputRequiredResult::default().write_members(&mut out);
    assert_eq!(out, b"{,");
}

#[test]
fn written_and_serialised_are_the_same() {
    let annotations = Annotations::default()
        .with_audience(vec![Role::User])
        .with_priority(0.25)
        .with_last_modified("2026-07-28T00:00:00Z");
    let mut link =
        ResourceLink::new("file:///ä", "n").with_size(u64::MAX).with_annotations(annotations.clone());
    link.extra.insert("q\"\n", raw("null"));
    let schema = InputSchema::new(raw(r#"{"type":"object"}"#)).unwrap();
    let tool = Tool::new("t", schema)
        .with_annotations(ToolAnnotations::default().with_read_only_hint(true))
        .with_icons(vec![Icon::new("data:,"), Icon::new("b")]);
    let result = CallToolResult::new(vec![
        TextContent::new("\u{0}\u{1f}\u{7f}😀").with_annotations(annotations).into(),
        ContentBlock::image("QQ==", "image/png"),
        ContentBlock::audio("QQ==", "audio/wav"),
        link.into(),
    ]);
    assert_eq!(written(|out| tool.write(out)), json(&tool));
    assert_eq!(written(|out| result.write(out)), json(&result));
    assert_eq!(read::<CallToolResult>(&json(&result)), result);
    let list = ListToolsResult::new(vec![tool]);
    assert_eq!(written(|out| list.write(out)), json(&list));
    let empty = ServerCapabilities::default();
    assert_eq!((written(|out| empty.write(out)), json(&empty)), ("{}".into(), "{}".into()));
    let id = CancelledParams::new("\"1\"").with_reason("r");
    assert_eq!(written(|out| id.write(out)), json(&id));
}

#[test]
fn a_busy_server_says_when_to_come_back() {
    for (waiting, after) in [(0, 100), (64, 164), (1000, 1100), (1_000_000, 1100)] {
        let expected = format!(r#"{{"code":"SERVER_BUSY","retryAfterMs":{after}}}"#);
        assert_eq!(json(&ServerBusy::behind(waiting)), expected);
    }
    assert_eq!(read::<ServerBusy>(r#"{"code":"SERVER_BUSY"}"#).retry_after_ms, None);
}

#[test]
fn a_tool_shows_the_best_name_it_has() {
    let mut tool = Tool::new("t", InputSchema::new(raw(r#"{"type":"object"}"#)).unwrap());
    assert_eq!(tool.display_name(), "t");
    tool.annotations = Some(ToolAnnotations::default().with_title("hint"));
    assert_eq!(tool.display_name(), "hint");
    assert_eq!(tool.with_title("title").display_name(), "title");
}

#[test]
fn members_behave_like_a_map_that_keeps_order() {
    let mut members: Members<i32> = [("b", 1), ("a", 2), ("b", 3)].into_iter().collect();
    assert_eq!(json(&members), r#"{"b":3,"a":2}"#);
    assert_eq!(members.insert("a", 4), Some(2));
    assert_eq!((members.remove("b"), members.remove("b"), members.len()), (Some(3), None, 1));
    assert_eq!(members.into_iter().collect::<Vec<_>>(), [("a".to_owned(), 4)]);
}

#[test]
fn values_can_also_come_from_a_tree() {
    let result = CallToolResult::structured(&true).unwrap();
    let tree = serde_json::to_value(&result).unwrap();
    assert_eq!(serde_json::from_value::<CallToolResult>(tree).unwrap(), result);
}

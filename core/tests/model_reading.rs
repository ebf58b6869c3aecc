//! What the model makes of what peers send, whatever the specification's examples happen to show.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, raw, read, refusal, same, written};
use sansio_mcp::model::{
    Annotations, CacheScope, CallToolParams, CallToolResult, CancelledParams, ClientCapabilities,
    ContentBlock, DiscoverResult, ErrorObject, Icon, IconTheme, InputRequiredResult, ListToolsResult,
    ProgressParams, RawMembers, ResourceContents, Role, ServerCapabilities, TextContent, Tool,
};

#[test]
fn unknown_members_come_back_verbatim_and_in_order() {
    same::<TextContent>(r#"{"type":"text","text":"a","z":[1.0e2, {"b":null , "a":1}],"a":-0,"Text":"no"}"#);
    same::<ServerCapabilities>(r#"{"tools":{"listChanged":true,"x":1E5},"tasks":{"list":{}}}"#);
    same::<ClientCapabilities>(r#"{"elicitation":{"form":{},"voice":{}},"tasks":null}"#);
    same::<CallToolParams>(r#"{"name":"t","arguments":{"b":1.0e2,"a":[ ]},"task":{"ttl":1.50}}"#);
}

#[test]
fn names_are_matched_exactly() {
    assert!(refusal::<TextContent>(r#"{"type":"text","Text":"a"}"#).contains("missing field `text`"));
    assert!(refusal::<TextContent>(r#"{"Type":"text","text":"a"}"#).contains("missing field `type`"));
    assert!(refusal::<ContentBlock>(r#"{"TYPE":"text","text":"a"}"#).contains("missing field `type`"));
    let result: CallToolResult = read(r#"{"content":[],"IsError":true}"#);
    assert_eq!(result.is_error, None);
    assert_eq!(result.extra.get("IsError"), Some(&raw("true")));
    // A name is what it means, not how it is spelled.
    let result: CallToolResult = read(r#"{"c\u006fntent":[],"isErro\u0072":true}"#);
    assert!(result.is_error());
}

#[test]
fn a_name_that_comes_twice_is_refused() {
    let twice = [
        refusal::<TextContent>(r#"{"type":"text","text":"a","text":"b"}"#),
        refusal::<TextContent>(r#"{"type":"text","text":"a","t\u0065xt":"a"}"#),
        refusal::<ContentBlock>(r#"{"text":"a","type":"text","text":"b"}"#),
        refusal::<ContentBlock>(r#"{"text":"a","text":"b","type":"text"}"#),
        refusal::<ContentBlock>(r#"{"type":"new","text":"a","text":"b"}"#),
    ];
    for error in twice {
        assert!(error.contains("duplicate field `text`"), "{error}");
    }
    let tags = [
        refusal::<TextContent>(r#"{"type":"text","text":"a","type":"text"}"#),
        refusal::<ContentBlock>(r#"{"type":"text","text":"a","type":"text"}"#),
        refusal::<ContentBlock>(r#"{"type":"new","type":"new"}"#),
    ];
    for error in tags {
        assert!(error.contains("duplicate field `type`"), "{error}");
    }
    // `null` counts as having been there, and so do members nobody knows.
    assert!(
        refusal::<CallToolResult>(r#"{"content":[],"isError":null,"isError":true}"#).contains("`isError`")
    );
    assert!(refusal::<CallToolResult>(r#"{"x":1,"content":[],"x":2}"#).contains("duplicate field `x`"));
    assert!(refusal::<RawMembers>(r#"{"x":1,"y":1,"x":2}"#).contains("duplicate field `x`"));
    let questions =
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"m"},"a":{"method":"n"}}}"#;
    assert!(refusal::<InputRequiredResult>(questions).contains("duplicate field `a`"));
}

#[test]
fn null_for_an_optional_member_reads_as_absent() {
    let result: CallToolResult =
        read(r#"{"resultType":"complete","content":[],"isError":null,"_meta":null}"#);
    assert_eq!(result, CallToolResult::new(Vec::new()));
    assert_eq!(json(&result), r#"{"resultType":"complete","content":[]}"#);
    let list: ListToolsResult = read(r#"{"tools":[],"nextCursor":null,"ttlMs":null,"cacheScope":null}"#);
    assert_eq!(list, ListToolsResult::default());
    let params: CallToolParams =
        read(r#"{"name":"t","arguments":null,"inputResponses":null,"requestState":null,"_meta":null}"#);
    assert_eq!(params, CallToolParams::new("t"));
    let progress: ProgressParams = read(r#"{"progressToken":1,"progress":2,"total":null,"message":null}"#);
    assert_eq!(json(&progress), r#"{"progressToken":1,"progress":2}"#);
    assert!(refusal::<Tool>(r#"{"name":null,"inputSchema":{}}"#).starts_with("name: "));
}

#[test]
fn structured_content_and_error_data_may_be_null() {
    same::<CallToolResult>(r#"{"resultType":"complete","content":[],"structuredContent":null}"#);
    same::<ErrorObject>(r#"{"code":-32602,"message":"m","data":null}"#);
    assert_eq!(read::<CallToolResult>(r#"{"content":[]}"#).structured_content, None);
}

#[test]
fn unknown_kinds_of_content_come_back_verbatim() {
    let blocks = [
        r#"{"type":"tool_use","id":"1","name":{"not":"text"},"input":{"b":1.0e2,"a":[ 1 ]},"text":5}"#,
        r#"{"text":1.0e2,"data":null,"_meta":[],"type":"future","annotations":7}"#,
        r#"{"type":"Text","text":"a"}"#,
        r#"{"type":"a\"b"}"#,
    ];
    for block in blocks {
        same::<ContentBlock>(block);
        let value: ContentBlock = read(block);
        assert!(matches!(value, ContentBlock::Unknown(_)));
        assert_eq!(written(|out| value.write(out)), block);
        same::<CallToolResult>(&format!(r#"{{"resultType":"complete","content":[{block}]}}"#));
    }
    assert!(refusal::<ContentBlock>(r#"{"text":"a"}"#).contains("missing field `type`"));
    assert!(refusal::<ContentBlock>(r#"{"type":1}"#).starts_with("type: "));
    assert!(refusal::<ContentBlock>(r#""text""#).contains("ContentBlock"));
}

#[test]
fn the_type_of_content_may_come_anywhere() {
    let members = [r#""type":"image""#, r#""data":"QQ==""#, r#""mimeType":"a\/b""#, r#""x":1.0e2"#];
    for at in 0..members.len() {
        let mut order = members.to_vec();
        order.swap(0, at);
        let block: ContentBlock = read(&format!("{{{}}}", order.join(",")));
        let expected = r#"{"type":"image","data":"QQ==","mimeType":"a/b","x":1.0e2}"#;
        assert_eq!(json(&block), expected);
    }
}

#[test]
fn an_error_names_the_members_on_the_way() {
    let error = refusal::<CallToolResult>(r#"{"content":[{"type":"text","text":7}]}"#);
    assert!(error.starts_with("content: text: invalid type: integer `7`, expected a string"), "{error}");
    assert!(error.contains("line 1 column 35"), "{error}");
    let error = refusal::<CallToolResult>(r#"{"content":[{"text":7,"type":"text"}]}"#);
    assert!(
        error.starts_with("content: text: invalid type: integer `7`, expected a string at line 1 column 36"),
        "{error}"
    );
    let error = refusal::<CallToolResult>(r#"{"content":[],"isError":"no"}"#);
    assert!(error.starts_with("isError: "), "{error}");
    let error = refusal::<ListToolsResult>(r#"{"tools":[{"name":"t","inputSchema":[]}]}"#);
    assert!(error.starts_with("tools: inputSchema: "), "{error}");
    let error =
        refusal::<DiscoverResult>(r#"{"supportedVersions":[],"capabilities":{"tools":{"listChanged":1}}}"#);
    assert!(error.starts_with("capabilities: tools: listChanged: "), "{error}");
    let error = refusal::<CancelledParams>(r#"{"requestId":null}"#);
    assert!(error.starts_with("requestId: "), "{error}");
    let error =
        refusal::<InputRequiredResult>(r#"{"resultType":"input_required","inputRequests":{"key":{}}}"#);
    assert!(error.starts_with("inputRequests: key: missing field `method`"), "{error}");
    assert!(refusal::<CallToolResult>("{}").contains("missing field `content`"));
    assert!(refusal::<Tool>("[]").contains("an object (Tool)"));
}

#[test]
fn what_must_be_an_object_is_one() {
    for json in ["[]", "1", "\"{}\"", "true"] {
        let error = refusal::<CallToolParams>(&format!(r#"{{"name":"t","arguments":{json}}}"#));
        assert!(error.starts_with("arguments: expected an object"), "{error}");
        let error = refusal::<ServerCapabilities>(&format!(r#"{{"logging":{json}}}"#));
        assert!(error.starts_with("logging: "), "{error}");
        let error = refusal::<CallToolResult>(&format!(r#"{{"content":[],"_meta":{json}}}"#));
        assert!(error.starts_with("_meta: "), "{error}");
    }
}

#[test]
fn a_result_is_read_as_what_it_says_it_is() {
    assert_eq!(
        json(&read::<CallToolResult>(r#"{"content":[]}"#)),
        r#"{"resultType":"complete","content":[]}"#
    );
    let error = refusal::<CallToolResult>(r#"{"content":[],"resultType":"input_required"}"#);
    assert!(error.starts_with("resultType: "), "{error}");
    assert!(refusal::<InputRequiredResult>(r#"{"requestState":"s"}"#).contains("missing field `resultType`"));
    assert!(
        refusal::<InputRequiredResult>(r#"{"resultType":"complete","requestState":"s"}"#)
            .starts_with("resultType: ")
    );
    let error = refusal::<InputRequiredResult>(r#"{"resultType":"input_required"}"#);
    assert!(error.contains("inputRequests"), "{error}");
    same::<InputRequiredResult>(r#"{"resultType":"input_required","inputRequests":{}}"#);
}

#[test]
fn questions_keep_their_order() {
    let text = r#"{"resultType":"input_required","inputRequests":{"z":{"method":"m","params":{"b":1,"a":2}},"a":{"method":"n"}}}"#;
    same::<InputRequiredResult>(text);
    let result: InputRequiredResult = read(text);
    let keys: Vec<&str> = result.input_requests.as_ref().unwrap().iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["z", "a"]);
}

#[test]
fn times_to_live_are_read_kindly_and_written_properly() {
    for (ttl, ms) in [("-1", 0), ("-0.5", 0), ("0", 0), ("5", 5), ("5.9", 5), ("1e3", 1000), ("-1e300", 0)] {
        let list: ListToolsResult = read(&format!(r#"{{"tools":[],"ttlMs":{ttl}}}"#));
        assert_eq!(list.ttl_ms, ms, "{ttl}");
    }
    assert_eq!(read::<ListToolsResult>(r#"{"tools":[],"ttlMs":18446744073709551615}"#).ttl_ms, u64::MAX);
    assert!(refusal::<ListToolsResult>(r#"{"tools":[],"ttlMs":"5"}"#).starts_with("ttlMs: "));
    let list: ListToolsResult = read(r#"{"tools":[]}"#);
    assert_eq!((list.ttl_ms, &list.cache_scope), (0, &CacheScope::Private));
    assert_eq!(json(&list), r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}"#);
    assert!(refusal::<ListToolsResult>(r#"{"tools":[],"cacheScope":1}"#).starts_with("cacheScope: "));
}

#[test]
fn contents_of_a_resource_are_told_apart() {
    assert!(matches!(read(r#"{"uri":"u","text":"t"}"#), ResourceContents::Text(_)));
    assert!(matches!(read(r#"{"uri":"u","blob":"b","text":null}"#), ResourceContents::Blob(_)));
    assert!(refusal::<ResourceContents>(r#"{"uri":"u"}"#).contains("`text` or `blob`"));
    same::<ResourceContents>(r#"{"uri":"u","text":"t","blob":"b"}"#);
    same::<ResourceContents>(r#"{"uri":"u","mimeType":"m","blob":"b","_meta":{ },"x":1.0}"#);
    let error = refusal::<ContentBlock>(r#"{"type":"resource","resource":{"uri":5,"text":"t"}}"#);
    assert!(error.starts_with("resource: uri: "), "{error}");
}

#[test]
fn a_hint_that_nobody_knows_costs_nothing_but_itself() {
    let odd = r#"{"audience":["user","System",""],"priority":1}"#;
    same::<Annotations>(odd);
    let audience = read::<Annotations>(odd).audience.unwrap();
    assert_eq!(audience, [Role::User, Role::Other("System".into()), Role::Other("".into())]);

    let icon = r#"{"src":"data:,","theme":"sepia \"1\""}"#;
    same::<Icon>(icon);
    assert_eq!(read::<Icon>(icon).theme.unwrap().as_str(), "sepia \"1\"");
    assert_eq!(read::<Icon>(r#"{"src":"","theme":"dark"}"#).theme, Some(IconTheme::Dark));

    let list = r#"{"resultType":"complete","tools":[],"ttlMs":1,"cacheScope":"tenant"}"#;
    same::<ListToolsResult>(list);
    assert_eq!(read::<ListToolsResult>(list).cache_scope, CacheScope::Other("tenant".into()));
    assert_ne!(CacheScope::from("Public"), CacheScope::Public);
    // What is not a string is still no hint.
    for odd in [r#"{"audience":[1]}"#, r#"{"audience":"user"}"#] {
        refusal::<Annotations>(odd);
    }
}

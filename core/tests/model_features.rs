//! Prompts, resources, completion, logging and subscriptions as they are made, read and written.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, raw, read, refusal, same, written};
use sansio_mcp::id::RequestId;
use sansio_mcp::model::{
    BlobResourceContents, CacheScope, CompleteParams, CompleteResult, CompletionReference, ContentBlock,
    GetPromptParams, GetPromptResult, Icon, ImageContent, ListChangedParams, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, LoggingLevel, LoggingMessageParams, Prompt,
    PromptArgument, PromptMessage, PromptReference, ReadResourceParams, ReadResourceResult, Resource,
    ResourceContents, ResourceLink, ResourceTemplate, ResourceTemplateReference, ResourceUpdatedParams,
    SubscriptionFilter, SubscriptionsAcknowledgedParams, SubscriptionsListenParams,
    SubscriptionsListenResult,
};

#[test]
fn results_are_written_as_the_pages_show_them() {
    let prompt = Prompt::new("review")
        .with_title("Review")
        .with_description("Asks for a review")
        .with_arguments(vec![
            PromptArgument::required("code").with_title("Code").with_description("What to review"),
            PromptArgument::optional("tone"),
        ])
        .with_icons(vec![Icon::new("data:,")]);
    assert_eq!(prompt.display_name(), "Review");
    assert!(
        prompt.arguments.as_ref().unwrap()[0].is_required()
            && !prompt.arguments.as_ref().unwrap()[1].is_required()
    );
    let prompts =
        ListPromptsResult::new(vec![prompt]).with_cache(5, CacheScope::Public).with_next_cursor("n");
    let expected = r#"{"resultType":"complete","prompts":[{"name":"review","title":"Review","description":"Asks for a review","arguments":[{"name":"code","title":"Code","description":"What to review","required":true},{"name":"tone"}],"icons":[{"src":"data:,"}]}],"nextCursor":"n","ttlMs":5,"cacheScope":"public"}"#;
    assert_eq!((json(&prompts).as_str(), written(|out| prompts.write(out)).as_str()), (expected, expected));

    let got = GetPromptResult::new(vec![
        PromptMessage::user(ContentBlock::text("a")),
        PromptMessage::assistant(ContentBlock::image_bytes(&[1, 2, 255], "image/png")),
    ])
    .with_description("d");
    let expected = r#"{"resultType":"complete","description":"d","messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":{"type":"image","data":"AQL/","mimeType":"image/png"}}]}"#;
    assert_eq!((json(&got).as_str(), written(|out| got.write(out)).as_str()), (expected, expected));
    assert_eq!(
        json(&GetPromptResult::text("a").messages[0]),
        r#"{"role":"user","content":{"type":"text","text":"a"}}"#
    );

    let resource = Resource::new("file:///a", "a").with_mime_type("text/plain").with_size(7_u64);
    assert_eq!(
        json(&ResourceLink::from(resource.clone())),
        r#"{"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/plain","size":7}"#
    );
    let resources = ListResourcesResult::new(vec![resource]);
    let expected = r#"{"resultType":"complete","resources":[{"uri":"file:///a","name":"a","mimeType":"text/plain","size":7}],"ttlMs":0,"cacheScope":"private"}"#;
    assert_eq!(
        (json(&resources).as_str(), written(|out| resources.write(out)).as_str()),
        (expected, expected)
    );

    let template = ResourceTemplate::new("file:///{path}", "files").with_title("Files");
    assert_eq!(template.display_name(), "Files");
    let templates = ListResourceTemplatesResult::new(vec![template]).with_cache(1, CacheScope::Private);
    let expected = r#"{"resultType":"complete","resourceTemplates":[{"uriTemplate":"file:///{path}","name":"files","title":"Files"}],"ttlMs":1,"cacheScope":"private"}"#;
    assert_eq!(
        (json(&templates).as_str(), written(|out| templates.write(out)).as_str()),
        (expected, expected)
    );

    let contents = ReadResourceResult::text("file:///a", "t").with_cache(60_000, CacheScope::Private);
    let expected = r#"{"resultType":"complete","contents":[{"uri":"file:///a","text":"t"}],"ttlMs":60000,"cacheScope":"private"}"#;
    assert_eq!((json(&contents).as_str(), written(|out| contents.write(out)).as_str()), (expected, expected));
    assert_eq!(
        written(|out| contents.write_members(out)),
        r#""contents":[{"uri":"file:///a","text":"t"}],"ttlMs":60000,"cacheScope":"private""#
    );
}

#[test]
fn params_and_results_are_open() {
    same::<GetPromptParams>(r#"{"name":"p","arguments":{"b":"1","a":"2"},"requestState":"s","x":1.0e2}"#);
    same::<ReadResourceParams>(
        r#"{"uri":"u","inputResponses":{"k":{ }},"requestState":"s","_meta":{"m":1.0},"x":1.0}"#,
    );
    same::<GetPromptResult>(
        r#"{"resultType":"complete","messages":[{"role":"user","content":{"type":"new","n":1.0},"y":[ ]}],"x":1.0}"#,
    );
    same::<ReadResourceResult>(
        r#"{"resultType":"complete","contents":[{"uri":"u","blob":"?","z":1.0}],"ttlMs":1,"cacheScope":"public","x":1.0}"#,
    );
    same::<CompleteParams>(
        r#"{"ref":{"type":"ref/prompt","name":"p","title":"P","x":1.0},"argument":{"name":"a","value":"v","y":1.0},"context":{"arguments":{"b":"c"},"z":1.0},"w":1.0}"#,
    );
    same::<CompleteParams>(r#"{"ref":{"type":"ref/tool","name":"t"},"argument":{"name":"a","value":""}}"#);
    same::<CompleteResult>(
        r#"{"resultType":"complete","completion":{"values":["a"],"total":1,"hasMore":false,"x":1.0},"y":1.0}"#,
    );
    same::<SubscriptionsListenParams>(
        r#"{"notifications":{"toolsListChanged":false,"resourceSubscriptions":["a","a"],"tasks":{"x":1.0}},"y":1.0}"#,
    );
    same::<LoggingMessageParams>(r#"{"level":"info","data":null,"x":1.0}"#);
    // A legacy peer's result says neither what it is nor how long it stays fresh.
    let result: ReadResourceResult = read(r#"{"contents":[]}"#);
    assert_eq!((result.ttl_ms, result.cache_scope), (0, CacheScope::Private));
}

#[test]
fn malformed_ones_name_the_member() {
    for (error, path) in [
        (refusal::<GetPromptParams>(r#"{"name":"p","arguments":{"a":1}}"#), "arguments: a: "),
        (
            refusal::<GetPromptParams>(r#"{"name":"p","arguments":{"a":"1","a":"2"}}"#),
            "arguments: duplicate field `a`",
        ),
        (refusal::<GetPromptParams>(r#"{"name":1}"#), "name: "),
        (
            refusal::<GetPromptResult>(r#"{"messages":[{"role":"user","content":"a"}]}"#),
            "messages: content: ",
        ),
        (
            refusal::<GetPromptResult>(r#"{"messages":[{"content":{"type":"text","text":"a"}}]}"#),
            "messages: missing field `role`",
        ),
        (
            refusal::<ListPromptsResult>(r#"{"prompts":[{"name":"p","arguments":[{"required":true}]}]}"#),
            "prompts: arguments: missing field `name`",
        ),
        (refusal::<ListResourcesResult>(r#"{"resources":[{"uri":"u"}]}"#), "resources: missing field `name`"),
        (
            refusal::<ListResourcesResult>(r#"{"resources":[{"uri":"u","name":"n","size":-1}]}"#),
            "resources: size: ",
        ),
        (
            refusal::<ListResourceTemplatesResult>(r#"{"resourceTemplates":[{"name":"n"}]}"#),
            "resourceTemplates: missing field `uriTemplate`",
        ),
        (refusal::<ReadResourceParams>("{}"), "missing field `uri`"),
        (
            refusal::<ReadResourceResult>(r#"{"contents":[{"uri":"u"}]}"#),
            "contents: missing field `text` or `blob`",
        ),
        (
            refusal::<CompleteParams>(r#"{"ref":{"type":"ref/prompt"},"argument":{"name":"a","value":"v"}}"#),
            "ref: missing field `name`",
        ),
        (
            refusal::<CompleteParams>(r#"{"ref":{"type":"ref/resource","uri":"u"},"argument":{"name":"a"}}"#),
            "argument: missing field `value`",
        ),
        (
            refusal::<CompleteParams>(
                r#"{"ref":{"type":"ref/resource","uri":"u"},"argument":{"name":"a","value":"v"},"context":{"arguments":{"b":null}}}"#,
            ),
            "context: arguments: b: ",
        ),
        (refusal::<CompleteResult>("{}"), "missing field `completion`"),
        (refusal::<LoggingMessageParams>(r#"{"level":"loud","data":1}"#), "level: "),
        (refusal::<LoggingMessageParams>(r#"{"level":"info"}"#), "missing field `data`"),
        (refusal::<SubscriptionsListenParams>("{}"), "missing field `notifications`"),
        (
            refusal::<SubscriptionsListenParams>(r#"{"notifications":{"toolsListChanged":"yes"}}"#),
            "notifications: toolsListChanged: ",
        ),
        (
            refusal::<SubscriptionsListenParams>(r#"{"notifications":{"resourceSubscriptions":"u"}}"#),
            "notifications: resourceSubscriptions: ",
        ),
        (refusal::<ResourceUpdatedParams>(r#"{"uri":1}"#), "uri: "),
    ] {
        assert!(error.starts_with(path), "{error}");
    }
}

#[test]
fn bytes_travel_as_base64() {
    let bytes: Vec<u8> = (0..=255).collect();
    let ResourceContents::Blob(blob) = &ReadResourceResult::bytes("u", &bytes).contents[0] else { panic!() };
    assert_eq!(blob.bytes().unwrap(), bytes);
    assert_eq!(blob.blob.len(), 344);
    assert!(BlobResourceContents::new("u", "?").bytes().is_err());
    assert_eq!(ImageContent::from_bytes(b"foo", "m").bytes().unwrap(), b"foo");
    assert_eq!(
        json(&ContentBlock::audio_bytes(b"fo", "m")),
        r#"{"type":"audio","data":"Zm8=","mimeType":"m"}"#
    );
}

#[test]
fn completions_are_at_most_a_hundred() {
    let some = CompleteResult::new(["a", "b"]);
    assert_eq!(json(&some), r#"{"resultType":"complete","completion":{"values":["a","b"]}}"#);
    let exact = CompleteResult::new((0..100).map(|n| n.to_string()));
    assert_eq!(
        (exact.completion.values.len(), exact.completion.total, exact.completion.has_more),
        (100, None, None)
    );
    let more = CompleteResult::new((0..101).map(|n| n.to_string()));
    assert_eq!((more.completion.values.len(), more.completion.total), (100, Some(101)));
    assert_eq!((more.completion.values[99].as_str(), more.completion.has_more), ("99", Some(true)));
    let values = vec!["\"a\""; 101].join(",");
    let error = refusal::<CompleteResult>(&format!(r#"{{"completion":{{"values":[{values}]}}}}"#));
    assert!(error.starts_with("completion: values: more than 100"), "{error}");
}

#[test]
fn completions_are_asked_for_a_prompt_or_a_template() {
    let params = CompleteParams::new(PromptReference::new("p"), "framework", "fla")
        .with_known([("language", "python".to_owned())].into_iter().collect());
    assert_eq!(
        json(&params),
        r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"framework","value":"fla"},"context":{"arguments":{"language":"python"}}}"#
    );
    assert_eq!((params.known("language"), params.known("x")), (Some("python"), None));
    let params = CompleteParams::new(ResourceTemplateReference::new("file:///{path}"), "path", "");
    assert!(
        matches!(&params.reference, CompletionReference::Resource(template) if template.uri == "file:///{path}")
    );
    assert_eq!(written(|out| params.write(out)), json(&params));
}

#[test]
fn log_messages_carry_any_value() {
    assert_eq!(
        json(&LoggingMessageParams::text(LoggingLevel::Error, "a\"b").with_logger("db")),
        r#"{"level":"error","logger":"db","data":"a\"b"}"#
    );
    assert_eq!(
        json(&LoggingMessageParams::new(LoggingLevel::Debug, raw("[1]"))),
        r#"{"level":"debug","data":[1]}"#
    );
}

#[test]
fn a_subscription_is_named_in_the_metadata() {
    let updated = ResourceUpdatedParams::new("u").with_subscription_id(&RequestId::Int(1));
    assert_eq!(json(&updated), r#"{"uri":"u","_meta":{"io.modelcontextprotocol/subscriptionId":1}}"#);
    assert_eq!(updated.subscription_id(), Some(RequestId::Int(1)));
    let changed: ListChangedParams =
        read(r#"{"_meta":{"k":1.0,"io.modelcontextprotocol/subscriptionId":"old"}}"#);
    let changed = changed.with_subscription_id(&RequestId::from("a\"b"));
    assert_eq!(json(&changed), r#"{"_meta":{"k":1.0,"io.modelcontextprotocol/subscriptionId":"a\"b"}}"#);
    for meta in [
        "{}",
        r#"{"io.modelcontextprotocol/subscriptionId":null}"#,
        r#"{"io.modelcontextprotocol/subscriptionId":true}"#,
    ] {
        let acknowledged: SubscriptionsAcknowledgedParams =
            read(&format!(r#"{{"notifications":{{}},"_meta":{meta}}}"#));
        assert_eq!(acknowledged.subscription_id(), None, "{meta}");
    }
    let end = SubscriptionsListenResult::default().with_subscription_id(&RequestId::Int(0));
    assert_eq!(
        json(&end),
        r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":0}}"#
    );
    assert_eq!(written(|out| end.write_members(out)), "");
}

#[test]
fn a_filter_that_wants_nothing_is_empty() {
    for text in ["{}", r#"{"toolsListChanged":false,"resourceSubscriptions":[]}"#, r#"{"tasks":true}"#] {
        assert!(read::<SubscriptionFilter>(text).is_empty(), "{text}");
    }
    let filter = SubscriptionFilter::default;
    for filter in [
        filter().with_tools_list_changed(true),
        filter().with_prompts_list_changed(true),
        filter().with_resources_list_changed(true),
        filter().with_resource_subscriptions(vec!["a".to_owned()]),
    ] {
        assert!(!filter.is_empty());
    }
}

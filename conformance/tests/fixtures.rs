//! The server, driven by our own client through everything it offers, in virtual time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sansio_mcp_sdk::client::{CallError, Changed, ListenEvent, ListenSpec};
use sansio_mcp_sdk::model::{CompleteParams, ContentBlock, LoggingLevel, PromptReference, ResourceContents};
use serde_json::{Value, json};

use support::{Rig, rig};

/// The only text of a tool's result.
async fn text(rig: &Rig, tool: &str) -> String {
    let result = rig.client.call_tool(tool, &json!({})).await.unwrap();
    assert_eq!((result.is_error(), result.content.len()), (false, 1), "{tool}");
    result.first_text().unwrap().to_owned()
}

/// The kinds of a result's pieces, with what is in them.
async fn pieces(rig: &Rig, tool: &str) -> Vec<Value> {
    let result = rig.client.call_tool(tool, &json!({})).await.unwrap();
    result.content.iter().map(|piece| serde_json::to_value(piece).unwrap()).collect()
}

fn is_png(data: &[u8]) -> bool {
    data.starts_with(b"\x89PNG\r\n\x1a\n") && data.ends_with(b"IEND\xaeB`\x82")
}

#[test]
fn the_first_tool_can_be_called_with_nothing_and_all_say_what_they_are() {
    let rig = rig();
    rig.lab.run(async {
        let tools = rig.client.list_tools().await.unwrap();
        assert_eq!(tools[0].name, "test_simple_text");
        assert!(tools.iter().all(|tool| tool.description.is_some()), "{tools:?}");
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let wanted = include_str!("tools.txt").lines().collect::<Vec<_>>();
        assert_eq!(names, wanted);
    });
}

#[test]
fn contents_are_those_of_the_contract() {
    let rig = rig();
    rig.lab.run(async {
        assert_eq!(text(&rig, "test_simple_text").await, "This is a simple text response for testing.");
        let image = rig.client.call_tool("test_image_content", &json!({})).await.unwrap();
        let [ContentBlock::Image(image)] = &image.content[..] else { panic!("{image:?}") };
        assert_eq!(image.mime_type, "image/png");
        assert!(is_png(&image.bytes().unwrap()));
        let sound = rig.client.call_tool("test_audio_content", &json!({})).await.unwrap();
        let [ContentBlock::Audio(sound)] = &sound.content[..] else { panic!("{sound:?}") };
        assert_eq!(sound.mime_type, "audio/wav");
        let bytes = sound.bytes().unwrap();
        let size = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
        assert_eq!((&bytes[..4], &bytes[8..12], size as usize + 8), (&b"RIFF"[..], &b"WAVE"[..], bytes.len()));
        let resource = json!({"type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content.",
        }});
        assert_eq!(pieces(&rig, "test_embedded_resource").await, [resource]);
        let mixed = pieces(&rig, "test_multiple_content_types").await;
        assert_eq!(mixed[0], json!({"type": "text", "text": "Multiple content types test:"}));
        assert_eq!((&mixed[1]["type"], &mixed[1]["mimeType"]), (&json!("image"), &json!("image/png")));
        let resource = json!({"type": "resource", "resource": {
            "uri": "test://mixed-content-resource", "mimeType": "application/json", "text": r#"{"test":"data","value":123}"#,
        }});
        assert_eq!(mixed[2..], [resource]);
        let failed = rig.client.call_tool("test_error_handling", &json!({})).await.unwrap();
        assert!(failed.is_error());
        assert_eq!(failed.first_text(), Some("This tool intentionally returns an error for testing"));
        let fits = json!({"contactMethod": "phone", "phone": "1"});
        let contact = rig.client.call_tool("json_schema_2020_12_tool", &fits).await.unwrap();
        assert_eq!(contact.first_text(), Some("JSON Schema 2020-12 tool executed"));
        let greeted = rig.client.call_tool("greet", &json!({"name": "Ada"})).await.unwrap();
        assert_eq!(greeted.first_text(), Some("Hello, Ada!"));
        let placed = rig.client.call_tool("test_x_mcp_header", &json!({"region": "eu"})).await.unwrap();
        assert_eq!(placed.first_text(), Some("Region: eu"));
    });
}

#[test]
fn schemas_are_listed_with_all_that_they_have() {
    let rig = rig();
    rig.lab.run(async {
        let tools = rig.client.list_tools().await.unwrap();
        let schema = |name: &str| -> Value {
            let tool = tools.iter().find(|tool| tool.name == name).unwrap();
            tool.input_schema.as_json().parse().unwrap()
        };
        let contact = schema("json_schema_2020_12_tool");
        assert_eq!(contact["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(contact["$defs"]["address"]["$anchor"], "addressDef");
        assert_eq!(contact["allOf"], json!([{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}]));
        assert_eq!(contact["if"]["properties"]["contactMethod"], json!({"const": "phone"}));
        assert_eq!(
            (&contact["then"], &contact["else"]),
            (&json!({"required": ["phone"]}), &json!({"required": ["email"]}))
        );
        assert_eq!(contact["additionalProperties"], false);
        assert_eq!(schema("test_x_mcp_header")["properties"]["region"]["x-mcp-header"], "Region");
    });
}

#[test]
fn progress_takes_its_time_and_log_messages_are_for_those_who_ask() {
    let rig = rig();
    let (reports, logs) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    rig.lab.run(async {
        let (clock, into) = (rig.lab.clock(), Arc::clone(&reports));
        let call = rig.client.call_tool("test_tool_with_progress", &json!({}));
        let call = call.on_progress(move |report| {
            into.lock().unwrap().push((clock.elapsed().as_millis(), report.progress, report.total));
        });
        assert_eq!(call.await.unwrap().first_text(), Some("Tool with progress executed successfully"));
        let into = Arc::clone(&logs);
        let call = rig.client.call_tool("test_logging_tool", &json!({}));
        let call =
            call.on_log(LoggingLevel::Info, move |message| into.lock().unwrap().push(message.data.clone()));
        call.await.unwrap();
        assert_eq!(logs.lock().unwrap().len(), 3);
        assert_eq!(text(&rig, "test_logging_tool").await, "Tool with logging executed successfully");
    });
    assert_eq!(
        reports.lock().unwrap()[..],
        [(0, 0.0, Some(100.0)), (50, 50.0, Some(100.0)), (100, 100.0, Some(100.0))]
    );
    let said: Vec<Box<str>> = logs.lock().unwrap().clone();
    let wanted = ["\"Tool execution started\"", "\"Tool processing data\"", "\"Tool execution completed\""];
    assert_eq!(said, wanted.map(Box::from), "nothing more came for the request that did not ask");
}

#[test]
fn slow_work_can_be_cancelled_and_is_counted() {
    let rig = rig();
    let job = json!({"seconds": 2.5, "label": "pi"});
    rig.lab.run(async {
        let done = rig.client.call_tool("slow_compute", &job).await.unwrap();
        assert_eq!(done.first_text(), Some("Computed for 2.5 s: pi"));
        assert_eq!(rig.lab.clock().elapsed(), Duration::from_millis(2_500));
        assert_eq!(text(&rig, "cancel_count").await, "0");
    });
    let call = rig.lab.spawn(rig.client.call_tool("slow_compute", &job));
    rig.lab.advance(Duration::from_secs(1));
    assert!(!call.is_done());
    call.abort();
    rig.lab.run_until_idle();
    rig.lab.run(async {
        assert_eq!(text(&rig, "cancel_count").await, "1");
        for seconds in [-1.0, 3_601.0] {
            let refused = rig.client.call_tool("slow_compute", &json!({"seconds": seconds})).await.unwrap();
            assert!(refused.is_error(), "{refused:?}");
        }
        assert_eq!(text(&rig, "cancel_count").await, "1");
    });
}

#[test]
fn changes_reach_whoever_listens() {
    let rig = rig();
    rig.lab.run(async {
        let mut heard = rig.client.listen(ListenSpec::new().tools().prompts());
        assert!(matches!(heard.next().await, Some(ListenEvent::Acknowledged(_))));
        let mut names = Vec::new();
        for (tool, change) in [
            ("test_trigger_tool_change", Changed::Tools),
            ("test_trigger_tool_change", Changed::Tools),
            ("test_trigger_prompt_change", Changed::Prompts),
            ("test_trigger_prompt_change", Changed::Prompts),
        ] {
            rig.client.call_tool(tool, &json!({})).await.unwrap();
            assert!(
                matches!(heard.next().await, Some(ListenEvent::Changed(got)) if got == change),
                "{change:?}"
            );
            let tools = rig.client.list_tools().await.unwrap();
            let prompts = rig.client.list_prompts().await.unwrap();
            names.push((
                tools.iter().any(|tool| tool.name == "test_comes_and_goes"),
                prompts.iter().any(|prompt| prompt.name == "test_prompt_comes_and_goes"),
            ));
        }
        assert_eq!(names, [(true, false), (false, false), (false, true), (false, false)]);
    });
}

#[test]
fn resources_are_those_of_the_contract() {
    let rig = rig();
    rig.lab.run(async {
        let listed = rig.client.list_resources().await.unwrap();
        let uris: Vec<_> = listed.iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!(uris, ["test://static-text", "test://static-binary", "test://watched-resource"]);
        let templates = rig.client.list_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "test://template/{id}/data");
        let read = async |uri: &str| rig.client.read_resource(uri).await.unwrap().contents.remove(0);
        let ResourceContents::Text(text) = read("test://static-text").await else { panic!("not a text") };
        assert_eq!(text.text, "This is the content of the static text resource.");
        assert_eq!(
            (text.uri.as_str(), text.mime_type.as_deref()),
            ("test://static-text", Some("text/plain"))
        );
        let ResourceContents::Blob(blob) = read("test://static-binary").await else { panic!("not bytes") };
        assert_eq!(blob.mime_type.as_deref(), Some("image/png"));
        assert!(is_png(&blob.bytes().unwrap()));
        let ResourceContents::Text(data) = read("test://template/123/data").await else {
            panic!("not a text")
        };
        assert_eq!(data.mime_type.as_deref(), Some("application/json"));
        assert_eq!(data.text, r#"{"id":"123","templateTest":true,"data":"Data for ID: 123"}"#);
        let unknown = rig.client.read_resource("test://nothing").await.unwrap_err();
        let CallError::Peer(unknown) = unknown else { panic!("{unknown:?}") };
        assert_eq!((unknown.code, unknown.data.as_deref()), (-32602, Some(r#"{"uri":"test://nothing"}"#)));
    });
}

#[test]
fn prompts_are_those_of_the_contract() {
    let rig = rig();
    rig.lab.run(async {
        let prompts = rig.client.list_prompts().await.unwrap();
        assert!(prompts.iter().all(|prompt| prompt.description.is_some()), "{prompts:?}");
        let get = async |name: &str, arguments: Value| -> Vec<Value> {
            let messages = rig.client.get_prompt(name, &arguments).await.unwrap().messages;
            messages.iter().map(|message| serde_json::to_value(message).unwrap()).collect()
        };
        let says = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
        let simple = get("test_simple_prompt", json!({})).await;
        assert_eq!(simple, [says("This is a simple prompt for testing.")]);
        let filled =
            get("test_prompt_with_arguments", json!({"arg1": "testValue1", "arg2": "testValue2"})).await;
        assert_eq!(filled, [says("Prompt with arguments: arg1='testValue1', arg2='testValue2'")]);
        let embedded =
            get("test_prompt_with_embedded_resource", json!({"resourceUri": "test://example-resource"}))
                .await;
        assert_eq!(embedded[0]["content"]["resource"]["uri"], "test://example-resource");
        assert_eq!(
            (&embedded[0]["content"]["type"], &embedded[1]["content"]["type"]),
            (&json!("resource"), &json!("text"))
        );
        let image = get("test_prompt_with_image", json!({})).await;
        assert_eq!(image[0]["content"]["mimeType"], "image/png");
        assert_eq!(image[1]["content"]["type"], "text");
        let missing = rig.client.get_prompt("test_prompt_with_arguments", &json!({"arg1": "x"})).await;
        assert!(matches!(missing, Err(CallError::Peer(error)) if error.code == -32602));
        let typed = CompleteParams::new(PromptReference::new("test_prompt_with_arguments"), "arg1", "test");
        let completed = rig.client.complete(&typed).await.unwrap().completion.values;
        assert_eq!(completed, ["testValue1", "testValue2"]);
    });
}

//! Prompts, resources, templates and completion, typed. The server is lines written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use sansio_mcp::model::{
    CompleteParams, ContentBlock, CreateMessageResult, PromptReference, RawJson, ResourceContents, Role,
};
use sansio_mcp_memory::{Lab, Task};
use sansio_mcp_sdk::client::Cache;
use serde_json::{Value, json};
use support::{Peer, ask, builder, error, result, start, start_setup};

/// Answers each request with what `reply` makes of it, a whole line, and returns the requests.
fn serve(
    lab: &Lab,
    mut peer: Peer,
    mut reply: impl FnMut(i64, &Value) -> String + 'static,
) -> Task<Vec<Value>> {
    lab.spawn(async move {
        let mut heard = Vec::new();
        while let Some(request) = peer.line().await {
            peer.send(reply(request["id"].as_i64().unwrap(), &request)).await;
            heard.push(request);
        }
        heard
    })
}

#[test]
fn the_lists_of_prompts_resources_and_templates_are_read_to_their_end() {
    let lab = Lab::new();
    let (client, peer) = start(&lab);
    let server = serve(&lab, peer, |id, request| {
        let last = request["params"].get("cursor").is_some();
        let name = if last { "b" } else { "a" };
        let icons = json!([{"src": "https://a.example/i.png", "mimeType": "image/png"}]);
        let mut page = match request["method"].as_str().unwrap() {
            "prompts/list" => json!({"prompts": [{"name": name, "icons": icons,
                "arguments": [{"name": "x", "required": true}]}]}),
            "resources/list" => json!({"resources": [{"name": name, "uri": format!("a://{name}"), "size": 3,
                "annotations": {"audience": ["user"], "priority": 0.5}}]}),
            _ => json!({"resourceTemplates": [{"name": name, "uriTemplate": "a://{x}"}]}),
        };
        if !last {
            page["nextCursor"] = json!("");
        }
        result(id, &page)
    });
    let prompts = lab.run(client.list_prompts()).unwrap();
    assert_eq!(prompts.iter().map(|prompt| &*prompt.name).collect::<Vec<_>>(), ["a", "b"]);
    assert!(prompts[0].arguments.as_ref().unwrap()[0].is_required() && prompts[0].icons.is_some());
    let resources = lab.run(client.list_resources()).unwrap();
    let priority = resources[1].annotations.as_ref().unwrap().priority;
    assert_eq!((&*resources[1].uri, resources[1].size, priority), ("a://b", Some(3), Some(0.5)));
    let templates = lab.run(client.list_resource_templates()).unwrap();
    assert_eq!(templates.iter().map(|template| &*template.uri_template).collect::<Vec<_>>(), ["a://{x}"; 2]);
    drop(client);
    let methods: Vec<Value> =
        lab.run(server).into_iter().map(|mut request| request["method"].take()).collect();
    let twice = ["prompts/list", "resources/list", "resources/templates/list"]
        .map(|method| [json!(method), json!(method)]);
    assert_eq!(methods, twice.concat());
}

#[test]
fn prompts_and_resources_may_ask_before_they_answer() {
    let lab = Lab::new();
    let setup = builder().on_sampling(async |_| Ok(CreateMessageResult::new("m", "a joke"))).build().unwrap();
    let (client, peer) = start_setup(&lab, setup);
    let server = serve(&lab, peer, |id, request| {
        let params = &request["params"];
        if params.get("inputResponses").is_none() {
            let asked = json!({"messages": [], "maxTokens": 9});
            return ask(id, &json!({"k": {"method": "sampling/createMessage", "params": asked}}), Some("s"));
        }
        match request["method"].as_str().unwrap() {
            "prompts/get" => result(
                id,
                &json!({"description": "d", "messages": [
                {"role": "assistant", "content": {"type": "text", "text": params["arguments"]["x"]}}]}),
            ),
            _ => result(id, &json!({"contents": [{"uri": params["uri"], "blob": "AQID"}], "ttlMs": 5})),
        }
    });
    let prompt = lab.run(client.get_prompt("p", &json!({"x": "1"}))).unwrap();
    assert_eq!(prompt.messages[0].role, Role::Assistant);
    assert_eq!(prompt.messages[0].content, ContentBlock::text("1"));
    let read = lab.run(client.read_resource("a://1")).unwrap();
    let ResourceContents::Blob(blob) = &read.contents[0] else { panic!("{read:?}") };
    assert_eq!((blob.bytes().unwrap(), read.ttl_ms), (vec![1, 2, 3], 5));
    drop(client);
    for retry in lab.run(server).iter().skip(1).step_by(2) {
        assert_eq!(retry["params"]["inputResponses"]["k"]["content"]["text"], "a joke");
        assert_eq!(retry["params"]["requestState"], "s");
    }
}

#[test]
fn a_completion_says_what_is_known_and_gets_values() {
    let lab = Lab::new();
    let (client, peer) = start(&lab);
    let server = serve(&lab, peer, |id, _| {
        result(id, &json!({"completion": {"values": ["flask"], "total": 1, "hasMore": false}}))
    });
    let params = CompleteParams::new(PromptReference::new("review"), "framework", "fla");
    let known = [("language", "python".to_owned())].into_iter().collect();
    let found = lab.run(client.complete(&params.clone().with_known(known))).unwrap().completion;
    assert_eq!((found.values, found.total, found.has_more), (vec!["flask".to_owned()], Some(1), Some(false)));
    let meta = RawJson::from_text(r#"{"left":"out"}"#).unwrap();
    lab.run(client.complete(&params.with_meta(meta)).meta(&json!({"set": 1}))).unwrap();
    drop(client);
    let heard = lab.run(server);
    let meta = &heard[1]["params"]["_meta"];
    assert_eq!((meta.get("left"), &meta["set"], heard[1]["params"].get("context")), (None, &json!(1), None));
    assert_eq!(heard[0]["params"]["context"], json!({"arguments": {"language": "python"}}));
}

#[test]
fn a_cursor_that_became_invalid_has_the_list_read_again_from_the_beginning_once() {
    let lab = Lab::new();
    for (cached, good_again) in [(true, true), (true, false), (false, true)] {
        let cache = Cache::default();
        let setup = builder();
        let setup = if cached { setup.cache(cache.clone()) } else { setup };
        let (client, peer) = start_setup(&lab, setup.build().unwrap());
        // Cursors are good for one time of reading the first page.
        let mut firsts = 0;
        let server = serve(&lab, peer, move |id, request| {
            let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
            match request["params"]["cursor"].as_str() {
                None => {
                    firsts += 1;
                    let cursor = firsts.to_string();
                    result(id, &json!({"tools": [tool("a")], "nextCursor": cursor, "ttlMs": 60_000}))
                }
                Some("2") if good_again => result(id, &json!({"tools": [tool("b")]})),
                Some(_) => error(id, -32602, &json!(null)),
            }
        });
        let listed = lab.run(client.list_tools());
        assert_eq!(listed.is_ok(), cached && good_again);
        if let Err(failed) = listed {
            assert_eq!(failed.code(), "PEER_ERROR");
        }
        drop(client);
        assert_eq!(lab.run(server).len(), if cached { 4 } else { 2 });
    }
}

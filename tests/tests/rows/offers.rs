// Prompts, resources, completion, log messages: what they answer, and that what holds for tools holds for them.

use std::time::Duration;

use sansio_mcp_sdk::client::Client;
use sansio_mcp_sdk::model::{
    Annotations, CacheScope, Implementation, Members, PromptReference, ResourceContents,
    ResourceTemplateReference,
};
use sansio_mcp_sdk::server::{
    Builder, CompleteParams, Context, Exit, Form, Icon, Logged, LoggingLevel, NoArguments, PromptArgument,
    PromptSpec, ResourceSpec, Server, StringSchema, TemplateSpec, generator,
};
use sansio_mcp_tests::{Bench, DropFlag, Trace, accepted, request, responses, rows, tool};
use serde_json::{Value, json};

rows! {
    c8_prompts_and_resources_are_cancelled_like_tools: all;
    m1_prompts_and_resources_ask_too: all;
    prompts_take_typed_arguments_and_refuse_what_is_missing: all;
    resources_and_templates_are_read_and_unknown_ones_refused: all;
    failures_of_prompts_and_resources_are_errors_of_the_request: all;
    lists_have_pages_hints_icons_and_annotations_and_take_no_ticket: all;
    completions_belong_to_arguments_and_variables: all;
    e4_log_messages_go_to_requests_that_asked_for_their_level: live;
    e4_log_messages_need_the_switch: all;
}

fn builder() -> Builder<M> {
    Server::<M>::builder("t", "1")
}

fn get(id: u32, name: &str, arguments: &Value) -> Value {
    request(id, "prompts/get", json!({"name": name, "arguments": arguments}), &json!({}))
}

fn read(id: u32, uri: &str) -> Value {
    request(id, "resources/read", json!({"uri": uri}), &json!({}))
}

async fn c8_prompts_and_resources_are_cancelled_like_tools(b: Bench) {
    let trace = Trace::new();
    let work = {
        let trace = trace.clone();
        move |what: &'static str, cx: Context<(), M>| {
            let trace = trace.clone();
            async move {
                let (end, over) = (trace.clone(), trace.clone());
                let mut signal = cx.cancelled();
                let _flag = DropFlag::new(&trace, "dropped");
                cx.on_exit(async move { end.note(format!("cleaned up {what}")) });
                trace.note(format!("begins {what}"));
                std::future::poll_fn(|cx| {
                    if std::pin::Pin::new(&mut signal).poll(cx).is_ready() {
                        over.note("heard");
                    }
                    std::task::Poll::<()>::Pending
                })
                .await;
                Ok("never")
            }
        }
    };
    let (prompt, resource, template) = (work.clone(), work.clone(), work.clone());
    let server = builder()
        .prompt("p", move |_: NoArguments, cx| prompt("prompt", cx))
        .resource(ResourceSpec::new("x://r", "r"), move |cx| resource("resource", cx))
        .resource_template(TemplateSpec::new("x://t/{n}", "t"), move |_: Members<String>, cx| {
            template("template", cx)
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    for (id, message, what) in [
        (1, get(1, "p", &json!({})), "prompt"),
        (2, read(2, "x://r"), "resource"),
        (3, read(3, "x://t/1"), "template"),
    ] {
        wire.send(&message).await;
        assert!(wire.drain().await.is_empty());
        assert!(trace.has(&format!("begins {what}")));
        wire.cancel(id).await;
        let lines = wire.drain().await;
        assert!(responses(&lines, id).is_empty(), "{lines:?}");
        assert!(trace.has(&format!("cleaned up {what}")), "{what}");
        assert_eq!(rig.running_or(0), 0);
    }
    assert_eq!(trace.count("dropped"), 3);
}

async fn m1_prompts_and_resources_ask_too(b: Bench) {
    fn name<S>(cx: &Context<S, M>) -> Result<String, Exit> {
        let form = Form::new("Who?").required("text", StringSchema::new());
        let all = cx.ask("who", form)?.accepted().unwrap_or_default();
        Ok(all.get("text").and_then(|text| text.parse().ok()).unwrap_or_default())
    }
    let server = builder()
        .prompt("p", |_: NoArguments, cx: Context<(), M>| async move { Ok(format!("Hello {}", name(&cx)?)) })
        .stream_prompt("s", |_: NoArguments, cx: Context<(), M>| {
            generator(async move |y| {
                y.progress(1.0, "x").await;
                Ok(format!("Hello {}", name(&cx)?))
            })
        })
        .resource(ResourceSpec::new("x://r", "r"), |cx: Context<(), M>| async move {
            Ok(format!("of {}", name(&cx)?))
        })
        .build()
        .unwrap();
    let client = b.serve(server).client_with(
        Client::builder(Implementation::new("c", "1"))
            .on_form(async |form| form.accept(&json!({"text": "Ann"}))),
    );
    for prompt in ["p", "s"] {
        let result = client.get_prompt(prompt, &json!({})).await.unwrap();
        assert_eq!(serde_json::to_value(&result).unwrap()["messages"][0]["content"]["text"], "Hello Ann");
    }
    let result = client.read_resource("x://r").await.unwrap();
    assert!(matches!(&result.contents[..], [ResourceContents::Text(text)] if text.text == "of Ann"));
    let _ = accepted(&json!({}));
}

#[derive(serde::Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Kind,
    Stern,
}

#[derive(serde::Deserialize, Debug)]
struct Letter {
    to: String,
    pages: Option<u8>,
    tone: Tone,
    #[serde(default)]
    urgent: bool,
}

async fn prompts_take_typed_arguments_and_refuse_what_is_missing(b: Bench) {
    let spec = PromptSpec::new("letter")
        .argument(PromptArgument::required("to"))
        .argument(PromptArgument::required("tone"))
        .argument(PromptArgument::optional("pages"));
    let server = builder()
        .prompt(spec, |letter: Letter, _: Context<(), M>| async move {
            Ok(format!("{} {:?} {:?} {}", letter.to, letter.pages, letter.tone, letter.urgent))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let arguments = json!({"to": "12", "pages": "3", "tone": "stern", "urgent": "true"});
    wire.send(&get(1, "letter", &arguments)).await;
    let answer = wire.answer(1).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(
        answer["result"]["messages"],
        json!([{"role": "user", "content": {"type": "text", "text": "12 Some(3) Stern true"}}])
    );
    for (id, name, arguments, says) in [
        (2, "letter", json!({"tone": "kind"}), "\"to\""),
        (3, "letter", json!({"to": "x", "tone": "rude"}), "rude"),
        (4, "letter", json!({"to": "x", "tone": "kind", "pages": "many"}), "many"),
        (5, "nothing", json!({}), "nothing"),
    ] {
        wire.send(&get(id, name, &arguments)).await;
        let error = wire.answer(id).await["error"].clone();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error["message"].as_str().unwrap().contains(says), "{error}");
    }
}

#[derive(serde::Deserialize)]
struct Invoice {
    year: u16,
    number: String,
}

async fn resources_and_templates_are_read_and_unknown_ones_refused(b: Bench) {
    let server = builder()
        .resource(
            ResourceSpec::new("x://text", "text").mime_type("text/plain").cache(5000, CacheScope::Public),
            |_| async { Ok("words") },
        )
        .resource(ResourceSpec::new("x://bytes", "bytes"), |_| async { Ok(vec![0_u8, 1, 255]) })
        .blocking_resource(ResourceSpec::new("x://blocking", "blocking"), |_| Ok("from a thread"))
        .resource_template(
            TemplateSpec::new("invoice://{year}/{number}", "invoice"),
            |invoice: Invoice, _| async move { Ok(format!("{} {}", invoice.year, invoice.number)) },
        )
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let _pool = b.lab.external();
    for (id, uri, contents, ttl) in [
        (1, "x://text", json!({"uri": "x://text", "mimeType": "text/plain", "text": "words"}), 5000),
        (2, "x://bytes", json!({"uri": "x://bytes", "blob": "AAH/"}), 0),
        (3, "invoice://2026/a%20b", json!({"uri": "invoice://2026/a%20b", "text": "2026 a b"}), 0),
        (4, "x://blocking", json!({"uri": "x://blocking", "text": "from a thread"}), 0),
    ] {
        wire.send(&read(id, uri)).await;
        let answer = wire.answer(id).await;
        assert_eq!(answer["result"]["contents"], json!([contents]), "{answer}");
        assert_eq!(answer["result"]["ttlMs"], ttl);
        let scope = if ttl > 0 { "public" } else { "private" };
        assert_eq!(answer["result"]["cacheScope"], scope);
    }
    for (id, uri) in [(10, "x://other"), (11, "invoice://2026"), (12, "invoice://year/1"), (13, "")] {
        wire.send(&read(id, uri)).await;
        let error = wire.answer(id).await["error"].clone();
        assert_eq!(error, json!({"code": -32602, "message": "Resource not found", "data": {"uri": uri}}));
    }
}

async fn failures_of_prompts_and_resources_are_errors_of_the_request(b: Bench) {
    let server = builder()
        .prompt(
            "p",
            |_: NoArguments, _: Context<(), M>| async move { Err::<String, _>(Exit::failure("no ink")) },
        )
        .resource(ResourceSpec::new("x://r", "r"), |_: Context<(), M>| async move {
            let _: u8 = "x".parse()?;
            Ok("")
        })
        .prompt("panics", |_: NoArguments, _: Context<(), M>| async move {
            assert!(std::hint::black_box(false), "on purpose");
            Ok("")
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    for (id, message, says) in [
        (1, get(1, "p", &json!({})), "no ink"),
        (2, read(2, "x://r"), "invalid digit"),
        (3, get(3, "panics", &json!({})), "failed unexpectedly"),
    ] {
        wire.send(&message).await;
        let error = wire.answer(id).await["error"].clone();
        assert_eq!(error["code"], -32603);
        assert!(error["message"].as_str().unwrap().contains(says), "{error}");
    }
}

async fn lists_have_pages_hints_icons_and_annotations_and_take_no_ticket(b: Bench) {
    let nap = b.nap(Duration::from_secs(5));
    let mut server = builder().slots(1).queue(0).page_size(2).list_cache(1000, CacheScope::Private).tool(
        "busy",
        move |_: NoArguments, _: Context<(), M>| {
            let nap = nap();
            async move {
                nap.await;
                Ok(())
            }
        },
    );
    for n in 0..3 {
        let icon = Icon::new("https://a.example/icon.png");
        let annotations = Annotations::default().with_priority(0.5);
        server = server
            .prompt(
                PromptSpec::new(format!("p{n}")).title("P").icon(icon.clone()),
                |_: NoArguments, _| async { Ok("") },
            )
            .resource(
                ResourceSpec::new(format!("x://{n}"), "r")
                    .size(7)
                    .annotations(annotations.clone())
                    .icon(icon.clone()),
                |_| async { Ok("") },
            )
            .resource_template(
                TemplateSpec::new(format!("x{n}://{{v}}"), "t").annotations(annotations).description("d"),
                |_: Members<String>, _| async { Ok("") },
            );
    }
    let rig = b.serve(server.build().unwrap());
    let mut wire = rig.wire();
    wire.send(&tool(1, "busy", &json!({}))).await;
    let mut id = 1;
    for (method, member, second) in [
        (
            "prompts/list",
            "prompts",
            json!({"name": "p2", "title": "P", "icons": [{"src": "https://a.example/icon.png"}]}),
        ),
        (
            "resources/list",
            "resources",
            json!({"uri": "x://2", "name": "r", "size": 7,
            "icons": [{"src": "https://a.example/icon.png"}], "annotations": {"priority": 0.5}}),
        ),
        (
            "resources/templates/list",
            "resourceTemplates",
            json!({"uriTemplate": "x2://{v}", "name": "t",
            "description": "d", "annotations": {"priority": 0.5}}),
        ),
    ] {
        id += 3;
        wire.send(&request(id, method, json!({}), &json!({}))).await;
        let page = wire.answer(id).await["result"].clone();
        assert_eq!(page[member].as_array().unwrap().len(), 2, "{page}");
        assert!(page["nextCursor"].is_string(), "{page}");
        assert_eq!((&page["ttlMs"], &page["cacheScope"]), (&json!(1000), &json!("private")));
        wire.send(&request(id + 1, method, json!({"cursor": page["nextCursor"]}), &json!({}))).await;
        let page = wire.answer(id + 1).await["result"].clone();
        assert_eq!(page[member], json!([second]));
        assert_eq!(page.get("nextCursor"), None);
        wire.send(&request(id + 2, method, json!({"cursor": "no such"}), &json!({}))).await;
        assert_eq!(wire.answer(id + 2).await["error"]["code"], -32602);
    }
}

async fn completions_belong_to_arguments_and_variables(b: Bench) {
    let prompt =
        PromptSpec::new("p").argument(PromptArgument::required("a")).argument(PromptArgument::optional("b"));
    let server = builder()
        .prompt(prompt, |_: Members<String>, _: Context<(), M>| async { Ok("") })
        .resource(ResourceSpec::new("x://r", "r"), |_| async { Ok("") })
        .resource_template(TemplateSpec::new("x://{v}/y", "t"), |_: Members<String>, _| async { Ok("") })
        .complete_prompt("p", "a", |params: CompleteParams, _: Context<(), M>| async move {
            let known = params.known("b").unwrap_or("-").to_owned();
            Ok(vec![format!("{}{known}", params.argument.value)])
        })
        .complete_template("x://{v}/y", "v", |_, _: Context<(), M>| async move {
            Ok((0..150).map(|n| n.to_string()).collect::<Vec<_>>())
        })
        .build()
        .unwrap();
    let client = b.serve(server).client();
    let known: Members<String> = [("b".to_owned(), "2".to_owned())].into_iter().collect();
    let of_prompt = |argument: &str| CompleteParams::new(PromptReference::new("p"), argument, "1");
    let result = client.complete(&of_prompt("a").with_known(known)).await.unwrap();
    assert_eq!(result.completion.values, ["12"]);
    assert!(
        client.complete(&of_prompt("b")).await.unwrap().completion.values.is_empty(),
        "nothing to suggest"
    );
    let of =
        |uri: &str, argument: &str| CompleteParams::new(ResourceTemplateReference::new(uri), argument, "");
    let many = client.complete(&of("x://{v}/y", "v")).await.unwrap().completion;
    assert_eq!((many.values.len(), many.total, many.has_more), (100, Some(150), Some(true)));
    assert!(
        client.complete(&of("x://r", "v")).await.unwrap().completion.values.is_empty(),
        "a plain resource"
    );
    for wrong in [
        of_prompt("c"),
        of("x://{v}/y", "w"),
        of("x://none", "v"),
        CompleteParams::new(PromptReference::new("q"), "a", ""),
    ] {
        let error = client.complete(&wrong).await.unwrap_err();
        assert!(format!("{error:?}").contains("-32602"), "{error:?}");
    }
    let nothing = builder().complete_prompt("p", "a", |_, _: Context<(), M>| async { Ok(vec!["x"]) }).build();
    assert!(nothing.err().unwrap().to_string().contains("completion"));
}

/// Logs at three levels, and tells what became of it.
fn talkative(server: Builder<M>) -> Server<M> {
    server
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            let all = [LoggingLevel::Debug, LoggingLevel::Warning, LoggingLevel::Emergency]
                .map(|level| cx.log_as(Some("shop"), level, &json!({"stock": 3})));
            Ok(format!("{all:?}"))
        })
        .build()
        .unwrap()
}

async fn e4_log_messages_go_to_requests_that_asked_for_their_level(b: Bench) {
    let mut wire = b.serve(talkative(builder().logging())).wire();
    let said = |level: Option<&'static str>, id: u32| {
        let meta = level.map_or(json!({}), |level| json!({"io.modelcontextprotocol/logLevel": level}));
        request(id, "tools/call", json!({"name": "t", "arguments": {}}), &meta)
    };
    for (id, level, levels) in [
        (1, None, vec![]),
        (2, Some("warning"), vec!["warning", "emergency"]),
        (3, Some("debug"), vec!["debug", "warning", "emergency"]),
    ] {
        wire.send(&said(level, id)).await;
        let lines = wire.drain().await;
        let logged: Vec<&Value> =
            lines.iter().filter(|line| line["method"] == "notifications/message").collect();
        let heard: Vec<&str> = logged.iter().map(|line| line["params"]["level"].as_str().unwrap()).collect();
        assert_eq!(heard, levels, "{level:?}");
        for line in logged {
            assert_eq!(
                (&line["params"]["logger"], &line["params"]["data"]),
                (&json!("shop"), &json!({"stock": 3}))
            );
        }
        assert_eq!(lines.last().unwrap()["id"], id, "the answer is last");
    }
    wire.send(&request(9, "server/discover", json!({}), &json!({}))).await;
    assert_eq!(wire.answer(9).await["result"]["capabilities"], json!({"logging": {}, "tools": {}}));
}

async fn e4_log_messages_need_the_switch(b: Bench) {
    let mut wire = b.serve(talkative(builder())).wire();
    let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
    wire.send(&request(1, "tools/call", json!({"name": "t", "arguments": {}}), &meta)).await;
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 1);
    let expected = format!("{:?}", [Logged::NotDeclared; 3]);
    assert_eq!(lines[0]["result"]["content"][0]["text"], expected);
    assert!(b.log.has("LOG_NOT_DECLARED"));
}

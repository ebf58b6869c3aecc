// Tools, prompts, resources and templates that come and go while the server serves.

use sansio_mcp_sdk::client::{Changed, Client, ListenEvent, ListenSpec, Subscription};
use sansio_mcp_sdk::model::{Members, PromptReference};
use sansio_mcp_sdk::server::{
    Builder, Catalog, CompleteParams, Context, NoArguments, PromptArgument, PromptSpec, ResourceSpec, Server,
    TemplateSpec, ToolSpec, Update, UpdateError,
};
use sansio_mcp_tests::{Bench, DropFlag, Gate, Trace, request, responses, rows, tool};
use serde_json::{Value, json};

rows! {
    everything_comes_and_goes_while_the_server_serves: all;
    e5_a_change_of_the_catalog_tells_exactly_the_lists_that_changed: live;
    e5_changes_of_the_catalog_that_nobody_has_read_are_one: live;
    a_change_is_made_whole_or_not_at_all: live;
    what_runs_on_a_removed_tool_runs_to_its_end: all;
    a_list_in_the_middle_of_a_change_skips_and_repeats_nothing: all;
    a_handler_changes_the_catalog_and_keeps_no_server_alive: [memory];
    what_was_removed_is_dropped_once_nothing_runs_on_it: all;
    a_request_finds_what_was_offered_when_its_gate_opened: all;
    a_request_that_comes_with_the_change_finds_it_made: [memory];
    a_catalog_has_one_server_at_a_time: [memory];
    a_catalog_declares_all_that_may_come: all;
    templates_stream_and_block_and_completions_block: open_live;
}

fn shop(catalog: &Catalog<(), M>) -> Builder<M> {
    Server::<M>::builder("shop", "1").catalog(catalog).tool("order", said("ordered"))
}

/// A handler that says the same to everybody.
fn said(
    what: &'static str,
) -> impl Fn(NoArguments, Context<(), M>) -> std::future::Ready<Result<&'static str, sansio_mcp_sdk::server::Exit>>
+ Send
+ Sync {
    move |_, _| std::future::ready(Ok(what))
}

fn read(
    what: &'static str,
) -> impl Fn(Context<(), M>) -> std::future::Ready<Result<&'static str, sansio_mcp_sdk::server::Exit>> + Send + Sync
{
    move |_| std::future::ready(Ok(what))
}

async fn suggest(
    _: CompleteParams,
    _: Context<(), M>,
) -> Result<Vec<&'static str>, sansio_mcp_sdk::server::Exit> {
    Ok(vec!["suggested"])
}

async fn tools(client: &Client) -> Vec<String> {
    client.list_tools().await.unwrap().into_iter().map(|tool| tool.name).collect()
}

async fn says(client: &Client, tool: &str) -> Result<String, i64> {
    use sansio_mcp_sdk::client::CallError;
    match client.call_tool(tool, &json!({})).await {
        Ok(result) => Ok(result.first_text().unwrap().to_owned()),
        Err(CallError::Peer(error)) => Err(error.code),
        Err(error) => panic!("{error}"),
    }
}

async fn everything_comes_and_goes_while_the_server_serves(b: Bench) {
    let catalog = Catalog::new();
    let rig = b.serve(shop(&catalog).build().unwrap());
    let client = rig.client();
    assert_eq!(tools(&client).await, ["order"]);
    assert_eq!(says(&client, "wish").await, Err(-32602));
    let prompt = PromptSpec::new("greet").argument(PromptArgument::required("name"));
    catalog
        .update(|shop| {
            shop.tool("wish", said("noted"))
                .prompt(prompt, async |_: Members<String>, _: Context<(), M>| Ok("Hello"))
                .complete_prompt("greet", "name", suggest)
                .resource(ResourceSpec::new("price://1", "one"), read("1"))
                .resource_template(
                    TemplateSpec::new("stock://{n}", "stock"),
                    async |_: Members<String>, _: Context<(), M>| Ok("7"),
                )
                .complete_template("stock://{n}", "n", suggest)
        })
        .unwrap();
    assert_eq!(tools(&client).await, ["order", "wish"]);
    assert_eq!(says(&client, "wish").await, Ok("noted".to_owned()));
    assert_eq!(client.list_prompts().await.unwrap().len(), 1);
    assert!(client.get_prompt("greet", &json!({"name": "Ann"})).await.is_ok());
    assert_eq!(client.list_resources().await.unwrap().len(), 1);
    assert_eq!(client.list_resource_templates().await.unwrap().len(), 1);
    for uri in ["price://1", "stock://1"] {
        assert!(client.read_resource(uri).await.is_ok(), "{uri}");
    }
    let completed =
        client.complete(&CompleteParams::new(PromptReference::new("greet"), "name", "")).await.unwrap();
    assert_eq!(completed.completion.values, ["suggested"]);
    catalog
        .update(|shop| {
            shop.remove_tool("order")
                .remove_tool("never there")
                .remove_prompt("greet")
                .remove_resource("price://1")
                .remove_resource_template("stock://{n}")
        })
        .unwrap();
    assert_eq!(tools(&client).await, ["wish"]);
    assert_eq!(says(&client, "order").await, Err(-32602));
    assert!(client.get_prompt("greet", &json!({"name": "Ann"})).await.is_err());
    assert_eq!(client.list_prompts().await.unwrap().len(), 0);
    assert_eq!(client.list_resources().await.unwrap().len(), 0);
    assert_eq!(client.list_resource_templates().await.unwrap().len(), 0);
    for uri in ["price://1", "stock://1"] {
        assert!(client.read_resource(uri).await.is_err(), "{uri}");
    }
    // Their completions went with them, so these are new.
    catalog
        .update(|shop| {
            shop.prompt(
                PromptSpec::new("greet").argument(PromptArgument::required("name")),
                async |_: Members<String>, _: Context<(), M>| Ok("Hi"),
            )
            .complete_prompt("greet", "name", suggest)
        })
        .unwrap();
    catalog.update(|shop| shop.remove_prompt_completion("greet", "name")).unwrap();
    let completed =
        client.complete(&CompleteParams::new(PromptReference::new("greet"), "name", "")).await.unwrap();
    assert!(completed.completion.values.is_empty());
}

async fn listen(client: &Client, spec: ListenSpec) -> Subscription {
    let mut subscription = client.listen(spec);
    assert_eq!(subscription.acknowledged().await.unwrap().declined, []);
    subscription
}

/// What a subscription has heard and not yet been asked for.
async fn heard(b: &Bench, subscription: &mut Subscription) -> Vec<Changed> {
    b.settle().await;
    let mut all = Vec::new();
    let mut next = Box::pin(subscription.next());
    while let std::task::Poll::Ready(event) = poll_once(&mut next) {
        drop(next);
        match event {
            Some(ListenEvent::Changed(change)) => all.push(change),
            other => panic!("{other:?}"),
        }
        next = Box::pin(subscription.next());
    }
    all
}

fn poll_once<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    std::pin::Pin::new(future).poll(&mut cx)
}

async fn e5_a_change_of_the_catalog_tells_exactly_the_lists_that_changed(b: Bench) {
    let catalog = Catalog::new();
    let rig = b.serve(shop(&catalog).build().unwrap());
    let client = rig.client();
    let mut on_tools = listen(&client, ListenSpec::new().tools()).await;
    let mut on_prompts = listen(&client, ListenSpec::new().prompts()).await;
    let mut on_all = listen(&client, ListenSpec::new().tools().prompts().resources()).await;
    let (tools, prompts, resources) = (Changed::Tools, Changed::Prompts, Changed::Resources);
    let template = || TemplateSpec::new("stock://{n}", "stock");
    let all: [(&dyn Fn(Update<(), M>) -> Update<(), M>, &[Changed]); 8] = [
        (&|shop| shop.tool("a", said("")).tool("b", said("")), std::slice::from_ref(&tools)),
        (
            &|shop| shop.remove_tool("a").prompt("p", async |_: NoArguments, _: Context<(), M>| Ok("")),
            &[tools.clone(), prompts.clone()],
        ),
        (
            &|shop| shop.resource_template(template(), async |_: Members<String>, _: Context<(), M>| Ok("")),
            std::slice::from_ref(&resources),
        ),
        // Another of the same name is another.
        (&|shop| shop.remove_tool("b").tool("b", said("")), std::slice::from_ref(&tools)),
        (&|shop| shop.remove_tool("a").remove_resource("price://1"), &[]),
        (&|shop| shop.tool("c", said("")).remove_tool("c"), &[]),
        (&|shop| shop.complete_template("stock://{n}", "n", suggest), &[]),
        (&|shop| shop.tool("b", said("")), &[]),
    ];
    for (at, (change, want)) in all.into_iter().enumerate() {
        assert_eq!(catalog.update(change).is_ok(), at != 7, "{at}");
        assert_eq!(heard(&b, &mut on_all).await, want, "{at}");
        let of = |kind: &Changed| want.iter().filter(|change| *change == kind).cloned().collect::<Vec<_>>();
        assert_eq!(heard(&b, &mut on_tools).await, of(&tools), "{at}");
        assert_eq!(heard(&b, &mut on_prompts).await, of(&prompts), "{at}");
    }
}

async fn e5_changes_of_the_catalog_that_nobody_has_read_are_one(b: Bench) {
    let catalog = Catalog::new();
    let rig = b.serve(shop(&catalog).build().unwrap());
    let mut wire = rig.wire();
    let listen = json!({"notifications": {"toolsListChanged": true}});
    wire.send(&request(1, "subscriptions/listen", listen, &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!(lines[0]["method"], "notifications/subscriptions/acknowledged", "{lines:?}");
    // No byte is moved between them.
    for n in 0..100 {
        catalog.update(|shop| shop.tool(format!("t{n}").as_str(), said(""))).unwrap();
    }
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["method"], "notifications/tools/list_changed");
}

async fn a_change_is_made_whole_or_not_at_all(b: Bench) {
    let catalog = Catalog::new();
    let rig = b.serve(shop(&catalog).build().unwrap());
    let client = rig.client();
    let mut on_all = listen(&client, ListenSpec::new().tools().prompts().resources()).await;
    let trace = Trace::new();
    let flag = DropFlag::new(&trace, "dropped");
    let flagged = move |_: NoArguments, _: Context<(), M>| {
        let _ = &flag;
        std::future::ready(Ok("never"))
    };
    let twice = catalog.update(|shop| shop.tool("new", flagged).remove_tool("order").tool("new", said("")));
    let Err(UpdateError::Refused(why)) = twice else { panic!("{twice:?}") };
    assert_eq!((why.field, why.to_string().contains("\"new\" is there twice")), ("tool.name", true));
    assert!(trace.has("dropped"), "nothing of it is kept");
    let prompt = || PromptSpec::new("p");
    let template = || TemplateSpec::new("stock://{n}", "stock");
    let refused: [(&dyn Fn(Update<(), M>) -> Update<(), M>, &str); 7] = [
        (&|shop| shop.tool("x", said("")).tool("order", said("")), "tool.name"),
        (&|shop| shop.remove_tool("order").tool("", said("")), "tool.name"),
        (
            &|shop| {
                shop.prompt(prompt(), async |_: NoArguments, _: Context<(), M>| Ok(""))
                    .prompt(prompt(), async |_: NoArguments, _: Context<(), M>| Ok(""))
            },
            "prompt.name",
        ),
        (
            &|shop| {
                shop.resource(ResourceSpec::new("r", "r"), read(""))
                    .resource(ResourceSpec::new("r", "s"), read(""))
            },
            "resource.uri",
        ),
        (
            &|shop| {
                shop.resource_template(
                    TemplateSpec::new("stock://{n", "n"),
                    async |_: Members<String>, _: Context<(), M>| Ok(""),
                )
            },
            "template.uri_template",
        ),
        (
            &|shop| {
                shop.resource_template(template(), async |_: Members<String>, _: Context<(), M>| Ok(""))
                    .complete_template("stock://{n}", "other", suggest)
            },
            "completion",
        ),
        (&|shop| shop.tool(ToolSpec::new("x").invalidates("a://*"), said("")), "tool.invalidates"),
    ];
    for (change, field) in refused {
        let refusal = catalog.update(change);
        assert!(
            matches!(&refusal, Err(UpdateError::Refused(why)) if why.field == field),
            "{field}: {refusal:?}"
        );
    }
    assert_eq!(tools(&client).await, ["order"]);
    assert_eq!(client.list_prompts().await.unwrap().len(), 0);
    assert_eq!(client.list_resources().await.unwrap().len(), 0);
    assert_eq!(client.list_resource_templates().await.unwrap().len(), 0);
    assert_eq!(heard(&b, &mut on_all).await, []);
}

async fn what_runs_on_a_removed_tool_runs_to_its_end(b: Bench) {
    let catalog = Catalog::new();
    let (trace, gate) = (Trace::new(), Gate::new());
    let held = {
        let (trace, gate) = (trace.clone(), gate.clone());
        move |_: NoArguments, _: Context<(), M>| {
            let (trace, gate) = (trace.clone(), gate.clone());
            async move {
                trace.note("begins");
                gate.passed().await;
                trace.note("ends");
                Ok("the old one")
            }
        }
    };
    let server = shop(&catalog).slots(2).tool(ToolSpec::new("held").one_at_a_time(), held).build().unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    // One runs, one waits in its lane without a slot.
    for id in [1, 2] {
        wire.send(&tool(id, "held", &json!({}))).await;
    }
    wire.drain().await;
    assert_eq!(trace.all(), ["begins"]);
    catalog
        .update(|shop| {
            shop.remove_tool("held").tool(ToolSpec::new("held").one_at_a_time(), said("the new one"))
        })
        .unwrap();
    // The new one has the lane of its name, behind the old one.
    wire.send(&tool(3, "held", &json!({}))).await;
    assert!(wire.drain().await.is_empty());
    catalog.update(|shop| shop.remove_tool("held")).unwrap();
    wire.send(&tool(4, "held", &json!({}))).await;
    assert_eq!(wire.answer(4).await["error"]["code"], -32602);
    gate.open();
    let lines = wire.drain().await;
    for (id, text) in [(1, "the old one"), (2, "the old one"), (3, "the new one")] {
        let answers = responses(&lines, id);
        assert_eq!(answers.len(), 1, "{lines:?}");
        assert_eq!(answers[0]["result"]["content"][0]["text"], text);
    }
    assert_eq!(trace.all(), ["begins", "ends", "begins", "ends"]);
}

async fn a_list_in_the_middle_of_a_change_skips_and_repeats_nothing(b: Bench) {
    let catalog = Catalog::new();
    let mut server = Server::<M>::builder("t", "1").catalog(&catalog).page_size(2);
    for name in ["a", "b", "c", "d", "e"] {
        server = server.tool(name, said(""));
    }
    let rig = b.serve(server.build().unwrap());
    let mut wire = rig.wire();
    let (mut id, mut cursor, mut seen) = (0, Value::Null, Vec::new());
    let changes: [&dyn Fn(Update<(), M>) -> Update<(), M>; 4] = [
        // The last thing of the page before has gone, and another before it, and one comes.
        &|shop| shop.remove_tool("b").remove_tool("a").tool("f", said("")),
        // One that was seen moves to the end.
        &|shop| shop.remove_tool("d").tool("d", said("")),
        &|shop| shop,
        &|shop| shop,
    ];
    for change in changes {
        id += 1;
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        wire.send(&request(id, "tools/list", params, &json!({}))).await;
        let result = wire.answer(id).await["result"].clone();
        seen.extend(
            result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        let Some(next) = result.get("nextCursor") else { break };
        cursor = next.clone();
        catalog.update(change).unwrap();
    }
    assert_eq!(seen, ["a", "b", "c", "d", "e", "f", "d"]);
    // A place that is another's here: the name decides. What was never given out is no cursor.
    for (cursor, want) in
        [("2:e", json!(["f", "d"])), ("99:c", json!(["e", "f"])), ("1:b", json!(["c", "e"]))]
    {
        id += 1;
        wire.send(&request(id, "tools/list", json!({"cursor": cursor}), &json!({}))).await;
        let result = wire.answer(id).await["result"].clone();
        let names: Vec<&Value> =
            result["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(json!(names), want, "{cursor}");
    }
    for cursor in ["", "x", "1", ":", "99:x", "7:x", "-1:a", "99999999999999999999:x", "2:x"] {
        id += 1;
        wire.send(&request(id, "tools/list", json!({"cursor": cursor}), &json!({}))).await;
        assert_eq!(wire.answer(id).await["error"]["code"], -32602, "{cursor}");
    }
}

async fn a_handler_changes_the_catalog_and_keeps_no_server_alive(b: Bench) {
    struct App {
        catalog: Catalog<App, M>,
        _flag: DropFlag,
    }
    let trace = Trace::new();
    let catalog = Catalog::<App, M>::new();
    let app = App { catalog: catalog.clone(), _flag: DropFlag::new(&trace, "state dropped") };
    let (captured, flag) = (catalog.clone(), DropFlag::new(&trace, "handler dropped"));
    let grow = move |_: NoArguments, cx: Context<App, M>| {
        let _ = &flag;
        // Its own and the state's are the same, and it may remove itself.
        let added = captured.update(|shop| {
            shop.tool("more", async |_: NoArguments, cx: Context<App, M>| {
                cx.state().catalog.update(|shop| shop.remove_tool("more")).unwrap();
                Ok("went")
            })
        });
        let removed = cx.state().catalog.update(|shop| shop.remove_tool("grow"));
        std::future::ready(Ok(format!("{added:?} {removed:?}")))
    };
    let server = Server::<M>::builder("t", "1").state(app).catalog(&catalog).tool("grow", grow);
    let mut rig = b.serve(server.build().unwrap());
    let (client, task) = rig.client_and_task();
    assert_eq!(says(&client, "grow").await.as_deref(), Ok("Ok(()) Ok(())"));
    assert_eq!(tools(&client).await, ["more"]);
    assert_eq!(says(&client, "more").await.as_deref(), Ok("went"));
    assert!(tools(&client).await.is_empty());
    assert!(trace.has("handler dropped"));
    task.abort();
    rig.release();
    b.settle().await;
    assert!(rig.has_ended());
    drop(rig);
    b.settle().await;
    assert!(trace.has("state dropped"), "the state holds the catalog, and not the other way round");
    assert_eq!(catalog.update(|shop| shop), Err(UpdateError::NoServer));
}

async fn what_was_removed_is_dropped_once_nothing_runs_on_it(b: Bench) {
    let (catalog, trace, gate) = (Catalog::new(), Trace::new(), Gate::new());
    let (flag, waits) = (DropFlag::new(&trace, "dropped"), gate.clone());
    let held = move |_: NoArguments, _: Context<(), M>| {
        let (_, waits) = (&flag, waits.clone());
        async move {
            waits.passed().await;
            Ok("done")
        }
    };
    let rig = b.serve(shop(&catalog).tool("held", held).build().unwrap());
    let mut wire = rig.wire();
    wire.send(&tool(1, "held", &json!({}))).await;
    wire.drain().await;
    catalog.update(|shop| shop.remove_tool("held")).unwrap();
    b.settle().await;
    assert!(!trace.has("dropped"));
    gate.open();
    assert_eq!(wire.answer(1).await["result"]["content"][0]["text"], "done");
    b.settle().await;
    assert!(trace.has("dropped"), "without another request");
    let flag = DropFlag::new(&trace, "idle dropped");
    let idle = move |_: NoArguments, _: Context<(), M>| {
        let _ = &flag;
        std::future::ready(Ok("done"))
    };
    catalog.update(|shop| shop.tool("idle", idle)).unwrap();
    wire.send(&tool(5, "idle", &json!({}))).await;
    wire.answer(5).await;
    catalog.update(|shop| shop.remove_tool("idle")).unwrap();
    b.settle().await;
    assert!(trace.has("idle dropped"), "although nothing else happens");
    // A destructor that panics is contained, wherever it runs.
    let bomb = PanicsOnDrop;
    let held = move |_: NoArguments, _: Context<(), M>| {
        let _ = &bomb;
        std::future::ready(Ok("fine"))
    };
    catalog.update(|shop| shop.tool("bomb", held)).unwrap();
    wire.send(&tool(2, "bomb", &json!({}))).await;
    assert_eq!(wire.answer(2).await["result"]["content"][0]["text"], "fine");
    catalog.update(|shop| shop.remove_tool("bomb")).unwrap();
    b.settle().await;
    wire.send(&tool(3, "order", &json!({}))).await;
    assert_eq!(wire.answer(3).await["result"]["content"][0]["text"], "ordered");
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("a destructor");
    }
}

async fn a_request_finds_what_was_offered_when_its_gate_opened(b: Bench) {
    use sansio_mcp_sdk::server::Next;
    let (catalog, gate) = (Catalog::new(), Gate::new());
    let waits = gate.clone();
    let server = shop(&catalog).slots(1).layer(move |_: Context<(), M>, next: Next<M>| {
        let waits = waits.clone();
        async move {
            waits.passed().await;
            next.run().await
        }
    });
    let rig = b.serve(server.build().unwrap());
    let mut wire = rig.wire();
    // The first is in its layer, the second in the queue.
    for id in [1, 2] {
        wire.send(&tool(id, "order", &json!({}))).await;
    }
    wire.drain().await;
    catalog.update(|shop| shop.remove_tool("order")).unwrap();
    b.settle().await;
    gate.open();
    assert_eq!(wire.answer(1).await["result"]["content"][0]["text"], "ordered");
    assert_eq!(wire.answer(2).await["error"]["code"], -32602);
}

async fn a_request_that_comes_with_the_change_finds_it_made(b: Bench) {
    let catalog = Catalog::new();
    let rig = b.serve(shop(&catalog).build().unwrap());
    b.settle().await;
    // The driver has no turn between the two.
    let exchange = rig.engine().unwrap().exchange();
    catalog.update(|shop| shop.tool("wish", said("noted")).remove_tool("order")).unwrap();
    exchange.handle_message(tool(1, "wish", &json!({})).to_string().as_bytes());
    b.settle().await;
    let mut out = Vec::new();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let taken = exchange.poll_transmit(&mut cx, &mut out);
    assert!(matches!(taken, std::task::Poll::Ready(Some(sent)) if sent.last), "{taken:?}");
    let answer: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "noted", "{answer}");
}

async fn a_catalog_has_one_server_at_a_time(b: Bench) {
    let catalog = Catalog::new();
    assert_eq!(catalog.update(|shop| shop), Err(UpdateError::NoServer));
    // A server that was not built is none.
    assert!(shop(&catalog).slots(0).build().is_err());
    let server = shop(&catalog).build().unwrap();
    let second = shop(&catalog).build();
    assert_eq!(second.err().map(|error| error.field), Some("catalog"));
    // The engine comes after the change.
    catalog.update(|shop| shop.tool("wish", said("noted"))).unwrap();
    let rig = b.serve(server);
    let client = rig.client();
    assert_eq!(tools(&client).await, ["order", "wish"]);
    catalog.update(|shop| shop.tool("late", said(""))).unwrap();
    assert_eq!(tools(&client).await.len(), 3);
    let other = Catalog::new();
    drop(shop(&other).build().unwrap());
    assert_eq!(other.update(|shop| shop), Err(UpdateError::NoServer));
    let rig = b.serve(shop(&other).build().unwrap());
    other.update(|shop| shop.remove_tool("order")).unwrap();
    assert!(tools(&rig.client()).await.is_empty());
}

async fn a_catalog_declares_all_that_may_come(b: Bench) {
    let catalog = Catalog::new();
    let rig = b.serve(Server::<M>::builder("t", "1").catalog(&catalog).build().unwrap());
    let mut wire = rig.wire();
    wire.send(&request(1, "server/discover", json!({}), &json!({}))).await;
    let declared = wire.answer(1).await["result"]["capabilities"].clone();
    let changing = json!({"listChanged": true});
    assert_eq!(
        declared,
        json!({"tools": changing, "prompts": changing, "resources": changing, "completions": {}})
    );
    for (id, method) in
        [(2, "tools/list"), (3, "prompts/list"), (4, "resources/list"), (5, "resources/templates/list")]
    {
        wire.send(&request(id, method, json!({}), &json!({}))).await;
        assert!(wire.answer(id).await["result"].is_object(), "{method}");
    }
}

async fn templates_stream_and_block_and_completions_block(b: Bench) {
    use sansio_mcp_sdk::model::ResourceTemplateReference;
    use sansio_mcp_sdk::server::generator;
    #[derive(serde::Deserialize)]
    struct Shelf {
        n: u32,
    }
    let catalog = Catalog::new();
    let rig = b.serve(shop(&catalog).build().unwrap());
    // Time stands still while the pool's threads may be at work.
    let pool = b.lab.external();
    catalog
        .update(|shop| {
            shop.stream_resource_template(TemplateSpec::new("stream://{n}", "s"), |shelf: Shelf, _| {
                generator(async move |y| {
                    y.progress(50.0, "looking").await;
                    Ok(format!("stream {}", shelf.n))
                })
            })
            .blocking_resource_template(TemplateSpec::new("block://{n}", "b"), |shelf: Shelf, _| {
                Ok(format!("block {}", shelf.n))
            })
            .blocking_complete_template("block://{n}", "n", |params, _| {
                Ok(vec![format!("{}!", params.argument.value)])
            })
            .prompt(
                PromptSpec::new("p").argument(PromptArgument::required("a")),
                async |_: Members<String>, _: Context<(), M>| Ok(""),
            )
            .blocking_complete_prompt("p", "a", |params, _| Ok(vec![format!("{}?", params.argument.value)]))
        })
        .unwrap();
    let client = rig.client();
    for (uri, text) in [("stream://7", "stream 7"), ("block://7", "block 7")] {
        let contents = client.read_resource(uri).await.unwrap().contents;
        assert_eq!(serde_json::to_value(&contents).unwrap()[0]["text"], text);
        // What is no number is no resource.
        assert!(client.read_resource(&uri.replace('7', "x")).await.is_err());
    }
    let template = CompleteParams::new(ResourceTemplateReference::new("block://{n}"), "n", "1");
    let prompt = CompleteParams::new(PromptReference::new("p"), "a", "1");
    for (params, want) in [(template, "1!"), (prompt, "1?")] {
        assert_eq!(client.complete(&params).await.unwrap().completion.values, [want]);
    }
    drop(pool);
    let mut wire = rig.wire();
    let meta = json!({"progressToken": "t"});
    wire.send(&request(1, "resources/read", json!({"uri": "stream://1"}), &meta)).await;
    let lines = wire.drain().await;
    assert_eq!(sansio_mcp_tests::progress_of(&lines, "t"), [50.0], "{lines:?}");
}

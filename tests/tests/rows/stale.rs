// Resources that a tool declares to make stale.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use sansio_mcp_sdk::client::{Changed, Client, ListenEvent, ListenSpec, Subscription};
use sansio_mcp_sdk::server::{
    Builder, CallToolResult, Context, Exit, Form, NoArguments, ResourceSpec, Server, Step, StringSchema,
    ToolSpec, generator,
};
use sansio_mcp_tests::{Bench, Gate, accepted, answering, asking, responses, rows, tool};
use serde_json::{Value, json};

rows! {
    e5_a_tools_success_tells_of_what_it_makes_stale_in_every_form: live;
    e5_only_success_makes_stale: live;
    e5_what_succeeds_after_its_cancel_makes_nothing_stale: [memory];
    e5_uris_prefixes_and_templates_go_stale: live;
    e5_what_goes_stale_is_told_before_the_answer: [memory stdio];
    what_goes_stale_has_to_be_declared_and_well_formed: [memory];
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name).invalidates("invoice://*")
}

fn builder() -> Builder<M> {
    Server::<M>::builder("t", "1")
        .resource(ResourceSpec::new("invoice://1", "one"), async |_: Context<(), M>| Ok("1"))
        .resource_updates()
}

async fn listen(client: &Client, uris: &[&str]) -> Subscription {
    let spec = uris.iter().fold(ListenSpec::new(), |spec, uri| spec.resource(*uri));
    let mut subscription = client.listen(spec);
    assert_eq!(subscription.acknowledged().await.unwrap().declined, []);
    subscription
}

fn updated(uri: &str) -> ListenEvent {
    ListenEvent::Changed(Changed::Resource(uri.into()))
}

/// The URIs in notifications of updates.
fn told(lines: &[Value]) -> Vec<&str> {
    let updates = lines.iter().filter(|line| line["method"] == "notifications/resources/updated");
    updates.map(|line| line["params"]["uri"].as_str().unwrap()).collect()
}

fn listening(id: u32, uris: &[&str]) -> Value {
    let params = json!({"notifications": {"resourceSubscriptions": uris}});
    sansio_mcp_tests::request(id, "subscriptions/listen", params, &json!({}))
}

async fn e5_a_tools_success_tells_of_what_it_makes_stale_in_every_form(b: Bench) {
    let server = builder()
        .tool(spec("async"), async |_: NoArguments, _: Context<(), M>| Ok("done"))
        .stream_tool(spec("generator"), |_: NoArguments, _: Context<(), M>| generator(async |_| Ok("done")))
        .stream_tool(spec("stream"), |_: NoArguments, _: Context<(), M>| {
            let steps = [Step::Note("a note".to_owned()), Step::Done(Ok("done"))];
            smol::stream::iter(steps)
        })
        .blocking_tool(spec("blocking"), |_: NoArguments, _: Context<()>| Ok("done"))
        .build()
        .unwrap();
    let rig = b.serve(server);
    let _pool = b.lab.external();
    let client = rig.client();
    let mut subscription = listen(&client, &["invoice://1"]).await;
    for form in ["async", "generator", "stream", "blocking"] {
        let result = client.call_tool(form, &json!({})).await.unwrap();
        assert_eq!(result.first_text(), Some("done"), "{form}");
        assert_eq!(subscription.next().await, Some(updated("invoice://1")), "{form}");
    }
}

async fn e5_only_success_makes_stale(b: Bench) {
    let gate = Gate::new();
    let (began, ended) = (Gate::new(), Gate::new());
    let (begin, waits, end) = (began.clone(), gate.clone(), ended.clone());
    let asked = || Form::new("What?").required("text", StringSchema::default());
    let server = builder()
        .tool(spec("fails"), async |_: NoArguments, _: Context<(), M>| Err::<&str, _>(Exit::failure("no")))
        .tool(spec("is_error"), async |_: NoArguments, _: Context<(), M>| Ok(CallToolResult::error("no")))
        .tool(spec("panics"), async |_: NoArguments, _: Context<(), M>| -> Result<&str, Exit> { panic!("!") })
        .stream_tool(spec("no_end"), |_: NoArguments, _: Context<(), M>| {
            smol::stream::iter([Step::<&str>::Note("a note".to_owned())])
        })
        .tool(spec("waits"), async |_: NoArguments, cx: Context<(), M>| {
            cx.cancelled().await;
            Ok("too late")
        })
        .blocking_tool(spec("blocks"), move |_: NoArguments, _: Context<()>| {
            begin.open();
            waits.wait();
            end.open();
            Ok("too late")
        })
        .tool(spec("asks"), move |_: NoArguments, cx: Context<(), M>| async move {
            cx.ask("text", asked())?;
            Ok("done")
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&listening(1, &["invoice://1"])).await;
    wire.drain().await;
    for (id, name) in [(2, "fails"), (3, "is_error"), (4, "panics"), (5, "no_end")] {
        wire.send(&tool(id, name, &json!({}))).await;
        let lines = wire.drain().await;
        assert_eq!(responses(&lines, id).len(), 1, "{lines:?}");
        assert!(told(&lines).is_empty(), "{name}: {lines:?}");
    }
    wire.send(&tool(6, "waits", &json!({}))).await;
    wire.drain().await;
    wire.cancel(6).await;
    let pool = b.lab.external();
    wire.send(&tool(7, "blocks", &json!({}))).await;
    began.passed().await;
    wire.cancel(7).await;
    gate.open();
    ended.passed().await;
    drop(pool);
    let lines = wire.drain().await;
    assert!(told(&lines).is_empty(), "{lines:?}");
    // A question tells nobody; its answer leads to the success that does.
    let question = asking(8, "asks", &json!({}), &json!({}));
    wire.send(&question).await;
    let lines = wire.drain().await;
    assert!(told(&lines).is_empty(), "{lines:?}");
    let asked = responses(&lines, 8)[0].clone();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let more = answering(&asked, &json!({"text": accepted(&json!({"text": "yes"}))}));
    wire.send(&asking(9, "asks", &json!({}), &more)).await;
    let lines = wire.drain().await;
    assert_eq!(responses(&lines, 9)[0]["result"]["content"][0]["text"], "done");
    assert_eq!(told(&lines), ["invoice://1"]);
}

async fn e5_what_succeeds_after_its_cancel_makes_nothing_stale(b: Bench) {
    use sansio_mcp_sdk::Mode;
    use sansio_mcp_sdk::server::{Next, Reply};
    // A layer that hands what it was given to somebody else, who goes on with it.
    let elsewhere = Arc::new(Mutex::new(Vec::<<M as Mode>::Future<Reply>>::new()));
    let (hands, gate) = (Arc::clone(&elsewhere), Gate::new());
    let waits = gate.clone();
    let pay = move |_: NoArguments, _: Context<(), M>| {
        let waits = waits.clone();
        async move {
            waits.passed().await;
            Ok("done")
        }
    };
    let server = builder().tool(spec("pay"), pay).layer(move |cx: Context<(), M>, next: Next<M>| {
        let mut listening = None;
        if cx.request().name().is_some() {
            hands.lock().unwrap().push(next.run());
        } else {
            listening = Some(next.run());
        }
        async move {
            match listening {
                Some(run) => run.await,
                None => std::future::pending().await,
            }
        }
    });
    let rig = b.serve(server.build().unwrap());
    let mut wire = rig.wire();
    wire.send(&listening(1, &["invoice://1"])).await;
    wire.send(&tool(2, "pay", &json!({}))).await;
    wire.drain().await;
    let mut run = elsewhere.lock().unwrap().pop().unwrap();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(Pin::new(&mut run).poll(&mut cx).is_pending());
    wire.cancel(2).await;
    wire.drain().await;
    gate.open();
    let reply = Pin::new(&mut run).poll(&mut cx);
    assert!(matches!(&reply, Poll::Ready(reply) if !reply.is_error()), "{reply:?}");
    let lines = wire.drain().await;
    assert!(lines.is_empty(), "{lines:?}");
}

async fn e5_uris_prefixes_and_templates_go_stale(b: Bench) {
    let done = async |_: NoArguments, _: Context<(), M>| Ok("done");
    let both = ToolSpec::new("both").invalidates("a://1").invalidates("b://x/*");
    let server = builder()
        .tool(ToolSpec::new("uri").invalidates("a://1"), done)
        .tool(ToolSpec::new("prefix").invalidates("a://*"), done)
        .tool(ToolSpec::new("template").invalidates("a://{n}/lines"), done)
        .tool(ToolSpec::new("everything").invalidates("*"), done)
        .tool(both, done)
        .build()
        .unwrap();
    let rig = b.serve(server);
    let mut wire = rig.wire();
    wire.send(&listening(1, &["a://1", "a://1/lines", "a://2/lines", "b://x/1", "b://y"])).await;
    wire.drain().await;
    let all: [(&str, &[&str]); 5] = [
        ("uri", &["a://1"]),
        ("prefix", &["a://1", "a://1/lines", "a://2/lines"]),
        ("template", &["a://1/lines", "a://2/lines"]),
        ("everything", &["a://1", "a://1/lines", "a://2/lines", "b://x/1", "b://y"]),
        ("both", &["a://1", "b://x/1"]),
    ];
    for (id, (name, want)) in (2..).zip(all) {
        wire.send(&tool(id, name, &json!({}))).await;
        let lines = wire.drain().await;
        let mut uris = told(&lines);
        uris.sort_unstable();
        assert_eq!(uris, want, "{name}");
    }
}

async fn e5_what_goes_stale_is_told_before_the_answer(b: Bench) {
    let done = async |_: NoArguments, _: Context<(), M>| Ok("done");
    let rig = b.serve(builder().tool(spec("pay"), done).build().unwrap());
    let mut wire = rig.wire();
    wire.send(&listening(1, &["invoice://1"])).await;
    wire.drain().await;
    wire.send(&tool(2, "pay", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(told(&lines[..1]), ["invoice://1"], "{lines:?}");
}

async fn what_goes_stale_has_to_be_declared_and_well_formed(b: Bench) {
    let done = async |_: NoArguments, _: Context<(), M>| Ok("done");
    let undeclared = Server::<M>::builder("t", "1").tool(spec("t"), done);
    assert_eq!(undeclared.build().err().map(|error| error.field), Some("tool.invalidates"));
    for text in ["", "a://{", "a://{a}{b}", "a://}", "a://{n}/*", "a://}*"] {
        let server = builder().tool(ToolSpec::new("t").invalidates(text), done);
        assert_eq!(server.build().err().map(|error| error.field), Some("tool.invalidates"), "{text}");
    }
    drop(b);
}

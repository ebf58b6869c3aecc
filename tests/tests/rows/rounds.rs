// M1, M2, M5: a handler asks, and is entered again.

use sansio_mcp_sdk::client::Client;
use sansio_mcp_sdk::model::{
    CreateMessageResult, ElicitAction, ElicitResult, Implementation, Root, SamplingMessage,
};
use sansio_mcp_sdk::server::{
    Answered, Asked, BooleanSchema, Builder, Context, CreateMessageParams, ElicitUrlParams, EnumSchema, Exit,
    Form, InputRequired, ListRootsParams, MultiSelectSchema, NoArguments, NumberSchema, Reply, Server,
    StringFormat, StringSchema, Typed, generator,
};
use sansio_mcp_tests::{Bench, Trace, accepted, answering, asking, form, kinds, rows, said, text, tool};
use serde_json::{Value, json};

rows! {
    m1_every_kind_of_question_goes_out_and_its_answer_comes_in: all, sockets;
    m1_every_form_of_handler_asks: all, sockets;
    m1_the_plain_form_asks: all;
    m2_accepted_declined_cancelled_and_missing_are_four_things: all;
    m2_an_answer_counts_only_for_the_question_it_was_given_to: all;
    m2_all_answers_and_the_handlers_own_state_are_there_at_each_entry: all;
    m2_layers_see_the_question_and_run_at_each_entry: all;
    m5_a_client_without_the_capability_is_asked_nothing: all;
}

fn builder() -> Builder<M> {
    Server::<M>::builder("t", "1")
}

fn client() -> sansio_mcp_sdk::client::ClientBuilder {
    Client::builder(Implementation::new("tester", "1"))
}

#[derive(serde::Deserialize, Debug)]
struct Order {
    email: String,
    copies: u8,
    #[serde(default)]
    weight: Option<f64>,
    gift: bool,
    cover: String,
    extras: Vec<String>,
}

async fn m1_every_kind_of_question_goes_out_and_its_answer_comes_in(b: Bench) {
    let server = builder()
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            let order = Form::new("Where to?")
                .required("email", StringSchema::of(StringFormat::Email).with_title("E-mail"))
                .required("copies", NumberSchema::integer().with_minimum(1).with_maximum(9))
                .optional("weight", NumberSchema::number())
                .optional("gift", BooleanSchema::new().with_default(false))
                .required("cover", EnumSchema::new(["paper", "cloth"]))
                .required("extras", MultiSelectSchema::new(["map", "index"]).with_max_items(2))
                .of::<Order>();
            let (order, visit, answer, roots) = cx.ask_all((
                ("order", order),
                ("link", ElicitUrlParams::new("Sign in", "https://shop.example/sign-in")),
                ("model", CreateMessageParams::new(vec![SamplingMessage::user("2+2")], 5)),
                ("roots", ListRootsParams::default()),
            ))?;
            let Asked::Accepted(order) = order else { return Err(Exit::failure("no order")) };
            let roots: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
            Ok(format!("{order:?} {visit:?} {:?} {roots:?}", answer.content.first_text()))
        })
        .build()
        .unwrap();
    let client = b.serve(server).client_with(
        client()
            .on_form(async |form| {
                form.accept(
                    &json!({"email": "a@b.example", "copies": 2, "cover": "cloth", "extras": ["map"]}),
                )
            })
            .on_url(async |url| {
                assert_eq!(url.params.url, "https://shop.example/sign-in");
                Ok(ElicitAction::Accept)
            })
            .on_sampling(async |_| Ok(CreateMessageResult::new("m", "4")))
            .on_roots(async |_| Ok(vec![Root::new("file:///home")])),
    );
    let result = client.call_tool("t", &json!({})).await.unwrap();
    let order = Order {
        email: "a@b.example".into(),
        copies: 2,
        weight: None,
        gift: false,
        cover: "cloth".into(),
        extras: vec!["map".into()],
    };
    let expected = format!("{order:?} Accepted(()) Some(\"4\") [\"file:///home\"]");
    assert_eq!(result.first_text(), Some(expected.as_str()));
    let _ = (order.email, order.copies, order.weight, order.gift, order.cover, order.extras);
}

async fn m1_every_form_of_handler_asks(b: Bench) {
    let server = builder()
        .tool("async", |_: NoArguments, cx: Context<(), M>| async move {
            Ok(cx.ask("a", form("async?"))?.accepted().map(|all| text(&all)).unwrap_or_default())
        })
        .stream_tool("stream", |_: NoArguments, cx: Context<(), M>| {
            generator(async move |y| {
                y.progress(10.0, "on the way").await;
                Ok(cx.ask("a", form("stream?"))?.accepted().map(|all| text(&all)).unwrap_or_default())
            })
        })
        .blocking_tool("blocking", |_: NoArguments, cx: Context| {
            let first = cx.ask("a", form("blocking?"))?.accepted().map(|all| text(&all)).unwrap_or_default();
            cx.keep(&first)?;
            let second =
                cx.ask("b", form(first.clone()))?.accepted().map(|all| text(&all)).unwrap_or_default();
            assert_eq!(cx.kept::<String>(), Some(first));
            Ok(second)
        })
        .build()
        .unwrap();
    let client = b.serve(server).client_with(
        client().on_form(async |form| form.accept(&json!({"text": format!("{} yes", form.params.message)}))),
    );
    let _pool = b.lab.external();
    for (name, answer) in
        [("async", "async? yes"), ("stream", "stream? yes"), ("blocking", "blocking? yes yes")]
    {
        let result = client.call_tool(name, &json!({})).await.unwrap();
        assert_eq!(result.first_text(), Some(answer), "{name}");
    }
}

async fn m1_the_plain_form_asks(b: Bench) {
    let server = builder()
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            match cx.answer("sure", &form("Sure?")) {
                Answered::Accepted(all) => Ok(format!("{} {:?}", text(&all), cx.kept::<u32>())),
                _ => Err(Exit::input_required(InputRequired::new().ask("sure", form("Sure?")).keep(&7))),
            }
        })
        .tool("bad", |_: NoArguments, cx: Context<(), M>| async move {
            cx.ask("k", Form::new(" "))?;
            Ok(())
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&asking(1, "t", &json!({}), &json!({}))).await;
    let asked = wire.answer(1).await;
    assert_eq!(kinds(&asked), ["sure"]);
    let question = &asked["result"]["inputRequests"]["sure"];
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!("elicitation/create"), &json!("Sure?"))
    );
    wire.send(&asking(
        2,
        "t",
        &json!({}),
        &answering(&asked, &json!({"sure": accepted(&json!({"text": "yes"}))})),
    ))
    .await;
    assert_eq!(said(&wire.answer(2).await), "yes Some(7)");
    wire.send(&asking(3, "bad", &json!({}), &json!({}))).await;
    let broken = wire.answer(3).await;
    assert_eq!(broken["error"]["code"], -32603, "a question that breaks the page is not sent: {broken}");
    assert!(b.log.has("QUESTION"));
}

/// Tells what is known of its question, and asks if nothing is.
fn curious() -> Server<M> {
    builder()
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            Ok(match cx.answer("k", &form("Well?")) {
                Answered::Accepted(all) => format!("accepted {}", text(&all)),
                Answered::Declined => "declined".to_owned(),
                Answered::Cancelled => "cancelled".to_owned(),
                Answered::Missing if cx.round() > 1 => "missing".to_owned(),
                Answered::Missing => {
                    return Err(Exit::input_required(InputRequired::new().ask("k", form("Well?"))));
                }
            })
        })
        .build()
        .unwrap()
}

async fn m2_accepted_declined_cancelled_and_missing_are_four_things(b: Bench) {
    let mut wire = b.serve(curious()).wire();
    let mut id = 0;
    for (answer, expected) in [
        (json!({"action": "accept", "content": {"text": "a"}}), "accepted a"),
        (json!({"action": "decline"}), "declined"),
        (json!({"action": "decline", "content": {"text": "a"}}), "declined"),
        (json!({"action": "cancel"}), "cancelled"),
    ] {
        id += 2;
        wire.send(&asking(id, "t", &json!({}), &json!({}))).await;
        let asked = wire.answer(id).await;
        wire.send(&asking(id + 1, "t", &json!({}), &answering(&asked, &json!({"k": answer})))).await;
        assert_eq!(said(&wire.answer(id + 1).await), expected);
    }
    wire.send(&asking(100, "t", &json!({}), &json!({}))).await;
    let first = wire.answer(100).await;
    wire.send(&asking(101, "t", &json!({}), &answering(&first, &json!({})))).await;
    let second = wire.answer(101).await;
    assert_eq!(kinds(&second), ["k"]);
    wire.send(&asking(102, "t", &json!({}), &answering(&second, &json!({})))).await;
    assert_eq!(said(&wire.answer(102).await), "missing");
}

async fn m2_an_answer_counts_only_for_the_question_it_was_given_to(b: Bench) {
    let trace = Trace::new();
    let prices = trace.clone();
    let server = builder()
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            prices.note("entered");
            let price = 40 + prices.count("entered") / 2; // 40, then 41 for good
            async move {
                Ok(cx
                    .ask("sure", form(format!("For {price}?")))?
                    .accepted()
                    .map(|all| text(&all))
                    .unwrap_or_default())
            }
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&asking(1, "t", &json!({}), &json!({}))).await;
    let asked = wire.answer(1).await;
    let yes = json!({"sure": accepted(&json!({"text": "yes"}))});
    wire.send(&asking(2, "t", &json!({}), &answering(&asked, &yes))).await;
    let again = wire.answer(2).await;
    assert_eq!(again["result"]["inputRequests"]["sure"]["params"]["message"], "For 41?", "{again}");
    wire.send(&asking(3, "t", &json!({}), &answering(&again, &yes))).await;
    assert_eq!(wire.answer(3).await["result"]["inputRequests"]["sure"]["params"]["message"], Value::Null);
}

async fn m2_all_answers_and_the_handlers_own_state_are_there_at_each_entry(b: Bench) {
    let server = builder()
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            let mut entries: Vec<u8> = cx.kept().unwrap_or_default();
            entries.push(cx.round());
            cx.keep(&entries)?;
            let mut all = Vec::new();
            for key in ["a", "b", "c"] {
                all.push(
                    cx.ask(key, form(format!("{key}?")))?
                        .accepted()
                        .map(|one| text(&one))
                        .unwrap_or_default(),
                );
            }
            Ok(format!("{all:?} {entries:?}"))
        })
        .build()
        .unwrap();
    let client = b
        .serve(server)
        .client_with(client().on_form(async |form| form.accept(&json!({"text": form.key.to_string()}))));
    let result = client.call_tool("t", &json!({})).await.unwrap();
    assert_eq!(result.first_text(), Some(r#"["a", "b", "c"] [0, 1, 2, 3]"#));
}

async fn m2_layers_see_the_question_and_run_at_each_entry(b: Bench) {
    let trace = Trace::new();
    let seen = trace.clone();
    let server = builder()
        .layer(move |_, next| {
            let seen = seen.clone();
            async move {
                let reply = next.run().await;
                seen.note(match &reply {
                    Reply::Answer(_) => "answer".to_owned(),
                    Reply::InputRequired(asks) => format!("asks {}", asks.questions().len()),
                    _ => "error".to_owned(),
                });
                reply
            }
        })
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            // Whatever the handler's own error type, the question is not one of its errors.
            let asked: Result<Asked<_>, Exit> = cx.ask("k", form("Well?"));
            asked.map(|_| "done")
        })
        .build()
        .unwrap();
    let client = b.serve(server).client_with(client().on_form(async |_| Ok(ElicitResult::decline())));
    assert_eq!(client.call_tool("t", &json!({})).await.unwrap().first_text(), Some("done"));
    assert_eq!(trace.all(), ["asks 1", "answer"]);
}

async fn m5_a_client_without_the_capability_is_asked_nothing(b: Bench) {
    let mut wire = b.serve(curious()).wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    let lines = wire.drain().await;
    assert_eq!(lines.len(), 1);
    let error = &lines[0]["error"];
    assert_eq!(error["code"], -32021, "{error}");
    assert_eq!(error["data"], json!({"requiredCapabilities": {"elicitation": {"form": {}}}}));
}

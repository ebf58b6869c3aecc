// M1, M2, M5, M6, M8: a handler asks, and is entered again.

use std::time::Duration;

use sansio_mcp_sdk::client::{Call, Client};
use sansio_mcp_sdk::model::{
    CreateMessageResult, ElicitAction, ElicitResult, Implementation, Root, SamplingMessage,
};
use sansio_mcp_sdk::server::{
    Answered, Asked, BooleanSchema, Builder, Context, CreateMessageParams, ElicitUrlParams, EnumSchema, Exit,
    Form, InputRequired, ListRootsParams, MultiSelectSchema, NoArguments, NumberSchema, Reply, Server,
    StringFormat, StringSchema, ToolSpec, Typed, generator,
};
use sansio_mcp_tests::{Bench, Gate, Trace, accepted, answering, asking, rows, tool};
use serde_json::{Value, json};

rows! {
    m1_every_kind_of_question_goes_out_and_its_answer_comes_in: all;
    m1_every_form_of_handler_asks: all;
    m1_the_plain_form_asks: all;
    m2_accepted_declined_cancelled_and_missing_are_four_things: all;
    m2_an_answer_counts_only_for_the_question_it_was_given_to: all;
    m2_all_answers_and_the_handlers_own_state_are_there_at_each_entry: all;
    m2_layers_see_the_question_and_run_at_each_entry: all;
    m5_a_client_without_the_capability_is_asked_nothing: all;
    m6_the_eighth_question_is_answered_and_the_ninth_refused: all;
    m6_rounds_of_state_alone_count_too: all;
    m8_while_a_person_thinks_neither_slot_nor_lane_is_held: all;
    m8_an_answered_question_is_never_refused_as_busy: all;
    edge_29_all_questions_of_a_round_are_asked_at_once: all;
    edge_32_missing_misplaced_and_malformed_answers_are_asked_again: all;
    edge_32_answers_without_state_are_taken_except_for_mutations: all;
    edge_33_a_url_needs_its_capability_and_sampling_with_tools_its_own: all;
}

fn builder() -> Builder<M> {
    Server::<M>::builder("t", "1")
}

fn client() -> sansio_mcp_sdk::client::ClientBuilder {
    Client::builder(Implementation::new("tester", "1"))
}

/// A form of one text.
fn form(message: impl Into<String>) -> Form {
    Form::new(message).required("text", StringSchema::new())
}

fn text(members: &sansio_mcp_sdk::model::RawMembers) -> String {
    members.get("text").and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

fn kinds(answer: &Value) -> Vec<&str> {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"]["inputRequests"]
        .as_object()
        .map(|all| all.keys().map(String::as_str).collect())
        .unwrap_or_default()
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

/// Asks `rounds` times in a row.
fn asks_times(rounds: usize) -> Server<M> {
    builder()
        .tool("t", move |_: NoArguments, cx: Context<(), M>| async move {
            for n in 0..rounds {
                cx.ask(&format!("q{n}"), form(format!("{n}?")))?;
            }
            Ok("done")
        })
        .build()
        .unwrap()
}

async fn m6_the_eighth_question_is_answered_and_the_ninth_refused(b: Bench) {
    for (rounds, ends) in [(8, "done"), (9, "ROUNDS_EXCEEDED")] {
        let asked = Trace::new();
        let log = asked.clone();
        let client = b.serve(asks_times(rounds)).client_with(client().on_form(move |form| {
            log.note(form.key.to_string());
            std::future::ready(form.accept(&json!({"text": "x"})))
        }));
        let called: Call<_> = client.call_tool("t", &json!({}));
        match called.await {
            Ok(result) => assert_eq!(result.first_text(), Some(ends)),
            Err(error) => assert!(error.to_string().contains("8 times"), "{error}"),
        }
        assert_eq!(asked.all().len(), 8, "nobody is asked what would be thrown away");
    }
    // The code is for machines.
    let mut wire = b.serve(asks_times(9)).wire();
    let mut more = json!({});
    for id in 0..8 {
        wire.send(&asking(id, "t", &json!({}), &more)).await;
        let asked = wire.answer(id).await;
        more = answering(&asked, &json!({format!("q{id}"): accepted(&json!({"text": "x"}))}));
    }
    wire.send(&asking(8, "t", &json!({}), &more)).await;
    let error = wire.answer(8).await["error"].clone();
    assert_eq!((&error["code"], &error["data"]), (&json!(1002), &json!({"code": "ROUNDS_EXCEEDED"})));
}

async fn m6_rounds_of_state_alone_count_too(b: Bench) {
    let server = builder()
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            if cx.round() == 99 {
                return Ok("never");
            }
            Err(Exit::input_required(InputRequired::new().keep(&cx.round())))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let mut more = json!({});
    for id in 0..8 {
        wire.send(&tool_more(id, &more)).await;
        let asked = wire.answer(id).await;
        assert!(kinds(&asked).is_empty());
        more = json!({"requestState": asked["result"]["requestState"]});
    }
    wire.send(&tool_more(8, &more)).await;
    assert_eq!(wire.answer(8).await["error"]["code"], 1002);
}

fn tool_more(id: u32, more: &Value) -> Value {
    asking(id, "t", &json!({}), more)
}

async fn m8_while_a_person_thinks_neither_slot_nor_lane_is_held(b: Bench) {
    let trace = Trace::new();
    let entered = trace.clone();
    let server = builder()
        .slots(1)
        .queue(0)
        .tool(ToolSpec::new("pay").one_at_a_time(), move |_: NoArguments, cx: Context<(), M>| {
            entered.note("pay");
            async move {
                cx.ask("sure", form("Sure?"))?;
                Ok("paid")
            }
        })
        .tool("other", |_: NoArguments, _: Context<(), M>| async { Ok("other") })
        .build()
        .unwrap();
    let gate = Gate::new();
    let thinking = gate.clone();
    let rig = b.serve(server);
    let client = rig.client_with(client().on_form(move |form| {
        let thinking = thinking.clone();
        async move {
            thinking.passed().await;
            form.accept(&json!({"text": "x"}))
        }
    }));
    let paying = b.lab.spawn(client.call_tool("pay", &json!({})));
    b.pass(Duration::from_mins(1)).await;
    assert!(trace.has("pay") && !paying.is_done());
    assert_eq!(rig.running_or(0), 0);
    // One slot, no queue, and yet there is room; the lane is free too, for another who is asked.
    assert_eq!(client.call_tool("other", &json!({})).await.unwrap().first_text(), Some("other"));
    let second = b.lab.spawn(client.call_tool("pay", &json!({})));
    b.settle().await;
    assert_eq!(trace.count("pay"), 2);
    gate.open();
    assert_eq!(paying.await.unwrap().first_text(), Some("paid"));
    assert_eq!(second.await.unwrap().first_text(), Some("paid"));
}

async fn m8_an_answered_question_is_never_refused_as_busy(b: Bench) {
    let gate = Gate::new();
    let go = gate.clone();
    let server = builder()
        .slots(1)
        .queue(0)
        .tool("slow", move |_: NoArguments, _: Context<(), M>| {
            let go = go.clone();
            async move {
                go.passed().await;
                Ok("slow")
            }
        })
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            cx.ask("k", form("Well?"))?;
            Ok("done")
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&asking(1, "t", &json!({}), &json!({}))).await;
    let asked = wire.answer(1).await;
    wire.send(&tool(2, "slow", &json!({}))).await;
    wire.send(&asking(
        3,
        "t",
        &json!({}),
        &answering(&asked, &json!({"k": accepted(&json!({"text": "x"}))})),
    ))
    .await;
    // A newcomer is refused, also one that only says it has answers.
    wire.send(&asking(
        4,
        "t",
        &json!({}),
        &json!({"inputResponses": {"k": accepted(&json!({"text": "x"}))}}),
    ))
    .await;
    assert_eq!(wire.answer(4).await["error"]["data"]["code"], "SERVER_BUSY");
    wire.send(&asking(5, "t", &json!({}), &json!({"requestState": "forged"}))).await;
    assert_eq!(wire.answer(5).await["error"]["code"], -32602);
    assert!(wire.drain().await.is_empty(), "it waits");
    gate.open();
    assert_eq!(said(&wire.answer(2).await), "slow");
    assert_eq!(said(&wire.answer(3).await), "done");
}

async fn edge_29_all_questions_of_a_round_are_asked_at_once(b: Bench) {
    let server = builder()
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            let (a, _) = cx.ask_all((("a", form("A?")), ("b", form("B?"))))?;
            let many = cx.ask_all(vec![("c", form("C?")), ("d", form("D?"))])?;
            Ok(format!("{} {}", a.accepted().map(|all| text(&all)).unwrap_or_default(), many.len()))
        })
        .tool("twice", |_: NoArguments, cx: Context<(), M>| async move {
            cx.ask_all((("a", form("A?")), ("a", form("B?"))))?;
            Ok(String::new())
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    wire.send(&asking(1, "t", &json!({}), &json!({}))).await;
    let first = wire.answer(1).await;
    assert_eq!(kinds(&first), ["a", "b"]);
    let x = accepted(&json!({"text": "x"}));
    // Of a round that was half answered, only the other half is asked again.
    wire.send(&asking(2, "t", &json!({}), &answering(&first, &json!({"a": x})))).await;
    let second = wire.answer(2).await;
    assert_eq!(kinds(&second), ["b"]);
    wire.send(&asking(3, "t", &json!({}), &answering(&second, &json!({"b": x})))).await;
    let third = wire.answer(3).await;
    assert_eq!(kinds(&third), ["c", "d"]);
    wire.send(&asking(4, "t", &json!({}), &answering(&third, &json!({"c": x, "d": {"action": "cancel"}}))))
        .await;
    assert_eq!(said(&wire.answer(4).await), "x 2");
    wire.send(&asking(5, "twice", &json!({}), &json!({}))).await;
    assert_eq!(wire.answer(5).await["error"]["code"], -32603, "one key, two questions");
}

async fn edge_32_missing_misplaced_and_malformed_answers_are_asked_again(b: Bench) {
    let server = builder()
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            let form =
                Form::new("How many?").required("n", NumberSchema::integer().with_maximum(9)).of::<Value>();
            Ok(format!("{:?}", cx.ask("k", form)?))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let mut id = 0;
    for answers in [
        json!({}),
        json!({"other": accepted(&json!({"n": 1}))}),
        json!({"k": 5}),
        json!({"k": null}),
        json!({"k": {}}),
        json!({"k": {"action": "perhaps"}}),
        json!({"k": accepted(&json!({"n": 10}))}),
        json!({"k": accepted(&json!({"n": "1"}))}),
        json!({"k": accepted(&json!({}))}),
        json!({"k": {"roots": []}}),
    ] {
        id += 2;
        wire.send(&asking(id, "t", &json!({}), &json!({}))).await;
        let asked = wire.answer(id).await;
        wire.send(&asking(id + 1, "t", &json!({}), &answering(&asked, &answers))).await;
        let again = wire.answer(id + 1).await;
        assert_eq!(kinds(&again), ["k"], "{answers}");
    }
    wire.send(&asking(100, "t", &json!({}), &json!({}))).await;
    let asked = wire.answer(100).await;
    let answers = json!({"x": 1, "k": accepted(&json!({"n": 9, "more": true})), "y": accepted(&json!({}))});
    wire.send(&asking(101, "t", &json!({}), &answering(&asked, &answers))).await;
    assert_eq!(
        said(&wire.answer(101).await),
        r#"Accepted(Object {"n": Number(9)})"#,
        "extra answers are ignored"
    );
}

async fn edge_32_answers_without_state_are_taken_except_for_mutations(b: Bench) {
    let handler = |_: NoArguments, cx: Context<(), M>| async move {
        cx.ask("a", form("A?"))?;
        cx.ask("b", form("B?"))?;
        Ok("done")
    };
    let server = builder()
        .tool("plain", handler)
        .tool(ToolSpec::new("mutation").one_at_a_time(), handler)
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    let x = accepted(&json!({"text": "x"}));
    let answers = json!({"inputResponses": {"a": x}});
    wire.send(&asking(1, "plain", &json!({}), &answers)).await;
    let asked = wire.answer(1).await;
    assert_eq!(kinds(&asked), ["b"]);
    wire.send(&asking(2, "plain", &json!({}), &answering(&asked, &json!({"b": x})))).await;
    assert_eq!(said(&wire.answer(2).await), "done", "what was taken is remembered");
    wire.send(&asking(3, "mutation", &json!({}), &answers)).await;
    assert_eq!(kinds(&wire.answer(3).await), ["a"]);
}

async fn edge_33_a_url_needs_its_capability_and_sampling_with_tools_its_own(b: Bench) {
    let server = builder()
        .tool("t", |_: NoArguments, cx: Context<(), M>| async move {
            let mut sampling = CreateMessageParams::new(vec![SamplingMessage::user("2+2")], 5);
            sampling.tools =
                Some(serde_json::from_value(json!([{"name": "w", "inputSchema": {"type": "object"}}]))?);
            cx.ask_all((
                ("form", form("A?")),
                ("url", ElicitUrlParams::new("Go", "https://a.example/")),
                ("model", sampling),
            ))?;
            Ok("done")
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    for (id, declared, lacking) in [
        (
            1,
            json!({"elicitation": {}, "sampling": {}}),
            json!({"elicitation": {"url": {}}, "sampling": {"tools": {}}}),
        ),
        (
            2,
            json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}}),
            json!({"sampling": {"tools": {}}}),
        ),
    ] {
        let meta = json!({"io.modelcontextprotocol/clientCapabilities": declared});
        let params = json!({"name": "t", "arguments": {}});
        wire.send(&sansio_mcp_tests::request(id, "tools/call", params, &meta)).await;
        let lines = wire.drain().await;
        assert_eq!(lines.len(), 1, "none of the round is sent");
        assert_eq!(lines[0]["error"]["code"], -32021);
        assert_eq!(lines[0]["error"]["data"]["requiredCapabilities"], lacking);
    }
}

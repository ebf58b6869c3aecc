// M6, M8: how often a handler may ask, and what it holds meanwhile.

use std::time::Duration;

use sansio_mcp_sdk::client::{Call, Client};
use sansio_mcp_sdk::model::Implementation;
use sansio_mcp_sdk::server::{Builder, Context, Exit, InputRequired, NoArguments, Server, ToolSpec};
use sansio_mcp_tests::{Bench, Gate, Trace, accepted, answering, asking, form, kinds, rows, said, tool};
use serde_json::{Value, json};

rows! {
    m6_the_eighth_question_is_answered_and_the_ninth_refused: all;
    m6_rounds_of_state_alone_count_too: all;
    m8_while_a_person_thinks_neither_slot_nor_lane_is_held: all;
    m8_an_answered_question_is_never_refused_as_busy: all;
}

fn builder() -> Builder<M> {
    Server::<M>::builder("t", "1")
}

fn client() -> sansio_mcp_sdk::client::ClientBuilder {
    Client::builder(Implementation::new("tester", "1"))
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

// Edge cases 29 to 35: rounds of input, as a server sees and a client does them. 31 is in `sealed`, the client's half of 34 in
// `edges_client`.

use std::future::pending;

use sansio_mcp_sdk::client::{Client, InputFailure};
use sansio_mcp_sdk::model::{Implementation, SamplingMessage};
use sansio_mcp_sdk::server::{
    Builder, Context, CreateMessageParams, ElicitUrlParams, Form, NoArguments, NumberSchema, RawArguments,
    Server, ToolSpec, Typed,
};
use sansio_mcp_tests::{
    Bench, DropFlag, Gate, Trace, accepted, answering, asking, form, kinds, rows, said, text,
};
use serde_json::{Value, json};

rows! {
    edge_29_all_questions_of_a_round_are_asked_at_once: all;
    edge_29_the_first_failure_withdraws_the_other_questions_and_ends_the_call: all;
    edge_30_state_goes_back_on_the_retry_alone_under_a_new_id: all;
    edge_32_answers_without_state_are_taken_except_for_mutations: all;
    edge_32_missing_misplaced_and_malformed_answers_are_asked_again: all;
    edge_33_a_url_needs_its_capability_and_sampling_with_tools_its_own: all;
    edge_35_retries_change_neither_the_params_nor_the_callers_metadata: live;
}

fn builder() -> Builder<M> {
    Server::<M>::builder("t", "1")
}

fn client() -> sansio_mcp_sdk::client::ClientBuilder {
    Client::builder(Implementation::new("tester", "1"))
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

/// The client's half: whoever is asked is asked at the same time, and when one cannot answer nobody has to.
async fn edge_29_the_first_failure_withdraws_the_other_questions_and_ends_the_call(b: Bench) {
    let (trace, gate) = (Trace::new(), Gate::new());
    let entered = trace.clone();
    let server = builder()
        .tool("t", move |_: NoArguments, cx: Context<(), M>| {
            entered.note("entered");
            async move {
                cx.ask_all((("a", form("A?")), ("b", form("B?")), ("c", form("C?"))))?;
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let rig = b.serve(server);
    let (notes, go) = (trace.clone(), gate.clone());
    let client = rig.client_with(client().on_form(move |form| {
        let (notes, go) = (notes.clone(), go.clone());
        async move {
            notes.note(format!("asked {}", form.key));
            let _withdrawn = DropFlag::new(&notes, if &*form.key == "b" { "b is over" } else { "withdrawn" });
            if &*form.key == "b" {
                go.passed().await;
                return Err(InputFailure::new("no screen"));
            }
            pending().await
        }
    }));
    let call = b.lab.spawn(client.call_tool("t", &json!({})));
    b.settle().await;
    assert_eq!(trace.all(), ["entered", "asked a", "asked b", "asked c"], "all at once");
    gate.open();
    assert_eq!(call.await.unwrap_err().code(), "INPUT_FAILED");
    b.settle().await;
    assert_eq!((trace.count("withdrawn"), trace.count("entered")), (2, 1), "nothing goes back");
    assert_eq!((client.open_calls(), rig.running_or(0)), (0, 0));
    // The channel lives, and the next call is asked anew.
    let again = b.lab.spawn(client.call_tool("t", &json!({})));
    assert_eq!(again.await.unwrap_err().code(), "INPUT_FAILED");
    assert_eq!(trace.count("entered"), 2);
}

/// What a server sees of each request: its id, and whether it carries state and answers.
fn observed(cx: &Context<(), M>, trace: &Trace) {
    let request = cx.request();
    let carries = (request.request_state().is_some(), request.input_responses().is_some());
    trace.note(format!("{:?} {carries:?}", request.wire_id()));
}

/// Byte for byte: every other state would be refused.
async fn edge_30_state_goes_back_on_the_retry_alone_under_a_new_id(b: Bench) {
    let (trace, gate) = (Trace::new(), Gate::new());
    let (asking, other) = (trace.clone(), trace.clone());
    let server = builder()
        .tool("asks", move |_: NoArguments, cx: Context<(), M>| {
            observed(&cx, &asking);
            async move {
                cx.keep(&"\u{e9}\"\\")?;
                let first = cx.ask("a", form("A?"))?.accepted().map(|all| text(&all)).unwrap_or_default();
                assert_eq!(cx.kept::<String>().as_deref(), Some("\u{e9}\"\\"));
                Ok(first)
            }
        })
        .tool("other", move |_: NoArguments, cx: Context<(), M>| {
            observed(&cx, &other);
            async { Ok("other") }
        })
        .build()
        .unwrap();
    let go = gate.clone();
    let client = b.serve(server).client_with(client().on_form(move |form| {
        let go = go.clone();
        async move {
            go.passed().await;
            form.accept(&json!({"text": "yes"}))
        }
    }));
    let call = b.lab.spawn(client.call_tool("asks", &json!({})));
    b.settle().await;
    // While the question is open another call goes out, and carries nothing of it.
    assert_eq!(client.call_tool("other", &json!({})).await.unwrap().first_text(), Some("other"));
    gate.open();
    assert_eq!(call.await.unwrap().first_text(), Some("yes"));
    assert_eq!(client.call_tool("other", &json!({})).await.unwrap().first_text(), Some("other"));
    assert_eq!(
        trace.all(),
        ["Int(1) (false, false)", "Int(2) (false, false)", "Int(3) (true, true)", "Int(4) (false, false)"]
    );
}

/// What a server sees of each attempt: everything but the id, the progress token, answers and state is the caller's.
async fn edge_35_retries_change_neither_the_params_nor_the_callers_metadata(b: Bench) {
    let (trace, tokens) = (Trace::new(), Trace::new());
    let (seen, token) = (trace.clone(), tokens.clone());
    let server = builder()
        .tool("t", move |RawArguments(arguments): RawArguments, cx: Context<(), M>| {
            let request = cx.request();
            let own = (cx.meta::<Value>("x/own"), request.traceparent().map(str::to_owned));
            seen.note(format!("{:?} {} {own:?}", request.name(), arguments.get()));
            token.note(format!("{:?}", request.progress_token()));
            async move {
                cx.progress(f64::from(cx.round()) + 1.0, "entered");
                cx.ask("a", form("A?"))?;
                cx.ask("b", form("B?"))?;
                Ok("done")
            }
        })
        .build()
        .unwrap();
    let client =
        b.serve(server).client_with(client().on_form(async |form| form.accept(&json!({"text": "x"}))));
    let arguments = json!({"n": 1.50, "text": "\u{e9}\n", "deep": {"b": [1, {"a": null}], "a": 0}});
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let meta = json!({"x/own": {"z": [1], "a": "kept"}, "traceparent": traceparent});
    let reports = Trace::new();
    let heard = reports.clone();
    let call = client.call_tool("t", &arguments).meta(&meta);
    let call = call.on_progress(move |report| heard.note(report.progress.to_string()));
    assert_eq!(call.await.unwrap().first_text(), Some("done"));
    let all = trace.all();
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|one| *one == all[0]), "{all:#?}");
    assert!(all[0].contains(&arguments.to_string()) && all[0].contains(traceparent), "{}", all[0]);
    assert!(all[0].contains("kept"), "{}", all[0]);
    // A token is added to each attempt, its own, and progress of each comes through.
    let mut tokens = tokens.all();
    tokens.dedup();
    assert!(tokens.len() == 3 && tokens.iter().all(|token| token.starts_with("Some(")), "{tokens:?}");
    assert_eq!(reports.all(), ["1", "2", "3"]);
}

// P8: no live channel. C12: closing the stream cancels, in every mode. And who says what to whom over HTTP.

use std::future::pending;
use std::time::Duration;

use sansio_mcp_sdk::server::{Context, Exit, NoArguments, ResourceSpec, Server, generator};
use sansio_mcp_tests::{
    Bench, DropFlag, Http, Rig, Trace, cancel, progress_of, request, response, rows, tool, tool_with,
};
use serde_json::{Value, json};

rows! {
    p8_without_a_channel_reports_are_suppressed_and_handlers_are_told: [http_json];
    p8_a_client_that_takes_json_alone_has_no_channel_in_any_mode: http;
    p8_nothing_can_be_subscribed_to_without_a_channel: [http_json];
    p8_a_long_call_stays_json_without_a_channel: [http_json];
    c12_closing_the_stream_cancels_in_every_mode_and_clean_up_runs: [http_auto http_sse http_json http_sockets];
    c12_closing_the_stream_of_one_waiter_leaves_the_others: http;
    edge_23_closing_the_stream_cancels_and_a_posted_cancel_does_nothing: http;
}

/// Tools that note what became of their reports.
fn reporting(trace: &Trace) -> Server<M> {
    let (one, two, three) = (trace.clone(), trace.clone(), trace.clone());
    Server::<M>::builder("t", "1")
        .tool("function", move |_: NoArguments, cx: Context<(), M>| {
            let trace = one.clone();
            async move {
                let reported = cx.progress(50.0, "half");
                trace.note(format!("{} {} {reported:?}", cx.carries_answer_only(), cx.wants_progress()));
                Ok("done")
            }
        })
        .stream_tool("stream", move |_: NoArguments, cx: Context<(), M>| {
            let trace = two.clone();
            generator(async move |y| {
                y.progress(50.0, "half").await;
                trace.note(format!("{} {}", cx.carries_answer_only(), cx.wants_progress()));
                Ok::<_, Exit>("done")
            })
        })
        .blocking_tool("blocking", move |_: NoArguments, cx| {
            three.note(format!("{:?}", cx.progress(50.0, "half")));
            Ok("done")
        })
        .build()
        .unwrap()
}

async fn p8_without_a_channel_reports_are_suppressed_and_handlers_are_told(b: Bench) {
    let trace = Trace::new();
    let rig = b.serve(reporting(&trace));
    let mut wire = rig.wire();
    for (id, name) in [(1, "function"), (2, "stream"), (3, "blocking")] {
        let pool = b.lab.external();
        wire.send(&tool_with(id, name, id)).await;
        let answer = wire.answer(id).await;
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
        drop(pool);
    }
    assert_eq!(wire.drain().await, [] as [Value; 0]);
    assert_eq!(trace.all(), ["true false NotAsked", "true false", "NotAsked"]);
    assert_eq!(rig.facts().unwrap().refused_progress, 0, "what nobody can hear is not refused");
    // The sdk's client asks for progress, hears of none, and has its answer.
    let (heard, client) = (Trace::new(), rig.client());
    let note = heard.clone();
    let call = client.call_tool("function", &json!({})).on_progress(move |_| note.note("progress"));
    assert_eq!(call.await.unwrap().first_text(), Some("done"));
    assert_eq!((heard.all().len(), trace.count("true false NotAsked")), (0, 2));
}

async fn p8_a_client_that_takes_json_alone_has_no_channel_in_any_mode(b: Bench) {
    let trace = Trace::new();
    let rig = b.serve(reporting(&trace));
    let http = Http::new(&rig);
    let sent = http.send(&tool_with(1, "function", 1), &[("accept", "application/json")]).await;
    assert_eq!((sent.status, sent.messages.len()), (200, 1));
    assert_eq!(sent.header("content-type"), "application/json");
    assert_eq!(response(&sent.messages, 1)["result"]["content"][0]["text"], "done");
    assert_eq!(trace.all(), ["true false NotAsked"]);
    // One that takes events too hears of it, unless the mode is that of JSON.
    let sent = http.send(&tool_with(2, "function", 2), &[]).await;
    let live = sent.header("content-type") == "text/event-stream";
    assert_eq!(progress_of(&sent.messages, 2), if live { vec![50.0] } else { vec![] });
    assert_eq!(trace.all()[1], if live { "false true Queued" } else { "true false NotAsked" });
}

async fn p8_nothing_can_be_subscribed_to_without_a_channel(b: Bench) {
    let server = Server::<M>::builder("t", "1")
        .resource(ResourceSpec::new("price://1", "one"), async |_: Context<(), M>| Ok("1"))
        .resource_updates();
    let rig = b.serve(server.build().unwrap());
    let asked = json!({"notifications": {"resourceSubscriptions": ["price://1"]}});
    let listen = request(1, "subscriptions/listen", asked, &json!({}));
    let sent = Http::new(&rig).send(&listen, &[]).await;
    assert_eq!((sent.status, response(&sent.messages, 1)["error"]["code"].as_i64()), (404, Some(-32601)));
    assert_eq!(rig.facts().unwrap().subscriptions, 0);
}

async fn p8_a_long_call_stays_json_without_a_channel(b: Bench) {
    let nap = b.nap(Duration::from_mins(1));
    let server = Server::<M>::builder("t", "1").tool("t", move |_: NoArguments, _: Context<(), M>| {
        let nap = nap.clone();
        async move {
            nap().await;
            Ok("done")
        }
    });
    let rig = b.serve(server.build().unwrap());
    let sent = Http::new(&rig).send(&tool(1, "t", &json!({})), &[]).await;
    assert_eq!(
        (sent.header("content-type"), b.clock().elapsed()),
        ("application/json", Duration::from_mins(1))
    );
    assert_eq!(response(&sent.messages, 1)["result"]["content"][0]["text"], "done");
}

/// A slot for one call, which never ends by itself and cleans up.
fn endless(b: &Bench, trace: &Trace) -> Rig {
    let (trace, nap) = (trace.clone(), b.nap(Duration::from_secs(1)));
    let server =
        Server::<M>::builder("t", "1").slots(1).tool("t", move |_: NoArguments, cx: Context<(), M>| {
            let (flag, trace, nap) = (DropFlag::new(&trace, "dropped"), trace.clone(), nap.clone());
            trace.note(format!("starts {}", cx.request().wire_id()));
            cx.on_exit(async move {
                nap().await;
                trace.note("cleaned up");
            });
            async move {
                let _flag = flag;
                cx.progress(1.0, "said");
                pending::<Result<&str, Exit>>().await
            }
        });
    b.serve(server.build().unwrap())
}

fn assert_free(rig: &Rig) {
    let (facts, http) = (rig.facts().unwrap(), rig.service().unwrap().facts());
    assert_eq!((facts.running, facts.waiting, facts.channels), (0, 0, 0));
    assert_eq!((http.streams, http.held_bytes), (0, 0));
}

async fn c12_closing_the_stream_cancels_in_every_mode_and_clean_up_runs(b: Bench) {
    // Before anything was said, and where a stream has begun.
    for token in [None, Some(1)] {
        let trace = Trace::new();
        let rig = endless(&b, &trace);
        let mut wire = rig.wire();
        wire.send(&token.map_or_else(|| tool(1, "t", &json!({})), |token| tool_with(1, "t", token))).await;
        b.settle().await;
        assert_eq!(trace.all(), ["starts 1"]);
        wire.cancel(1).await;
        b.settle().await;
        assert_eq!(trace.all(), ["starts 1", "dropped"], "at once");
        b.pass(Duration::from_secs(1)).await;
        assert_eq!(trace.all(), ["starts 1", "dropped", "cleaned up"]);
        assert_free(&rig);
    }
    // The sdk's client, by dropping its call, and by going away with everything.
    let trace = Trace::new();
    let rig = endless(&b, &trace);
    let (client, driver) = rig.client_and_task();
    let call = b.lab.spawn(client.call_tool("t", &json!({})));
    b.settle().await;
    call.abort();
    b.pass(Duration::from_secs(2)).await;
    assert_eq!(trace.all(), ["starts 1", "dropped", "cleaned up"]);
    let call = b.lab.spawn(client.call_tool("t", &json!({})));
    b.settle().await;
    driver.abort();
    assert_eq!(call.await.unwrap_err().code(), "LOST");
    b.pass(Duration::from_secs(2)).await;
    assert_eq!((trace.count("dropped"), trace.count("cleaned up")), (2, 2));
    assert_free(&rig);
    assert_eq!(b.log.codes().iter().filter(|code| *code == "LOST").count(), 5, "{:?}", b.log.codes());
}

async fn c12_closing_the_stream_of_one_waiter_leaves_the_others(b: Bench) {
    let trace = Trace::new();
    let rig = endless(&b, &trace);
    let mut wire = rig.wire();
    for id in 1..=3 {
        wire.send(&tool(id, "t", &json!({}))).await;
    }
    b.settle().await;
    wire.cancel(2).await;
    b.settle().await;
    assert_eq!((trace.all(), rig.facts().unwrap().waiting), (vec!["starts 1".into()], 1));
    wire.cancel(1).await;
    b.pass(Duration::from_secs(2)).await;
    assert_eq!(trace.all(), ["starts 1", "dropped", "cleaned up", "starts 3"]);
    wire.cancel(3).await;
    b.pass(Duration::from_secs(2)).await;
    assert_free(&rig);
}

async fn edge_23_closing_the_stream_cancels_and_a_posted_cancel_does_nothing(b: Bench) {
    let trace = Trace::new();
    let rig = endless(&b, &trace);
    let mut wire = rig.wire();
    wire.send(&tool(1, "t", &json!({}))).await;
    b.settle().await;
    let sent = Http::new(&rig).send(&cancel(1), &[]).await;
    assert_eq!((sent.status, sent.messages.len()), (202, 0));
    b.pass(Duration::from_secs(5)).await;
    assert_eq!(trace.all(), ["starts 1"]);
    wire.cancel(1).await;
    b.pass(Duration::from_secs(5)).await;
    assert_eq!(trace.all(), ["starts 1", "dropped", "cleaned up"]);
}
